//! The measurement of one piece of work.

use std::{env, hint::black_box, time::Instant};

/// The length of a warm-up and of a sample in milliseconds, 20 and 4 unless the environment has
/// another `SAMPLE_MS`.
fn lengths() -> (u128, f64) {
    let sample = env::var("SAMPLE_MS").ok().and_then(|text| text.parse().ok()).unwrap_or(4.0);
    ((5.0 * sample) as u128, sample)
}

/// Prints the median time of one call, in nanoseconds, over samples of a few milliseconds each.
pub fn measure<T>(row: &str, who: &str, mut work: impl FnMut() -> T, value: impl Fn(&T) -> f64) {
    let result = value(&work());
    let (warm_up, sample) = lengths();
    let start = Instant::now();
    let mut calls = 0u32;
    while start.elapsed().as_millis() < warm_up || calls < 3 {
        black_box(work());
        calls += 1;
    }
    let once = start.elapsed().as_secs_f64() / f64::from(calls);
    let calls = (sample / 1e3 / once).clamp(1.0, 1e7) as u32;
    let samples = if once > 0.05 { 5 } else { 21 };
    let mut times: Vec<f64> = (0..samples)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..calls {
                black_box(work());
            }
            start.elapsed().as_secs_f64() * 1e9 / f64::from(calls)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("time\t{row}\t{who}\t{}\t{result:?}", times[times.len() / 2]);
}
