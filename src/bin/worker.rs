//! `philidor-worker`: holds libtorch, is handed nodes by the runner, and answers in JSON lines.
//!
//! Started by `mpirun` it is one of several ranks. The first one hears, hands on and answers; the others do the same work in
//! silence.

use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow};
use philidor::error::{Exit, Fixable, panic_text};
use philidor::machine::Machine;
use philidor::measure;
use philidor::model::device::{self, Description};
use philidor::model::libtorch;
use philidor::plan::{Cx, Stage as _};
use philidor::progress::{Progress, Tick, silent};
use philidor::ranks::{Alone, Ranks};
use philidor::run::failure_of;
use philidor::stages;
use philidor::store::{MadeBy, Store};
use philidor::train;
use philidor::train::bench::asked::Bench;
use philidor::train::bench::place::Place;
use philidor::worker::{Job, RANKED, Reply, Request};
use serde_json::Value;

static STOP: AtomicBool = AtomicBool::new(false);

fn main() -> ExitCode {
    // A file that may grow no longer (`ulimit -f`) is then an error of the write, and not the end of the process.
    signal_hook::flag::register(libc::SIGXFSZ, Arc::default()).ok();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let ended = match arguments.as_slice() {
        [] => serve(&Alone),
        [argument] if argument == RANKED => serve_ranked(),
        _ => Err(Fixable::usage("philidor-worker is started by philidor, and takes no arguments").into()),
    };
    let Err(error) = ended else { return ExitCode::SUCCESS };
    let failure = failure_of(&error);
    let code = failure.exit.code();
    say(&Reply::Failed { failure });
    ExitCode::from(code)
}

#[cfg(feature = "mpi")]
fn serve_ranked() -> Result<()> {
    let world = philidor::ranks::mpi::World::join()?;
    if world.rank() == 0 { serve(&world) } else { follow(&world) }
}

#[cfg(not(feature = "mpi"))]
fn serve_ranked() -> Result<()> {
    Err(Fixable::usage("this philidor-worker knows no MPI").hint("build it: cargo build --bins --features mpi").into())
}

/// Answers what the runner asks until it is gone.
fn serve(ranks: &dyn Ranks) -> Result<()> {
    for (request, line) in hear() {
        if matches!(request, Request::Work(_)) {
            ranks.told(line.into_bytes())?;
        }
        let answered = guarded(|| answer(&request, ranks));
        let failed = answered.as_ref().err().map(failure_of);
        let lost = failed.as_ref().is_some_and(|failure| failure.exit != Exit::Interrupted);
        match (answered, failed) {
            (Ok(reply), _) => say(&reply),
            (_, Some(failure)) => say(&Reply::Failed { failure }),
            (Err(_), None) => unreachable!("each error is a failure"),
        }
        if lost && ranks.size() > 1 {
            ranks.abort();
        }
    }
    ranks.told(Vec::new())?;
    Ok(())
}

/// What the runner says, as it comes, with its words. A stop is heard at once.
fn hear() -> Receiver<(Request, String)> {
    let (requests, todo) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            let heard = match serde_json::from_str(&line) {
                Ok(Request::Stop) => {
                    STOP.store(true, Ordering::Relaxed);
                    true
                }
                Ok(request) => requests.send((request, line)).is_ok(),
                Err(_) => false,
            };
            if !heard {
                break;
            }
        }
        // The runner is gone: save, and leave.
        STOP.store(true, Ordering::Relaxed);
    });
    todo
}

/// How long a rank that failed waits before it ends all: most failures are those of all ranks, and then rank 0 says so itself;
/// else this one's words need a moment to be passed on.
#[cfg(feature = "mpi")]
const LAST_WORD: std::time::Duration = std::time::Duration::from_secs(2);

/// Does what rank 0 does, until that one leaves.
#[cfg(feature = "mpi")]
fn follow(ranks: &dyn Ranks) -> Result<()> {
    loop {
        let line = ranks.told(Vec::new())?;
        if line.is_empty() {
            return Ok(());
        }
        let worked = guarded(|| match serde_json::from_slice(&line)? {
            Request::Work(job) => work(&job, ranks),
            other => Err(anyhow!("rank 0 hands on {other:?}")),
        });
        if let Err(failure) = worked.map_err(|error| failure_of(&error))
            && failure.exit != Exit::Interrupted
        {
            let hint = failure.hint.map_or_else(String::new, |hint| format!("; {hint}"));
            // The runner keeps a worker's last words. If they cannot be written, nobody listens.
            writeln!(std::io::stderr(), "rank {} of {}: {}{hint}", ranks.rank(), ranks.size(), failure.message).ok();
            std::thread::sleep(LAST_WORD);
            ranks.abort();
        }
    }
}

fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(anyhow!(panic_text(&*panic))))
}

fn answer(request: &Request, ranks: &dyn Ranks) -> Result<Reply> {
    match request {
        Request::Work(job) => work(job, ranks).map(|made_by| Reply::Done { made_by: Box::new(made_by) }),
        Request::Describe { device } => {
            let Description { text, facts } = device::describe(device)?;
            Ok(Reply::Described { text, facts })
        }
        Request::Bench { what, machine } => bench(what, machine).map(|result| Reply::Measured { result }),
        Request::Stop => unreachable!("a stop is heard by the listening thread"),
    }
}

fn work(job: &Job, ranks: &dyn Ranks) -> Result<MadeBy> {
    let asked = if job.node.stage == stages::train::Train::NAME { job.machine.ranks } else { 1 };
    if ranks.size() != asked {
        return Err(Fixable::failed(format!(
            "{asked} ranks are asked for, and `{}` started {}",
            job.machine.mpirun,
            ranks.size()
        ))
        .hint("name the command of the MPI that philidor was built with: mpirun in philidor.toml")
        .into());
    }
    let store = Store::at(&job.machine.store);
    // The runner holds the node; this holds the folder, should a worker outlive its runner.
    let _folder = ranks.is_first().then(|| store.lock_folder(job.node.slot())).transpose()?;
    let work = stages::here(stages::TORCH, &job.node)
        .or_else(|| stages::here(stages::LOCAL, &job.node))
        .with_context(|| format!("no stage is called `{}`", job.node.stage))?;
    let tell = |tick: Tick| say(&Reply::Told { tick });
    let progress = if ranks.is_first() { Progress::new(&tell, &STOP) } else { silent() };
    let cx = Cx { node: &job.node, inputs: &job.inputs, store: &store, machine: &job.machine, progress, ranks };
    work(&cx, &job.out)?;
    // What the setting came to: `auto` says nothing of where the work was done.
    let device = device::open(&job.machine.device, job.machine.threads(), None)?;
    device::release(device)?;
    let device = device::name(device);
    let device = if ranks.size() > 1 { format!("{device} × {}", ranks.size()) } else { device };
    Ok(MadeBy { device, libtorch: libtorch::VERSION.to_owned(), ..MadeBy::default() })
}

fn bench(what: &Value, machine: &Machine) -> Result<Value> {
    let asked: Bench = serde_json::from_value(what.clone()).context("reading what to measure")?;
    let tell = |tick: Tick| say(&Reply::Told { tick });
    let (start, threads) = (Instant::now(), machine.threads());
    let place = Place {
        device: device::open(&machine.device, threads, None)?,
        threads,
        clock: &|| start.elapsed(),
        progress: Progress::new(&tell, &STOP),
    };
    match asked {
        Bench::Device(asked) => train::bench::device::measure(&asked, place),
        Bench::Train(asked) => train::bench::train::measure(&asked, place),
        Bench::Loader(asked) => train::bench::loader::measure(&asked, place),
        Bench::Measure(asked) => measure::bench::timed::measure(&asked, place),
    }
}

/// One line to the runner. If nobody listens the work is saved anyway, so a closed pipe is no error.
fn say(reply: &Reply) {
    let mut line = serde_json::to_vec(reply).expect("replies are plain values");
    line.push(b'\n');
    std::io::stdout().lock().write_all(&line).ok();
}
