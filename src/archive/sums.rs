//! `sha256sums.txt`: the digest of each file of the archive, a line each.

use anyhow::Result;

use super::client::{Body, Client};
use super::meaning::{Meaning, meaning};
use super::patience::{Again, End, Patience, Tried, asked_wait, patiently};
use crate::error::Fixable;
use crate::progress::Progress;

/// A list is some kilobytes long; what is longer is none.
const MOST_BYTES: usize = 16 << 20;

/// The list of a mirror; `None` where it has none.
///
/// # Errors
///
/// Where the mirror does not answer, after some tries; [`Fixable::interrupted`] where the user wants to stop.
pub fn fetch(url: &str, client: &Client, patience: &Patience, progress: Progress) -> Result<Option<String>> {
    patiently(patience, progress, || once(url, client, patience, progress)).map_err(|end| match end {
        End::Failed(error) => error,
        End::Stopped => Fixable::interrupted("stopped before anything was fetched").into(),
        End::GaveUp { what, .. } | End::Later { what, .. } => Fixable::failed(what)
            .hint("look whether there is a network, or name another `mirror` in philidor.toml; the same command tries again")
            .into(),
    })
}

fn once(url: &str, client: &Client, patience: &Patience, progress: Progress) -> Result<Tried<Option<String>>, End> {
    let answer = match client.get(url, &[], progress)? {
        Ok(answer) => answer,
        Err(trouble) if trouble.lasting => {
            let hint = "name another `mirror` in philidor.toml";
            return Err(End::Failed(Fixable::failed(format!("`{url}` cannot be fetched: {}", trouble.what)).hint(hint).into()));
        }
        Err(trouble) => return Ok(again(format!("`{url}`: {}", trouble.what), false)),
    };
    match meaning(&answer.head, 0) {
        Meaning::Begins { .. } => (),
        Meaning::Busy => {
            let asked = asked_wait(&answer.head, (patience.now)());
            let what = format!("`{url}` answers {}", answer.head.status_words());
            return Ok(Tried::Again(Again { what, asked, heard: true, forward: false }));
        }
        _ => return Ok(Tried::Done(None)),
    }
    let mut list = Vec::new();
    loop {
        match answer.next(progress)? {
            Body::Piece(piece) => list.extend_from_slice(&piece),
            Body::End => return Ok(Tried::Done(Some(String::from_utf8_lossy(&list).into_owned()))),
            Body::Broke(trouble) => return Ok(again(format!("`{url}` broke off: {}", trouble.what), true)),
        }
        if list.len() > MOST_BYTES {
            return Ok(Tried::Done(None));
        }
    }
}

fn again(what: String, heard: bool) -> Tried<Option<String>> {
    Tried::Again(Again { what, asked: None, heard, forward: false })
}

/// The digest of a file, in lower case, in a list of lines `digest  name`, if the list names it.
pub fn listed(list: &str, name: &str) -> Option<String> {
    list.trim_start_matches('\u{feff}').lines().find_map(|line| {
        let (digest, listed) = line.trim_start().split_once(char::is_whitespace)?;
        // A star marks a file that was read as bytes, and a path may stand before the name.
        let listed = listed.trim().trim_start_matches('*').rsplit('/').next()?;
        let is_digest = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        (listed == name && is_digest).then(|| digest.to_ascii_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_or_a_path_hides_no_digest() {
        let digest = "ab".repeat(32);
        for list in [format!("\u{feff}{digest}  x.zst\n"), format!("{digest} *./standard/x.zst\r\n")] {
            assert_eq!(listed(&list, "x.zst").as_deref(), Some(digest.as_str()), "{list:?}");
        }
    }

    #[test]
    fn a_name_is_found_whole_and_its_digest_must_be_one() {
        let (one, two) = ("1".repeat(64), "Ab".repeat(32));
        let list = format!("{one}  a.zst\n{two} *b.zst\r\n1234  c.zst\n\n<html>\n");
        assert_eq!(listed(&list, "a.zst"), Some(one));
        assert_eq!(listed(&list, "b.zst"), Some("ab".repeat(32)));
        for name in ["c.zst", "zst", "b", ""] {
            assert_eq!(listed(&list, name), None, "{name}");
        }
    }
}
