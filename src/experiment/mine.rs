//! Reads the file of a mined month, such as `experiments/mined-2026-01.mine.toml`.

use std::path::Path;

use crate::arena::config::MineConfig;
use crate::error::Fixable;

/// Reads and checks the settings.
///
/// # Errors
///
/// A file that cannot be read, is not TOML, has an unknown, missing or wrong key, or asks for what cannot be mined.
pub fn load(path: &Path) -> Result<MineConfig, Fixable> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Fixable::usage(format!("cannot read `{}`: {error}", path.display())).hint("give the file of a mined month, `….mine.toml`")
    })?;
    let config: MineConfig = toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        Fixable::usage(format!("{}:{line}: {}", path.display(), error.message().trim_end()))
            .hint("`experiments/mined-2026-01.mine.toml` has every key, with a comment")
    })?;
    config.check().map_err(|fixable| Fixable { message: format!("{}: {}", path.display(), fixable.message), ..fixable })?;
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn committed() -> String {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("experiments/mined-2026-01.mine.toml");
        std::fs::read_to_string(path).expect("it is committed")
    }

    fn loaded(text: &str) -> Result<MineConfig, Fixable> {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("month.mine.toml");
        std::fs::write(&path, text).expect("it is written");
        load(&path)
    }

    #[test]
    fn the_committed_month_is_read() {
        let config = loaded(&committed()).expect("it is right");
        assert_eq!((config.month.as_str(), config.levels[0].weights.len()), ("2026-01", 3));
    }

    #[test]
    fn a_mistake_is_told_with_its_line() {
        let message = loaded(&committed().replacen("games =", "gmaes =", 1)).expect_err("no such key").message;
        let line = committed().lines().position(|line| line.starts_with("games =")).expect("the key is there") + 1;
        assert!(message.contains(&format!("month.mine.toml:{line}: unknown field `gmaes`")), "{message}");
        let message =
            loaded(&committed().replacen("month = \"2026-01\"", "month = \"2026-21\"", 1)).expect_err("no month").message;
        assert!(message.contains("`month` is `2026-21`"), "{message}");
    }
}
