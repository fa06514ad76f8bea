//! One request at a time, on a thread of its own: a server that says nothing cannot keep anybody from stopping.

use std::io::{ErrorKind, Read as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use ureq::config::ConfigBuilder;
use ureq::http::{HeaderMap, StatusCode};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::typestate::AgentScope;
use ureq::{Agent, Error};

use super::mirror::Mirror;
use crate::progress::Progress;

/// The bytes of one piece.
const PIECE_BYTES: usize = 256 << 10;
/// Pieces that may wait for the disk.
const PIECES: usize = 16;
/// How often whoever listens looks whether the user wants to stop.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Asks one mirror.
#[derive(Clone)]
pub struct Client {
    agent: Agent,
}

/// An answer that began to come.
pub(super) struct Answer {
    pub(super) head: Head,
    body: Receiver<Body>,
}

/// What comes after the head, in order: pieces, and how it ended.
pub(super) enum Body {
    Piece(Vec<u8>),
    End,
    Broke(Trouble),
}

/// Why no answer came, or no whole one.
#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) what: String,
    /// Whether asking again is of no use.
    pub(super) lasting: bool,
}

/// What of an answer's head is of use.
#[derive(Debug, Default)]
pub(super) struct Head {
    pub(super) status: u16,
    /// Bytes of the body, where they are told.
    pub(super) length: Option<u64>,
    /// Whether the body is sent in chunks, so that a cut one cannot be taken for whole.
    pub(super) is_chunked: bool,
    pub(super) content_range: Option<String>,
    pub(super) etag: Option<String>,
    pub(super) last_modified: Option<String>,
    pub(super) retry_after: Option<String>,
    pub(super) date: Option<String>,
}

impl Trouble {
    fn passing(what: String) -> Self {
        Self { what, lasting: false }
    }

    fn silent() -> Self {
        Self::passing("the connection ended without a word".to_owned())
    }
}

impl Head {
    fn of(status: u16, headers: &HeaderMap) -> Self {
        let text = |name: &str| headers.get(name)?.to_str().ok().map(str::to_owned);
        Self {
            status,
            length: text("content-length").and_then(|length| length.trim().parse().ok()),
            is_chunked: text("transfer-encoding").is_some_and(|coding| coding.to_ascii_lowercase().contains("chunked")),
            content_range: text("content-range"),
            etag: text("etag"),
            last_modified: text("last-modified"),
            retry_after: text("retry-after"),
            date: text("date"),
        }
    }

    /// `503 Service Unavailable`.
    pub(super) fn status_words(&self) -> String {
        let known = StatusCode::from_u16(self.status).ok();
        let words = known.as_ref().and_then(StatusCode::canonical_reason).unwrap_or_default();
        format!("{} {words}", self.status).trim_end().to_owned()
    }
}

/// The user wants to stop.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stopped;

impl Client {
    /// One that takes a server which says nothing for `silence` to be gone.
    pub fn patient(mirror: &Mirror, silence: Duration) -> Self {
        let limits = config(mirror)
            .timeout_resolve(Some(silence))
            .timeout_connect(Some(silence))
            .timeout_recv_response(Some(silence))
            .timeout_per_read(Some(silence));
        Self { agent: limits.build().into() }
    }

    /// One that gives a server so long for all that it has to say.
    pub fn hasty(mirror: &Mirror, whole: Duration) -> Self {
        Self { agent: config(mirror).timeout_global(Some(whole)).build().into() }
    }

    /// Asks for a file, and waits for the head of the answer. A thread reads what follows, and ends when nobody listens any more.
    pub(super) fn get(
        &self,
        url: &str,
        headers: &[(&'static str, String)],
        progress: Progress,
    ) -> Result<Result<Answer, Trouble>, Stopped> {
        let (say_head, head) = sync_channel(1);
        let (say, body) = sync_channel(PIECES);
        let mut request = self.agent.get(url);
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        std::thread::spawn(move || match request.call() {
            Ok(answer) => {
                let (parts, body) = answer.into_parts();
                say_head.send(Ok(Head::of(parts.status.as_u16(), &parts.headers))).ok();
                pass_on(body, &say);
            }
            Err(error) => {
                say_head.send(Err(trouble(&error))).ok();
            }
        });
        let head = listen(&head, progress)?.unwrap_or_else(|| Err(Trouble::silent()));
        Ok(head.map(|head| Answer { head, body }))
    }

    /// The bytes of a file, where the server tells them.
    pub(super) fn length(&self, url: &str) -> Option<u64> {
        let answer = self.agent.head(url).call().ok()?;
        if answer.status() == 200 { Head::of(200, answer.headers()).length } else { None }
    }
}

impl Answer {
    /// Waits for the next piece, or for the end.
    pub(super) fn next(&self, progress: Progress) -> Result<Body, Stopped> {
        Ok(listen(&self.body, progress)?.unwrap_or_else(|| Body::Broke(Trouble::silent())))
    }
}

/// Waits for what a thread says; `None` where it ended without a word.
fn listen<T>(heard: &Receiver<T>, progress: Progress) -> Result<Option<T>, Stopped> {
    loop {
        if progress.should_stop() {
            return Err(Stopped);
        }
        match heard.recv_timeout(LOOK_EVERY) {
            Ok(heard) => return Ok(Some(heard)),
            Err(RecvTimeoutError::Timeout) => (),
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
    }
}

/// The body to whoever listens. Who does not listen any more need not know how it ended.
fn pass_on(body: ureq::Body, say: &SyncSender<Body>) {
    let mut body = body.into_reader();
    loop {
        let mut piece = vec![0; PIECE_BYTES];
        let next = match body.read(&mut piece) {
            Ok(0) => Body::End,
            Ok(count) => {
                piece.truncate(count);
                Body::Piece(piece)
            }
            Err(error) => Body::Broke(Trouble::passing(format!("the connection broke: {}", plain(&error)))),
        };
        let last = !matches!(next, Body::Piece(_));
        if say.send(next).is_err() || last {
            return;
        }
    }
}

fn config(mirror: &Mirror) -> ConfigBuilder<AgentScope> {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .user_agent(concat!("philidor/", env!("CARGO_PKG_VERSION")))
        // The bytes of the file, as they are.
        .accept_encoding("identity")
        .input_buffer_size(PIECE_BYTES)
        .tls_config(TlsConfig::builder().root_certs(roots()).build());
    // No proxy leads to this machine itself.
    if mirror.is_here() { config.proxy(None) } else { config }
}

/// The certificates that `SSL_CERT_FILE` names, as OpenSSL and curl take it; else those that browsers trust.
fn roots() -> RootCerts {
    let named = std::env::var_os("SSL_CERT_FILE").and_then(|path| fs_err::read(path).ok());
    let certificates: Vec<_> = named
        .iter()
        .flat_map(|text| parse_pem(text))
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    if certificates.is_empty() { RootCerts::WebPki } else { RootCerts::from(certificates) }
}

fn trouble(error: &Error) -> Trouble {
    // How a failed handshake comes out of the TLS library.
    let distrusted = matches!(error, Error::Io(error) if error.kind() == ErrorKind::InvalidData);
    let what = match error {
        Error::Io(error) if distrusted => {
            format!("no safe connection: {} (`SSL_CERT_FILE` names certificates to trust)", plain(error))
        }
        Error::Io(error) => plain(error),
        Error::Timeout(_) => "it does not answer in time".to_owned(),
        Error::HostNotFound => "no such host is known, or there is no network".to_owned(),
        Error::Protocol(error) => format!("it does not speak HTTP: {error}"),
        other => other.to_string(),
    };
    let lasting = matches!(
        error,
        Error::BadUri(_) | Error::Http(_) | Error::Tls(_) | Error::Rustls(_) | Error::TooManyRedirects | Error::InvalidProxyUrl
    );
    Trouble { what, lasting: lasting || distrusted }
}

/// The system's words, without what a library wraps them in.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.strip_prefix("io: ").map_or(text.clone(), str::to_owned)
}
