//! A client of HTTP/1.1 that keeps its connection and parses only the parts of an answer that the
//! runs need.

use std::{io, net::SocketAddr};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// A request in its encoded form.
#[derive(Clone)]
pub(crate) struct Request(pub(crate) Vec<u8>);

/// The parsed parts of an answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The number of the call, by which its usage row is found.
    pub(crate) number: Option<u128>,
    pub(crate) is_replayed: bool,
}

/// The body of the measured call.
pub(crate) const OPTION: &str = r#"{"spot":100.0,"strike":105.0,"risk_free_rate":0.05,"volatility":0.25,"time_to_maturity":1.0,"option_type":"call"}"#;
pub(crate) const PRICE: &str = "/quantlib/pricing/bs/price";

impl Request {
    pub(crate) fn get(path: &str) -> Self {
        Self(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").into())
    }

    /// Makes a metered, durable call.
    pub(crate) fn price(key: &str, once: Option<&str>) -> Self {
        let once = once.map_or(String::new(), |once| format!("Idempotency-Key: {once}\r\n"));
        let length = OPTION.len();
        let text = format!(
            "POST {PRICE} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {key}\r\n{once}\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{OPTION}"
        );
        Self(text.into())
    }

    /// Makes the same call with `padding` spaces before its body.
    pub(crate) fn large_price(key: &str, padding: usize) -> Self {
        let length = OPTION.len() + padding;
        let head = format!(
            "POST {PRICE} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {key}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        );
        let mut bytes = head.into_bytes();
        bytes.resize(bytes.len() + padding, b' ');
        bytes.extend_from_slice(OPTION.as_bytes());
        Self(bytes)
    }
}

/// A connection.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(2048) })
    }

    pub(crate) async fn send(&mut self, request: &Request) -> io::Result<Answer> {
        self.write(&request.0).await?;
        self.read().await
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await
    }

    async fn read(&mut self) -> io::Result<Answer> {
        self.buffer.clear();
        let head = loop {
            if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                break end + 4;
            }
            self.more().await?;
        };
        let text = std::str::from_utf8(&self.buffer[..head]).map_err(io::Error::other)?;
        let status = text.get(9..12).and_then(|code| code.parse().ok());
        let mut answer = Answer {
            status: status.ok_or_else(|| io::Error::other("no status"))?,
            number: None,
            is_replayed: false,
        };
        let mut length = 0;
        for (name, value) in text.lines().filter_map(|line| line.split_once(": ")) {
            match name {
                "content-length" => length = value.parse().map_err(io::Error::other)?,
                "x-request-id" => {
                    answer.number = uuid::Uuid::parse_str(value).ok().map(|id| id.as_u128());
                }
                "idempotent-replayed" => answer.is_replayed = true,
                _ => {}
            }
        }
        while self.buffer.len() < head + length {
            self.more().await?;
        }
        Ok(answer)
    }

    async fn more(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}
