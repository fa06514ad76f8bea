//! A page for this machine alone: HTTP on the loopback, to read and nothing else.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Result;

use crate::error::Fixable;

/// What is given for a path.
pub struct Answer {
    /// Such as `text/html; charset=utf-8`.
    pub kind: &'static str,
    pub body: String,
}

/// What answers for a path; none where there is nothing. It may be asked from several threads.
pub type Pages<'a> = dyn Fn(&str) -> Option<Answer> + Sync + 'a;

pub struct Loopback {
    listener: TcpListener,
    address: SocketAddr,
}

/// A request that is longer is none of a browser that looks at a page.
const LONGEST: usize = 16 << 10;
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(50);

impl Loopback {
    /// Listens on a port; 0 takes a free one.
    ///
    /// # Errors
    ///
    /// Where the port is taken or not ours to take.
    pub fn open(port: u16) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| {
            Fixable::failed(format!("port {port} cannot be listened on: {error}"))
                .hint("name another one, or --port 0 for any that is free")
        })?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Answers until it is told to stop.
    pub fn serve(&self, stop: &AtomicBool, pages: &Pages) {
        std::thread::scope(|scope| {
            while !stop.load(Ordering::Relaxed) {
                match self.listener.accept() {
                    // One that hangs up, or stays silent, is its own affair.
                    Ok((stream, _)) => drop(scope.spawn(move || self.answer(stream, pages).ok())),
                    Err(_) => std::thread::sleep(LOOK_EVERY),
                }
            }
        });
    }

    fn answer(&self, mut stream: TcpStream, pages: &Pages) -> std::io::Result<()> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let request = head(&mut stream)?;
        let (status, answer) = match self.path(&request) {
            Ok(path) => pages(path).map_or(("404 Not Found", None), |answer| ("200 OK", Some(answer))),
            Err(status) => (status, None),
        };
        let Answer { kind, body } = answer.unwrap_or(Answer { kind: "text/plain; charset=utf-8", body: format!("{status}\n") });
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nCache-Control: no-store\r\n\
             X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())
    }

    /// The path that is asked for, or the status of what is refused.
    fn path<'r>(&self, request: &'r str) -> Result<&'r str, &'static str> {
        let mut lines = request.lines();
        let mut words = lines.next().unwrap_or_default().split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let host = lines.find_map(|line| line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("host")));
        // A page from elsewhere could give this address a name of its own, and read along.
        let port = self.address.port();
        let ours = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        if !host.is_some_and(|(_, host)| ours.iter().any(|own| own == host.trim())) {
            return Err("403 Forbidden");
        }
        if method != "GET" {
            return Err("405 Method Not Allowed");
        }
        Ok(target.split('?').next().unwrap_or_default())
    }
}

/// The lines before the body of a request, which has none.
fn head(stream: &mut TcpStream) -> std::io::Result<String> {
    let (mut request, mut piece) = (Vec::new(), [0; 1024]);
    while !request.windows(4).any(|end| end == b"\r\n\r\n") && request.len() < LONGEST {
        let read = stream.read(&mut piece)?;
        if read == 0 {
            break;
        }
        request.extend_from_slice(&piece[..read]);
    }
    Ok(String::from_utf8_lossy(&request).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the server says to a request, of which `HOST` is its own address.
    fn said(request: &str) -> String {
        let server = Loopback::open(0).expect("a free port");
        let stop = AtomicBool::new(false);
        let pages = |path: &str| (path == "/").then(|| Answer { kind: "text/html; charset=utf-8", body: "a page".to_owned() });
        std::thread::scope(|scope| {
            scope.spawn(|| server.serve(&stop, &pages));
            let mut stream = TcpStream::connect(server.address).expect("it listens");
            let request = request.replace("HOST", &server.address.to_string());
            stream.write_all(request.as_bytes()).expect("it reads");
            stream.shutdown(std::net::Shutdown::Write).expect("all is said");
            let mut answer = String::new();
            stream.read_to_string(&mut answer).expect("it answers");
            stop.store(true, Ordering::Relaxed);
            answer
        })
    }

    #[test]
    fn a_page_is_given_to_who_asks_for_it_by_its_own_address() {
        let answer = said("GET /?x=1 HTTP/1.1\r\nHost: HOST\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\na page"), "{answer}");
        assert!(said("GET /etc/passwd HTTP/1.1\r\nhost: HOST\r\n\r\n").starts_with("HTTP/1.1 404 "));
    }

    #[test]
    fn other_names_other_methods_and_noise_are_refused() {
        assert!(said("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n").starts_with("HTTP/1.1 403 "));
        assert!(said("GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 403 "));
        assert!(said("POST / HTTP/1.1\r\nHost: HOST\r\n\r\n").starts_with("HTTP/1.1 405 "));
        assert!(said("\u{0}\u{1}").starts_with("HTTP/1.1 403 "));
    }
}
