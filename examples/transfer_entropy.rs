//! Two series of which the first leads the second by one step: the transfer entropy says which
//! way the information goes, and by how much as the coupling grows.
//!
//! `cargo run --release -p quant-examples --example transfer_entropy`

use quant_core::entropy::transfer::transfer_entropy;
use quant_examples::{Chart, Line, SeriesLabelPosition};

const LENGTH: usize = 20_000;
const BINS: usize = 4;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let couplings = || (0..=20).map(|step| f64::from(step) / 20.0);
    let mut forth = Vec::new();
    let mut back = Vec::new();
    println!("{LENGTH} points, {BINS} bins, lag 1\n");
    println!("{:>8}  {:>12}  {:>12}", "coupling", "leader → follower", "follower → leader");
    for coupling in couplings() {
        let (leader, follower) = coupled(coupling);
        let with = transfer_entropy(&leader, &follower, 1, BINS)?;
        let against = transfer_entropy(&follower, &leader, 1, BINS)?;
        println!("{coupling:>8.2}  {with:>17.5}  {against:>17.5}");
        forth.push((coupling, with));
        back.push((coupling, against));
    }
    Chart {
        title: "Transfer entropy of coupled series",
        x: "coupling",
        y: "transfer entropy (nats)",
        legend: SeriesLabelPosition::UpperLeft,
        lines: &[
            Line { name: "leader to follower", points: forth },
            Line { name: "follower to leader", points: back },
        ],
        marks: &[],
    }
    .save("transfer_entropy")
}

/// A leader of noise, and a follower that takes part of what the leader was a step before.
fn coupled(coupling: f64) -> (Vec<f64>, Vec<f64>) {
    let noise = noise();
    let (leader, own) = noise.split_at(LENGTH);
    let mut follower = vec![0.0; LENGTH];
    for time in 1..LENGTH {
        follower[time] = coupling * leader[time - 1] + (1.0 - coupling) * own[time];
    }
    (leader.to_vec(), follower)
}

/// Uniform numbers from a generator of fixed seed, so that every run prints the same.
fn noise() -> Vec<f64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = || {
        // SplitMix64 (Steele, Lea and Flood 2014).
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    (0..2 * LENGTH).map(|_| draw()).collect()
}
