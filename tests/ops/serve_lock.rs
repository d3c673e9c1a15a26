//! One service serves a SQLite database; the operator's commands work beside it.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
};

use account_core::Tier;
use quant_server::{
    app::{self, App, StartError},
    clock::Clock,
    config::{Config, MigrateChoice},
    store::{self, OpenError},
};
use quant_tests::{config, email};
use tempfile::TempDir;

/// The variable that makes this program the service of another test.
const SERVED: &str = "QUANT_TEST_SERVED_FOLDER";

async fn start(config: &Config) -> Result<App, StartError> {
    App::start(config, Clock::system()).await
}

fn assert_refused(second: Result<App, StartError>, folder: &Path) {
    let Err(refusal) = second else { panic!("a second service has started") };
    assert!(matches!(refusal, StartError::Store(OpenError::Served { .. })), "{refusal}");
    let text = refusal.to_string();
    for part in [&folder.join("quant.db").display().to_string(), "quant.db.lock", "--data-dir"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[tokio::test]
async fn a_second_service_on_one_sqlite_file_is_refused() {
    let folder = TempDir::new().expect("a folder");
    let config = config(&folder);
    let first = start(&config).await.expect("fresh data");

    assert_refused(start(&config).await, folder.path());

    first.service().accounts.store().ping().await.expect("the first one goes on");
    first.close().await;
    start(&config).await.expect("the first one has ended").close().await;
}

#[tokio::test]
async fn the_operators_commands_work_beside_the_service() {
    let folder = TempDir::new().expect("a folder");
    let config = config(&folder);
    let service = start(&config).await.expect("fresh data");

    let opened = app::open(&config.storage, MigrateChoice::Refuse).await.expect("it is there");
    let now = Clock::system().now();
    let account = account_core::NewAccount {
        email: email("ada"),
        username: account_core::Username::parse("ada").expect("a name"),
        password: None,
        tier: Tier::Pro,
        credits: None,
        hourly_limit: None,
        is_admin: false,
    };
    opened.accounts.create_account(account, now).await.expect("a new account");
    opened.accounts.grant(&email("ada"), 5, now).await.expect("an account");
    assert!(opened.accounts.audit().await.expect("the store answers").holds());
    let copy = folder.path().join("copy.db");
    store::back_up(&config.storage.database_url, &copy).await.expect("a backup");
    assert!(copy.exists());
    opened.store.close().await;

    service.close().await;
}

#[tokio::test]
#[ignore = "the process that a_killed_service_leaves_its_database_to_the_next_one starts and kills"]
async fn a_service_that_ends_by_a_signal() {
    let Some(folder) = std::env::var_os(SERVED) else { return };
    let mut config = config(&TempDir::new().expect("a folder"));
    config.storage.data_dir = folder.clone().into();
    config.storage.database_url =
        quant_server::config::sqlite_url(&Path::new(&folder).join("quant.db"));
    config.storage.master_key_file = Path::new(&folder).join("master.key");
    let _service = start(&config).await.expect("fresh data");
    println!("\nserving");
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn a_killed_service_leaves_its_database_to_the_next_one() {
    let folder = TempDir::new().expect("a folder");
    let config = config(&folder);
    let this_program = std::env::current_exe().expect("the path of this program");
    let mut service = Command::new(this_program)
        .args(["--exact", "ops::serve_lock::a_service_that_ends_by_a_signal"])
        .args(["--ignored", "--nocapture"])
        .env(SERVED, folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process");
    let lines = BufReader::new(service.stdout.take().expect("a pipe")).lines();
    let is_serving = lines.map_while(Result::ok).any(|line| line == "serving");
    let second = start(&config).await;

    service.kill().expect("SIGKILL");
    service.wait().expect("its end");

    assert!(is_serving, "the service has started");
    assert_refused(second, folder.path());
    start(&config).await.expect("the lock ended with the process").close().await;
}
