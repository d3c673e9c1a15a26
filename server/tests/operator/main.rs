//! The program `quant-server` in the hands of an operator: commands, files, a full disk, a wrong
//! clock.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

use std::{
    fs::{self, Permissions},
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use quant_test_services::Postgres;
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use tempfile::TempDir;

mod faults;
mod receipts;

/// A process under test: a shell runs `prologue` and then becomes the program.
fn shell(prologue: &str, data: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{prologue}; exec \"$0\" \"$@\"")]);
    command.arg(env!("CARGO_BIN_EXE_quant-server"));
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.env("QS_DATA_DIR", data).env("QS_BIND", "127.0.0.1:0");
    command
}

fn quant_server(data: &Path) -> Command {
    shell("true", data)
}

fn told(output: &Output) -> (bool, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

/// Runs a command that succeeds, and returns its output.
fn run(command: &mut Command) -> String {
    let (is_ok, stdout, stderr) = told(&command.output().unwrap());
    assert!(is_ok, "{command:?}: {stderr}");
    stdout
}

/// Runs a command that fails, and returns its error. A service that starts instead is ended.
fn refused(command: &mut Command) -> String {
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while process.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(60) {
            process.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let (is_ok, stdout, stderr) = told(&process.wait_with_output().unwrap());
    assert!(!is_ok, "{command:?}: {stdout}");
    stderr
}

const CREATE: [&str; 6] = ["account", "create", "--email", "ada@example.com", "--username", "ada"];

/// Creates a verified account and returns its API key.
fn account(data: &Path) -> String {
    let text = run(quant_server(data).args(CREATE).args(["--tier", "pro", "--credits", "100"]));
    text.trim().strip_prefix("API key: ").expect("a key").to_owned()
}

/// A running service, ended with this value.
struct Running {
    process: Child,
    address: SocketAddr,
    /// The reader of the log: a pipe that nobody reads would stop the service once it is full.
    log: Option<JoinHandle<String>>,
}

impl Running {
    fn start(command: &mut Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = process.stderr.take().unwrap();
        let log = std::thread::spawn(move || {
            let mut log = String::new();
            stderr.read_to_string(&mut log).unwrap();
            log
        });
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let address = lines.find_map(|line| {
            line.unwrap().strip_prefix("listening on http://").map(|text| text.parse().unwrap())
        });
        let Some(address) = address else { panic!("it does not listen: {}", log.join().unwrap()) };
        Self { process, address, log: Some(log) }
    }

    /// Ends the service and returns its log.
    fn stop(mut self) -> String {
        self.process.kill().unwrap();
        self.log.take().unwrap().join().unwrap()
    }

    /// Sends a request and returns the status, the head and the body of the answer.
    fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) =
            answer.split_once("\r\n\r\n").expect("an answer and no dropped connection");
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_ascii_lowercase(), body.to_owned())
    }

    fn get(&self, path: &str) -> (u16, String, String) {
        self.send("GET", path, "", "")
    }

    fn post(&self, path: &str, key: Option<&str>, body: &str) -> (u16, String, String) {
        let key = key.map(|key| format!("X-API-Key: {key}\r\n")).unwrap_or_default();
        self.send("POST", path, &key, body)
    }

    /// Limits the size of the files that the service may extend; `None` for no limit.
    fn limit_files(&self, bytes: Option<u64>) {
        let process = Pid::from_child(&self.process);
        let limit = Rlimit { current: bytes, maximum: None };
        prlimit(Some(process), Resource::Fsize, limit).unwrap();
    }

    /// Asks `/ready` until it answers so.
    fn wait_until_ready(&self, status: u16) -> String {
        let start = Instant::now();
        loop {
            let (found, _, body) = self.get("/ready");
            if found == status {
                return body;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "/ready stays at {found}: {body}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The fields of an answer's body.
fn json(body: &str) -> serde_json::Value {
    serde_json::from_str(body).unwrap()
}

const LOGIN: &str = r#"{"email": "ada@example.com", "password": "a long sentence of hers"}"#;
const REGISTER: &str = r#"{"username": "bob", "email": "bob@example.com", "password": "a long sentence of his", "phone": "1", "country": "Italy"}"#;
const OPTION: &str = r#"{"spot": 42, "strike": 40, "risk_free_rate": 0.1, "volatility": 0.2, "time_to_maturity": 0.5}"#;
const PRICE: &str = "/quantlib/pricing/bs/price";

/// Writes beyond the limit then fail, as they do on a full disk, and end no process.
const IGNORE_SIGNAL: &str = "trap '' XFSZ";

#[test]
fn while_no_file_can_grow_every_writing_call_and_readiness_are_503_with_the_reason() {
    let data = TempDir::new().unwrap();
    let key = account(data.path());
    let service = Running::start(&mut shell(IGNORE_SIGNAL, data.path()));
    service.wait_until_ready(200);
    assert_eq!(service.post(PRICE, Some(&key), OPTION).0, 200);

    service.limit_files(Some(0));

    let reason = "The files of the database cannot be read or written.";
    let calls = [
        ("/user/login", None, LOGIN),
        ("/user/register", None, REGISTER),
        ("/user/forgot-password", None, r#"{"email": "ada@example.com"}"#),
        ("/guest/create", None, r#"{"device_id": "a phone"}"#),
        ("/user/regenerate-api-key", Some(key.as_str()), ""),
        (PRICE, Some(key.as_str()), OPTION),
    ];
    // What failed must not leave a transaction open, in which later writes seem to succeed.
    for (path, key, body) in [calls, calls, calls].concat() {
        let (status, head, told) = service.post(path, key, body);
        assert_eq!(status, 503, "{path}: {told}");
        assert!(told.contains(reason), "{path}: {told}");
        assert!(head.contains("\r\nretry-after: 5"), "{path}: {head}");
    }
    assert!(service.wait_until_ready(503).contains(reason));
    assert_eq!(service.get("/health").0, 200);
    let profile = service.send("GET", "/user/profile", &format!("X-API-Key: {key}\r\n"), "");
    assert!(profile.2.contains(r#""credit_balance":95"#), "nothing was charged: {profile:?}");

    service.limit_files(None);

    service.wait_until_ready(200);
    assert_eq!(service.post(PRICE, Some(&key), OPTION).0, 200);
    assert_eq!(service.post("/user/login", None, LOGIN).0, 401);
    let (_, _, guest) = service.post("/guest/create", None, r#"{"device_id": "a phone"}"#);
    let guest = guest.split('"').find(|text| text.starts_with("fk_guest_")).expect("a key");
    // Killed and started again: what was answered is there.
    service.stop();
    let again = Running::start(&mut quant_server(data.path()));
    let guest = format!("X-API-Key: {guest}\r\n");
    assert_eq!(again.send("GET", "/auth/validate", &guest, "").0, 200);
    again.stop();
    run(quant_server(data.path()).arg("audit"));
}

#[test]
fn a_command_that_cannot_write_names_the_file_and_the_cause() {
    let data = TempDir::new().unwrap();
    account(data.path());
    let database = data.path().join("quant.db");
    let grant = ["account", "grant", "ada@example.com", "5"];

    let error = refused(shell("trap '' XFSZ; ulimit -f 0", data.path()).args(grant));

    assert!(error.contains(database.to_str().unwrap()), "{error}");
    assert!(error.contains("The files of the database cannot be read or written."), "{error}");

    fs::set_permissions(&database, Permissions::from_mode(0o400)).unwrap();
    let error = refused(as_owner(data.path()).args(grant));
    assert!(error.contains(database.to_str().unwrap()), "{error}");
    assert!(error.contains("The database is read-only."), "{error}");
}

/// A command without the right of root to write every file.
fn as_owner(data: &Path) -> Command {
    if !rustix::process::geteuid().is_root() {
        return quant_server(data);
    }
    let mut command = Command::new("setpriv");
    command.args(["--bounding-set", "-all", "--inh-caps", "-all", "--"]);
    command.arg(env!("CARGO_BIN_EXE_quant-server")).env("QS_DATA_DIR", data);
    command
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn in_an_existing_folder_every_file_is_its_owners_alone() {
    let home = TempDir::new().unwrap();
    let data = home.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, Permissions::from_mode(0o755)).unwrap();
    run(shell("umask 000", &data).args(CREATE));
    let service = Running::start(&mut shell("umask 000", &data));
    let files = ["quant.db", "quant.db-wal", "quant.db-shm", "master.key"];
    for file in files {
        assert_eq!(mode(&data.join(file)), 0o600, "{file}");
    }
    assert_eq!(mode(&data), 0o755, "an existing folder keeps its mode");
    service.stop();

    // What an earlier release has left.
    for file in ["quant.db", "quant.db-wal", "quant.db-shm"] {
        fs::set_permissions(data.join(file), Permissions::from_mode(0o664)).unwrap();
    }
    let service = Running::start(&mut shell("umask 000", &data));
    for file in files {
        assert_eq!(mode(&data.join(file)), 0o600, "{file}");
    }
    let log = service.stop();
    assert!(log.contains("quant.db") && log.contains("0664"), "{log}");

    let elsewhere = home.path().join("a/b");
    run(shell("umask 000", &elsewhere).args(CREATE));
    for folder in [home.path().join("a"), elsewhere] {
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
    }
}

#[test]
fn a_master_key_that_others_may_read_is_refused_at_the_start() {
    let data = TempDir::new().unwrap();
    account(data.path());
    let key = data.path().join("master.key");
    for command in ["serve", "audit", "migrate", "rotate-master-key", "rotate-data-key"] {
        fs::set_permissions(&key, Permissions::from_mode(0o644)).unwrap();
        let error = refused(quant_server(data.path()).arg(command));
        assert!(error.contains(&format!("chmod 600 {}", key.display())), "{command}: {error}");
    }
}

#[test]
fn a_mistyped_folder_is_left_alone_and_a_lost_database_is_told() {
    let home = TempDir::new().unwrap();
    let data = home.path().join("data");
    let error = refused(quant_server(&data).arg("migrate"));
    for part in [data.join("quant.db").to_str().unwrap(), "--data-dir", "--create-database"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    assert!(!data.exists(), "nothing is made");
    let refuse = refused(quant_server(&data).args(["serve", "--migrate", "refuse"]));
    assert!(refuse.contains("--create-database") && !data.exists(), "{refuse}");

    run(quant_server(&data).args(["migrate", "--create-database"]));
    run(quant_server(&data).arg("migrate"));
    account(&data);

    for file in ["quant.db", "quant.db-wal", "quant.db-shm"] {
        let _ = fs::remove_file(data.join(file));
    }
    let commands: [&[&str]; 3] = [&["serve"], &CREATE, &["migrate"]];
    for command in commands {
        let error = refused(quant_server(&data).args(command));
        for part in ["quant.db", "master.key", "restore", "--create-database"] {
            assert!(error.contains(part), "{command:?}, {part}: {error}");
        }
    }
    fs::write(data.join("quant.db"), "").unwrap();
    assert!(refused(quant_server(&data).arg("serve")).contains("--create-database"));
    Running::start(quant_server(&data).args(["serve", "--create-database"])).stop();
    Running::start(&mut quant_server(&data)).stop();
}

#[test]
fn a_first_start_and_the_demo_need_nothing() {
    let home = TempDir::new().unwrap();
    let service = Running::start(&mut quant_server(&home.path().join("new")));
    assert_eq!(service.get("/ready").0, 200);
    service.stop();
    let service = Running::start(quant_server(home.path()).arg("demo"));
    assert_eq!(service.get("/ready").0, 200);
    service.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_database_on_postgresql_is_made_on_request() {
    let Some(database) = Postgres::empty().await else { return };
    let data = TempDir::new().unwrap();
    let command = |words: &[&str]| {
        let mut command = quant_server(data.path());
        command.env("DATABASE_URL", database.address()).args(words);
        command
    };
    let error = refused(&mut command(&["migrate"]));
    assert!(error.contains("--create-database"), "{error}");
    run(&mut command(&["migrate", "--create-database"]));
    let other = Postgres::empty().await.expect("the first one was there");
    let error = refused(command(&["serve"]).env("DATABASE_URL", other.address()));
    assert!(error.contains("master.key") && error.contains("--create-database"), "{error}");
    assert!(!error.contains("postgres://"), "an address may hold a password: {error}");
    life_of_an_account(&|words| command(words));
}

/// A port of the loopback on which nothing listens.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn a_refused_postgresql_is_named_with_host_port_and_cause_by_every_command() {
    let data = TempDir::new().unwrap();
    let server = format!("127.0.0.1:{}", free_port());
    let address = format!("postgres://ada:secret@{server}/quant");
    let commands: [&[&str]; 7] = [
        &["serve"],
        &["migrate"],
        &["audit"],
        &["account", "list"],
        &CREATE,
        &["rotate-master-key"],
        &["rotate-data-key"],
    ];
    for command in commands {
        let error = refused(quant_server(data.path()).env("DATABASE_URL", &address).args(command));
        let named = format!("the PostgreSQL server at `{server}` cannot be used: ");
        assert!(error.contains(&named), "{command:?}: {error}");
        assert!(error.contains("Connection refused"), "{command:?}: {error}");
        assert!(!error.contains("secret"), "{command:?}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_postgresql_that_refuses_the_database_is_named_with_its_own_words() {
    let Some(database) = Postgres::empty().await else { return };
    let data = TempDir::new().unwrap();
    let address = database.address();
    let (place, settings) = address.split_once('?').unwrap_or((&address, ""));
    let (server, _) = place.rsplit_once('/').expect("a database's name");
    let address = format!("{server}/no_such_database?{settings}");
    let error = refused(quant_server(data.path()).env("DATABASE_URL", &address).arg("audit"));
    assert!(error.contains("the PostgreSQL server at `"), "{error}");
    assert!(error.contains("database \"no_such_database\" does not exist"), "{error}");
}

#[test]
fn each_shell_gets_a_script_that_knows_every_command() {
    let data = TempDir::new().unwrap();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = run(quant_server(data.path()).args(["completions", shell]));
        for word in ["rotate-master-key", "set-tier", "database-pool"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    assert!(refused(quant_server(data.path()).args(["completions", "tcl"])).contains("zsh"));
}

#[test]
fn the_manual_has_a_page_of_the_settings_and_one_of_each_command() {
    let data = TempDir::new().unwrap();
    let page = run(quant_server(data.path()).arg("man"));
    for part in [".TH quant-server 1", "QS_DATABASE_POOL", "quant\\-server\\-account(1)"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let folder = data.path().to_str().unwrap();
    run(quant_server(data.path()).args(["man", "--folder", folder]));
    for name in ["quant-server.1", "quant-server-migrate.1", "quant-server-account-grant.1"] {
        assert!(fs::read_to_string(data.path().join(name)).unwrap().contains(".SH"), "{name}");
    }
    let error = refused(quant_server(data.path()).args(["man", "--folder", "/no/such/folder"]));
    assert!(error.contains("`/no/such/folder`: "), "{error}");
}

#[test]
fn an_operator_shows_lists_changes_and_deletes_accounts() {
    let data = TempDir::new().unwrap();
    run(quant_server(data.path()).args(["migrate", "--create-database"]));
    life_of_an_account(&|words| {
        let mut command = quant_server(data.path());
        command.args(words);
        command
    });
}

fn life_of_an_account(command: &dyn Fn(&[&str]) -> Command) {
    let ok = |words: &[&str]| run(&mut command(words));
    let no = |words: &[&str]| refused(&mut command(words));
    let ada = "ada@example.com";
    let key = ok(&[&CREATE[..], &["--credits", "100"]].concat());
    let key = key.trim().strip_prefix("API key: ").unwrap().to_owned();
    for name in ["bob", "carl"] {
        let email = format!("{name}@example.com");
        ok(&["account", "create", "--email", &email, "--username", name]);
    }

    let why = ["--reason", "ticket 17"];
    let with = |words: &[&str]| ok(&[words, &why].concat());
    assert_eq!(
        with(&["account", "adjust", ada, "-30"]).trim(),
        "ada@example.com now has 70 credits."
    );
    assert_eq!(
        with(&["account", "refund", ada, "5"]).trim(),
        "ada@example.com now has 75 credits."
    );
    assert_eq!(ok(&["account", "grant", ada, "1"]).trim(), "ada@example.com now has 76 credits.");
    let error = no(&[&["account", "adjust", ada, "-77"][..], &why].concat());
    assert!(error.contains("76 credits") && error.contains("below zero"), "{error}");
    let error = no(&[&["account", "refund", ada, "0"][..], &why].concat());
    assert!(error.contains("`credits` must be a positive whole number"), "{error}");
    assert!(no(&["account", "adjust", ada, "5"]).contains("--reason"));
    assert!(no(&["account", "adjust", ada, "5", "--reason", " "]).contains("on one line"));
    with(&["account", "make-admin", ada]);
    with(&["account", "unlock", ada]);
    ok(&["account", "suspend", "bob@example.com"]);
    let error = no(&[&["account", "regenerate", "bob@example.com"][..], &why].concat());
    assert!(error.contains("account activate bob@example.com"), "{error}");
    let new_key = with(&["account", "regenerate", ada]);
    let new_key = new_key.trim().strip_prefix("API key: ").unwrap().to_owned();
    assert_ne!(new_key, key);

    let shown = ok(&["account", "show", ada]);
    for part in [
        "e-mail         ada@example.com",
        "credits        76",
        "administrator  yes",
        "state          active",
        "make_admin",
        "adjust           -30          ticket 17",
        "grant            1            no reason given",
        "passwords      accepted",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    for secret in ["fk_user_", "argon2", &key, &new_key] {
        assert!(!shown.contains(secret), "{shown}");
    }
    let page = ok(&["account", "list", "--limit", "2"]);
    assert!(page.contains("ada@example.com") && page.contains("bob@example.com"), "{page}");
    assert!(page.contains("administrator") && !page.contains("carl"), "{page}");
    let after = page.trim().rsplit(' ').next().unwrap();
    let rest = ok(&["account", "list", "--limit", "2", "--after", after]);
    assert!(rest.contains("carl@example.com") && !rest.contains("--after"), "{rest}");
    let found = ok(&["account", "list", "--state", "suspended"]);
    assert!(found.contains("bob@example.com") && !found.contains("ada@"), "{found}");
    assert!(ok(&["account", "list", "--search", "CARL"]).contains("carl@example.com"));
    assert_eq!(ok(&["account", "list", "--tier", "pro"]).trim(), "no such account");

    let delete = ["account", "delete", ada, "--reason", "asked in writing"];
    assert!(no(&delete).contains("--yes"));
    ok(&[&delete[..], &["--yes"]].concat());
    assert!(no(&["account", "show", ada]).contains("no account has the address ada@example.com"));
    let error = no(&[&["account", "unlock", ada][..], &why].concat());
    assert!(error.contains("no verified account has the address ada@example.com"), "{error}");
    assert!(ok(&["audit"]).starts_with("2 accounts"));
    let help = ok(&["account", "--help"]);
    for name in ["show", "list", "delete", "unlock", "make-admin", "regenerate", "adjust", "refund"]
    {
        assert!(help.contains(name), "{name}: {help}");
        let own = ok(&["account", name, "--help"]);
        assert!(own.contains("Usage: quant-server account"), "{own}");
    }
}

/// Makes a library that shows a time before 1970 as long as a file exists.
fn wrong_clock(folder: &Path) -> (PathBuf, PathBuf) {
    let (source, library) = (folder.join("clock.c"), folder.join("clock.so"));
    let switch = folder.join("before_1970");
    let code = r#"
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <stdlib.h>
        #include <time.h>
        #include <unistd.h>
        int clock_gettime(clockid_t clock, struct timespec *now) {
            int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
            int result = real(clock, now);
            const char *file = getenv("WRONG_CLOCK");
            if (clock == CLOCK_REALTIME && file && access(file, F_OK) == 0) now->tv_sec = -1000;
            return result;
        }"#;
    fs::write(&source, code).unwrap();
    let mut compile = Command::new("cc");
    compile.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).arg("-ldl");
    assert!(compile.status().unwrap().success());
    (library, switch)
}

#[test]
fn a_clock_before_1970_is_refused_at_the_start_and_drops_no_connection_later() {
    let data = TempDir::new().unwrap();
    let key = account(data.path());
    let (library, switch) = wrong_clock(data.path());
    let wrong = |mut command: Command| {
        command.env("LD_PRELOAD", &library).env("WRONG_CLOCK", &switch);
        command
    };
    let service = Running::start(&mut wrong(quant_server(data.path())));

    // Before the first connection: no thread of the service has formatted a date yet.
    fs::write(&switch, "").unwrap();

    let (status, head, _) = service.get("/health");
    assert_eq!(status, 200);
    assert!(head.contains("\r\ndate: thu, 01 jan 1970 00:00:00 gmt"), "{head}");
    assert_eq!(service.post(PRICE, Some(&key), OPTION).0, 200);
    assert_eq!(service.get("/nowhere").0, 404);
    assert_eq!(service.post("/user/login", None, LOGIN).0, 401);
    fs::remove_file(&switch).unwrap();
    assert_eq!(service.post(PRICE, Some(&key), OPTION).0, 200);
    let log = service.stop();
    assert!(!log.contains("panicked"), "{log}");

    fs::write(&switch, "").unwrap();
    let commands: [&[&str]; 3] = [&["serve"], &["demo"], &["audit"]];
    for command in commands {
        let mut start = wrong(quant_server(data.path()));
        let error = refused(start.args(command));
        assert!(error.contains("before 1970") && error.contains("1969-12-31"), "{error}");
    }
}
