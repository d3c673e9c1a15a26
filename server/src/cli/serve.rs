//! `quant-server serve`.

use std::{net::SocketAddr, num::NonZeroUsize};

use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
};

use super::command_error::CommandError;
use crate::{
    api::openapi::VERSION,
    app::App,
    clock::Clock,
    config::{Config, MailRoute, ServeArgs},
    listener::ConnectionLimits,
    shutdown,
};

/// File handles beside those of connections: the database, mail, the log.
const OTHER_HANDLES: u64 = 256;

pub(super) async fn run(args: &ServeArgs) -> Result<(), CommandError> {
    let mut config = args.check()?;
    let listener = bind(config.bind).await?;
    let address = listener.local_addr()?;
    config.bound_to(address);
    let app = App::start(&config, Clock::system()).await?;
    print!("{}", banner(&config, address));
    serve(app, &config, listener).await
}

/// Binds the address; the error names two ways out where another program has bound it.
pub(super) async fn bind(address: SocketAddr) -> Result<TcpListener, CommandError> {
    TcpListener::bind(address).await.map_err(|error| {
        format!(
            "cannot listen on {address}: {error}. Choose another address with --bind, or let \
             --bind 127.0.0.1:0 find a free port."
        )
        .into()
    })
}

/// Serves until SIGTERM or SIGINT, and shuts down in the order that [`shutdown`] lists.
pub(super) async fn serve(
    app: App,
    config: &Config,
    listener: TcpListener,
) -> Result<(), CommandError> {
    let address = listener.local_addr()?;
    let (endpoint, service, signal) = (app.endpoint(), app.service().clone(), stop_signal()?);
    let open = service.metrics.connections.clone();
    let limits = ConnectionLimits { connections: file_handles(config.connections), open };
    println!("listening on http://{address}");
    shutdown::serve(listener, endpoint, limits, service, signal, config.drain_delay).await;
    app.close().await;
    Ok(())
}

/// Raises the limit of file handles, and returns the number of connections that the limit allows. A
/// connection takes one handle, and the database must always be able to open its files.
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

fn stop_signal() -> Result<impl Future<Output = ()>, CommandError> {
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
    let url = config.service.public_url.clone().unwrap_or_else(|| format!("http://{address}"));
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
         e-mails     {mail}\n",
        config.storage.master_key_file.display(),
    )
}
