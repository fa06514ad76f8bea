//! One file of a mirror, whole: what came before is gone on with, and what breaks off is asked for again.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::client::{Answer, Body, Client};
use super::meaning::{Meaning, meaning};
use super::partial::{Origin, Partial};
use super::patience::{Again, End, Patience, Tried, asked_wait, patiently};
use crate::error::Fixable;
use crate::progress::Progress;
use crate::text::{bytes, duration};

/// A try that brought so many bytes counts as one that went forward.
const FORWARD_BYTES: u64 = 1 << 20;
/// How often it is told and noted how far it is.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// What to fetch, and by what means.
pub struct Download<'a> {
    pub name: &'a str,
    pub url: &'a str,
    /// Where the bytes go as they come; what lies there is gone on with.
    pub part: &'a Path,
    /// Whether the digest will be held against one that is known: what would be stitched wrongly is found then.
    pub verified: bool,
    pub client: &'a Client,
    pub patience: &'a Patience<'a>,
    pub progress: Progress<'a>,
    /// Bytes free in the folder of `part`; `None` where nobody knows.
    pub free: &'a dyn Fn(&Path) -> Option<u64>,
    /// Told now and then how many bytes of how many are kept; 0 of them is unknown.
    pub kept: &'a dyn Fn(u64, u64),
}

/// What came of it; the bytes lie in `part`.
#[derive(Debug)]
pub struct Downloaded {
    pub bytes: u64,
    /// In lower case.
    pub sha256: String,
    /// Bytes that came over the network this time, and the seconds in which they came.
    pub came: (u64, f64),
}

impl Download<'_> {
    /// Fetches the file.
    ///
    /// # Errors
    ///
    /// A [`Fixable`] that says what the mirror did, what is kept and how to go on; [`Fixable::interrupted`] where the user
    /// wants to stop. In every case what came stays in `part`.
    pub fn run(&self) -> Result<Downloaded> {
        let mut partial = Partial::open(self.part)?;
        let mut came = (0, 0.0);
        let ended = self.fetch(&mut partial, &mut came);
        let (done, total) = (partial.done, partial.origin.total);
        (self.kept)(done, total);
        match ended {
            Ok(()) => Ok(Downloaded { bytes: done, sha256: partial.digest(), came }),
            Err(end) => Err(self.failure(end, done, total)),
        }
    }

    fn fetch(&self, partial: &mut Partial, came: &mut (u64, f64)) -> Result<(), End> {
        if partial.done > 0 {
            if partial.origin.total > 0 && partial.done > partial.origin.total {
                partial.restart()?;
            }
            partial.hash_what_is_here(self.progress)??;
        }
        if partial.is_whole() {
            return Ok(());
        }
        patiently(self.patience, self.progress, || {
            let (before, began) = (partial.done, Instant::now());
            let tried = self.once(partial);
            let more = partial.done.saturating_sub(before);
            *came = (came.0 + more, came.1 + began.elapsed().as_secs_f64());
            Ok(match tried? {
                Tried::Again(again) => Tried::Again(Again { forward: more >= FORWARD_BYTES, ..again }),
                done @ Tried::Done(()) => done,
            })
        })
    }

    /// Asks once, and takes what comes.
    fn once(&self, partial: &mut Partial) -> Result<Tried<()>, End> {
        let headers = self.ask_for(partial)?;
        let answer = match self.client.get(self.url, &headers, self.progress)? {
            Ok(answer) => answer,
            Err(trouble) if trouble.lasting => return Err(End::Failed(self.refused(&trouble.what).into())),
            Err(trouble) => return Ok(again(format!("`{}`: {}", self.url, trouble.what), false)),
        };
        let head = &answer.head;
        let total = match meaning(head, partial.done) {
            Meaning::GoesOn { total } => {
                let total = total.unwrap_or(partial.origin.total);
                let origin = Origin::of(self.url, head, total);
                if partial.origin.differs(&origin) {
                    partial.restart()?;
                    return Ok(again(
                        format!("`{}` was changed on the mirror, and is fetched from its beginning", self.name),
                        true,
                    ));
                }
                partial.remember(origin)?;
                total
            }
            Meaning::Begins { total } => {
                if partial.done > 0 {
                    self.progress.note(format!("the mirror sends `{}` from its beginning", self.name));
                    partial.restart()?;
                }
                if total.is_none() && !head.is_chunked && !self.verified {
                    return Err(End::Failed(self.boundless().into()));
                }
                partial.remember(Origin::of(self.url, head, total.unwrap_or(0)))?;
                total.unwrap_or(0)
            }
            // Whether that is the whole file, only its digest or an earlier word can tell.
            Meaning::Whole if partial.origin.total == partial.done || self.verified => return Ok(Tried::Done(())),
            Meaning::Whole => {
                partial.restart()?;
                return Ok(again(
                    format!("`{}` says that what came is the whole file, and said otherwise before", self.url),
                    true,
                ));
            }
            Meaning::Shorter => {
                partial.restart()?;
                return Ok(again(format!("`{}` is shorter on the mirror than what came of it", self.name), true));
            }
            Meaning::Wrong(what) => return Ok(again(format!("`{}` {what}", self.url), true)),
            Meaning::Busy => {
                let asked = asked_wait(head, (self.patience.now)());
                let what = format!("`{}` answers {}", self.url, head.status_words());
                return Ok(Tried::Again(Again { what, asked, heard: true, forward: false }));
            }
            Meaning::Absent => return Err(End::Failed(self.unpublished(&head.status_words()).into())),
            Meaning::Refused => return Err(End::Failed(self.refused(&format!("answers {}", head.status_words())).into())),
        };
        self.check_room(partial.done, total)?;
        self.take(partial, total, &answer)
    }

    /// The headers that ask for what is missing.
    fn ask_for(&self, partial: &mut Partial) -> Result<Vec<(&'static str, String)>> {
        if partial.done == 0 {
            return Ok(Vec::new());
        }
        let mut headers = vec![("Range", format!("bytes={}-", partial.done))];
        let same_place = partial.origin.url == self.url;
        match partial.origin.validator().filter(|_| same_place) {
            Some(validator) => headers.push(("If-Range", validator.to_owned())),
            // Nobody could tell one half of this file and one half of that from a whole one, unless its digest does.
            None if !self.verified => {
                partial.restart()?;
                return Ok(Vec::new());
            }
            None => (),
        }
        Ok(headers)
    }

    fn take(&self, partial: &mut Partial, total: u64, answer: &Answer) -> Result<Tried<()>, End> {
        (self.kept)(partial.done, total);
        self.progress.done(partial.done, total, "bytes");
        let mut told = Instant::now();
        loop {
            match answer.next(self.progress)? {
                Body::Piece(piece) => {
                    partial.push(&piece)?;
                    if total > 0 && partial.done > total {
                        partial.restart()?;
                        return Ok(again(format!("`{}` sends more than its {}", self.url, bytes(total)), true));
                    }
                    if told.elapsed() >= TELL_EVERY {
                        told = Instant::now();
                        (self.kept)(partial.done, total);
                        self.progress.done(partial.done, total, "bytes");
                    }
                }
                Body::End if total == 0 || partial.done == total => {
                    self.progress.done(partial.done, total, "bytes");
                    return Ok(Tried::Done(()));
                }
                Body::End => return Ok(again(self.broke_off(partial.done, total, "the mirror sends no more"), true)),
                Body::Broke(trouble) => return Ok(again(self.broke_off(partial.done, total, &trouble.what), true)),
            }
        }
    }

    fn check_room(&self, done: u64, total: u64) -> Result<()> {
        let folder = self.part.parent().unwrap_or(Path::new("."));
        let needed = total.saturating_sub(done);
        match (self.free)(folder) {
            Some(free) if free < needed => Err(Fixable::failed(format!(
                "`{}` needs {} more, and {} are free in `{}`",
                self.name,
                bytes(needed),
                bytes(free),
                folder.display()
            ))
            .hint("make room there, or name another place (`store` in philidor.toml); the same command goes on")
            .into()),
            _ => Ok(()),
        }
    }
}

fn again(what: String, heard: bool) -> Tried<()> {
    Tried::Again(Again { what, asked: None, heard, forward: false })
}

/// What is said when there is no further try.
impl Download<'_> {
    fn failure(&self, end: End, done: u64, total: u64) -> anyhow::Error {
        let kept = kept(done, total);
        match end {
            End::Failed(error) => error,
            End::Stopped => Fixable::interrupted(format!("stopped while `{}` was being fetched; {kept}", self.name)).into(),
            End::GaveUp { what, tries } => {
                Fixable::failed(format!("{what}; gave up after {tries} times in a row; {kept}")).hint(self.go_on()).into()
            }
            End::Later { what, wait } => {
                let wait = duration(wait.as_secs_f64());
                Fixable::failed(format!("{what}, and asks to be left alone for {wait}; {kept}"))
                    .hint(format!("run the same command in {wait}: it goes on from there"))
                    .into()
            }
        }
    }

    fn go_on(&self) -> String {
        format!(
            "the same command goes on from there; if this stays so, name another `mirror` in philidor.toml, or put `{}` into the data folder",
            self.name
        )
    }

    fn broke_off(&self, done: u64, total: u64, how: &str) -> String {
        let of = if total > 0 { format!(" of {}", bytes(total)) } else { String::new() };
        format!("`{}` broke off after {}{of}: {how}", self.name, bytes(done))
    }

    fn unpublished(&self, answers: &str) -> Fixable {
        Fixable::failed(format!("`{}` is not published, or not yet: `{}` answers {answers}", self.name, self.url))
            .hint("take another month (one is published some days after it ended), or name another `mirror` in philidor.toml")
    }

    fn refused(&self, how: &str) -> Fixable {
        Fixable::failed(format!("`{}` cannot be fetched: `{}` {how}", self.name, self.url))
            .hint(format!("name another `mirror` in philidor.toml, or put `{}` into the data folder", self.name))
    }

    fn boundless(&self) -> Fixable {
        Fixable::failed(format!(
            "`{}` tells neither its length nor its SHA-256: one that was cut short could not be told from a whole one",
            self.url
        ))
        .hint("write its digest into `[corpus.sha256]`, or name another `mirror` in philidor.toml")
    }
}

fn kept(done: u64, total: u64) -> String {
    match (done, total) {
        (0, _) => "nothing of it has come yet".to_owned(),
        (_, 0) => format!("{} that came are kept", bytes(done)),
        _ => format!("{} of {} are kept", bytes(done), bytes(total)),
    }
}
