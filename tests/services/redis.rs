//! A private Redis on a Unix socket, without persistence.

use std::env;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// The shell script that runs the server and ends it when the script's standard input closes. The
/// input closes however the test process ends.
const SUPERVISOR: &str = r#""$1" --port 0 --unixsocket "$2/socket" --dir "$2" --save "" \
    --appendonly no &
    cat >/dev/null; kill -KILL $!; wait $!"#;

/// A Redis of one test, ended with this handle.
#[derive(Debug)]
pub struct Redis {
    folder: TempDir,
    running: Option<Running>,
}

/// The shell that runs the server.
#[derive(Debug)]
struct Running(Child);

impl Redis {
    /// Starts an empty server; `None` where Redis is not installed.
    ///
    /// # Panics
    ///
    /// Panics where Redis is installed but does not start, or is required and not installed.
    #[must_use]
    pub fn start() -> Option<Self> {
        let Some(program) = program() else {
            crate::leave_out("Redis is not installed, so what leases from it is not tested");
            return None;
        };
        let folder = tempfile::Builder::new().prefix("quant-redis-").tempdir();
        let folder = folder.expect("a folder");
        let running = Some(Running::start(&program, &folder));
        Some(Self { folder, running })
    }

    /// The address of the server.
    #[must_use]
    pub fn address(&self) -> String {
        format!("redis+unix://{}", self.folder.path().join("socket").display())
    }

    /// Kills the server, which loses all data.
    pub fn kill(&mut self) {
        drop(self.running.take());
    }

    /// Starts the server again, empty, at the same address.
    ///
    /// # Panics
    ///
    /// Panics where the server does not start.
    pub fn start_again(&mut self) {
        let program = program().expect("it was there before");
        self.running = Some(Running::start(&program, &self.folder));
    }
}

impl Running {
    /// Starts a server and waits until the server is ready.
    fn start(program: &PathBuf, folder: &TempDir) -> Self {
        let mut supervise = Command::new("sh");
        supervise.args(["-c", SUPERVISOR, "sh"]).arg(program).arg(folder.path());
        supervise.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut supervisor = supervise.spawn().expect("a shell runs");
        let mut log = BufReader::new(supervisor.stdout.take().expect("it is piped")).lines();
        let mut said = Vec::new();
        loop {
            let line = log.next().and_then(Result::ok);
            let line = line.unwrap_or_else(|| panic!("Redis does not start: {said:#?}"));
            if line.contains("eady to accept connections") {
                break;
            }
            said.push(line);
        }
        // An unread log would block the server once the pipe is full.
        std::thread::spawn(move || log.for_each(drop));
        Self(supervisor)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let ended = self.0.wait();
        assert!(ended.is_ok() || std::thread::panicking(), "a Redis was not ended");
    }
}

/// `redis-server` on the path.
fn program() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let programs = env::split_paths(&path).map(|folder| folder.join("redis-server"));
    programs.into_iter().find(|program| program.exists())
}
