//! Failures that a user can mend: what was seen, what was wanted, one next step, and the exit code.
//!
//! Everything else is a plain [`anyhow::Error`]. `ui::error` prints both; `main` turns them into a code.

use std::fmt;
use std::io::ErrorKind;

use serde::{Deserialize, Serialize};

/// What the process ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exit {
    /// 1: a stage failed, or a bug.
    Failed,
    /// 2: the command line or the experiment is wrong.
    Usage,
    /// 3: work is left to do (`plan --check`).
    Incomplete,
    /// 4: a gate refused.
    Refused,
    /// 5: what was asked cannot be compared, or no verdict was reached.
    NotComparable,
    /// 75: another process holds what is needed, and `--no-wait` was given.
    Locked,
    /// 130: interrupted, with the work kept.
    Interrupted,
}

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Incomplete => 3,
            Self::Refused => 4,
            Self::NotComparable => 5,
            Self::Locked => 75,
            Self::Interrupted => 130,
        }
    }
}

/// A failure that a user can mend.
///
/// The message is a fragment without a full stop, with values in backticks; the hint is one next step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fixable {
    pub message: String,
    pub hint: Option<String>,
    pub exit: Exit,
}

impl Fixable {
    /// A failure of the work itself: exit code 1.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, message)
    }

    /// A mistake in the command line or the experiment: exit code 2.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// A gate that says no: exit code 4.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(Exit::Refused, message)
    }

    /// The user asked to stop, and what was done is kept: exit code 130.
    pub fn interrupted(message: impl Into<String>) -> Self {
        Self::new(Exit::Interrupted, message)
    }

    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, exit }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Fixable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fixable {}

/// One next step: that of the [`Fixable`] in the chain, else what the system's own refusal asks for.
pub fn hint_of(error: &anyhow::Error) -> Option<String> {
    if let Some(fixable) = error.chain().find_map(|cause| cause.downcast_ref::<Fixable>())
        && fixable.hint.is_some()
    {
        return fixable.hint.clone();
    }
    let hint = match io_kind(error)? {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "make space there, or name another place (`store` and `runs` in philidor.toml); the same command goes on with what is kept"
        }
        ErrorKind::FileTooLarge => {
            "a file may be no longer than that: raise the limit (`ulimit -f`); the same command goes on with what is kept"
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "make it writable, or name another place (`store` and `runs` in philidor.toml)"
        }
        ErrorKind::NotADirectory | ErrorKind::IsADirectory | ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty => {
            "something else lies there: move it away, or name another place (`store` and `runs` in philidor.toml)"
        }
        ErrorKind::NotFound => "it, or the folder it lies in, was taken away: put it back, or make it again",
        ErrorKind::InvalidFilename => "choose a shorter name",
        // A loop of links, a failing disk, too many open files: the system's words say it, and none is a bug of ours.
        _ if raw(error).is_some_and(|code| [libc::ELOOP, libc::EIO, libc::EMFILE, libc::ENFILE].contains(&code)) => {
            "the system refuses this, and says why above"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

/// What the system refused, where it is at the root of an error.
pub fn io_kind(error: &anyhow::Error) -> Option<ErrorKind> {
    error.chain().find_map(|cause| {
        let io = cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        io.or_else(|| cause.downcast_ref::<serde_json::Error>()?.io_error_kind())
    })
}

fn raw(error: &anyhow::Error) -> Option<i32> {
    error.chain().find_map(|cause| cause.downcast_ref::<std::io::Error>()?.raw_os_error())
}

/// The exit code of any error: that of the [`Fixable`] in its chain, else 1.
pub fn exit_of(error: &anyhow::Error) -> Exit {
    error.chain().find_map(|cause| cause.downcast_ref::<Fixable>()).map_or(Exit::Failed, |fixable| fixable.exit)
}

/// The message of a panic, as far as it is text.
pub fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("it panicked without a message").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context as _;

    #[test]
    fn a_refusal_of_the_system_has_a_next_step_and_a_hint_of_ours_comes_first() {
        let full = || std::io::Error::from_raw_os_error(libc::ENOSPC);
        let error = Err::<(), _>(full()).context("writing `a`").expect_err("made so");
        assert!(hint_of(&error).expect("a hint").starts_with("make space"));
        let wrapped = anyhow::Error::new(fs_err::read("/").expect_err("a folder is no file"));
        assert!(hint_of(&wrapped).expect("a hint").contains("move it away"));
        let through_json =
            serde_json::to_writer(fs_err::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it"), "a");
        let through_json = anyhow::Error::new(through_json.expect_err("it is full"));
        assert!(hint_of(&through_json).expect("a hint").starts_with("make space"));
        let ours = anyhow::Error::new(Fixable::failed("no").hint("ours")).context("more");
        assert_eq!(hint_of(&ours).as_deref(), Some("ours"));
        assert_eq!(hint_of(&anyhow::anyhow!("a bug")), None);
    }
}
