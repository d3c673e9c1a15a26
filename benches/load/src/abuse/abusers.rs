//! Clients that misuse the service.

use std::{convert::Infallible, net::SocketAddr, sync::Arc};

use bytes::Bytes;
use futures_util::stream;
use http_body_util::{BodyExt, StreamBody};
use hyper::{body::Frame, client::conn::http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::{net::TcpStream, task::JoinSet};

use crate::{
    client::{Connection, Request},
    target::Failure,
};

/// Clients that misuse the service, until the value is dropped.
#[derive(Default)]
pub(super) struct Abusers(JoinSet<()>);

impl Abusers {
    /// Clients that send the start of a request and then nothing.
    pub(super) async fn silent(
        address: SocketAddr,
        start: &[u8],
        count: usize,
    ) -> Result<Self, Failure> {
        let mut clients = JoinSet::new();
        for _ in 0..count {
            let mut connection = Connection::open(address).await?;
            let start = start.to_vec();
            clients.spawn(async move {
                // Where the service refuses, the client goes on holding its connection.
                let _refused = connection.write(&start).await;
                std::future::pending::<()>().await;
            });
        }
        Ok(Self(clients))
    }

    /// Clients that send requests over and over, each on a new connection.
    pub(super) fn repeated(address: SocketAddr, requests: &[Request], count: usize) -> Self {
        let requests: Arc<[Request]> = requests.into();
        let mut clients = JoinSet::new();
        for client in 0..count {
            let requests = requests.clone();
            clients.spawn(async move {
                for request in requests.iter().cycle().skip(client * requests.len() / count) {
                    let Ok(mut connection) = Connection::open(address).await else { return };
                    // A refusal may close the connection early: the next round opens another.
                    let _refused = connection.send_all(request).await;
                }
            });
        }
        Self(clients)
    }

    /// Clients that send a body without a length over HTTP/2, over and over.
    pub(super) fn of_http2(
        address: SocketAddr,
        path: &'static str,
        key: &str,
        body: &str,
        count: usize,
    ) -> Self {
        let (key, body) = (key.to_owned(), Bytes::copy_from_slice(body.as_bytes()));
        let mut clients = JoinSet::new();
        for _ in 0..count {
            let (key, body) = (key.clone(), body.clone());
            clients.spawn(async move {
                // A refusal ends the stream before its body: the next round opens another connection.
                while http2_call(address, path, &key, body.clone()).await.is_ok() {}
            });
        }
        Self(clients)
    }

    /// Ends all clients.
    pub(super) async fn stop(mut self) {
        self.0.shutdown().await;
    }
}

/// Sends a request over a new connection of HTTP/2, and reads its answer. Only a connection that
/// cannot be opened is an error.
async fn http2_call(
    address: SocketAddr,
    path: &str,
    key: &str,
    body: Bytes,
) -> Result<(), Failure> {
    let stream = TokioIo::new(TcpStream::connect(address).await?);
    let (mut requests, connection) = http2::handshake(TokioExecutor::new(), stream).await?;
    // Aborted with its client, when the set is dropped.
    let mut connections = JoinSet::new();
    connections.spawn(connection);
    let frames = stream::iter([Ok::<_, Infallible>(Frame::data(body))]);
    let request = hyper::Request::post(format!("http://localhost{path}"))
        .header("X-API-Key", key)
        .header("Content-Type", "application/json")
        .body(StreamBody::new(frames))?;
    if let Ok(answer) = requests.send_request(request).await {
        let _broken = answer.into_body().collect().await;
    }
    Ok(())
}
