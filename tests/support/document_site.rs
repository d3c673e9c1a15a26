//! A website that serves metadata documents of OAuth clients, over HTTPS on the loopback.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use quant_server::auth::client_documents::{DocumentNetwork, PublicNames};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{ServerConfig, crypto::ring, pki_types::PrivatePkcs8KeyDer},
};

/// The host of the website.
pub const HOST: &str = "app.example.com";
/// A host with the same address, for which the website has no certificate.
pub const OTHER_HOST: &str = "other.example.com";
/// A host whose only address is the loopback, found through the checked look-up. The website has a
/// certificate for it, so that the look-up alone keeps a fetch away.
pub const INSIDE_HOST: &str = "inside.example.com";

/// An answer in full, or none where the website keeps the connection without a word.
type RawAnswer = Option<String>;

/// The website: its answers by path, and the number of requests for each.
#[derive(Clone)]
pub struct DocumentSite {
    address: SocketAddr,
    certificate: Vec<u8>,
    answers: Arc<Mutex<HashMap<String, RawAnswer>>>,
    requests: Arc<Mutex<HashMap<String, usize>>>,
}

impl DocumentSite {
    /// Starts the website, which serves nothing yet.
    pub async fn start() -> Self {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed([HOST, INSIDE_HOST].map(str::to_owned))
                .expect("a certificate");
        let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions of TLS")
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key.into())
            .expect("a certificate with its key");
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let site = Self {
            address: listener.local_addr().expect("an address"),
            certificate: cert.der().to_vec(),
            answers: Arc::default(),
            requests: Arc::default(),
        };
        tokio::spawn(site.clone().serve(listener, TlsAcceptor::from(Arc::new(config))));
        site
    }

    /// The network with this website and hosts of other kinds.
    #[must_use]
    pub fn network(&self) -> DocumentNetwork {
        let certificate = reqwest::Certificate::from_der(&self.certificate);
        DocumentNetwork {
            names: Arc::new(Names { site: self.address }),
            further_roots: vec![certificate.expect("a certificate")],
        }
    }

    /// Serves a document as JSON at a path of the host, and returns its URL.
    pub fn serve_json(&self, path: &str, headers: &str, body: &str) -> String {
        let length = body.len();
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
        self.answer(path, &format!("{head}{headers}Content-Length: {length}\r\n\r\n{body}"))
    }

    /// Answers a path as given, and returns its URL.
    pub fn answer(&self, path: &str, raw: &str) -> String {
        self.keep(path, Some(raw.to_owned()))
    }

    /// Keeps each connection for a path without an answer, and returns its URL.
    pub fn never_answer(&self, path: &str) -> String {
        self.keep(path, None)
    }

    /// The number of requests for a path.
    #[must_use]
    pub fn requests(&self, path: &str) -> usize {
        self.requests.lock().expect("no panic").get(path).copied().unwrap_or_default()
    }

    fn keep(&self, path: &str, answer: RawAnswer) -> String {
        self.answers.lock().expect("no panic").insert(path.to_owned(), answer);
        format!("https://{HOST}{path}")
    }

    async fn serve(self, listener: TcpListener, tls: TlsAcceptor) {
        while let Ok((stream, _)) = listener.accept().await {
            let (site, tls) = (self.clone(), tls.clone());
            // A visitor that leaves early is no fault of the website.
            tokio::spawn(async move { site.converse(stream, tls).await.ok() });
        }
    }

    async fn converse(&self, stream: TcpStream, tls: TlsAcceptor) -> std::io::Result<()> {
        let mut stream = tls.accept(stream).await?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await?);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        *self.requests.lock().expect("no panic").entry(path.clone()).or_default() += 1;
        let answer = self.answers.lock().expect("no panic").get(&path).cloned();
        match answer {
            Some(Some(answer)) => stream.write_all(answer.as_bytes()).await?,
            Some(None) => std::future::pending().await,
            None => {
                stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").await?;
            }
        }
        stream.shutdown().await
    }
}

/// The look-up of the hosts of the tests; every other host is unknown.
struct Names {
    site: SocketAddr,
}

impl Resolve for Names {
    fn resolve(&self, name: Name) -> Resolving {
        match name.as_str() {
            HOST | OTHER_HOST => Fixed(self.site).resolve(name),
            INSIDE_HOST => PublicNames::over(Arc::new(Fixed(self.site))).resolve(name),
            _ => Box::pin(async { Err("no such host".into()) }),
        }
    }
}

struct Fixed(SocketAddr);

impl Resolve for Fixed {
    fn resolve(&self, _: Name) -> Resolving {
        let found = std::iter::once(self.0);
        Box::pin(async move { Ok(Box::new(found) as Addrs) })
    }
}
