//! `philidor bench corpus FILE`: what each step of reading a corpus costs, alone and together, beside the
//! decoders that people know; how many threads are best; and how long a month would take.

use anyhow::Result;

use super::findings::Findings;
use super::part::Part;
use super::peers::Peer;
use super::rounds::{Contender, measure};
use super::steps::{self, Bench};
use super::table;
use crate::cli::BenchCorpusArgs;
use crate::commands::{session, stop};
use crate::corpus::config::Keep;
use crate::error::Fixable;
use crate::text::{bytes, duration};
use crate::ui::paint::Paint;
use crate::ui::say::{answer, aside};

/// As many moves as run1 asks for.
const RUN1_MOVES: u64 = 800_000_000;

pub fn corpus(args: &BenchCorpusArgs, paint: Paint) -> Result<()> {
    let (keep, asked_moves) = asked(args)?;
    let machine = session::machine()?;
    let stop = stop::on_signals()?;

    let cores = machine.threads();
    let name = args.file.file_name().map_or_else(|| args.file.display().to_string(), |name| name.to_string_lossy().into_owned());
    let part = Part::of(&args.file, &name, cores, args.whole)?;
    if part.is_cut() {
        aside(format!("`{name}` is large: {} of it are measured, as a file of their own", bytes(part.size())));
    }
    let bench = Bench::new(&part, &name, &keep, machine.memory_mib << 20, &stop)?;
    let counts = bench.count(cores)?;
    let (peers, absent) = Peer::installed(&part, cores);
    let contenders: Vec<Contender> =
        steps::ladder(cores).into_iter().map(Contender::Step).chain(peers.into_iter().map(Contender::Peer)).collect();
    let each = format!("{} steps and peers in turn, for {}", contenders.len(), duration(args.seconds));
    aside(format!("{each}, on {}, {cores} of its cores", machine_name()));
    let lanes = measure(&bench, contenders, args.seconds)?;
    let moves = args.moves.or(asked_moves).unwrap_or(RUN1_MOVES);
    let findings = Findings::of(&name, &part, counts, cores, lanes, absent, moves)?;
    if args.json {
        return answer(serde_json::to_string_pretty(&findings.document())?);
    }
    table::print(&findings, paint)
}

/// The filters of the experiment and its moves; the published filters where none is named.
fn asked(args: &BenchCorpusArgs) -> Result<(Keep, Option<u64>)> {
    if let Some(file) = &args.experiment {
        let session = session::open(file, &[])?;
        let Some(point) = session.loaded.points.first() else {
            return Err(Fixable::usage(format!("`{}` has no point", file.display())).hint("name an experiment").into());
        };
        return Ok((point.corpus.keep.clone(), point.corpus.moves));
    }
    Ok((Keep::published(), None))
}

/// The processor, as it names itself.
fn machine_name() -> String {
    let told = fs_err::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = told.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}
