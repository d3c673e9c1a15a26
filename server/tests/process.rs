//! The program `quant-server` as a process: its start, its log, its metrics, its shutdown.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::Path,
    process::{Child, ChildStderr, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex},
};

use tempfile::TempDir;

const OPTION: &str = r#"{"spot": 42, "strike": 40, "risk_free_rate": 0.1, "volatility": 0.2, "time_to_maturity": 0.5}"#;

fn quant_server(data: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quant-server"));
    command.env_clear().env("QS_DATA_DIR", data).env("QS_BIND", "127.0.0.1:0");
    command
}

/// Creates a verified account and returns its API key.
fn account(data: &Path) -> String {
    let mut command = quant_server(data);
    command.args(["account", "create", "--email", "ada@example.com", "--username", "ada"]);
    let output = command.args(["--tier", "pro", "--credits", "100"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let key = text.lines().find_map(|line| line.strip_prefix("API key: "));
    key.expect("a key").to_owned()
}

/// A running service.
struct Running {
    process: Child,
    address: SocketAddr,
}

impl Running {
    fn start(command: &mut Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let address = lines.find_map(|line| {
            line.unwrap()
                .strip_prefix("listening on http://")
                .map(|address| address.parse().unwrap())
        });
        Self { process, address: address.expect("it listens") }
    }

    fn connect(&self) -> Client {
        let stream = TcpStream::connect(self.address).unwrap();
        Client { reader: BufReader::new(stream.try_clone().unwrap()), stream }
    }

    fn signal(&self, name: &str) {
        let process = self.process.id().to_string();
        assert!(Command::new("kill").args([name, &process]).status().unwrap().success());
    }

    fn stopped(mut self) -> (ExitStatus, String) {
        let status = self.process.wait().unwrap();
        let mut log = String::new();
        let stderr: Option<ChildStderr> = self.process.stderr.take();
        stderr.unwrap().read_to_string(&mut log).unwrap();
        (status, log)
    }
}

/// A keep-alive connection.
struct Client {
    stream: TcpStream,
    reader: BufReader<TcpStream>,
}

impl Client {
    fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).unwrap();
    }

    /// The status and the body of the next answer; `None` on a closed connection.
    fn answer(&mut self) -> Option<(u16, String)> {
        let mut line = String::new();
        if self.reader.read_line(&mut line).unwrap_or(0) == 0 {
            return None;
        }
        let status = line.split(' ').nth(1).unwrap().parse().unwrap();
        let mut length = 0;
        loop {
            line.clear();
            self.reader.read_line(&mut line).unwrap();
            let line = line.trim().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(text) = line.strip_prefix("content-length: ") {
                length = text.parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body).unwrap();
        Some((status, String::from_utf8(body).unwrap()))
    }

    fn get(&mut self, path: &str) -> Option<(u16, String)> {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        self.answer()
    }
}

fn price(key: &str, body_length: usize) -> String {
    format!(
        "POST /quantlib/pricing/bs/price?secret=42 HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {key}\r\n\
         X-Request-Id: order-17\r\nContent-Type: application/json\r\n\
         Content-Length: {body_length}\r\n\r\n"
    )
}

#[test]
fn sigterm_fails_readiness_answers_running_requests_and_writes_the_ledger() {
    let data = TempDir::new().unwrap();
    let key = account(data.path());
    let service = Running::start(quant_server(data.path()).env("QS_DRAIN_DELAY", "1"));
    let (mut probe, mut client) = (service.connect(), service.connect());
    assert_eq!(probe.get("/ready").unwrap().0, 200);
    // A running request: its head and half of its body have arrived.
    let (first, second) = OPTION.split_at(OPTION.len() / 2);
    client.send(&price(&key, OPTION.len()));
    client.send(first);

    service.signal("-TERM");

    // First the readiness probe fails, while new connections are still served.
    let told = loop {
        match probe.get("/ready").unwrap() {
            (200, _) => {}
            told => break told,
        }
    };
    assert_eq!(told.0, 503);
    assert!(told.1.contains("The service is stopping."), "{}", told.1);
    assert_eq!(service.connect().get("/health").unwrap().0, 200);
    // Then idle connections are closed, and new connections are refused.
    while probe.get("/health").is_some() {}
    assert!(TcpStream::connect(service.address).is_err(), "no new connections");
    // The running request is answered and charged.
    client.send(second);
    assert_eq!(client.answer().unwrap().0, 200);
    let (status, log) = service.stopped();
    assert!(status.success(), "{status}: {log}");
    let audit = quant_server(data.path()).arg("audit").output().unwrap();
    assert!(audit.status.success(), "{audit:?}");
    let again = Running::start(&mut quant_server(data.path()));
    let mut client = again.connect();
    client.send(&format!("GET /user/profile HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\n\r\n"));
    let profile = client.answer().unwrap().1;
    assert!(profile.contains(r#""credit_balance":95"#), "{profile}");
    again.signal("-TERM");
    assert!(again.stopped().0.success());
}

#[test]
fn the_log_has_a_line_for_each_request_and_no_secret() {
    let data = TempDir::new().unwrap();
    let key = account(data.path());
    let service = Running::start(quant_server(data.path()).env("QS_LOG", "json"));
    let mut client = service.connect();
    client.send(&price(&key, OPTION.len()));
    client.send(OPTION);
    assert_eq!(client.answer().unwrap().0, 200);
    assert_eq!(client.get("/nowhere/42?token=hush").unwrap().0, 404);
    service.signal("-TERM");
    let (status, log) = service.stopped();

    assert!(status.success());
    let line = |method: &str| {
        let found = log.lines().find(|line| line.contains(&format!(r#""method":"{method}""#)));
        found.unwrap_or_else(|| panic!("no line of {method}: {log}"))
    };
    let paid = line("POST");
    for part in [
        r#""target":"quant_server::access""#,
        r#""route":"/quantlib/pricing/bs/price""#,
        r#""status":200"#,
        r#""caller":"account:"#,
        r#""client_request_id":"order-17""#,
        r#""credits":5"#,
        r#""request_id":""#,
        r#""duration_us":"#,
    ] {
        assert!(paid.contains(part), "{part}: {paid}");
    }
    assert!(line("GET").contains(r#""status":404"#));
    for secret in ["secret", "hush", "/nowhere", key.as_str()] {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
}

#[test]
fn the_metrics_are_served_on_the_loopback_only() {
    let data = TempDir::new().unwrap();
    let key = account(data.path());
    let service = Running::start(&mut quant_server(data.path()));
    let mut client = service.connect();
    client.send(&price(&key, OPTION.len()));
    client.send(OPTION);
    assert_eq!(client.answer().unwrap().0, 200);

    let (status, text) = client.get("/metrics").unwrap();

    assert_eq!(status, 200);
    for line in [
        r#"http_server_request_duration_seconds_count{method="POST",route="/quantlib/pricing/bs/price",status="2xx"} 1"#,
        "quant_debits_total 1",
        "quant_credits_taken_total 5",
        "quant_ledger_batch_entries_count 1",
        "quant_ledger_queue_entries 0",
        "http_server_connections 1",
        "quant_store_up 1",
        r#"quant_store_connections{pool="writer",state="open"} 1"#,
        r#"quant_outbox_messages{state="waiting"} 0"#,
    ] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
    #[cfg(target_os = "linux")]
    for name in ["process_resident_memory_bytes ", "process_open_fds "] {
        assert!(text.contains(name), "{name}: {text}");
    }
    client.send("GET /metrics HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n");
    assert_eq!(client.answer().unwrap().0, 404, "a proxy speaks for others");
    service.signal("-TERM");
    service.stopped();
}

#[test]
fn a_backup_beside_a_running_service_is_a_database_of_its_own() {
    let data = TempDir::new().unwrap();
    account(data.path());
    let service = Running::start(&mut quant_server(data.path()));
    let copy = data.path().join("copy.db");

    let output = quant_server(data.path()).arg("backup").arg(&copy).output().unwrap();

    assert!(output.status.success(), "{output:?}");
    let address = format!("sqlite://{}", copy.display());
    let audit =
        quant_server(data.path()).env("DATABASE_URL", address).arg("audit").output().unwrap();
    let said = String::from_utf8(audit.stdout).unwrap();
    assert!(said.starts_with("1 accounts"), "{said}");
    let twice = quant_server(data.path()).arg("backup").arg(&copy).output().unwrap();
    assert!(!twice.status.success(), "a copy is never overwritten");
    service.signal("-TERM");
    service.stopped();
}

/// Receives one export of spans, and answers it once it is stored.
fn receive(listener: &TcpListener, exports: &Mutex<Vec<u8>>) {
    let (mut stream, _) = listener.accept().unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut head, mut length) = (String::new(), 0);
    while !head.ends_with("\r\n\r\n") {
        let start = head.len();
        reader.read_line(&mut head).unwrap();
        let line = head[start..].to_ascii_lowercase();
        if let Some(text) = line.strip_prefix("content-length: ") {
            length = text.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    exports.lock().unwrap().extend([head.as_bytes(), &body].concat());
    let answer = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    stream.write_all(answer).unwrap();
}

#[test]
fn spans_of_a_call_reach_the_collector_without_its_secrets() {
    let data = TempDir::new().unwrap();
    let key = account(data.path());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let collector = format!("http://{}", listener.local_addr().unwrap());
    let exports = Arc::new(Mutex::new(Vec::new()));
    let received = exports.clone();
    std::thread::spawn(move || {
        loop {
            receive(&listener, &received);
        }
    });
    let service =
        Running::start(quant_server(data.path()).env("OTEL_EXPORTER_OTLP_ENDPOINT", collector));
    let mut client = service.connect();
    client.send(&price(&key, OPTION.len()));
    client.send(OPTION);
    assert_eq!(client.answer().unwrap().0, 200);
    service.signal("-TERM");
    // The process ends after its last export, and the start has spans of its own.
    let (status, _) = service.stopped();
    assert!(status.success());
    let export = String::from_utf8_lossy(&exports.lock().unwrap()).into_owned();
    assert!(export.starts_with("POST /v1/traces"), "{export}");
    for text in ["quant-server", "POST /quantlib/pricing/bs/price", "compute", "charge"] {
        assert!(export.contains(text), "{text}: {export}");
    }
    assert!(!export.contains(&key) && !export.contains("secret=42"), "{export}");
}
