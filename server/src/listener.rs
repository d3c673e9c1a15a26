//! The server loop: accepts connections and closes those that are too slow.
//!
//! poem's own loop leaves `TCP_NODELAY` off and sets no time limit for the head of a request: a few
//! thousand connections that send one byte a minute would block it for ever.

use std::{
    convert::Infallible,
    future, io,
    net::SocketAddr,
    num::NonZeroUsize,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Waker},
    time::Duration,
};

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
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

/// Longest time for the head of a request, from the answer before on: a connection that is idle for
/// longer is closed too.
const HEAD: Duration = Duration::from_secs(60);
/// Longest time without a byte while a request is read or answered.
const SILENCE: Duration = Duration::from_secs(75);
/// Time between two pings of an HTTP/2 connection.
const PING: Duration = Duration::from_secs(20);
/// The largest head of a request, in bytes.
const LARGEST_HEAD: usize = 64 * 1024;
/// Time to wait after a connection that could not be accepted.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// The limit of open connections, and their counter.
pub struct ConnectionLimits {
    /// Largest number of open connections; more wait to be accepted.
    pub connections: NonZeroUsize,
    /// The gauge in which open connections are counted.
    pub open: IntGauge,
}

/// Accepts connections until `stop`, and returns those that are still open.
pub async fn accept_until<E>(
    listener: &TcpListener,
    endpoint: E,
    limits: ConnectionLimits,
    stop: impl Future<Output = ()>,
) -> GracefulShutdown
where
    E: Endpoint<Output = Response> + 'static,
{
    let endpoint = Arc::new(endpoint);
    let slots = Arc::new(Semaphore::new(limits.connections.get().min(Semaphore::MAX_PERMITS)));
    let open = GracefulShutdown::new();
    let server = server();
    tokio::pin!(stop);
    loop {
        let (stream, addresses, slot) = tokio::select! {
            () = &mut stop => return open,
            accepted = accept(listener, &slots) => match accepted {
                Some(accepted) => accepted,
                None => continue,
            },
        };
        let service = {
            let endpoint = endpoint.clone();
            service_fn(move |request| answer(endpoint.clone(), request, addresses))
        };
        let connection = server.serve_connection(TokioIo::new(timed(stream)), service);
        let connection = open.watch(connection.into_owned());
        let counted = Counted::one_more(&limits.open, slot);
        tokio::spawn(async move {
            let _counted = counted;
            if let Err(error) = connection.await {
                tracing::debug!(%error, remote = %addresses.remote, "a connection broke off");
            }
        });
    }
}

/// Lets this thread serve connections also when the clock of the system shows a time before 1970.
///
/// hyper keeps a date per thread and formats it with the thread's first connection, also where the
/// header `Date` is off, and before 1970 that panics. So a connection without a byte is served here,
/// while the clock is right.
pub fn prepare_thread() {
    let service =
        service_fn(|_| future::ready(Ok::<_, Infallible>(hyper::Response::new(String::new()))));
    let connection =
        pin!(http1::Builder::new().serve_connection(TokioIo::new(tokio::io::empty()), service));
    let ended = connection.poll(&mut Context::from_waker(Waker::noop()));
    debug_assert!(ended.is_ready(), "a connection without a byte ends at once");
}

fn server() -> auto::Builder<TokioExecutor> {
    let mut server = auto::Builder::new(TokioExecutor::new());
    // The pipeline writes the header `Date`: hyper's panics before 1970.
    server
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(LARGEST_HEAD)
        .auto_date_header(false);
    server
        .http2()
        .timer(TokioTimer::new())
        .auto_date_header(false)
        .keep_alive_interval(PING)
        .keep_alive_timeout(PING)
        .max_concurrent_streams(200);
    server
}

/// Accepts the next connection, once the limit allows one more.
async fn accept(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
) -> Option<(TcpStream, Addresses, OwnedSemaphorePermit)> {
    let slot = slots.clone().acquire_owned().await.ok()?;
    let accepted = listener.accept().await.and_then(|(stream, remote)| {
        stream.set_nodelay(true)?;
        let local = stream.local_addr()?;
        Ok((stream, Addresses { local, remote }))
    });
    match accepted {
        Ok((stream, addresses)) => Some((stream, addresses, slot)),
        Err(error) => {
            tracing::error!(%error, "a connection was not accepted");
            // Out of file handles, for one: another call of accept() would fail at once again.
            tokio::time::sleep(ACCEPT_RETRY).await;
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
    addresses: Addresses,
) -> Result<hyper::Response<BoxBody<Bytes, io::Error>>, Infallible> {
    let local = LocalAddr(Addr::SocketAddr(addresses.local));
    let remote = RemoteAddr(Addr::SocketAddr(addresses.remote));
    let request = (request, local, remote, Scheme::HTTP).into();
    Ok(endpoint.get_response(request).await.into())
}

/// The two network addresses of a connection.
#[derive(Clone, Copy, Debug)]
struct Addresses {
    /// The address that the client has connected to, also where the listener has all of them.
    local: SocketAddr,
    remote: SocketAddr,
}

/// An open connection, counted until it ends.
struct Counted {
    open: IntGauge,
    _slot: OwnedSemaphorePermit,
}

impl Counted {
    fn one_more(open: &IntGauge, slot: OwnedSemaphorePermit) -> Self {
        open.inc();
        Self { open: open.clone(), _slot: slot }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.open.dec();
    }
}
