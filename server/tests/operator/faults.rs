//! Faults below a running service: a locked or damaged database, no file handle, a PostgreSQL that is
//! gone and comes back, a killed migration. `docs/faults.md` states the expectation of each.

use quant_test_services::Cluster;
use rusqlite::Connection;
use rustix::process::{Signal, getrlimit, kill_process};

use super::*;

impl Running {
    /// Returns the answer to the measured call: its status and its body.
    fn price(&self, key: &str) -> (u16, String) {
        let (status, _, body) = self.post(PRICE, Some(key), OPTION);
        (status, body)
    }

    fn balance(&self, key: &str) -> u64 {
        let (_, _, body) = self.send("GET", "/user/profile", &format!("X-API-Key: {key}\r\n"), "");
        let profile: serde_json::Value = serde_json::from_str(&body).unwrap();
        profile["data"]["credit_balance"].as_u64().expect("a balance")
    }
}

#[test]
fn while_another_process_holds_the_lock_a_call_is_503_and_charges_nothing() {
    let data = TempDir::new().unwrap();
    let key = account(data.path());
    let service = Running::start(&mut quant_server(data.path()));
    assert_eq!(service.price(&key).0, 200);
    let other = Connection::open(data.path().join("quant.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();

    let (status, told) = service.price(&key);

    assert_eq!(status, 503, "{told}");
    assert!(told.contains("Another process holds the lock of the database."), "{told}");
    assert_eq!(service.balance(&key), 95, "what only reads is served");
    other.execute_batch("ROLLBACK").unwrap();
    service.wait_until_ready(200);
    assert_eq!(service.price(&key).0, 200);
    assert_eq!(service.balance(&key), 90);
    service.stop();
    run(quant_server(data.path()).arg("audit"));
}

#[test]
fn a_damaged_database_is_refused_and_its_backup_takes_its_place() {
    let data = TempDir::new().unwrap();
    let key = account(data.path());
    let (database, copy) = (data.path().join("quant.db"), data.path().join("copy.db"));
    run(quant_server(data.path()).arg("backup").arg(&copy));
    let mut bytes = fs::read(&database).unwrap();
    // The first page, which names the file a database, stays as it is.
    bytes[4096..].fill(0xa5);
    fs::write(&database, &bytes).unwrap();

    let error = refused(quant_server(data.path()).arg("audit"));
    assert!(error.contains("cannot be read or written") && error.contains("quant.db"), "{error}");
    let error = refused(&mut quant_server(data.path()));
    assert!(error.contains("cannot be read or written") && error.contains("quant.db"), "{error}");
    assert_eq!(fs::read(&database).unwrap(), bytes, "a damaged file is left as it is");

    fs::rename(&copy, &database).unwrap();
    let service = Running::start(&mut quant_server(data.path()));
    assert_eq!(service.price(&key).0, 200);
    assert_eq!(service.balance(&key), 95);
}

#[test]
fn without_a_file_handle_open_connections_are_served_and_others_wait() {
    let data = TempDir::new().unwrap();
    let key = account(data.path());
    let service = Running::start(&mut quant_server(data.path()));
    assert_eq!(service.price(&key).0, 200);
    let mut open = TcpStream::connect(service.address).unwrap();
    let health = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let ask = |stream: &mut TcpStream| {
        stream.write_all(health.as_bytes()).unwrap();
        let mut answer = [0; 4096];
        let length = stream.read(&mut answer).unwrap();
        String::from_utf8_lossy(&answer[..length]).into_owned()
    };
    assert!(ask(&mut open).starts_with("HTTP/1.1 200"));
    let process = Pid::from_child(&service.process);
    let handles = |current| {
        let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
        let limit = Rlimit { current, maximum };
        prlimit(Some(process), Resource::Nofile, limit).unwrap()
    };

    let before = handles(Some(0));

    let mut waiting = TcpStream::connect(service.address).unwrap();
    waiting.write_all(health.as_bytes()).unwrap();
    assert!(ask(&mut open).starts_with("HTTP/1.1 200"), "an open connection is served");
    handles(before.current);
    let mut answer = [0; 4096];
    let length = waiting.read(&mut answer).unwrap();
    assert!(answer[..length].starts_with(b"HTTP/1.1 200"), "the other one has waited");
    assert_eq!(service.price(&key).0, 200);
    assert_eq!(service.balance(&key), 90);
    let log = service.stop();
    assert!(!log.contains("panicked"), "{log}");
}

/// Runs a migration that is killed after some milliseconds, which may be before its start or after
/// its end.
fn kill_migration(command: &mut Command, milliseconds: u64) {
    let mut process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(milliseconds));
    process.kill().unwrap();
    process.wait().unwrap();
}

#[test]
fn a_killed_migration_is_finished_by_the_next_start() {
    for milliseconds in (0..60).step_by(4) {
        let data = TempDir::new().unwrap();
        let migrate = || {
            let mut command = quant_server(data.path());
            command.args(["migrate", "--create-database"]);
            command
        };
        kill_migration(&mut migrate(), milliseconds);
        run(&mut migrate());
        let key = account(data.path());
        let service = Running::start(&mut quant_server(data.path()));
        assert_eq!(service.price(&key).0, 200, "killed after {milliseconds} ms");
    }
}

#[tokio::test]
async fn a_killed_migration_on_postgresql_is_finished_by_the_next_start() {
    for milliseconds in (0..120).step_by(12) {
        let Some(database) = Postgres::empty().await else { return };
        let data = TempDir::new().unwrap();
        let migrate = || {
            let mut command = quant_server(data.path());
            command.env("DATABASE_URL", database.address());
            command.args(["migrate", "--create-database"]);
            command
        };
        kill_migration(&mut migrate(), milliseconds);
        run(&mut migrate());
        let mut audit = quant_server(data.path());
        run(audit.env("DATABASE_URL", database.address()).arg("audit"));
    }
}

/// A PostgreSQL of this test alone, which the test ends and starts again.
struct OwnServer {
    cluster: Cluster,
    folder: TempDir,
    process: Child,
}

impl OwnServer {
    fn start() -> Option<Self> {
        let folder = TempDir::new().unwrap();
        let cluster = Cluster::make(folder.path())?;
        let process = Self::serve(&cluster, &folder);
        Some(Self { cluster, folder, process })
    }

    fn serve(cluster: &Cluster, folder: &TempDir) -> Child {
        let mut command = cluster.as_nobody(cluster.postgres());
        command.arg("-D").arg(cluster.data()).arg("-k").arg(folder.path());
        command.args(["-c", "listen_addresses="]).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    /// Ends the server without a checkpoint, and waits for the end of all of its processes.
    fn end(&mut self) {
        kill_process(Pid::from_child(&self.process), Signal::QUIT).unwrap();
        self.process.wait().unwrap();
    }

    fn start_again(&mut self) {
        self.process = Self::serve(&self.cluster, &self.folder);
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.process), Signal::QUIT);
        let _ = self.process.wait();
    }
}

#[test]
fn while_postgresql_is_gone_calls_are_503_and_all_goes_on_once_it_is_back() {
    let Some(mut server) = OwnServer::start() else { return };
    let data = TempDir::new().unwrap();
    let address = server.cluster.address("postgres");
    let with_database = |mut command: Command| {
        command.env("DATABASE_URL", &address);
        command
    };
    let migrate = || {
        let mut migrate = with_database(quant_server(data.path()));
        told(&migrate.args(["migrate", "--create-database"]).output().unwrap())
    };
    // The server of the test may still be starting.
    let start = Instant::now();
    while let (false, _, stderr) = migrate() {
        assert!(start.elapsed() < Duration::from_secs(60), "{stderr}");
    }
    let mut create = with_database(quant_server(data.path()));
    let text = run(create.args(CREATE).args(["--tier", "pro", "--credits", "100"]));
    let key = text.trim().strip_prefix("API key: ").expect("a key").to_owned();
    let service = Running::start(&mut with_database(quant_server(data.path())));
    assert_eq!(service.price(&key).0, 200);

    server.end();

    service.wait_until_ready(503);
    for _ in 0..3 {
        let (status, told) = service.price(&key);
        assert_eq!(status, 503, "{told}");
        assert!(told.contains("Nothing was charged"), "{told}");
    }
    assert_eq!(service.get("/health").0, 200);

    server.start_again();

    service.wait_until_ready(200);
    assert_eq!(service.price(&key).0, 200);
    assert_eq!(service.balance(&key), 90, "two answers, two charges");
    service.stop();
    run(with_database(quant_server(data.path())).arg("audit"));
}
