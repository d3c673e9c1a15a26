//! Kills in the middle of load, starts again, and counts: every answered call was charged once, no
//! call twice, and the books hold.

use std::{collections::BTreeMap, time::Duration};

use clap::{Args, ValueEnum};

use crate::{Failure, Target, cluster::Server, service::Data};

mod clients;
mod database;
mod ledger_check;
mod service;

use clients::{Known, Repeated};

/// The longest time from the start of load to the kill, in milliseconds.
const LONGEST: u64 = 400;
/// Rounds on one set of data: an audit looks at everything, and is to take no longer each time.
const ROUNDS_ON_ONE: u32 = 40;

#[derive(Args)]
pub(crate) struct CrashArgs {
    #[command(flatten)]
    pub(crate) target: Target,
    /// How often to kill.
    #[arg(long, default_value = "1000")]
    rounds: u32,
    /// What to kill. A database is PostgreSQL, and needs `--postgres`.
    #[arg(long, value_enum, default_value = "service")]
    kill: Victim,
    /// Kill the service at random only: for a program that was built without the feature
    /// `failpoints`.
    #[arg(long)]
    random_only: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Victim {
    Service,
    Database,
}

/// Everything counted, for each way to die.
type Outcomes = BTreeMap<String, Outcome>;

#[derive(Default)]
struct Outcome {
    rounds: u64,
    answered: u64,
    unanswered: u64,
    unanswered_charged: u64,
    once_answered: u64,
    once_replayed: u64,
    once_anew: u64,
    once_held: u64,
    /// From when the database was back until the service was ready.
    longest_away: Duration,
}

impl Outcome {
    fn add(&mut self, known: &Known, repeated: &Repeated, unanswered_charged: u64) {
        self.rounds += 1;
        self.answered += known.answered.len() as u64;
        self.unanswered += known.unanswered;
        self.unanswered_charged += unanswered_charged;
        self.once_answered += known.once_answered.len() as u64;
        self.once_replayed += repeated.replayed as u64;
        self.once_anew += repeated.anew as u64;
        self.once_held += repeated.held as u64;
    }
}

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
    println!("{}: the books held after every kill\n", args.target.engine());
    println!(
        "| killed | rounds | answered, each charged once | unanswered | of these charged once | \
         under a key: answered | unanswered, then replayed | anew | still held |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (killed, o) in outcomes {
        println!(
            "| {killed} | {} | {} | {} | {} | {} | {} | {} | {} |",
            o.rounds,
            o.answered,
            o.unanswered,
            o.unanswered_charged,
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

fn random() -> u64 {
    let (high, _) = uuid::Uuid::new_v4().as_u64_pair();
    // The version stands in the lower half of this word.
    high >> 20
}
