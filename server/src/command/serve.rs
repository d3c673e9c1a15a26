//! `quant-server serve`.

use std::{net::SocketAddr, time::Duration};

use poem::Server;
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
};

use super::Failure;
use crate::{
    app::App,
    clock::Clock,
    config::{Config, MailRoute, ServeArgs},
    document::VERSION,
    listener::PromptListener,
};

/// How long running requests may take once the service is told to stop.
const DRAIN: Duration = Duration::from_secs(30);

pub(super) async fn run(args: &ServeArgs) -> Result<(), Failure> {
    let config = args.check()?;
    let listener = bind(config.bind).await?;
    let app = App::start(&config, Clock::system()).await?;
    let address = listener.local_addr()?;
    print!("{}", banner(&config, address));
    serve(app, listener).await
}

/// Takes the address, with a word on what to do where another program has it.
pub(super) async fn bind(address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| {
        format!(
            "cannot listen on {address}: {error}. Choose another address with --bind, or let \
             --bind 127.0.0.1:0 find a free port."
        )
        .into()
    })
}

/// Serves until told to stop; then answers what runs, writes out the ledger and returns.
pub(super) async fn serve(app: App, listener: TcpListener) -> Result<(), Failure> {
    let address = listener.local_addr()?;
    let endpoint = app.endpoint();
    let stopped = stop_signal()?;
    println!("listening on http://{address}");
    Server::new_with_acceptor(PromptListener(listener))
        .run_with_graceful_shutdown(endpoint, stopped, Some(DRAIN))
        .await?;
    app.close().await;
    Ok(())
}

fn stop_signal() -> Result<impl Future<Output = ()>, Failure> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("told to stop: answering what runs");
    })
}

fn banner(config: &Config, address: SocketAddr) -> String {
    let url = config.public_url.clone().unwrap_or_else(|| format!("http://{address}"));
    let mail = match &config.mail {
        MailRoute::Smtp(_) => format!("by SMTP, from {}", config.mail_from),
        MailRoute::Folder(path) => {
            format!("written to {}/ (no mail server: set QS_SMTP_URL)", path.display())
        }
    };
    let database = match config.storage.database_url.strip_prefix("sqlite://") {
        Some(path) => path.to_owned(),
        // The address of a database server may hold its password.
        None => "a database server".to_owned(),
    };
    format!(
        "quant-server {VERSION}\n  \
         reference   {url}/docs\n  \
         document    {url}/openapi.json\n  \
         data        {database}\n  \
         master key  {}\n  \
         letters     {mail}\n",
        config.storage.master_key_file.display(),
    )
}
