//! `philidor mine FILE`: plays engine games and writes them as a month of the public archive.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};

use crate::arena::mine;
use crate::cli::MineArgs;
use crate::commands::{session, stop};
use crate::experiment;
use crate::progress::{Progress, Tick};
use crate::text::{bytes, plural, thousands};
use crate::ui::paint::Paint;
use crate::ui::say::{answer, aside};

pub fn mine(args: &MineArgs, paint: Paint) -> Result<()> {
    let config = experiment::mine::load(&args.file)?;
    let machine = session::machine()?;
    let out = args.out.clone().unwrap_or_else(|| beside(&args.file));
    let stop = stop::on_signals()?;

    let bar = if std::io::stderr().is_terminal() { ProgressBar::no_length() } else { ProgressBar::hidden() };
    bar.set_style(ProgressStyle::with_template("{bar:40} {pos} of {len} games, {eta} left")?);
    bar.enable_steady_tick(Duration::from_millis(200));
    let tell = |tick: Tick| match tick {
        Tick::Done { done, total, .. } => {
            bar.set_length(total);
            bar.set_position(done);
        }
        Tick::Note { text } => bar.suspend(|| aside(text)),
        Tick::Metric { .. } | Tick::Measured(_) => (),
    };
    let report = mine::mine(&config, &machine.stockfish, machine.threads(), &out, &Progress::new(&tell, &stop));
    bar.finish_and_clear();
    let report = report?;
    let counts = |of: &BTreeMap<String, u64>| {
        of.iter().map(|(name, games)| format!("{name} {}", thousands(*games))).collect::<Vec<_>>().join(", ")
    };
    aside(paint.bold(&format!(
        "{}, {} plies, {} ({} of text)",
        plural("game", report.games),
        thousands(report.plies),
        bytes(report.file_bytes),
        bytes(report.text_bytes)
    )));
    aside(format!("  speeds: {}", counts(&report.speeds)));
    aside(format!("  terminations: {}", counts(&report.terminations)));
    aside(format!("  ends: {}", counts(&report.ends)));
    answer(out.display())
}

/// `mined-2026-01.mine.toml` makes `mined-2026-01.pgn.zst`.
fn beside(file: &Path) -> PathBuf {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = name.strip_suffix(".mine.toml").or_else(|| name.strip_suffix(".toml")).unwrap_or(&name).to_owned();
    file.with_file_name(format!("{stem}.pgn.zst"))
}
