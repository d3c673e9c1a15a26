//! `quant-server health`: a probe for containers without a shell.

use std::{net::SocketAddr, time::Duration};

use clap::Args;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use super::command_error::CommandError;

/// Longest time for the answer of the service.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Args, Debug)]
pub(super) struct HealthArgs {
    /// The address on which the service listens.
    #[arg(long, env = "QS_BIND", default_value = "127.0.0.1:8080")]
    bind: SocketAddr,
}

pub(super) async fn run(args: &HealthArgs) -> Result<(), CommandError> {
    let address = args.bind;
    let status = timeout(PATIENCE, probe(address))
        .await
        .map_err(|_| format!("{address} does not answer in time"))?
        .map_err(|error| format!("{address} does not answer: {error}"))?;
    println!("{status}");
    if status.contains(" 200 ") { Ok(()) } else { Err("the service is not ready".into()) }
}

/// Requests `/ready` and returns the status line.
async fn probe(address: SocketAddr) -> Result<String, CommandError> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET /ready HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer.lines().next().unwrap_or_default().to_owned())
}
