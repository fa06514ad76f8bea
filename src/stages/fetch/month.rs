//! A month of the archive: out of the data folder where it lies there, else from the mirror; verified in both cases.

use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Result;
use fs_err as fs;
use sha2::{Digest as _, Sha256};

use super::{Digest, clear, pieces, sizes};
use crate::archive::client::Client;
use crate::archive::download::{Download, Downloaded};
use crate::archive::mirror::{Mirror, SUMS};
use crate::archive::partial::discard;
use crate::archive::patience::Patience;
use crate::archive::sums;
use crate::disk::free_bytes;
use crate::error::Fixable;
use crate::machine::ARCHIVE;
use crate::plan::Cx;
use crate::progress::Progress;
use crate::store::Resume;

/// A mirror that says nothing for so long is gone, and asked again.
const SILENCE: Duration = Duration::from_secs(30);
/// How often a wait looks whether the user wants to stop.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How a file begins that zstd or pzstd wrote: a frame, or a skippable one (RFC 8878, 3.1).
const ZSTD: [[u8; 4]; 2] = [[0x28, 0xb5, 0x2f, 0xfd], [0x50, 0x2a, 0x4d, 0x18]];

/// The digest that a month must have, and who says so.
struct Wanted {
    sha256: String,
    by: &'static str,
}

/// Who said what the digest must be, where anybody did.
type By = Option<&'static str>;

/// Puts a month into `archive`; its name, its digest, and who said what that must be.
pub(super) fn fetch(name: &str, pinned: Option<&str>, cx: &Cx, archive: &Path) -> Result<(String, Digest, By)> {
    let pinned = pinned.map(|pinned| Wanted { sha256: pinned.to_ascii_lowercase(), by: "the experiment" });
    let here = cx.machine.data.join(name);
    let part = archive.with_extension("part");
    if here.is_file() {
        discard(&part)?;
        clear(&new_resume(&part))?;
        let (sha256, by) = link(name, &here, pinned, cx, archive)?;
        return Ok((name.to_owned(), Digest::Sha256(sha256), by));
    }
    let Some(mirror) = cx.machine.mirror() else {
        return Err(Fixable::failed(format!(
            "`{name}` is not in the data folder `{}`, and no mirror is set",
            cx.machine.data.display()
        ))
        .hint(format!("fetch it by hand from {ARCHIVE}/{name}, or set `mirror` in philidor.toml"))
        .into());
    };
    take_back(archive, &part)?;
    let (sha256, by) = download(name, pinned, &Mirror::at(mirror), cx, &part)?;
    fs::rename(&part, archive)?;
    discard(&part)?;
    Ok((name.to_owned(), Digest::Sha256(sha256), by))
}

/// Takes a month from the data folder, and makes sure that it is what the archive published.
fn link(name: &str, here: &Path, pinned: Option<Wanted>, cx: &Cx, archive: &Path) -> Result<(String, By)> {
    // What an earlier try left may be the same file by another name: a copy into it would empty both.
    clear(archive)?;
    // A month has tens of gigabytes: it is linked where the store lies on the same disk.
    if fs::hard_link(here, archive).is_err() {
        fs::copy(here, archive)?;
    }
    let mut hasher = Sha256::new();
    pieces(archive, cx.progress, |piece| hasher.update(piece))?;
    let seen = format!("{:x}", hasher.finalize());
    let wanted = match pinned {
        Some(pinned) => Some(pinned),
        None => listed_beside(name, cx)?,
    };
    let hint = format!("fetch it again from {ARCHIVE}/{name}");
    verify(&here.display().to_string(), &seen, wanted.as_ref(), hint)?;
    note_unverified(name, wanted.as_ref(), cx.progress);
    Ok((seen, wanted.map(|wanted| wanted.by)))
}

/// A try that ended between the last byte and the commit left the whole file under its last name.
fn take_back(archive: &Path, part: &Path) -> Result<()> {
    let Ok(found) = fs::metadata(archive) else { return Ok(()) };
    // What has another name too is a file of the user's, and none to write into.
    if found.nlink() == 1 && !part.exists() {
        fs::rename(archive, part)?;
    } else {
        clear(archive)?;
    }
    Ok(())
}

/// Fetches a month into `part`, and makes sure that it is what was asked for. What is not is thrown away.
fn download(name: &str, pinned: Option<Wanted>, mirror: &Mirror, cx: &Cx, part: &Path) -> Result<(String, By)> {
    let progress = cx.progress;
    let wait = |wait| wait_or_stop(wait, progress);
    let patience = Patience { wait: &wait, now: &unix_seconds };
    let client = Client::patient(mirror, SILENCE);
    let wanted = match pinned {
        Some(pinned) => Some(pinned),
        None => match listed_beside(name, cx)? {
            Some(listed) => Some(listed),
            None => listed_there(name, mirror, &client, &patience, progress)?,
        },
    };
    let url = mirror.url(name);
    let resume = part.with_file_name(Resume::FILE);
    let kept = |done, total| {
        // For `plan` to tell, and no more: the part itself says how far it is.
        sizes::remember(cx.store, &url, total);
        let far = Resume { done, total, unit: "bytes".to_owned() };
        if done == 0 {
            clear(&resume).ok()
        } else {
            note(&far, &new_resume(part), &resume).ok()
        };
    };
    let Downloaded { sha256, came, .. } = Download {
        name,
        url: &url,
        part,
        verified: wanted.is_some(),
        client: &client,
        patience: &patience,
        progress,
        free: &free_bytes,
        kept: &kept,
    }
    .run()?;
    sizes::remember_speed(cx.store, came);
    let hint = format!("the same command fetches it anew; if this stays so, look what {ARCHIVE}/{SUMS} says");
    if let Err(error) = verify(&url, &sha256, wanted.as_ref(), hint).and_then(|()| look_at(&url, part)) {
        discard(part)?;
        clear(&resume)?;
        return Err(error);
    }
    note_unverified(name, wanted.as_ref(), progress);
    Ok((sha256, wanted.map(|wanted| wanted.by)))
}

fn verify(place: &str, seen: &str, wanted: Option<&Wanted>, hint: String) -> Result<()> {
    match wanted {
        Some(wanted) if wanted.sha256 != seen => Err(Fixable::failed(format!(
            "`{place}` has another SHA-256 than {} says: `{}` wanted, `{seen}` seen, and nothing was kept",
            wanted.by, wanted.sha256
        ))
        .hint(hint)
        .into()),
        _ => Ok(()),
    }
}

fn note_unverified(name: &str, wanted: Option<&Wanted>, progress: Progress) {
    if wanted.is_none() {
        progress.note(format!("`{name}` is not verified: neither the experiment nor a {SUMS} has its SHA-256"));
    }
}

/// Whole or as it was, though not through a power cut: that would cost a disk its time every second.
fn note(far: &Resume, new: &Path, path: &Path) -> Result<()> {
    fs::write(new, serde_json::to_vec(far)?)?;
    Ok(fs::rename(new, path)?)
}

/// Where the note lies while it is written.
fn new_resume(part: &Path) -> PathBuf {
    part.with_file_name(Resume::FILE).with_extension("new")
}

/// A page of a proxy that wants a password is no month, whatever its name.
fn look_at(url: &str, part: &Path) -> Result<()> {
    let mut start = Vec::new();
    fs::File::open(part)?.take(4).read_to_end(&mut start)?;
    if ZSTD.iter().any(|magic| start == magic) {
        return Ok(());
    }
    Err(Fixable::failed(format!(
        "`{url}` is no zstd file (it begins with `{}`), and nothing was kept",
        String::from_utf8_lossy(&start).escape_debug()
    ))
    .hint("look at the address with a browser, or name another `mirror` in philidor.toml")
    .into())
}

/// The digest that the list in the data folder tells.
fn listed_beside(name: &str, cx: &Cx) -> Result<Option<Wanted>> {
    let list = cx.machine.data.join(SUMS);
    if !list.is_file() {
        return Ok(None);
    }
    let sha256 = sums::listed(&String::from_utf8_lossy(&fs::read(list)?), name);
    Ok(sha256.map(|sha256| Wanted { sha256, by: SUMS }))
}

/// The digest that the list of the mirror tells.
fn listed_there(name: &str, mirror: &Mirror, client: &Client, patience: &Patience, progress: Progress) -> Result<Option<Wanted>> {
    let list = sums::fetch(&mirror.url(SUMS), client, patience, progress)?;
    let sha256 = list.and_then(|list| sums::listed(&list, name));
    Ok(sha256.map(|sha256| Wanted { sha256, by: "the mirror's sha256sums.txt" }))
}

fn wait_or_stop(wait: Duration, progress: Progress) {
    let until = Instant::now() + wait;
    while !progress.should_stop() && Instant::now() < until {
        std::thread::sleep(LOOK_EVERY.min(until.saturating_duration_since(Instant::now())));
    }
}

fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::config::Source;
    use crate::stages::bench::Bench;
    use crate::stages::fetch::Fetch;

    const TEXT: &[u8] = b"1. e4 e5 *\n";

    fn by_month(sha256: Option<String>) -> Source {
        Source::Month { month: "2021-10".into(), sha256 }
    }

    fn message(error: anyhow::Error) -> String {
        error.downcast::<Fixable>().expect("the user can mend it").message
    }

    #[test]
    fn a_month_is_verified_against_the_pin_or_the_list_or_recorded() {
        let mut bench = Bench::default();
        let name = by_month(None).name();
        let (error, _) = bench.fail(Fetch { source: by_month(None) });
        let fixable = error.downcast::<Fixable>().expect("the user can mend it");
        assert!(fixable.message.contains(&name) && fixable.message.contains(&bench.machine.data.display().to_string()));
        assert!(fixable.hint.expect("a hint").contains(&format!("{ARCHIVE}/{name}")));

        fs::write(bench.machine.data.join(&name), TEXT).expect("written");
        let sha256 = format!("{:x}", Sha256::digest(TEXT));
        let right = bench.make(Fetch { source: by_month(Some(sha256.to_uppercase())) });
        assert_eq!(bench.open(right).name, name);
        let (error, out) = bench.fail(Fetch { source: by_month(Some("0".repeat(64))) });
        let message = message(error);
        assert!(message.contains(&"0".repeat(64)) && message.contains(&sha256) && message.contains("nothing was kept"));
        assert_eq!(fs::read_dir(out).expect("a folder").count(), 0);

        let list = bench.machine.data.join("sha256sums.txt");
        fs::write(&list, format!("{}  {name}\n", "1".repeat(64))).expect("written");
        assert!(self::message(bench.fail(Fetch { source: by_month(None) }).0).contains("sha256sums.txt"));
        fs::write(&list, format!("{}  other.zst\n{sha256}  {name}\n", "1".repeat(64))).expect("written");
        let listed = bench.make(Fetch { source: by_month(None) });
        let origin = fs::read_to_string(bench.dir("fetch", listed).join("source.json")).expect("read");
        assert!(origin.contains(&format!("\"sha256\": \"{sha256}\"")), "{origin}");
    }

    #[test]
    fn a_try_that_was_killed_while_it_verified_harms_no_file_of_the_user() {
        let mut bench = Bench::default();
        let name = by_month(None).name();
        let here = bench.machine.data.join(&name);
        fs::write(&here, TEXT).expect("written");
        let made = bench.make(Fetch { source: by_month(None) });
        // The link of the first try lies there still, and the second one would copy the file into itself.
        let again = bench.make(Fetch { source: by_month(None) });
        assert_eq!(made.key(), again.key());
        assert_eq!(fs::read(&here).expect("read"), TEXT);
        // Nor is it written into by a download, once the data folder is another.
        let archive = bench.dir("fetch", made).join("archive");
        let part = archive.with_extension("part");
        take_back(&archive, &part).expect("taken away");
        assert!(!part.exists() && !archive.exists() && here.exists());
        fs::write(&archive, TEXT).expect("written");
        take_back(&archive, &part).expect("taken back");
        assert!(part.exists() && !archive.exists());
    }
}
