//! Latencies, memory and file handles.

use std::{fs, io, time::Duration};

/// The answers of one measurement.
#[derive(Default)]
pub(crate) struct Figures {
    /// The latency of each success, in microseconds.
    pub(crate) latencies: Vec<u32>,
    /// The number of refusals and broken connections.
    pub(crate) failures: u64,
    pub(crate) elapsed: Duration,
}

impl Figures {
    pub(crate) fn add(&mut self, other: Self) {
        self.latencies.extend(other.latencies);
        self.failures += other.failures;
    }

    pub(crate) fn finish(mut self, elapsed: Duration) -> Self {
        self.latencies.sort_unstable();
        self.elapsed = elapsed;
        self
    }

    pub(crate) fn rate(&self) -> f64 {
        self.latencies.len() as f64 / self.elapsed.as_secs_f64()
    }

    /// Returns the latency, in milliseconds, that `per_thousand` of a thousand answers did not
    /// exceed.
    pub(crate) fn quantile(&self, per_thousand: usize) -> f64 {
        let last = self.latencies.len().saturating_sub(1);
        let at = last.min(self.latencies.len() * per_thousand / 1000);
        self.latencies.get(at).map_or(f64::NAN, |&micros| f64::from(micros) / 1e3)
    }
}

/// Returns the resident memory of a process, in megabytes.
pub(crate) fn resident(process: u32) -> Option<f64> {
    memory(process, "VmRSS:")
}

/// Returns the largest resident memory of a process since the last reset, in megabytes.
pub(crate) fn peak_memory(process: u32) -> Option<f64> {
    memory(process, "VmHWM:")
}

/// Makes the present memory of a process its peak.
pub(crate) fn reset_peak(process: u32) -> io::Result<()> {
    fs::write(format!("/proc/{process}/clear_refs"), "5")
}

/// Reads a line of the status of a process, in megabytes.
fn memory(process: u32, name: &str) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes / 1024.0)
}

/// Returns the number of open file handles of a process.
pub(crate) fn handles(process: u32) -> Option<usize> {
    Some(fs::read_dir(format!("/proc/{process}/fd")).ok()?.count())
}
