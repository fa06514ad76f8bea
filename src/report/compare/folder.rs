//! The folder that a page is written into: ours, or nobody's.

use std::io::Read as _;
use std::path::{Component, Path};

use anyhow::{Context as _, Result};
use fs_err as fs;

use crate::error::Fixable;

/// What the head of every page of ours says.
const MARK: &str = "<meta name=\"generator\" content=\"philidor\">";
const PAGE: &str = "compare.html";
/// What is written there besides the page; foreign pictures in `charts` would be taken for old ones.
const OTHERS: [&str; 4] = ["compare.csv", "compare.json", "compare.md", "charts"];

/// Makes the folder, where nothing in it would be lost.
///
/// # Errors
///
/// [`crate::error::Exit::Usage`] where a file stands in its place, or where it holds files of these names that no comparison
/// wrote.
pub(crate) fn claim(out: &Path) -> Result<()> {
    let another = "name another folder after --page";
    if out.exists() && !out.is_dir() {
        let message = format!("`--page {}` is a file, and a folder is wanted", out.display());
        return Err(Fixable::usage(message).hint(another).into());
    }
    let made = fs::create_dir_all(out);
    let named = || Fixable::failed(format!("cannot write the folder of `--page {}`", out.display())).hint(another);
    made.with_context(named)?;
    if is_ours(&out.join(PAGE))? {
        return Ok(());
    }
    let foreign = std::iter::once(PAGE).chain(OTHERS).find(|name| out.join(name).exists());
    match foreign {
        None => Ok(()),
        Some(name) => {
            Err(Fixable::usage(format!("`{}` was not written by a comparison, and is not replaced", out.join(name).display()))
                .hint(format!("{another}, or move that away"))
                .into())
        }
    }
}

/// Whether a page of ours lies there. What cannot be read is not ours.
fn is_ours(page: &Path) -> Result<bool> {
    if !page.is_file() {
        return Ok(false);
    }
    let mut head = Vec::new();
    fs::File::open(page)?.take(2048).read_to_end(&mut head)?;
    Ok(String::from_utf8_lossy(&head).contains(MARK))
}

/// The way from a folder to a file, with `/`: where the file lies below the folder, or below the one that the folder is in, which
/// is then given away whole. None elsewhere: where the page is read, there would be no such file.
pub(crate) fn relative(file: &Path, from: &Path) -> Option<String> {
    let (file, from) = (fs::canonicalize(file).ok()?, fs::canonicalize(from).ok()?);
    let shared = file.components().zip(from.components()).take_while(|(a, b)| a == b).count();
    let is_beside = from.components().count() - shared <= 1;
    // Only the root in common: the two are of unlike places, and are not moved together.
    if shared < 2 || !is_beside {
        return None;
    }
    let up = from.components().skip(shared).map(|_| "..".to_owned());
    let down = file.components().skip(shared).filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    });
    Some(up.chain(down).collect::<Vec<_>>().join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Exit, exit_of, hint_of};

    #[test]
    fn a_page_replaces_its_own_and_nothing_that_somebody_else_wrote() {
        let dir = tempfile::tempdir().expect("a folder");
        let out = dir.path().join("page");
        claim(&out).expect("there is nothing");
        fs::write(out.join(PAGE), format!("<!doctype html>\n<head>{MARK}")).expect("written");
        fs::create_dir(out.join("charts")).expect("made");
        claim(&out).expect("it is ours");
        fs::write(out.join(PAGE), "<h1>Mine</h1>").expect("written");
        let error = claim(&out).expect_err("it is not ours");
        assert_eq!(exit_of(&error), Exit::Usage);
        assert!(error.to_string().contains("compare.html` was not written by a comparison"), "{error}");
        assert!(hint_of(&error).expect("a way on").contains("--page"));
        fs::remove_file(out.join(PAGE)).expect("removed");
        assert!(claim(&out).expect_err("whose are these").to_string().contains("charts"));
        assert!(claim(&dir.path().join("page/charts/..")).is_err());
        fs::write(dir.path().join("file"), "").expect("written");
        let error = claim(&dir.path().join("file")).expect_err("no folder");
        assert!(error.to_string().contains("--page"), "{error}");
    }

    #[test]
    fn a_way_goes_up_once_and_no_further() {
        let dir = tempfile::tempdir().expect("a folder");
        let (runs, page) = (dir.path().join("runs/a"), dir.path().join("page"));
        fs::create_dir_all(&runs).expect("made");
        fs::create_dir_all(&page).expect("made");
        fs::write(runs.join("report.html"), "").expect("written");
        assert_eq!(relative(&runs.join("report.html"), &page).as_deref(), Some("../runs/a/report.html"));
        assert_eq!(relative(&runs.join("report.html"), &runs).as_deref(), Some("report.html"));
        let deep = page.join("deeper");
        fs::create_dir_all(&deep).expect("made");
        assert_eq!(relative(&runs.join("report.html"), &deep), None);
        assert_eq!(relative(&runs.join("none.html"), &runs), None);
    }
}
