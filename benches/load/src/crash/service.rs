//! Kills of the service: at a failpoint, or at a random time.

use std::time::Duration;

use quant_server::failpoint::POINTS;

use super::{
    callers::{MOST_CAPPED, SETTINGS, callers, raise_cap},
    clients::{CallLog, Callers, Clients, repeat},
    ledger_check::{LedgerCheck, first_number},
    outcome::{CrashArgs, LONGEST, Outcomes, random},
};
use crate::{
    service::{Data, Service},
    target::Failure,
};

/// The time within which a failpoint must be reached; otherwise the kill counts as random.
const REACHED: Duration = Duration::from_secs(2);

/// The failpoint or the time of a round's kill.
struct Plan {
    point: Option<&'static str>,
    /// The number of the pass of the failpoint at which the service ends.
    hits: u64,
}

impl Plan {
    fn of(round: u32, args: &CrashArgs) -> Self {
        let at_a_point = !args.random_only && round % 2 == 1;
        let point = at_a_point.then(|| POINTS[(round as usize / 2) % POINTS.len()]);
        // Few results are so large that no debit carries them.
        let most = if point.is_some_and(|point| point.starts_with("results")) { 5 } else { 60 };
        Self { point, hits: 1 + random() % most }
    }

    fn name(&self, is_reached: bool) -> String {
        match self.point {
            Some(point) if is_reached => point.to_owned(),
            Some(point) => format!("at random, {point} not reached"),
            None => "at random".to_owned(),
        }
    }
}

/// Kills the service `rounds` times on one set of data.
pub(super) async fn run_on(
    data: &Data,
    args: &CrashArgs,
    rounds: std::ops::Range<u32>,
    outcomes: &mut Outcomes,
) -> Result<(), Failure> {
    let callers = callers(data).await?;
    let mut ledger_check = LedgerCheck::new(data.storage.database_url.clone());
    for round in rounds {
        let plan = Plan::of(round, args);
        let first = first_number();
        raise_cap(data, &callers, random() % MOST_CAPPED).await?;
        let (known, is_reached) = load_until_dead(args, data, &plan, &callers).await?;
        let name = plan.name(is_reached);
        let failed = |failure: Failure| format!("round {round}, killed {name}: {failure}");

        // The service is started again, because repetitions are answered by the service.
        let service = Service::start(&args.target, data, &[SETTINGS[0]]).await?;
        let repeated =
            repeat(service.address, &callers.once, &known.once_open).await.map_err(failed)?;
        service.stop().await?;
        let charged = ledger_check.check(first, &known, &repeated).await.map_err(failed)?;
        data.audit().await.map_err(failed)?;
        outcomes.entry(name).or_default().add(&known, &repeated, charged);
    }
    Ok(())
}

/// Sends load until the service has ended; returns whether the failpoint ended the service.
async fn load_until_dead(
    args: &CrashArgs,
    data: &Data,
    plan: &Plan,
    callers: &Callers,
) -> Result<(CallLog, bool), Failure> {
    let failpoint = plan.point.map(|point| format!("{point}:{}", plan.hits));
    let mut settings = SETTINGS.to_vec();
    settings.extend(failpoint.as_deref().map(|value| ("QS_FAILPOINT", value)));
    let mut service = Service::start(&args.target, data, &settings).await?;
    let clients = Clients::start(service.address, callers);
    let is_reached = if plan.point.is_some() {
        tokio::time::timeout(REACHED, service.process.wait()).await.is_ok()
    } else {
        tokio::time::sleep(Duration::from_millis(random() % LONGEST)).await;
        false
    };
    let _ = service.process.start_kill();
    service.process.wait().await?;
    Ok((clients.end().await?, is_reached))
}
