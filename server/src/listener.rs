//! A TCP listener that sends small answers at once.

use std::io;

use poem::{
    Addr,
    http::uri::Scheme,
    listener::Acceptor,
    web::{LocalAddr, RemoteAddr},
};
use tokio::net::{TcpListener, TcpStream};

/// Accepts connections with `TCP_NODELAY`, which poem's own listener leaves off.
pub struct PromptListener(pub TcpListener);

impl Acceptor for PromptListener {
    type Io = TcpStream;

    fn local_addr(&self) -> Vec<LocalAddr> {
        let address = self.0.local_addr().map(|address| LocalAddr(Addr::SocketAddr(address)));
        address.into_iter().collect()
    }

    async fn accept(&mut self) -> io::Result<(TcpStream, LocalAddr, RemoteAddr, Scheme)> {
        let (stream, remote) = self.0.accept().await?;
        stream.set_nodelay(true)?;
        let local = LocalAddr(Addr::SocketAddr(stream.local_addr()?));
        Ok((stream, local, RemoteAddr(Addr::SocketAddr(remote)), Scheme::HTTP))
    }
}
