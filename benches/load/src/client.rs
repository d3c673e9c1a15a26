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
    /// The credits that the request has cost; 0 where the answer states none.
    pub(crate) credits: u64,
    /// True for the result of a tool call that failed.
    pub(crate) is_tool_error: bool,
}

/// The body of the measured call.
pub(crate) const OPTION: &str = r#"{"spot":100.0,"strike":105.0,"risk_free_rate":0.05,"volatility":0.25,"time_to_maturity":1.0,"option_type":"call"}"#;
/// The end of the head of an answer.
const HEAD_END: &[u8] = b"\r\n\r\n";
/// The start of the address of a stored result, in the answer to a tool call.
const RESULT: &[u8] = br#""result":"svc://results/"#;
/// The largest answer that is read for the result of a tool call, in bytes. The search of a column of
/// a million numbers would take time from the service.
const LARGEST_RESULT: usize = 1 << 20;
/// The tool of the measured call.
const TOOL: &str = "price_european_option";
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

    /// A metered call with a body of so many bytes.
    pub(crate) fn large(key: &str, length: usize) -> Self {
        let body = r#"{"probabilities":[0.5,0.5]}"#;
        let padding = " ".repeat(length.saturating_sub(body.len()));
        Self::post("/quantlib/physics/entropy/shannon", Some(key), &format!("{padding}{body}"))
    }

    /// A call with a JSON body.
    pub(crate) fn post(path: &str, key: Option<&str>, body: &str) -> Self {
        let key = key.map_or(String::new(), |key| format!("X-API-Key: {key}\r\n"));
        Self::with_head(path, &key, body)
    }

    /// A call by any method, with a JSON body where the body is not empty.
    pub(crate) fn to(method: &str, path: &str, key: &str, body: &str) -> Self {
        if body.is_empty() {
            let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n");
            return Self(format!("{head}X-API-Key: {key}\r\n\r\n").into());
        }
        Self::post(path, Some(key), body)
    }

    /// A message to the MCP endpoint.
    pub(crate) fn message(token: &str, body: &str) -> Self {
        let head = format!("Authorization: Bearer {token}\r\nAccept: application/json\r\n");
        Self::with_head("/mcp", &head, body)
    }

    /// Makes a metered call of the tool that prices the same option, whose result is stored.
    pub(crate) fn tool(token: &str) -> Self {
        Self::tool_call(token, TOOL, OPTION)
    }

    /// Makes a metered call of a tool whose result is too large to be stored with the charge.
    pub(crate) fn large_tool(token: &str) -> Self {
        let list = |of: &dyn Fn(u32) -> f64| {
            let numbers: Vec<String> = (1..=1000).map(|n| of(n).to_string()).collect();
            numbers.join(",")
        };
        let tenors = list(&|n| f64::from(n) / 10.0);
        let values = list(&|n| 0.01 + f64::from(n) * 1e-5);
        let arguments =
            format!(r#"{{"reference_date":"2026-01-31","tenors":[{tenors}],"values":[{values}]}}"#);
        Self::tool_call(token, "build_curve", &arguments)
    }

    fn tool_call(token: &str, tool: &str, arguments: &str) -> Self {
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        );
        Self::message(token, &call)
    }

    /// A call with a body of a media type, whose answer has the same type.
    pub(crate) fn of_type(path: &str, key: &str, media_type: &str, body: &[u8]) -> Self {
        let length = body.len();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {key}\r\nAccept: {media_type}\r\n\
             Content-Type: {media_type}\r\nContent-Length: {length}\r\n\r\n"
        );
        Self([head.as_bytes(), body].concat())
    }

    fn with_head(path: &str, head: &str, body: &str) -> Self {
        let length = body.len();
        let text = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\n{head}\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        Self(text.into())
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

    /// Sends a request, and returns the body of a success.
    pub(crate) async fn fetch(&mut self, request: &Request) -> io::Result<&[u8]> {
        let status = self.send(request).await?.status;
        let head = find(&self.buffer, HEAD_END).map_or(0, |end| end + HEAD_END.len());
        let body = &self.buffer[head..];
        if status != 200 {
            let body = String::from_utf8_lossy(body);
            return Err(io::Error::other(format!("status {status}: {body:.1000}")));
        }
        Ok(body)
    }

    /// Sends a request that may be answered before its whole body is sent.
    pub(crate) async fn send_all(&mut self, request: &Request) -> io::Result<Answer> {
        let (mut reading, mut writing) = self.stream.split();
        let written = writing.write_all(&request.0);
        tokio::pin!(written);
        let mut is_written = false;
        self.buffer.clear();
        loop {
            tokio::select! {
                outcome = &mut written, if !is_written => {
                    // The service may close the connection; its answer may be there to be read.
                    let _closed = outcome;
                    is_written = true;
                }
                read = reading.read_buf(&mut self.buffer) => {
                    let is_end = read? == 0;
                    if let Some(answer) = parse(&self.buffer)? {
                        return Ok(answer);
                    }
                    if is_end {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
            }
        }
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await
    }

    async fn read(&mut self) -> io::Result<Answer> {
        self.buffer.clear();
        loop {
            if let Some(answer) = parse(&self.buffer)? {
                return Ok(answer);
            }
            self.more().await?;
        }
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

/// Reads an answer; none where some of it has not come.
fn parse(buffer: &[u8]) -> io::Result<Option<Answer>> {
    let Some(end) = find(buffer, HEAD_END) else { return Ok(None) };
    let head = end + HEAD_END.len();
    let text = std::str::from_utf8(&buffer[..head]).map_err(io::Error::other)?;
    let status = text.get(9..12).and_then(|code| code.parse().ok());
    let mut answer = Answer {
        status: status.ok_or_else(|| io::Error::other("no status"))?,
        number: None,
        is_replayed: false,
        credits: 0,
        is_tool_error: false,
    };
    let mut length = 0;
    for (name, value) in text.lines().filter_map(|line| line.split_once(": ")) {
        match name {
            "content-length" => length = value.parse().map_err(io::Error::other)?,
            "x-request-id" => {
                answer.number = uuid::Uuid::parse_str(value).ok().map(|id| id.as_u128());
            }
            "idempotent-replayed" => answer.is_replayed = true,
            "x-credits-cost" => answer.credits = value.parse().map_err(io::Error::other)?,
            _ => {}
        }
    }
    if buffer.len() < head + length {
        return Ok(None);
    }
    let body = &buffer[head..];
    if body.len() > LARGEST_RESULT {
        return Ok(Some(answer));
    }
    answer.is_tool_error = find(body, br#""isError":true"#).is_some();
    // A tool call has a number of its own, in the address of its stored result.
    if let Some(start) = find(body, RESULT) {
        let id = body.get(start + RESULT.len()..).and_then(|rest| rest.get(..36));
        let id = id.and_then(|id| uuid::Uuid::try_parse_ascii(id).ok());
        answer.number =
            Some(id.ok_or_else(|| io::Error::other("no number of a result"))?.as_u128());
    }
    Ok(Some(answer))
}
