//! `philidor completions SHELL`.

use std::io::Write as _;

use anyhow::Result;
use clap::CommandFactory as _;

use crate::cli::Cli;

pub fn completions(shell: clap_complete::Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "philidor", &mut script);
    Ok(std::io::stdout().lock().write_all(&script)?)
}
