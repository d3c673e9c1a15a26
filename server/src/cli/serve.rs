//! `quant-server serve`.

use std::{net::SocketAddr, num::NonZeroUsize};

use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
};

use super::Failure;
use crate::{
    api::openapi::VERSION,
    app::App,
    clock::Clock,
    config::{Config, MailRoute, ServeArgs},
    listener::{self, Limits},
};

/// File handles that are no client's: the database, mail, the log.
const OTHER_HANDLES: u64 = 256;

pub(super) async fn run(args: &ServeArgs) -> Result<(), Failure> {
    let mut config = args.check()?;
    let listener = bind(config.bind).await?;
    let address = listener.local_addr()?;
    config.bound_to(address);
    let app = App::start(&config, Clock::system()).await?;
    print!("{}", banner(&config, address));
    serve(app, &config, listener).await
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

/// Serves until told to stop. Then probes are told first, new connections end, what runs is
/// answered, the ledger is written out.
pub(super) async fn serve(app: App, config: &Config, listener: TcpListener) -> Result<(), Failure> {
    let address = listener.local_addr()?;
    let endpoint = app.endpoint();
    let signal = stop_signal()?;
    let service = app.service().clone();
    let delay = config.drain_delay;
    let stop = async move {
        signal.await;
        service.drain();
        tokio::time::sleep(delay).await;
    };
    let open = app.service().metrics.connections.clone();
    let limits = Limits { connections: file_handles(config.connections), open };
    println!("listening on http://{address}");
    listener::serve(listener, endpoint, limits, stop).await?;
    app.close().await;
    Ok(())
}

/// Every connection takes a file handle: as many as the system allows are asked for, and no more
/// connections are taken than there are handles, so that the database can always open its files.
fn file_handles(connections: NonZeroUsize) -> NonZeroUsize {
    let wanted = connections.get() as u64 + OTHER_HANDLES;
    match rlimit::increase_nofile_limit(wanted) {
        Ok(allowed) if allowed < wanted => {
            let least = NonZeroUsize::MIN;
            let left = usize::try_from(allowed.saturating_sub(OTHER_HANDLES)).unwrap_or(0);
            let left = NonZeroUsize::new(left).unwrap_or(least);
            tracing::warn!(allowed, connections = left, "the system allows few file handles");
            left
        }
        Ok(_) => connections,
        Err(error) => {
            tracing::warn!(%error, "the limit of file handles cannot be raised");
            connections
        }
    }
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
