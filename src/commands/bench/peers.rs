//! The decoders that people know, run on the same file in the same session.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::Result;

use super::part::Part;
use crate::error::Fixable;

/// Another program, and how it is called.
pub(super) struct Peer {
    program: &'static str,
    options: Vec<String>,
    path: PathBuf,
}

/// A program that was not run, and why.
pub(super) struct Absent {
    pub(super) program: &'static str,
    pub(super) why: String,
}

impl Peer {
    /// Those that are here and read the file.
    pub(super) fn installed(part: &Part, cores: usize) -> (Vec<Self>, Vec<Absent>) {
        let (mut peers, mut absent) = (Vec::new(), Vec::new());
        for (program, options) in [("zstd", vec!["-dc".to_owned()]), ("pzstd", vec!["-dc".to_owned(), format!("-p{cores}")])] {
            let peer = Self { program, options, path: part.path().to_owned() };
            if part.packing != "zstd" {
                absent.push(Absent { program, why: format!("it does not read {} text", part.packing) });
            } else if let Err(why) = peer.run() {
                absent.push(Absent { program, why: why.to_string() });
            } else {
                peers.push(peer);
            }
        }
        (peers, absent)
    }

    /// As one types it, without the file.
    pub(super) fn shown(&self) -> String {
        format!("{} {}", self.program, self.options.join(" "))
    }

    pub(super) fn program(&self) -> &'static str {
        self.program
    }

    /// Seconds that it takes to unpack the file into nothing.
    pub(super) fn run(&self) -> Result<f64> {
        let mut command = Command::new(self.program);
        command.args(&self.options).arg(&self.path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let begun = Instant::now();
        let status = command.status().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Fixable::failed("it is not installed"),
            _ => Fixable::failed(format!("it does not start: {error}")),
        })?;
        if !status.success() {
            return Err(Fixable::failed(format!("it refuses the file: {status}")).into());
        }
        Ok(begun.elapsed().as_secs_f64())
    }
}
