//! The options and the counts of a crash run.

use std::{collections::BTreeMap, time::Duration};

use clap::{Args, ValueEnum};

use super::{
    clients::{CallLog, Repeated},
    ledger_check::Charged,
};
use crate::target::Target;

/// The longest time from the start of load to the kill, in milliseconds.
pub(crate) const LONGEST: u64 = 400;

#[derive(Args)]
pub(crate) struct CrashArgs {
    #[command(flatten)]
    pub(crate) target: Target,
    /// The number of kills.
    #[arg(long, default_value = "1000")]
    pub(crate) rounds: u32,
    /// The process to kill. A database is PostgreSQL, and needs `--postgres`.
    #[arg(long, value_enum, default_value = "service")]
    pub(crate) kill: Victim,
    /// Kill the service at random times only: for a program that was built without the feature
    /// `failpoints`.
    #[arg(long)]
    pub(crate) random_only: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Victim {
    Service,
    Database,
}

/// The counts for each way of a kill.
pub(crate) type Outcomes = BTreeMap<String, Outcome>;

#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) rounds: u64,
    pub(crate) answered: u64,
    pub(crate) tool_results: u64,
    pub(crate) over_cap: u64,
    pub(crate) unanswered: u64,
    pub(crate) unanswered_charged: u64,
    pub(crate) batched: u64,
    pub(crate) batched_open: u64,
    pub(crate) batched_open_charged: u64,
    pub(crate) once_answered: u64,
    pub(crate) once_replayed: u64,
    pub(crate) once_anew: u64,
    pub(crate) once_held: u64,
    /// The longest time from the restart of the database to the readiness of the service.
    pub(crate) longest_away: Duration,
}

impl Outcome {
    pub(super) fn add(&mut self, known: &CallLog, repeated: &Repeated, charged: Charged) {
        self.rounds += 1;
        self.answered += known.answered.len() as u64;
        self.tool_results += known.tool_results.len() as u64;
        self.over_cap += known.over_cap.len() as u64;
        self.unanswered += known.unanswered;
        self.unanswered_charged += charged.unanswered;
        self.batched += known.batches.charged();
        self.batched_open += known.batches.open();
        self.batched_open_charged += charged.batched;
        self.once_answered += known.once_answered.len() as u64;
        self.once_replayed += repeated.replayed as u64;
        self.once_anew += repeated.anew as u64;
        self.once_held += repeated.held as u64;
    }
}

/// Returns a random number of 44 bits.
pub(crate) fn random() -> u64 {
    let (high, _) = uuid::Uuid::new_v4().as_u64_pair();
    // The lower half of this word contains the version.
    high >> 20
}
