//! A download against a server that does everything wrong which servers do. No test waits for the clock.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use philidor::archive::client::Client;
use philidor::archive::download::{Download, Downloaded};
use philidor::archive::mirror::Mirror;
use philidor::archive::patience::Patience;
use philidor::error::{Exit, Fixable};
use philidor::progress::{Progress, Tick};
use proptest::prelude::*;
use sha2::{Digest as _, Sha256};

use crate::mirror::{Act, LoopbackMirror};
use crate::support::wait_until;

const NAME: &str = "month.pgn.zst";
/// 1994-11-06 08:49:37, which is what the mirror's clock shows too.
const NOW: u64 = 784_111_777;

/// Somebody who wants a file of a mirror.
struct Visitor {
    mirror: LoopbackMirror,
    folder: tempfile::TempDir,
    /// Where the file is asked for; another mirror than the own one, if any.
    elsewhere: Option<String>,
    verified: bool,
    free_bytes: u64,
    silence: Duration,
    stop: AtomicBool,
    waits: Mutex<Vec<u64>>,
    notes: Mutex<Vec<String>>,
    told: Mutex<Vec<(u64, u64)>>,
    kept: Mutex<(u64, u64)>,
}

impl Visitor {
    fn new() -> Self {
        let visitor = Self {
            mirror: LoopbackMirror::new(),
            folder: tempfile::tempdir().expect("a folder"),
            elsewhere: None,
            verified: true,
            free_bytes: u64::MAX,
            silence: Duration::from_secs(20),
            stop: AtomicBool::new(false),
            waits: Mutex::default(),
            notes: Mutex::default(),
            told: Mutex::default(),
            kept: Mutex::default(),
        };
        visitor.mirror.serve(NAME, &body());
        visitor
    }

    fn acting(acts: impl IntoIterator<Item = Act>) -> Self {
        let visitor = Self::new();
        visitor.mirror.act(NAME, acts);
        visitor
    }

    fn part(&self) -> PathBuf {
        self.folder.path().join("archive.part")
    }

    fn here(&self) -> Vec<u8> {
        std::fs::read(self.part()).unwrap_or_default()
    }

    fn fetch(&self) -> Result<Downloaded, Fixable> {
        let mirror = Mirror::at(&self.elsewhere.clone().unwrap_or(self.mirror.base()));
        let tell = |tick| match tick {
            Tick::Note { text } => seen(&self.notes).push(text),
            Tick::Done { done, total, .. } => seen(&self.told).push((done, total)),
            Tick::Metric { .. } | Tick::Measured(_) => (),
        };
        let patience = Patience { wait: &|wait| seen(&self.waits).push(wait.as_secs()), now: &|| NOW };
        let download = Download {
            name: NAME,
            url: &mirror.url(NAME),
            part: &self.part(),
            verified: self.verified,
            client: &Client::patient(&mirror, self.silence),
            patience: &patience,
            progress: Progress::new(&tell, &self.stop),
            free: &|_: &Path| Some(self.free_bytes),
            kept: &|done, total| *seen(&self.kept) = (done, total),
        };
        download.run().map_err(|error| error.downcast().expect("the user can mend it"))
    }

    /// Fetches the file, and makes sure that it is the mirror's.
    fn fetch_whole(&self, body: &[u8]) -> Downloaded {
        let came = self.fetch().unwrap_or_else(|error| panic!("{error} ({:?})", self.notes));
        assert!(self.here() == body, "{} bytes of {}", self.here().len(), body.len());
        assert_eq!((came.bytes, came.sha256.as_str()), (body.len() as u64, sha256(body).as_str()));
        assert_eq!(seen(&self.kept).0, came.bytes);
        came
    }

    /// Leaves the first bytes of the file here, as a try does that broke off and was not repeated.
    fn left(&self, bytes: usize) {
        self.mirror.act(NAME, [Act::CutAfter(bytes), Act::Status(403, Vec::new())]);
        self.fetch().expect_err("it is refused the second time");
        assert_eq!(self.here().len(), bytes);
        seen(&self.waits).clear();
    }
}

fn seen<T>(by_the_visitor: &Mutex<T>) -> MutexGuard<'_, T> {
    by_the_visitor.lock().expect("no holder panics")
}

/// More than a piece, and no two parts alike.
fn body() -> Vec<u8> {
    let mut bytes = vec![0; 300_000];
    blake3::Hasher::new().update(b"a month").finalize_xof().fill(&mut bytes);
    bytes
}

fn sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

#[test]
fn a_file_comes_whole_with_its_digest_and_is_asked_for_once() {
    let visitor = Visitor::new();
    let came = visitor.fetch_whole(&body()).came;
    assert_eq!((came.0, visitor.mirror.ranges(NAME)), (300_000, vec![String::new()]));
    let told = seen(&visitor.told).clone();
    assert_eq!((told.first(), told.last()), (Some(&(0, 300_000)), Some(&(300_000, 300_000))));
    assert!(seen(&visitor.waits).is_empty());
}

#[test]
fn what_broke_off_is_gone_on_with_and_only_if_it_is_the_same_file() {
    let visitor = Visitor::acting([Act::CutAfter(100_000), Act::CutAfter(50_000)]);
    visitor.fetch_whole(&body());
    let asked = visitor.mirror.asked(NAME);
    assert_eq!(visitor.mirror.ranges(NAME), ["", "bytes=100000-", "bytes=150000-"]);
    assert!(asked[1].if_range.is_some() && asked[1].if_range == asked[2].if_range, "{asked:?}");
    assert_eq!(*seen(&visitor.waits), [1, 2]);
    let notes = seen(&visitor.notes).join("\n");
    assert!(notes.contains("broke off after 97.7 KiB of 293 KiB") && notes.contains("trying again in 1.0 s"), "{notes}");
}

#[test]
fn a_later_try_goes_on_where_an_earlier_one_ended() {
    for (etag, last_modified) in [(Some("\"a\""), None), (Some("W/\"a\""), Some("Sun, 06 Nov 1994 08:49:37 GMT"))] {
        let visitor = Visitor { verified: false, ..Visitor::new() };
        visitor.mirror.versions(NAME, etag, last_modified);
        visitor.left(1_000);
        visitor.fetch_whole(&body());
        let last = visitor.mirror.asked(NAME).pop().expect("it was asked");
        assert_eq!(last.range.as_deref(), Some("bytes=1000-"));
        assert_eq!(last.if_range.as_deref(), last_modified.or(etag), "a weak tag is of no use");
    }
}

#[test]
fn a_server_that_ignores_ranges_is_taken_from_the_beginning() {
    let visitor = Visitor::acting([Act::CutAfter(100_000), Act::IgnoringRange]);
    visitor.fetch_whole(&body());
    assert_eq!(visitor.mirror.ranges(NAME), ["", "bytes=100000-"]);
}

#[test]
fn a_part_that_begins_elsewhere_is_refused() {
    let visitor = Visitor::acting([Act::CutAfter(100_000), Act::WrongRange]);
    visitor.fetch_whole(&body());
    assert_eq!(visitor.mirror.ranges(NAME), ["", "bytes=100000-", "bytes=100000-"]);
    let notes = seen(&visitor.notes).join("\n");
    assert!(notes.contains("sends `bytes 100001-299999/300000` where bytes from 100000 on were asked for"), "{notes}");
}

#[test]
fn a_file_that_changed_between_two_tries_is_never_stitched() {
    let mut other = body();
    other.reverse();
    for act in [Act::Rightly, Act::IgnoringIfRange] {
        let visitor = Visitor::new();
        visitor.left(100_000);
        visitor.mirror.serve(NAME, &other);
        visitor.mirror.act(NAME, [act]);
        visitor.fetch_whole(&other);
    }
}

#[test]
fn without_a_version_and_without_a_digest_it_begins_anew() {
    let visitor = Visitor { verified: false, ..Visitor::new() };
    visitor.mirror.versions(NAME, None, None);
    visitor.mirror.act(NAME, [Act::CutAfter(100_000)]);
    visitor.fetch_whole(&body());
    assert_eq!(visitor.mirror.ranges(NAME), ["", ""], "there is nothing to hold two halves against");
}

#[test]
fn another_mirror_goes_on_where_the_digest_will_tell() {
    let mut visitor = Visitor::new();
    visitor.left(100_000);
    let other = LoopbackMirror::new();
    other.serve(NAME, &body());
    other.versions(NAME, Some("\"of its own\""), None);
    visitor.elsewhere = Some(other.base());
    visitor.fetch_whole(&body());
    let asked = other.asked(NAME);
    assert_eq!((asked[0].range.as_deref(), &asked[0].if_range), (Some("bytes=100000-"), &None));
}

#[test]
fn what_is_whole_already_is_not_fetched_again() {
    let visitor = Visitor::new();
    visitor.fetch_whole(&body());
    assert_eq!(visitor.fetch_whole(&body()).came.0, 0);
    assert_eq!(visitor.mirror.asked(NAME).len(), 1, "its length is known");
    std::fs::remove_file(visitor.part().with_extension("origin.json")).expect("a note lies beside it");
    assert_eq!(visitor.fetch().expect("nothing is missing").sha256, sha256(&body()));
    assert_eq!(visitor.mirror.ranges(NAME), ["", "bytes=300000-"]);
}

#[test]
fn a_busy_server_is_left_alone_as_long_as_it_asks() {
    let after = |wait: &str| vec![("Retry-After", wait.to_owned())];
    let visitor = Visitor::acting([
        Act::Status(429, after("7")),
        Act::Status(503, after("Sun, 06 Nov 1994 08:50:07 GMT")),
        Act::Status(503, after("Sun, 06 Nov 1994 08:00:00 GMT")),
        Act::Status(502, Vec::new()),
    ]);
    visitor.fetch_whole(&body());
    assert_eq!(*seen(&visitor.waits), [7, 30, 0, 8]);
}

#[test]
fn a_server_that_asks_for_hours_is_asked_another_time() {
    let visitor = Visitor::new();
    visitor.left(100_000);
    visitor.mirror.act(NAME, [Act::Status(503, vec![("Retry-After", "7200".into())])]);
    let error = visitor.fetch().expect_err("that is too long");
    assert!(error.message.contains("asks to be left alone for 2 h; 97.7 KiB of 293 KiB are kept"), "{error}");
    assert_eq!(error.hint.as_deref(), Some("run the same command in 2 h: it goes on from there"));
    assert!(seen(&visitor.waits).is_empty());
}

#[test]
fn a_server_that_promises_more_than_it_has_is_given_up_and_what_came_is_kept() {
    let visitor = Visitor::acting(vec![Act::LyingAboutLength(10_000); 20]);
    let error = visitor.fetch().expect_err("the rest never comes");
    assert_eq!(error.exit, Exit::Failed);
    assert!(error.message.contains("gave up after 10 times in a row; 293 KiB of 303 KiB are kept"), "{error}");
    assert!(error.hint.as_deref().is_some_and(|hint| hint.starts_with("the same command goes on from there")));
    assert_eq!((visitor.here().len(), visitor.mirror.asked(NAME).len()), (300_000, 10));
    assert_eq!(*seen(&visitor.waits), [1, 2, 4, 8, 16, 32, 60, 60, 60]);
    assert_eq!(*seen(&visitor.kept), (300_000, 310_000));
}

#[test]
fn a_server_that_promises_less_than_it_sends_gives_a_file_whose_digest_is_another() {
    let visitor = Visitor::acting([Act::LyingAboutLength(-10_000)]);
    let came = visitor.fetch().expect("so many bytes came");
    assert_eq!((came.bytes, came.sha256), (290_000, sha256(&body()[..290_000])));
}

#[test]
fn a_month_that_is_not_there_is_asked_for_once() {
    let visitor = Visitor::acting([Act::Status(404, Vec::new())]);
    let error = visitor.fetch().expect_err("it is not there");
    assert!(error.message.starts_with("`month.pgn.zst` is not published, or not yet: `http://127.0.0.1:"), "{error}");
    assert!(error.message.ends_with("answers 404 Not Found") && error.hint.is_some(), "{error}");
    assert!(seen(&visitor.waits).is_empty());
}

#[test]
fn what_is_no_http_and_nobody_at_all_are_given_up_soon() {
    let visitor = Visitor::acting(vec![Act::Garbage; 20]);
    let error = visitor.fetch().expect_err("nobody can read that");
    assert!(error.message.contains("it does not speak HTTP") && error.message.contains("nothing of it has come yet"), "{error}");
    assert_eq!(*seen(&visitor.waits), [1, 2, 4]);

    let nobody = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("it is bound");
    let visitor = Visitor { elsewhere: Some(format!("http://{nobody}")), ..Visitor::new() };
    let error = visitor.fetch().expect_err("nobody listens");
    assert!(error.message.contains("Connection refused"), "{error}");
    assert_eq!(*seen(&visitor.waits), [1, 2, 4]);
}

#[test]
fn a_server_that_falls_silent_is_asked_again() {
    let visitor = Visitor { silence: Duration::from_millis(200), ..Visitor::acting([Act::SilentAfter(100_000)]) };
    visitor.fetch_whole(&body());
    assert_eq!(visitor.mirror.ranges(NAME), ["", "bytes=100000-"]);
}

#[test]
fn a_stop_leaves_a_slow_server_at_once_and_the_next_try_goes_on() {
    for act in [Act::TrickleAfter(100_000), Act::SilentAfter(100_000)] {
        let visitor = Visitor::acting([act]);
        let part = visitor.part();
        let error = std::thread::scope(|scope| {
            let stop = &visitor.stop;
            scope.spawn(move || {
                wait_until("some bytes", || std::fs::metadata(&part).is_ok_and(|part| part.len() >= 100_000));
                stop.store(true, Ordering::Relaxed);
            });
            visitor.fetch().expect_err("it was stopped")
        });
        assert_eq!(error.exit, Exit::Interrupted);
        let here = visitor.here();
        assert!(here.len() >= 100_000 && body().starts_with(&here), "{} bytes", here.len());
        assert!(error.message.contains("KiB of 293 KiB are kept"), "{error}");
        visitor.stop.store(false, Ordering::Relaxed);
        visitor.fetch_whole(&body());
        assert_eq!(visitor.mirror.ranges(NAME)[1], format!("bytes={}-", here.len()));
    }
}

#[test]
fn what_does_not_fit_on_the_disk_is_not_begun() {
    let visitor = Visitor { free_bytes: 150_000, ..Visitor::new() };
    let error = visitor.fetch().expect_err("there is no room");
    let folder = visitor.folder.path().display();
    assert_eq!(error.message, format!("`month.pgn.zst` needs 293 KiB more, and 146 KiB are free in `{folder}`"));
    assert!(error.hint.is_some() && visitor.here().is_empty());

    let visitor = Visitor { free_bytes: 200_000, ..Visitor::new() };
    std::fs::write(visitor.part(), &body()[..100_000]).expect("the folder is ours");
    visitor.fetch_whole(&body());
}

#[test]
fn a_file_without_a_length_comes_where_its_end_can_be_told() {
    Visitor::acting([Act::Chunked(None)]).fetch().expect("chunks end by themselves");
    let visitor = Visitor::acting([Act::Chunked(Some(100_000))]);
    visitor.fetch_whole(&body());
    assert_eq!(visitor.mirror.ranges(NAME), ["", "bytes=100000-"]);
    Visitor::acting([Act::Boundless]).fetch().expect("its digest will tell");
    let visitor = Visitor { verified: false, ..Visitor::acting([Act::Boundless]) };
    let error = visitor.fetch().expect_err("nothing would tell");
    assert!(error.message.contains("tells neither its length nor its SHA-256"), "{error}");
    assert!(error.hint.is_some_and(|hint| hint.contains("[corpus.sha256]")));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn however_often_it_breaks_off_the_bytes_are_those_of_the_file(cuts in prop::collection::vec((0_usize..120_000, 0_u8..4), 0..7)) {
        let visitor = Visitor::acting(cuts.into_iter().map(|(cut, kind)| match kind {
            0 => Act::IgnoringRange,
            1 => Act::Chunked(Some(cut)),
            2 => Act::Status(503, Vec::new()),
            _ => Act::CutAfter(cut),
        }));
        visitor.fetch_whole(&body());
    }
}
