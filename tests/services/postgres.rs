//! PostgreSQL for tests: the server of `TEST_DATABASE_URL`, or a private cluster on a Unix socket.

use std::env;
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::OnceLock;

use sea_orm::{ConnectOptions, ConnectionTrait, Database};
use tokio::sync::OnceCell;

use crate::Cluster;

/// The shell script that runs the cluster and ends it when the script's standard input closes. The
/// input closes however the test process ends.
const SUPERVISOR: &str = r#""$1" -D "$2/data" -k "$2" -c listen_addresses= -c max_connections=200 \
    -c fsync=off -c full_page_writes=off -c synchronous_commit=off -c shared_buffers=64MB &
    cat >/dev/null; kill -QUIT $!; wait $!; rm -rf "$2""#;

/// A database of one test, dropped with this handle.
#[derive(Debug)]
pub struct Postgres {
    name: String,
}

/// The server that creates the databases.
struct Server {
    /// The parts of an address before and after the database's name.
    around: (String, String),
    /// An existing database, from which `CREATE DATABASE` is sent.
    first: String,
    /// True for a cluster that ends with this process, so that a template may stay in it.
    is_private: bool,
}

impl Postgres {
    /// An empty database; `None` where there is no PostgreSQL.
    ///
    /// # Panics
    ///
    /// Panics where PostgreSQL is installed but fails, or is required and not installed.
    pub async fn empty() -> Option<Self> {
        create(server()?, "").await
    }

    /// A database that `prepare` has set up; `None` where there is no PostgreSQL. The first call
    /// makes the template for the whole process.
    ///
    /// # Panics
    ///
    /// Panics where PostgreSQL is installed but fails, or is required and not installed.
    pub async fn prepared(prepare: impl AsyncFnOnce(String)) -> Option<Self> {
        static TEMPLATE: OnceCell<String> = OnceCell::const_new();
        let server = server()?;
        if !server.is_private {
            let database = create(server, "").await?;
            prepare(database.address()).await;
            return Some(database);
        }
        let template = TEMPLATE.get_or_init(|| async {
            let database = Self::empty().await.expect("the server is there");
            prepare(database.address()).await;
            let name = database.name.clone();
            std::mem::forget(database);
            name
        });
        create(server, &format!(" TEMPLATE {}", template.await)).await
    }

    /// The address of the database.
    ///
    /// # Panics
    ///
    /// Never panics: a database implies its server.
    #[must_use]
    pub fn address(&self) -> String {
        server().expect("the server is there").address(&self.name)
    }
}

impl Postgres {
    /// Runs a statement on a connection apart from those of the service.
    ///
    /// # Panics
    ///
    /// Panics where the database refuses the statement.
    pub async fn execute(&self, statement: &str) {
        run(self.address(), statement).await;
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let drop = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        let run = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.expect("a runtime");
            runtime.block_on(execute(server().expect("the server is there"), &drop));
        };
        // A runtime cannot block inside another, so the statement runs on a thread.
        let dropped = std::thread::spawn(run).join();
        assert!(dropped.is_ok() || std::thread::panicking(), "a database was not dropped");
    }
}

impl Server {
    fn address(&self, name: &str) -> String {
        format!("{}/{name}{}", self.around.0, self.around.1)
    }

    /// The server of an address; the database of the address is not changed.
    fn of(address: &str) -> Self {
        let (path, settings) = match address.split_once('?') {
            Some((path, settings)) => (path, format!("?{settings}")),
            None => (address, String::new()),
        };
        let (before, first) = path.rsplit_once('/').expect("an address names a database");
        Self { around: (before.to_owned(), settings), first: first.to_owned(), is_private: false }
    }
}

/// Creates a database.
async fn create(server: &Server, template: &str) -> Option<Postgres> {
    // `RandomState` is seeded by the system, so that names of parallel tests differ.
    let name = format!("quant_test_{:016x}", RandomState::new().hash_one(std::process::id()));
    execute(server, &format!("CREATE DATABASE {name}{template}")).await;
    Some(Postgres { name })
}

async fn execute(server: &Server, statement: &str) {
    run(server.address(&server.first), statement).await;
}

async fn run(address: String, statement: &str) {
    let mut options = ConnectOptions::new(address);
    options.max_connections(1).sqlx_logging(false);
    let connection = Database::connect(options).await.expect("PostgreSQL answers");
    connection.execute_unprepared(statement).await.expect(statement);
    connection.close().await.expect("PostgreSQL lets go");
}

/// The server of this process; `None` where PostgreSQL is not available.
fn server() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    let server = SERVER.get_or_init(|| {
        if let Ok(address) = env::var("TEST_DATABASE_URL") {
            return Some(Server::of(&address));
        }
        let Some(folder) = start() else {
            crate::leave_out("PostgreSQL is not installed, so its half of the tests does not run");
            return None;
        };
        Some(Server {
            around: (
                "postgres://postgres@localhost".to_owned(),
                format!("?host={}", folder.display()),
            ),
            first: "postgres".to_owned(),
            is_private: true,
        })
    });
    server.as_ref()
}

/// Starts a cluster in a new folder and waits until the server is ready; `None` where PostgreSQL is
/// not installed.
fn start() -> Option<PathBuf> {
    let folder = tempfile::Builder::new().prefix("quant-postgres-").tempdir().expect("a folder");
    let cluster = Cluster::make(folder.path())?;
    let folder = folder.keep();
    let mut supervise = cluster.as_nobody("sh");
    supervise.args(["-c", SUPERVISOR, "sh"]).arg(cluster.postgres()).arg(&folder);
    supervise.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut supervisor = supervise.spawn().expect("a shell runs");
    // The pipe stays open until this process ends.
    std::mem::forget(supervisor.stdin.take());
    let mut log = BufReader::new(supervisor.stderr.take().expect("it is piped")).lines();
    let mut said = Vec::new();
    loop {
        let line = log.next().and_then(Result::ok);
        let line = line.unwrap_or_else(|| panic!("PostgreSQL does not start: {said:#?}"));
        if line.contains("ready to accept connections") {
            break;
        }
        said.push(line);
    }
    // An unread log would block the server once the pipe is full.
    std::thread::spawn(move || {
        log.for_each(drop);
        supervisor.wait()
    });
    Some(folder)
}
