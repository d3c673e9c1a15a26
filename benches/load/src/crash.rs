//! Kills under load with restarts, and a check of the ledger: every answered call was charged once,
//! no call twice, and the audit succeeds.

use crate::{cluster::Server, service::Data, target::Failure};

mod batches;
mod callers;
mod clients;
mod database;
mod ledger_check;
mod outcome;
mod service;

pub(crate) use outcome::CrashArgs;
use outcome::{Outcomes, Victim};

/// The number of rounds on one set of data. An audit reads the whole ledger, so its time would grow
/// with every round.
const ROUNDS_ON_ONE: u32 = 40;

pub(crate) async fn run(args: &CrashArgs, mut server: Option<&mut Server>) -> Result<(), Failure> {
    let mut outcomes = Outcomes::new();
    for first in (0..args.rounds).step_by(ROUNDS_ON_ONE as usize) {
        let rounds = first..args.rounds.min(first + ROUNDS_ON_ONE);
        let data = Data::new(&args.target).await?;
        match args.kill {
            Victim::Service => service::run_on(&data, args, rounds, &mut outcomes).await?,
            Victim::Database => {
                let server = server.as_deref_mut().ok_or("--kill database needs --postgres")?;
                database::run_on(&data, server, args, rounds, &mut outcomes).await?;
            }
        }
        data.remove().await?;
        eprintln!("{} of {} rounds", args.rounds.min(first + ROUNDS_ON_ONE), args.rounds);
    }
    print(args, &outcomes);
    Ok(())
}

fn print(args: &CrashArgs, outcomes: &Outcomes) {
    println!("{}: the ledger held after every kill\n", args.target.engine());
    println!(
        "| killed | rounds | answered, each charged once | of these results of tools, each stored | \
         refused by the cap, none charged | unanswered | of these charged once | \
         in batches: answered | unanswered | of these charged once | \
         under a key: answered | unanswered, then replayed | anew | still held |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (killed, o) in outcomes {
        println!(
            "| {killed} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            o.rounds,
            o.answered,
            o.tool_results,
            o.over_cap,
            o.unanswered,
            o.unanswered_charged,
            o.batched,
            o.batched_open,
            o.batched_open_charged,
            o.once_answered,
            o.once_replayed,
            o.once_anew,
            o.once_held
        );
    }
    if args.kill == Victim::Database {
        let longest = outcomes.values().map(|outcome| outcome.longest_away).max();
        let longest = longest.unwrap_or_default().as_secs_f64();
        println!("\nready again {longest:.1} s after the server at the latest");
    }
}
