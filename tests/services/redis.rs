//! A private Redis on a Unix socket, which keeps nothing.

use std::env;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// Ends the server when its standard input closes, which it does however the tests end.
const SUPERVISOR: &str = r#""$1" --port 0 --unixsocket "$2/socket" --dir "$2" --save "" \
    --appendonly no &
    cat >/dev/null; kill -KILL $!; wait $!"#;

/// A Redis of a test's own, gone with this handle.
#[derive(Debug)]
pub struct Redis {
    folder: TempDir,
    running: Option<Running>,
}

/// The shell that ends the server.
#[derive(Debug)]
struct Running(Child);

impl Redis {
    /// An empty one; `None` where Redis is not installed.
    ///
    /// # Panics
    ///
    /// Where Redis is there but does not start, or is required and not there.
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

    /// Where it is reached.
    #[must_use]
    pub fn address(&self) -> String {
        format!("redis+unix://{}", self.folder.path().join("socket").display())
    }

    /// Kills it, so that it forgets everything.
    pub fn kill(&mut self) {
        drop(self.running.take());
    }

    /// Starts it again, empty, where it was.
    ///
    /// # Panics
    ///
    /// Where it does not start.
    pub fn start_again(&mut self) {
        let program = program().expect("it was there before");
        self.running = Some(Running::start(&program, &self.folder));
    }
}

impl Running {
    /// Starts a server and waits until it answers.
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
        // What is not read would stop the server once the pipe is full.
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
