//! A PostgreSQL cluster of the run, with the default durability, which can be killed.

use std::{path::Path, process::Stdio, time::Duration};

use quant_test_services::Cluster;
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};

use crate::{service::connect, target::Failure};

/// Enough connections for several instances, and enough write-ahead log for a run; no setting makes
/// a commit less durable.
const SETTINGS: [&str; 4] =
    ["listen_addresses=", "max_connections=200", "shared_buffers=512MB", "max_wal_size=4GB"];
/// The longest time for a start, including recovery.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(20);

/// The way to end a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Death {
    /// SIGKILL to all of its processes at once, as when a machine runs out of memory.
    Everything,
    /// SIGKILL to the parent process; the other processes notice and exit.
    Parent,
    /// SIGQUIT, the immediate shutdown without a checkpoint.
    Immediate,
}

/// A running server.
pub(crate) struct Server {
    cluster: Cluster,
    process: Child,
    folder: tempfile::TempDir,
}

impl Server {
    /// Creates a cluster in a folder beside a program, and starts its server.
    pub(crate) async fn start(beside: &Path) -> Result<Self, Failure> {
        let beside = std::path::absolute(beside.parent().unwrap_or(Path::new(".")))?;
        let folder = tempfile::Builder::new().prefix("quant-load-postgres-").tempdir_in(beside)?;
        let cluster = Cluster::make(folder.path()).ok_or("PostgreSQL is not installed")?;
        let process = serve(&cluster, folder.path())?;
        let mut server = Self { cluster, process, folder };
        server.answers().await?;
        Ok(server)
    }

    /// Returns the address of the server's first database.
    pub(crate) fn address(&self) -> String {
        self.cluster.address("postgres")
    }

    /// Kills the server.
    pub(crate) async fn kill(&mut self, death: Death) -> Result<(), Failure> {
        let parent = self.process.id().ok_or("the server has ended by itself")?;
        let others = children(parent)?;
        match death {
            Death::Immediate => signal(parent, Signal::QUIT)?,
            Death::Parent => signal(parent, Signal::KILL)?,
            Death::Everything => {
                for process in std::iter::once(parent).chain(others) {
                    // A process that has ended in the meantime needs no signal.
                    let _ = signal(process, Signal::KILL);
                }
            }
        }
        self.process.wait().await?;
        Ok(())
    }

    /// Starts the cluster again, after all processes of the killed server have ended.
    pub(crate) async fn restart(&mut self) -> Result<(), Failure> {
        let give_up = tokio::time::Instant::now() + PATIENCE;
        loop {
            self.process = serve(&self.cluster, self.folder.path())?;
            // The start fails while a process of the killed server still holds the shared memory.
            let Err(error) = self.answers().await else { return Ok(()) };
            if tokio::time::Instant::now() >= give_up {
                return Err(error);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Stops the server in an orderly way.
    pub(crate) async fn stop(mut self) -> Result<(), Failure> {
        if let Some(process) = self.process.id() {
            signal(process, Signal::INT)?;
        }
        self.process.wait().await?;
        Ok(())
    }

    /// Waits until the server answers; fails where the server ends instead.
    async fn answers(&mut self) -> Result<(), Failure> {
        let address = self.address();
        let answer = async {
            loop {
                match connect(&address).await {
                    Ok(database) => return Ok::<_, Failure>(database.close().await?),
                    Err(_) => tokio::time::sleep(PAUSE).await,
                }
            }
        };
        tokio::select! {
            answered = tokio::time::timeout(PATIENCE, answer) => Ok(answered??),
            ended = self.process.wait() => Err(format!("PostgreSQL: {}", ended?).into()),
        }
    }
}

fn serve(cluster: &Cluster, folder: &Path) -> Result<Child, Failure> {
    let log = std::fs::File::options().create(true).append(true).open(folder.join("log"))?;
    let mut command = Command::from(cluster.as_nobody(cluster.postgres()));
    command.arg("-D").arg(cluster.data()).arg("-k").arg(folder);
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).kill_on_drop(true);
    Ok(command.spawn()?)
}

/// Sends a signal to a process that this program has started.
pub(crate) fn signal(process: u32, signal: Signal) -> Result<(), Failure> {
    let process = Pid::from_raw(process.cast_signed()).ok_or("no process has the number 0")?;
    Ok(kill_process(process, signal)?)
}

fn children(process: u32) -> Result<Vec<u32>, Failure> {
    let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children"))?;
    Ok(children.split_whitespace().map(str::parse).collect::<Result<_, _>>()?)
}
