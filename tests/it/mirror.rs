//! A mirror on the loopback: files over HTTP/1.1, and every way in which a server can be wrong.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// How a request is answered. The answers of a file are taken in turn; after the last, it is served [`Act::Rightly`].
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Rightly,
    /// So many bytes of the body, and then the connection is closed.
    CutAfter(usize),
    /// So many bytes of the body, and then no more, with the connection open.
    SilentAfter(usize),
    /// So many bytes of the body at once, and then one by one.
    TrickleAfter(usize),
    /// The whole file, whatever was asked for.
    IgnoringRange,
    /// What was asked for, although the file is another one by now.
    IgnoringIfRange,
    /// A part that begins elsewhere.
    WrongRange,
    /// The file is said to have so many bytes more, or less, than it has.
    LyingAboutLength(i64),
    /// Neither a length nor chunks: the connection's end is the file's.
    Boundless,
    /// In chunks; cut after so many bytes, if any.
    Chunked(Option<usize>),
    /// Another status, and headers.
    Status(u16, Vec<(&'static str, String)>),
    /// No HTTP at all.
    Garbage,
}

/// What was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) name: String,
    pub(crate) range: Option<String>,
    pub(crate) if_range: Option<String>,
}

#[derive(Clone, Default)]
struct Served {
    body: Vec<u8>,
    etag: Option<String>,
    last_modified: Option<String>,
    acts: VecDeque<Act>,
}

#[derive(Default)]
struct State {
    files: Mutex<BTreeMap<String, Served>>,
    asked: Mutex<Vec<Asked>>,
    closing: AtomicBool,
}

pub(crate) struct LoopbackMirror {
    address: SocketAddr,
    state: Arc<State>,
}

impl LoopbackMirror {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                if shared.closing.load(Ordering::Relaxed) {
                    return;
                }
                let state = Arc::clone(&shared);
                // Whoever hangs up first ends it.
                std::thread::spawn(move || state.answer(connection).ok());
            }
        });
        Self { address, state }
    }

    pub(crate) fn base(&self) -> String {
        format!("http://{}/standard", self.address)
    }

    /// Serves a file under a name, with an `ETag` made of its bytes.
    pub(crate) fn serve(&self, name: &str, body: &[u8]) {
        let etag = Some(format!("\"{}\"", &blake3::hash(body).to_hex()[..8]));
        self.files().entry(name.to_owned()).and_modify(|file| file.body = body.to_vec()).or_default().body = body.to_vec();
        self.files().get_mut(name).expect("just put there").etag = etag;
    }

    /// How a file names its version, instead of the `ETag`.
    pub(crate) fn versions(&self, name: &str, etag: Option<&str>, last_modified: Option<&str>) {
        let mut files = self.files();
        let file = files.get_mut(name).expect("it is served");
        (file.etag, file.last_modified) = (etag.map(Into::into), last_modified.map(Into::into));
    }

    /// How the next requests for a file are answered, in turn.
    pub(crate) fn act(&self, name: &str, acts: impl IntoIterator<Item = Act>) {
        self.files().entry(name.to_owned()).or_default().acts = acts.into_iter().collect();
    }

    /// What was asked for a file so far.
    pub(crate) fn asked(&self, name: &str) -> Vec<Asked> {
        self.state.asked.lock().expect("no holder panics").iter().filter(|asked| asked.name == name).cloned().collect()
    }

    /// The ranges that were asked for of a file, in turn; empty for the whole of it.
    pub(crate) fn ranges(&self, name: &str) -> Vec<String> {
        self.asked(name).into_iter().map(|asked| asked.range.unwrap_or_default()).collect()
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<String, Served>> {
        self.state.files.lock().expect("no holder panics")
    }
}

impl Drop for LoopbackMirror {
    fn drop(&mut self) {
        self.state.closing.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts.
        TcpStream::connect(self.address).ok();
    }
}

impl State {
    fn answer(&self, mut connection: TcpStream) -> std::io::Result<()> {
        let Some(asked) = read_request(&connection)? else { return Ok(()) };
        self.asked.lock().expect("no holder panics").push(asked.clone());
        let (file, act) = {
            let mut files = self.files.lock().expect("no holder panics");
            let Some(file) = files.get_mut(&asked.name) else {
                return connection.write_all(head("404 Not Found", &[], Some(0)).as_bytes());
            };
            let act = if asked.method == "HEAD" { None } else { file.acts.pop_front() };
            (file.clone(), act.unwrap_or(Act::Rightly))
        };
        match act {
            Act::Status(code, headers) => connection.write_all(head(&format!("{code} Told So"), &headers, Some(0)).as_bytes()),
            Act::Garbage => connection.write_all(b"\x00\x01 this is no HTTP\r\n\r\n"),
            act => self.send(&mut connection, &asked, &file, &act),
        }
    }

    fn send(&self, connection: &mut TcpStream, asked: &Asked, file: &Served, act: &Act) -> std::io::Result<()> {
        let total = match act {
            Act::LyingAboutLength(more) => file.body.len().saturating_add_signed(*more as isize),
            _ => file.body.len(),
        };
        let version = [&file.etag, &file.last_modified];
        let unchanged = asked.if_range.is_none() || version.contains(&&asked.if_range) || matches!(act, Act::IgnoringIfRange);
        let from =
            asked.range.as_deref().and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse::<usize>().ok());
        let from = from.filter(|_| unchanged && !matches!(act, Act::IgnoringRange));
        let mut headers = vec![("Date", "Sun, 06 Nov 1994 08:49:37 GMT".to_owned()), ("Accept-Ranges", "bytes".to_owned())];
        headers.extend(file.etag.clone().map(|etag| ("ETag", etag)));
        headers.extend(file.last_modified.clone().map(|time| ("Last-Modified", time)));
        let first = from.unwrap_or(0);
        if from.is_some() && first >= total {
            headers.push(("Content-Range", format!("bytes */{total}")));
            return connection.write_all(head("416 Range Not Satisfiable", &headers, Some(0)).as_bytes());
        }
        if from.is_some() {
            let told = if matches!(act, Act::WrongRange) { first + 1 } else { first };
            headers.push(("Content-Range", format!("bytes {told}-{}/{total}", total - 1)));
        }
        let length = match act {
            Act::Boundless => None,
            Act::Chunked(_) => {
                headers.push(("Transfer-Encoding", "chunked".to_owned()));
                None
            }
            _ => Some(total - first),
        };
        let status = if from.is_some() { "206 Partial Content" } else { "200 OK" };
        connection.write_all(head(status, &headers, length).as_bytes())?;
        if asked.method == "HEAD" {
            return Ok(());
        }
        let body = &file.body[first.min(file.body.len())..];
        match act {
            Act::CutAfter(bytes) => connection.write_all(&body[..*bytes.min(&body.len())]),
            Act::SilentAfter(bytes) => {
                connection.write_all(&body[..*bytes.min(&body.len())])?;
                self.until_closing(|| Ok(()))
            }
            Act::TrickleAfter(bytes) => {
                let (now, later) = body.split_at(*bytes.min(&body.len()));
                connection.write_all(now)?;
                let mut later = later.iter();
                self.until_closing(|| later.next().map_or(Ok(()), |byte| connection.write_all(&[*byte])))
            }
            Act::Chunked(cut) => {
                for chunk in body[..cut.unwrap_or(body.len()).min(body.len())].chunks(777) {
                    connection.write_all(format!("{:x}\r\n", chunk.len()).as_bytes())?;
                    connection.write_all(chunk)?;
                    connection.write_all(b"\r\n")?;
                }
                if cut.is_none() { connection.write_all(b"0\r\n\r\n") } else { Ok(()) }
            }
            _ => connection.write_all(body),
        }
    }

    /// Again and again, with a little time between, until the test is over or the other side has gone.
    fn until_closing(&self, mut act: impl FnMut() -> std::io::Result<()>) -> std::io::Result<()> {
        while !self.closing.load(Ordering::Relaxed) {
            act()?;
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

fn read_request(connection: &TcpStream) -> std::io::Result<Option<Asked>> {
    let mut lines = BufReader::new(connection).lines();
    let Some(first) = lines.next().transpose()? else { return Ok(None) };
    let mut words = first.split(' ');
    let method = words.next().unwrap_or_default().to_owned();
    let name = words.next().unwrap_or_default().rsplit('/').next().unwrap_or_default().to_owned();
    let mut asked = Asked { method, name, range: None, if_range: None };
    for line in lines {
        let line = line?;
        let Some((header, value)) = line.split_once(": ") else { break };
        match header.to_ascii_lowercase().as_str() {
            "range" => asked.range = Some(value.to_owned()),
            "if-range" => asked.if_range = Some(value.to_owned()),
            _ => (),
        }
    }
    Ok(Some(asked))
}

fn head(status: &str, headers: &[(&'static str, String)], length: Option<usize>) -> String {
    let mut head = format!("HTTP/1.1 {status}\r\nConnection: close\r\n");
    for (name, value) in headers {
        write!(head, "{name}: {value}\r\n").expect("a string takes text");
    }
    if let Some(length) = length {
        write!(head, "Content-Length: {length}\r\n").expect("a string takes text");
    }
    head + "\r\n"
}
