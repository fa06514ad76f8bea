//! What the rounds say: the best number of threads, what holds it, and how long a month would take.

use anyhow::{Context as _, Result};
use serde::Serialize;
use serde_json::{Value, json};

use super::part::Part;
use super::peers::Absent;
use super::rounds::{Contender, Lane, Spread};
use super::steps::{Counts, DECODE, READ, SCAN, WHOLE};

/// July 2026, as published.
pub(super) const MONTH_GAMES: u64 = 89_288_421;
pub(super) const MONTH_BYTES: u64 = 29_000_000_000;
/// From here on, a step that takes such a share of the whole is what holds it.
const HOLDS: f64 = 0.9;

pub(super) struct Findings<'a> {
    pub(super) name: &'a str,
    pub(super) part: &'a Part,
    pub(super) counts: Counts,
    pub(super) cores: usize,
    pub(super) lanes: Vec<Lane>,
    pub(super) absent: Vec<Absent>,
    /// The target to extrapolate to, in plies of kept games.
    pub(super) moves: u64,
    /// The lane of the whole with the best number of threads.
    best: usize,
}

/// What keeps the whole from being faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum HeldBy {
    Disk,
    Decoder,
    /// No step alone: all of them share the threads.
    Threads,
}

/// Seconds that more than was measured would take.
pub(super) struct Extrapolation {
    /// A month of as many games as July 2026.
    pub(super) month_by_games: f64,
    /// A month of as many bytes, where the file is packed as a month is.
    pub(super) month_by_bytes: Option<f64>,
    /// Until the target of moves is reached.
    pub(super) target: Option<Target>,
}

pub(super) struct Target {
    pub(super) seconds: f64,
    pub(super) games: f64,
}

impl<'a> Findings<'a> {
    pub(super) fn of(
        name: &'a str,
        part: &'a Part,
        counts: Counts,
        cores: usize,
        lanes: Vec<Lane>,
        absent: Vec<Absent>,
        moves: u64,
    ) -> Result<Self> {
        let whole = lanes.iter().enumerate().filter(|(_, lane)| lane.step() == Some(WHOLE));
        let best = whole.min_by(|(_, one), (_, other)| one.seconds().median.total_cmp(&other.seconds().median));
        let (best, _) = best.context("the whole is measured")?;
        Ok(Self { name, part, counts, cores, lanes, absent, moves, best })
    }

    pub(super) fn best(&self) -> &Lane {
        &self.lanes[self.best]
    }

    pub(super) fn best_threads(&self) -> usize {
        self.best().threads()
    }

    pub(super) fn peer(&self, program: &str) -> Option<&Lane> {
        self.lanes.iter().find(|lane| matches!(&lane.contender, Contender::Peer(peer) if peer.program() == program))
    }

    /// A step with the best number of threads.
    pub(super) fn at_best(&self, step: &str) -> Option<&Lane> {
        let threads = if step == READ { 1 } else { self.best_threads() };
        self.lanes.iter().find(|lane| lane.step() == Some(step) && lane.threads() == threads)
    }

    /// The share of the whole that a step takes when it runs without what follows it.
    pub(super) fn share(&self, step: &str) -> Option<Spread> {
        Some(self.at_best(step)?.ratio(self.best()))
    }

    pub(super) fn held_by(&self) -> HeldBy {
        let holds = |step| self.share(step).is_some_and(|share| share.median >= HOLDS);
        match () {
            () if holds(READ) => HeldBy::Disk,
            () if holds(DECODE) => HeldBy::Decoder,
            () => HeldBy::Threads,
        }
    }

    /// Shares of the threads' time in decoding, scanning and replaying, and how busy the threads were, at the best.
    pub(super) fn thread_shares(&self) -> ([f64; 3], f64) {
        let best = self.best();
        let spent = [0, 1, 2].map(|step| best.samples.iter().map(|sample| sample.thread_seconds[step]).sum::<f64>());
        let wall: f64 = best.samples.iter().map(|sample| sample.seconds).sum();
        let busy: f64 = spent.iter().sum();
        (spent.map(|seconds| seconds / busy), busy / (wall * self.best_threads().min(self.cores) as f64))
    }

    pub(super) fn peak_bytes(&self) -> Option<u64> {
        self.best().samples.iter().filter_map(|sample| sample.peak_bytes).max()
    }

    pub(super) fn extrapolation(&self) -> Extrapolation {
        let seconds = self.best().seconds().median;
        let Counts { games, plies, .. } = self.counts;
        let target = (plies > 0).then(|| {
            let times = self.moves as f64 / plies as f64;
            Target { seconds: times * seconds, games: times * games as f64 }
        });
        Extrapolation {
            month_by_games: MONTH_GAMES as f64 / games as f64 * seconds,
            month_by_bytes: (self.part.packing == "zstd").then(|| MONTH_BYTES as f64 / self.part.size() as f64 * seconds),
            target,
        }
    }

    pub(super) fn document(&self) -> Value {
        let Counts { games, kept, plies, text_bytes } = self.counts;
        let Extrapolation { month_by_games, month_by_bytes, target } = self.extrapolation();
        let (shares, busy) = self.thread_shares();
        let ratio = |program| self.peer(program).map(|peer| spread(self.best().ratio(peer)));
        let cpu_ratio = |program| self.peer(program).map(|peer| spread(self.best().cpu_ratio(peer)));
        json!({
            "schema": 1,
            "file": { "name": self.name, "bytes": self.part.whole_size(), "packing": self.part.packing },
            "measured": {
                "bytes": self.part.size(), "part": self.part.is_cut(), "text_bytes": text_bytes,
                "games": games, "kept": kept, "plies": plies,
            },
            "cores": self.cores,
            "steps": self.lanes.iter().map(|lane| self.lane(lane)).collect::<Vec<_>>(),
            "absent": self.absent.iter().map(|absent| json!({ "program": absent.program, "why": absent.why })).collect::<Vec<_>>(),
            "best": {
                "threads": self.best_threads(),
                "peak_memory_bytes": self.peak_bytes(),
                "held_by": self.held_by(),
                "share_of_whole": { "read": self.share(READ).map(spread), "decode": self.share(DECODE).map(spread), "decode_scan": self.share(SCAN).map(spread) },
                "thread_share": { "decode": shares[0], "scan": shares[1], "replay": shares[2] },
                "busy": busy,
                "time_in_that_of": { "zstd": ratio("zstd"), "pzstd": ratio("pzstd") },
                "cpu_time_in_that_of": { "zstd": cpu_ratio("zstd"), "pzstd": cpu_ratio("pzstd") },
            },
            "extrapolated": {
                "month": { "games": MONTH_GAMES, "seconds": month_by_games },
                "month_by_size": month_by_bytes.map(|seconds| json!({ "bytes": MONTH_BYTES, "seconds": seconds })),
                "moves": target.map(|target| json!({ "plies": self.moves, "games": target.games.round(), "seconds": target.seconds })),
            },
        })
    }

    fn lane(&self, lane: &Lane) -> Value {
        let seconds = lane.seconds();
        let (name, kind) = match &lane.contender {
            Contender::Step(step) => (step.name.to_owned(), "step"),
            Contender::Peer(peer) => (peer.shown(), "peer"),
        };
        json!({
            kind: name,
            "threads": matches!(lane.contender, Contender::Step(_)).then(|| lane.threads()),
            "seconds": spread(seconds),
            "cpu_seconds": spread(lane.cpu_seconds()),
            "games_per_second": self.counts.games as f64 / seconds.median,
            "text_bytes_per_second": self.counts.text_bytes as f64 / seconds.median,
        })
    }
}

impl Lane {
    pub(super) fn step(&self) -> Option<&'static str> {
        match &self.contender {
            Contender::Step(step) => Some(step.name),
            Contender::Peer(_) => None,
        }
    }

    fn threads(&self) -> usize {
        match &self.contender {
            Contender::Step(step) => step.threads,
            Contender::Peer(_) => 0,
        }
    }
}

fn spread(spread: Spread) -> Value {
    json!({ "median": spread.median, "low": spread.low, "high": spread.high, "n": spread.n })
}
