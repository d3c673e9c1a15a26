//! A measured service, and the rows of the table.

use std::{net::SocketAddr, time::Duration};

use tokio::task::JoinSet;

use super::inputs::{Body, Computation, ROWS};
use crate::{
    client::Request,
    figures::{peak_memory, reset_peak, resident},
    table::closed,
    target::Failure,
};

/// The connections of the single calls.
const SINGLE_CONNECTIONS: usize = 32;

/// A measured service: the processes that share its work, and the keys of its callers.
pub(super) struct Measured {
    pub(super) name: &'static str,
    pub(super) addresses: Vec<SocketAddr>,
    pub(super) processes: Vec<u32>,
    pub(super) keys: Vec<String>,
    /// The memory of all processes before the first request, in megabytes.
    pub(super) idle: f64,
}

/// A row of the table.
pub(super) struct Load {
    pub(super) call: String,
    pub(super) requests: Vec<Request>,
    pub(super) connections: usize,
    /// The rows of each request.
    pub(super) rows: usize,
}

impl Measured {
    pub(super) fn new(
        name: &'static str,
        addresses: Vec<SocketAddr>,
        processes: Vec<u32>,
        keys: Vec<String>,
    ) -> Self {
        let idle = sum(&processes, resident);
        Self { name, addresses, processes, keys, idle }
    }

    /// Makes the requests of columns, one for each connection with a key of its own.
    pub(super) fn requests(
        &self,
        computation: &Computation,
        body: &Body,
        connections: usize,
    ) -> Vec<Request> {
        let (path, media_type) = (computation.columns_path(), body.form.media_type());
        let keys = self.keys.iter().cycle().take(connections);
        keys.map(|key| Request::of_type(&path, key, media_type, &body.bytes)).collect()
    }

    /// Sends requests until the time is over, and returns the requests per second. The connections
    /// are shared evenly by the processes.
    pub(super) async fn rate(&self, load: &Load, duration: Duration) -> Result<f64, Failure> {
        let mut tasks = JoinSet::new();
        let connections = load.connections.div_ceil(self.addresses.len());
        for &address in self.addresses.iter().take(load.connections) {
            let requests = load.requests.clone();
            tasks.spawn(async move { closed(address, &requests, connections, duration).await });
        }
        let mut rate = 0.0;
        while let Some(figures) = tasks.join_next().await {
            let figures = figures??;
            if figures.failures > 0 {
                return Err(format!("{} requests of {} failed", figures.failures, load.call).into());
            }
            rate += figures.rate();
        }
        Ok(rate)
    }

    /// Measures a row of the table and prints the row. Returns the rows per second. `single` is that
    /// figure of single calls.
    pub(super) async fn measure(
        &self,
        load: &Load,
        duration: Duration,
        single: Option<f64>,
    ) -> Result<f64, Failure> {
        self.processes.iter().try_for_each(|&process| reset_peak(process))?;
        let rate = self.rate(load, duration).await? * load.rows as f64;
        let growth = sum(&self.processes, peak_memory) - self.idle;
        let ratio = rate / single.unwrap_or(rate);
        let (name, Load { call, connections, .. }) = (self.name, load);
        println!("| {call} | {name} | {connections} | {rate:.0} | {ratio:.1} | {growth:.0} |");
        Ok(rate)
    }

    pub(super) fn single_calls(&self, computation: &Computation) -> Load {
        let key = self.keys.first().map(String::as_str);
        Load {
            call: format!("{}, single calls", computation.name),
            requests: vec![Request::post(computation.path, key, &computation.single(0))],
            connections: SINGLE_CONNECTIONS,
            rows: 1,
        }
    }

    pub(super) fn columns(
        &self,
        computation: &Computation,
        body: &Body,
        connections: usize,
    ) -> Load {
        Load {
            call: format!("{}, columns as {}", computation.name, body.form.name()),
            requests: self.requests(computation, body, connections),
            connections,
            rows: ROWS,
        }
    }
}

/// Returns the memory of all processes together, in megabytes.
fn sum(processes: &[u32], memory: fn(u32) -> Option<f64>) -> f64 {
    processes.iter().map(|&process| memory(process).unwrap_or(f64::NAN)).sum()
}
