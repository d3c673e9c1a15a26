//! The server loop: prompt answers, slow clients bounded, a drain in order.
//!
//! poem's own loop leaves `TCP_NODELAY` off and gives the head of a request all the time in the
//! world, so that a few thousand connections that send a byte a minute hold it up for ever.

use std::{
    convert::Infallible, io, net::SocketAddr, num::NonZeroUsize, pin::Pin, sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto, graceful::GracefulShutdown},
};
use poem::{
    Addr, Endpoint, Response,
    http::uri::Scheme,
    web::{LocalAddr, RemoteAddr},
};
use prometheus::IntGauge;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_io_timeout::TimeoutStream;

/// How long the head of a request may take, from the moment the one before was answered: a
/// connection that rests for longer is closed too.
const HEAD: Duration = Duration::from_secs(60);
/// How long a connection may be silent while a request is read or answered.
const SILENCE: Duration = Duration::from_secs(75);
/// How often a connection of HTTP/2 is asked whether it still lives.
const PING: Duration = Duration::from_secs(20);
/// The largest head of a request, in bytes.
const LARGEST_HEAD: usize = 64 * 1024;
/// How long to wait after a connection that could not be accepted.
const BREATHER: Duration = Duration::from_millis(100);
/// How long running requests may take once the service is told to stop.
const DRAIN: Duration = Duration::from_secs(30);

/// What the loop needs beside the endpoint.
pub struct Limits {
    /// How many connections are open at once at most; more wait to be accepted.
    pub connections: NonZeroUsize,
    /// Where open connections are counted.
    pub open: IntGauge,
}

/// Serves until `stop`, then lets what runs be answered.
///
/// # Errors
///
/// Where the address of the listener cannot be told.
pub async fn serve<E>(
    listener: TcpListener,
    endpoint: E,
    limits: Limits,
    stop: impl Future<Output = ()>,
) -> io::Result<()>
where
    E: Endpoint<Output = Response> + 'static,
{
    let local = listener.local_addr()?;
    let endpoint = Arc::new(endpoint);
    let places = Arc::new(Semaphore::new(limits.connections.get().min(Semaphore::MAX_PERMITS)));
    let open = GracefulShutdown::new();
    let server = server();
    tokio::pin!(stop);
    loop {
        let (stream, remote, place) = tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listener, &places) => match accepted {
                Some(accepted) => accepted,
                None => continue,
            },
        };
        let service = {
            let endpoint = endpoint.clone();
            service_fn(move |request| answer(endpoint.clone(), request, local, remote))
        };
        let connection = server.serve_connection(TokioIo::new(timed(stream)), service);
        let connection = open.watch(connection.into_owned());
        let counted = Counted::one_more(&limits.open, place);
        tokio::spawn(async move {
            let _counted = counted;
            if let Err(error) = connection.await {
                tracing::debug!(%error, %remote, "a connection broke off");
            }
        });
    }
    // Whoever comes from here on is refused by the system.
    drop(listener);
    if tokio::time::timeout(DRAIN, open.shutdown()).await.is_err() {
        tracing::warn!("some requests ran for too long and are not answered");
    }
    Ok(())
}

fn server() -> auto::Builder<TokioExecutor> {
    let mut server = auto::Builder::new(TokioExecutor::new());
    server.http1().timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(LARGEST_HEAD);
    server
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING)
        .keep_alive_timeout(PING)
        .max_concurrent_streams(200);
    server
}

/// The next connection, once there is a place for it.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> Option<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let place = places.clone().acquire_owned().await.ok()?;
    let accepted = listener.accept().await.and_then(|(stream, remote)| {
        stream.set_nodelay(true)?;
        Ok((stream, remote))
    });
    match accepted {
        Ok((stream, remote)) => Some((stream, remote, place)),
        Err(error) => {
            tracing::error!(%error, "a connection was not accepted");
            // Out of file handles, say: trying again at once would only heat the room.
            tokio::time::sleep(BREATHER).await;
            None
        }
    }
}

fn timed(stream: TcpStream) -> Pin<Box<TimeoutStream<TcpStream>>> {
    let mut stream = TimeoutStream::new(stream);
    stream.set_read_timeout(Some(SILENCE));
    stream.set_write_timeout(Some(SILENCE));
    Box::pin(stream)
}

async fn answer<E: Endpoint<Output = Response>>(
    endpoint: Arc<E>,
    request: hyper::Request<Incoming>,
    local: SocketAddr,
    remote: SocketAddr,
) -> Result<hyper::Response<BoxBody<Bytes, io::Error>>, Infallible> {
    let local = LocalAddr(Addr::SocketAddr(local));
    let remote = RemoteAddr(Addr::SocketAddr(remote));
    let request = (request, local, remote, Scheme::HTTP).into();
    Ok(endpoint.get_response(request).await.into())
}

/// An open connection, counted until it ends.
struct Counted {
    open: IntGauge,
    _place: OwnedSemaphorePermit,
}

impl Counted {
    fn one_more(open: &IntGauge, place: OwnedSemaphorePermit) -> Self {
        open.inc();
        Self { open: open.clone(), _place: place }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.open.dec();
    }
}
