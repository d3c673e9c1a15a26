//! `quant-server audit`: the comparison of balances and ledger.

use account_core::{AuditFault, CallerId, FaultKind, TallyFigure};
use chrono::{DateTime, NaiveDate};

use super::command_error::CommandError;
use crate::{
    app,
    config::{MigrateChoice, StorageArgs},
};

pub(super) async fn run(args: &StorageArgs) -> Result<(), CommandError> {
    let storage = args.locate();
    storage.require_database()?;
    let opened = app::open(&storage, MigrateChoice::Refuse).await?;
    let audit = opened.accounts.audit().await;
    opened.store.close().await;
    let audit = audit?;
    for fault in &audit.faults {
        println!("{}", line(fault));
    }
    if audit.holds() {
        println!("{} accounts: every balance is the sum of its ledger.", audit.accounts);
        Ok(())
    } else {
        let (faults, accounts) = (audit.faults.len(), audit.accounts);
        Err(format!("{faults} figures of {accounts} accounts do not add up").into())
    }
}

/// Returns the line that reports a fault.
fn line(fault: &AuditFault) -> String {
    let whose = match fault.caller {
        CallerId::Account(id) => format!("account {}", id.0),
        CallerId::Guest(id) => format!("guest {}", id.0),
    };
    let AuditFault { expected, found, .. } = fault;
    match &fault.kind {
        FaultKind::Balance => {
            format!("{whose}: the ledger sums to {expected}, the balance is {found}")
        }
        FaultKind::Usage { day } => format!(
            "{whose}: on {} the ledger has {expected} credits of usage, the usage rows {found}",
            date(*day)
        ),
        FaultKind::Tally { day, endpoint, figure } => {
            let figure = match figure {
                TallyFigure::Requests => "calls",
                TallyFigure::Credits => "credits",
                TallyFigure::ResponseTime => "milliseconds",
            };
            format!(
                "{whose}: on {} the usage rows of {endpoint} have {expected} {figure}, the daily \
                 sum {found}",
                date(*day)
            )
        }
    }
}

/// Returns the date of a day since 1970, as in 2026-11-22.
fn date(day: i64) -> NaiveDate {
    let start = day.checked_mul(86_400).and_then(|second| DateTime::from_timestamp(second, 0));
    start.map_or(if day < 0 { NaiveDate::MIN } else { NaiveDate::MAX }, |start| start.date_naive())
}

#[cfg(test)]
mod tests {
    use account_core::AccountId;

    use super::*;

    #[test]
    fn a_fault_is_told_with_its_date() {
        let told = |kind| {
            let caller = CallerId::Account(AccountId(7));
            line(&AuditFault { caller, kind, expected: 2, found: 1 })
        };
        assert_eq!(told(FaultKind::Balance), "account 7: the ledger sums to 2, the balance is 1");
        assert_eq!(
            told(FaultKind::Usage { day: 20_779 }),
            "account 7: on 2026-11-22 the ledger has 2 credits of usage, the usage rows 1"
        );
        let (endpoint, figure) = ("POST /a".to_owned(), TallyFigure::Requests);
        assert_eq!(
            told(FaultKind::Tally { day: 20_779, endpoint, figure }),
            "account 7: on 2026-11-22 the usage rows of POST /a have 2 calls, the daily sum 1"
        );
    }

    #[test]
    fn a_day_that_no_calendar_has_is_the_last_one() {
        assert_eq!(date(i64::MAX), NaiveDate::MAX);
        assert_eq!(date(-1), NaiveDate::from_ymd_opt(1969, 12, 31).expect("a day"));
    }
}
