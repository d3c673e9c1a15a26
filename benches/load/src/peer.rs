//! The peer of columns: `benches/load/columns_baseline.py`, as processes on one database.

use std::{net::SocketAddr, path::Path, process::Stdio};

use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

use crate::target::{Failure, Target};

/// The number of processes. Python computes on one core each.
pub(crate) const PROCESSES: usize = 2;
/// The key of the only account.
pub(crate) const KEY: &str = "fk_user_baseline";
/// The start of the line that names the address.
const RUNNING: &str = "Uvicorn running on http://";

/// The running processes, ended with this value.
pub(crate) struct Peer {
    processes: Vec<(Child, SocketAddr)>,
    /// The folder of the database.
    _folder: TempDir,
}

impl Peer {
    /// Starts the processes, each with a port of its own, so that each gets its part of the
    /// connections.
    pub(crate) async fn start(target: &Target, python: &Path) -> Result<Self, Failure> {
        let folder = target.new_folder()?;
        let mut processes = Vec::with_capacity(PROCESSES);
        for _ in 0..PROCESSES {
            processes.push(process(python, folder.path()).await?);
        }
        Ok(Self { processes, _folder: folder })
    }

    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.processes.iter().map(|(_, address)| *address).collect()
    }

    pub(crate) fn ids(&self) -> Vec<u32> {
        self.processes.iter().filter_map(|(process, _)| process.id()).collect()
    }
}

/// Starts a process, and returns the process with its address.
async fn process(python: &Path, folder: &Path) -> Result<(Child, SocketAddr), Failure> {
    let mut command = Command::new(python);
    command
        .args(["-m", "uvicorn", "--app-dir", "benches/load", "columns_baseline:app"])
        .args(["--port", "0", "--no-access-log"])
        .env("BASELINE_DATABASE", folder.join("baseline.db"))
        .env("BASELINE_KEY", KEY)
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut process = command.spawn()?;
    let stderr = process.stderr.take().ok_or("no error output")?;
    let (mut lines, mut told) = (BufReader::new(stderr).lines(), String::new());
    while let Some(line) = lines.next_line().await? {
        if let Some((_, rest)) = line.split_once(RUNNING) {
            let address = rest.split(' ').next().unwrap_or(rest).parse()?;
            // What the process writes later must not fill the pipe.
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return Ok((process, address));
        }
        told += &line;
        told.push('\n');
    }
    Err(format!("the peer did not start: {told}").into())
}
