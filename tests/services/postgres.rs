//! PostgreSQL: the one that `TEST_DATABASE_URL` names, or a private cluster on a Unix socket.

use std::env;
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::OnceLock;

use sea_orm::{ConnectOptions, ConnectionTrait, Database};
use tokio::sync::OnceCell;

use crate::Cluster;

/// Ends the cluster when its standard input closes, which it does however the tests end.
const SUPERVISOR: &str = r#""$1" -D "$2/data" -k "$2" -c listen_addresses= -c max_connections=200 \
    -c fsync=off -c full_page_writes=off -c synchronous_commit=off -c shared_buffers=64MB &
    cat >/dev/null; kill -QUIT $!; wait $!; rm -rf "$2""#;

/// A database of a test's own, dropped with this handle.
#[derive(Debug)]
pub struct Postgres {
    name: String,
}

/// Where databases are made.
struct Server {
    /// What stands before and after a database's name in an address.
    around: (String, String),
    /// The database that is there before any is made.
    first: String,
    /// Whether it goes with this process, so that a template may be left in it.
    is_private: bool,
}

impl Postgres {
    /// An empty database; `None` where there is no PostgreSQL.
    ///
    /// # Panics
    ///
    /// Where PostgreSQL is there but refuses, or is required and not there.
    pub async fn empty() -> Option<Self> {
        create(server()?, "").await
    }

    /// A database as `prepare` leaves it; `None` where there is no PostgreSQL. The first call
    /// prepares for all of the process.
    ///
    /// # Panics
    ///
    /// Where PostgreSQL is there but refuses, or is required and not there.
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

    /// Where it is reached.
    ///
    /// # Panics
    ///
    /// Never: who has a database has its server.
    #[must_use]
    pub fn address(&self) -> String {
        server().expect("the server is there").address(&self.name)
    }
}

impl Postgres {
    /// Runs a statement behind the back of whoever uses the database.
    ///
    /// # Panics
    ///
    /// Where the database refuses.
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
        // A runtime cannot be waited for inside another: a thread can.
        let dropped = std::thread::spawn(run).join();
        assert!(dropped.is_ok() || std::thread::panicking(), "a database was not dropped");
    }
}

impl Server {
    fn address(&self, name: &str) -> String {
        format!("{}/{name}{}", self.around.0, self.around.1)
    }

    /// The server of an address, whose database stays as it is.
    fn of(address: &str) -> Self {
        let (path, settings) = match address.split_once('?') {
            Some((path, settings)) => (path, format!("?{settings}")),
            None => (address, String::new()),
        };
        let (before, first) = path.rsplit_once('/').expect("an address names a database");
        Self { around: (before.to_owned(), settings), first: first.to_owned(), is_private: false }
    }
}

/// Makes a database.
async fn create(server: &Server, template: &str) -> Option<Postgres> {
    // Seeded by the system, so that no two tests on one server meet.
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

/// The server of this process; `None` where there is none to be had.
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

/// Starts a cluster in a folder of its own, and waits until it answers; `None` where PostgreSQL is
/// not installed.
fn start() -> Option<PathBuf> {
    let folder = tempfile::Builder::new().prefix("quant-postgres-").tempdir().expect("a folder");
    let cluster = Cluster::make(folder.path())?;
    let folder = folder.keep();
    let mut supervise = cluster.as_nobody("sh");
    supervise.args(["-c", SUPERVISOR, "sh"]).arg(cluster.postgres()).arg(&folder);
    supervise.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut supervisor = supervise.spawn().expect("a shell runs");
    // Never closed, but by the end of this process.
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
    // What is not read would stop the server once the pipe is full.
    std::thread::spawn(move || {
        log.for_each(drop);
        supervisor.wait()
    });
    Some(folder)
}
