//! A TCP listener that sends small answers at once.

use std::{io, pin::Pin, time::Duration};

use poem::{
    Addr,
    http::uri::Scheme,
    listener::Acceptor,
    web::{LocalAddr, RemoteAddr},
};
use tokio::net::{TcpListener, TcpStream};
use tokio_io_timeout::TimeoutStream;

/// How long a connection may be silent, within a request or between two.
const SILENCE: Duration = Duration::from_secs(75);
/// How long to wait after a connection that could not be accepted.
const BREATHER: Duration = Duration::from_millis(100);

/// Accepts connections with `TCP_NODELAY`, which poem's own listener leaves off.
pub struct PromptListener(pub TcpListener);

impl Acceptor for PromptListener {
    type Io = Pin<Box<TimeoutStream<TcpStream>>>;

    fn local_addr(&self) -> Vec<LocalAddr> {
        let address = self.0.local_addr().map(|address| LocalAddr(Addr::SocketAddr(address)));
        address.into_iter().collect()
    }

    async fn accept(&mut self) -> io::Result<(Self::Io, LocalAddr, RemoteAddr, Scheme)> {
        let (stream, remote) = match self.0.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::error!(%error, "a connection was not accepted");
                // Out of file handles, say: trying again at once would only heat the room.
                tokio::time::sleep(BREATHER).await;
                return Err(error);
            }
        };
        stream.set_nodelay(true)?;
        let local = LocalAddr(Addr::SocketAddr(stream.local_addr()?));
        let mut stream = TimeoutStream::new(stream);
        stream.set_read_timeout(Some(SILENCE));
        stream.set_write_timeout(Some(SILENCE));
        Ok((Box::pin(stream), local, RemoteAddr(Addr::SocketAddr(remote)), Scheme::HTTP))
    }
}
