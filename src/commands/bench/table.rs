//! The findings for people.

use std::io::Write as _;

use anyhow::Result;

use super::findings::{Extrapolation, Findings, HeldBy, MONTH_BYTES, MONTH_GAMES};
use super::rounds::{Contender, Lane, Spread};
use super::steps::{DECODE, READ, SCAN};
use crate::text::{bytes, duration, percent, plural, si, thousands};
use crate::ui::paint::Paint;

/// Less text is read before the threads are well under way.
const ENOUGH_TEXT: u64 = 64 << 20;

pub(super) fn print(findings: &Findings, paint: Paint) -> Result<()> {
    let mut out = std::io::stdout().lock();
    for line in lines(findings, paint) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn lines(findings: &Findings, paint: Paint) -> Vec<String> {
    let mut lines = vec![held(findings), String::new()];
    let rounds = findings.best().samples.len();
    lines.push(paint.dim(&format!(
        "{:<18}{:>8}{:>10}  {:<16}{:>10}{:>12}{:>12}   of {rounds} rounds",
        "", "threads", "median", "[least, most]", "CPU", "games/s", "text/s"
    )));
    for lane in &findings.lanes {
        let line = row(findings, lane);
        lines.push(if std::ptr::eq(lane, findings.best()) { paint.bold(&line) } else { line });
    }
    for absent in &findings.absent {
        lines.push(format!("{:<18}{}", absent.program, paint.dim(&format!("not run: {}", absent.why))));
    }
    lines.push(String::new());
    lines.extend(verdict(findings));
    lines.extend(extrapolated(findings));
    lines
}

/// What the file is, and what it holds.
fn held(findings: &Findings) -> String {
    let counts = findings.counts;
    let what = if findings.part.is_cut() {
        format!("the first {} of {}", bytes(findings.part.size()), bytes(findings.part.whole_size()))
    } else {
        bytes(findings.part.size())
    };
    format!(
        "{}: {what}, {}, {} of text; {} read, {} kept ({}) with {}",
        findings.name,
        findings.part.packing,
        bytes(counts.text_bytes),
        plural("game", counts.games),
        thousands(counts.kept),
        percent(counts.kept as f64 / counts.games as f64, 2),
        plural("ply", counts.plies),
    )
}

fn row(findings: &Findings, lane: &Lane) -> String {
    let (name, threads) = match &lane.contender {
        Contender::Step(step) => (step.name.to_owned(), step.threads.to_string()),
        Contender::Peer(peer) => (peer.shown(), String::new()),
    };
    let seconds = lane.seconds();
    let rate = |amount: u64| amount as f64 / seconds.median;
    // The bytes of the disk hold no games until they are unpacked.
    let (games, text) = match lane.step() {
        Some(READ) => (String::new(), String::new()),
        _ => (thousands(rate(findings.counts.games) as u64), format!("{}B", si(rate(findings.counts.text_bytes)))),
    };
    let range = format!("[{:.3}, {:.3}]", seconds.low, seconds.high);
    let cpu = lane.cpu_seconds().median;
    format!("{name:<18}{threads:>8}{:>8.3} s  {range:<16}{cpu:>8.3} s{games:>12}{text:>12}", seconds.median).trim_end().to_owned()
}

fn verdict(findings: &Findings) -> Vec<String> {
    let mut lines = Vec::new();
    let threads = plural("thread", findings.best_threads() as u64);
    let peak = findings.peak_bytes().map_or_else(String::new, |peak| format!(", with {} of memory at most", bytes(peak)));
    lines.push(format!("best: {threads} on {}{peak}", plural("core", findings.cores as u64)));
    for program in ["zstd", "pzstd"] {
        if let Some(peer) = findings.peer(program)
            && let Contender::Peer(shown) = &peer.contender
        {
            let (ratio, cpu_ratio) = (findings.best().ratio(peer), findings.best().cpu_ratio(peer));
            lines.push(format!(
                "      {} × the time of {}, and {:.2} × its CPU time",
                within(ratio),
                shown.shown(),
                cpu_ratio.median
            ));
        }
    }
    let share = |step| findings.share(step).map_or_else(|| "–".to_owned(), |share| percent(share.median, 0));
    let ([decode, scan, replay], busy) = findings.thread_shares();
    let spent = format!(
        "of the threads' time, decoding takes {}, scanning {}, replay {}; they are busy {} of the time",
        percent(decode, 0),
        percent(scan, 0),
        percent(replay, 0),
        percent(busy.min(1.0), 0)
    );
    lines.push(match findings.held_by() {
        HeldBy::Disk => format!("held by the disk: reading the bytes alone takes {} of the whole; {spent}", share(READ)),
        HeldBy::Decoder => format!("held by the decoder: decoding alone takes {} of the whole; {spent}", share(DECODE)),
        HeldBy::Threads => format!(
            "held by the work of all threads: decoding alone takes {} of the whole, with the scan {}; {spent}",
            share(DECODE),
            share(SCAN)
        ),
    });
    lines
}

fn extrapolated(findings: &Findings) -> Vec<String> {
    let Extrapolation { month_by_games, month_by_bytes, target } = findings.extrapolation();
    let by_bytes = month_by_bytes
        .map_or_else(String::new, |seconds| format!(", or {} by its {} on disk", duration(seconds), bytes(MONTH_BYTES)));
    if findings.counts.text_bytes < ENOUGH_TEXT {
        let least = bytes(ENOUGH_TEXT);
        return vec![format!("less than {least} of text: what each round takes says nothing of a month")];
    }
    let mut lines = vec![format!(
        "a month like July 2026, at the same pace throughout: {} for its {}{by_bytes}",
        duration(month_by_games),
        plural("game", MONTH_GAMES)
    )];
    match target {
        Some(target) => lines.push(format!(
            "{} kept moves: {}, after {} ({} of such a month), where as many are kept as here",
            si(findings.moves as f64),
            duration(target.seconds),
            plural("game", target.games.round() as u64),
            percent(target.games / MONTH_GAMES as f64, 0)
        )),
        None => lines.push("no game is kept: nothing can be said of a target of moves".to_owned()),
    }
    lines
}

fn within(ratio: Spread) -> String {
    format!("{:.2} [{:.2}, {:.2}]", ratio.median, ratio.low, ratio.high)
}
