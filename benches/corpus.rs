//! What reading a month costs, step by step, beside `zstd -dc` and `pzstd -dc` on the same files in the same run:
//!
//!     cargo bench --manifest-path benches/Cargo.toml --bench corpus
//!
//! The month is made up: 120,000 games from one seed, packed at level 19 in one frame and in frames of 32 MiB of text,
//! which takes some minutes once. `cargo test --bench corpus` runs each step once, on a month of 200 games.
//!
//! Criterion runs one way after the other. A busy machine is not fair to that, so rounds follow in which each runs once;
//! their medians, ratios and processor times are printed at the end.

#![expect(clippy::print_stdout, reason = "it answers on the command line")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use archive::month::{Month, Packing};
use criterion::{Criterion, SamplingMode, Throughput};
use philidor::chess::vocabulary::{BOS, EOS};
use philidor::corpus::Depth;
use philidor::corpus::config::Keep;
use philidor::corpus::packed::Packed;
use philidor::corpus::pgn::{Means, Measured, parse};
use philidor::corpus::report::ParseReport;
use philidor::progress::silent;

mod archive;
#[path = "../src/commands/bench/cpu.rs"]
mod cpu;

const ROUNDS: usize = 15;
const GAMES: u64 = 120_000;
const MEMORY_BYTES: u64 = 64 << 20;
/// What a writer gathers before it writes.
const WRITTEN_AT_ONCE: usize = 1 << 16;

/// A way to read a month.
#[derive(Clone, Debug)]
enum Way {
    Step {
        depth: Depth,
        threads: usize,
        /// Whether the moves are copied on as tokens with their marks, as the encoder does.
        encode: bool,
    },
    Peer(Vec<String>),
}

/// A way on one of the files, and its runs, one a round.
struct Lane {
    packing: &'static str,
    path: PathBuf,
    name: String,
    way: Way,
    seconds: Vec<f64>,
    cpu_seconds: Vec<f64>,
}

fn main() -> Result<()> {
    // As criterion itself tells them apart.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let (games, level) = if is_bench { (GAMES, 19) } else { (200, 3) };
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(5))
        .configure_from_args();
    let mut lanes = Vec::new();
    for (packing, name) in [(Packing::OneFrame, "one frame"), (Packing::Frames, "frames")] {
        let path = Month { games, seed: 1, packing, level, repeat: 1 }.file()?;
        lanes.extend(bench(&mut criterion, name, &path, threads)?);
    }
    criterion.final_summary();
    if is_bench {
        for round in 0..ROUNDS {
            let first = round % lanes.len();
            let (before, after) = lanes.split_at_mut(first);
            after.iter_mut().chain(before).try_for_each(Lane::run)?;
        }
        summary(&lanes, games);
    }
    Ok(())
}

fn bench(criterion: &mut Criterion, packing: &'static str, path: &Path, threads: usize) -> Result<Vec<Lane>> {
    let (report, measured) = read(path, Depth::Replay, threads, false)?;
    println!("{packing}: {} games, {} kept, {} plies, {} bytes", report.read, report.kept, report.plies, measured.text_bytes);
    let mut group = criterion.benchmark_group(packing);
    group.sampling_mode(SamplingMode::Flat);
    group.throughput(Throughput::ElementsAndBytes { elements: report.read, bytes: measured.text_bytes });
    let mut lanes = Vec::new();
    for (name, way) in ways(threads) {
        if let Way::Peer(command) = &way
            && let Err(why) = unpack(command, path)
        {
            println!("{packing}/{name}: not run: {why}");
            continue;
        }
        group.bench_function(&name, |bencher| bencher.iter(|| way.run(path).expect("it ran before")));
        lanes.push(Lane { packing, path: path.to_owned(), name, way, seconds: Vec::new(), cpu_seconds: Vec::new() });
    }
    group.finish();
    Ok(lanes)
}

fn ways(threads: usize) -> Vec<(String, Way)> {
    let mut ways = Vec::new();
    let step = |depth, threads, encode| Way::Step { depth, threads, encode };
    for threads in if threads > 1 { vec![1, threads] } else { vec![1] } {
        for (name, depth) in [("decode", Depth::Unpack), ("decode + scan", Depth::Scan), ("whole", Depth::Replay)] {
            ways.push((format!("{name}, {threads} threads"), step(depth, threads, false)));
        }
        ways.push((format!("whole + encode, {threads} threads"), step(Depth::Replay, threads, true)));
    }
    let parallel = format!("-p{threads}");
    for command in [vec!["zstd", "-dc"], vec!["pzstd", "-dc", &parallel]] {
        ways.push((command.join(" "), Way::Peer(command.into_iter().map(str::to_owned).collect())));
    }
    ways
}

impl Way {
    fn run(&self, path: &Path) -> Result<()> {
        match self {
            Self::Step { depth, threads, encode } => read(path, *depth, *threads, *encode).map(drop),
            Self::Peer(command) => unpack(command, path),
        }
    }
}

impl Lane {
    fn run(&mut self) -> Result<()> {
        let (begun, cpu_before) = (Instant::now(), cpu::seconds());
        self.way.run(&self.path)?;
        self.seconds.push(begun.elapsed().as_secs_f64());
        self.cpu_seconds.push(cpu::seconds() - cpu_before);
        Ok(())
    }
}

/// With the published filters.
fn read(path: &Path, depth: Depth, threads: usize, encode: bool) -> Result<(ParseReport, Measured)> {
    let keep = Keep::published();
    let packed = Packed::open(path, "month")?;
    let means = Means { depth, ..Means::new(threads, MEMORY_BYTES) };
    let mut written: Vec<u16> = Vec::with_capacity(2 * WRITTEN_AT_ONCE);
    parse(&packed, &keep, None, means, silent(), &mut |moves, _| {
        if encode {
            written.push(BOS);
            written.extend_from_slice(moves);
            written.push(EOS);
            if written.len() > WRITTEN_AT_ONCE {
                std::hint::black_box(&written);
                written.clear();
            }
        }
        Ok(())
    })
}

fn unpack(command: &[String], path: &Path) -> Result<()> {
    let mut process = Command::new(&command[0]);
    process.args(&command[1..]).arg(path).stdout(Stdio::null()).stderr(Stdio::null());
    let status = process.status().with_context(|| format!("`{}` does not start", command[0]))?;
    ensure!(status.success(), "`{}` ended with {status}", command[0]);
    Ok(())
}

/// The medians, and their ratios to the peers' on the same file, taken round by round.
fn summary(lanes: &[Lane], games: u64) {
    println!("\n{ROUNDS} rounds{:54}× zstd: wall, CPU   × pzstd: wall, CPU", "");
    for lane in lanes {
        let seconds = median(lane.seconds.iter().copied());
        let ratios = ["zstd", "pzstd"].map(|program| {
            let is_it = |way: &Way| matches!(way, Way::Peer(command) if command[0] == program);
            lanes.iter().find(|peer| peer.packing == lane.packing && is_it(&peer.way)).map_or_else(String::new, |peer| {
                let ratio = |own: &[f64], its: &[f64]| median(own.iter().zip(its).map(|(own, its)| own / its));
                let (wall, cpu) = (ratio(&lane.seconds, &peer.seconds), ratio(&lane.cpu_seconds, &peer.cpu_seconds));
                format!("{wall:.2}, {cpu:.2}")
            })
        });
        let (rate, cpu) = (games as f64 / seconds, median(lane.cpu_seconds.iter().copied()));
        let name = format!("{}, {}", lane.packing, lane.name);
        println!("{name:<38}{seconds:>7.3} s {cpu:>7.3} s CPU {rate:>9.0} games/s   {:<18} {}", ratios[0], ratios[1]);
    }
}

fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2])
}
