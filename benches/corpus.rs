//! What reading a month costs, step by step, beside `zstd -dc` and `pzstd -dc` on the same files in the same run:
//!
//!     cargo bench --manifest-path benches/Cargo.toml --bench corpus
//!
//! The month is made up: 120,000 games from one seed, packed at level 19 in one frame and in frames of 32 MiB of text,
//! which takes some minutes once. `cargo test --bench corpus` runs each step once, on a month of 200 games.
//! At the end, the medians and their ratios are printed.

#![expect(clippy::print_stdout, reason = "it answers on the command line")]

use std::path::Path;
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

/// A way, its name, and the time of each of its runs.
struct Lane {
    packing: &'static str,
    name: String,
    way: Way,
    runs: Vec<Duration>,
}

fn main() -> Result<()> {
    // As criterion itself tells them apart.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let (games, level) = if is_bench { (GAMES, 19) } else { (200, 3) };
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut criterion = Criterion::default().sample_size(15).measurement_time(Duration::from_secs(9)).configure_from_args();
    let mut lanes = Vec::new();
    for (packing, name) in [(Packing::OneFrame, "one frame"), (Packing::Frames, "frames")] {
        let path = Month { games, seed: 1, packing, level, repeat: 1 }.file()?;
        lanes.extend(bench(&mut criterion, name, &path, threads)?);
    }
    criterion.final_summary();
    if is_bench {
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
        let mut runs = Vec::new();
        group.bench_function(&name, |bencher| {
            bencher.iter_custom(|count| {
                let each = (0..count).map(|_| run(&way, path).expect("it ran before"));
                let each: Vec<Duration> = each.collect();
                runs.extend_from_slice(&each);
                each.iter().sum()
            });
        });
        lanes.push(Lane { packing, name, way, runs });
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

fn run(way: &Way, path: &Path) -> Result<Duration> {
    let begun = Instant::now();
    match way {
        Way::Step { depth, threads, encode } => {
            read(path, *depth, *threads, *encode)?;
        }
        Way::Peer(command) => unpack(command, path)?,
    }
    Ok(begun.elapsed())
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

/// The medians, and what share of the peers' time each takes.
fn summary(lanes: &[Lane], games: u64) {
    println!("\n{:<10} {:<26} {:>9} {:>14}   time in that of zstd, pzstd", "", "median", "seconds", "games/s");
    for lane in lanes.iter().filter(|lane| !lane.runs.is_empty()) {
        let seconds = median(&lane.runs);
        let ratio = |program: &str| {
            let peer = lanes.iter().find(|peer| {
                peer.packing == lane.packing
                    && !peer.runs.is_empty()
                    && matches!(&peer.way, Way::Peer(command) if command[0] == program)
            });
            peer.map_or_else(|| "–".to_owned(), |peer| format!("{:.2}", seconds / median(&peer.runs)))
        };
        let rate = games as f64 / seconds;
        println!("{:<10} {:<26} {seconds:>9.4} {rate:>14.0}   {}, {}", lane.packing, lane.name, ratio("zstd"), ratio("pzstd"));
    }
}

fn median(runs: &[Duration]) -> f64 {
    let mut seconds: Vec<f64> = runs.iter().map(Duration::as_secs_f64).collect();
    seconds.sort_by(f64::total_cmp);
    f64::midpoint(seconds[(seconds.len() - 1) / 2], seconds[seconds.len() / 2])
}
