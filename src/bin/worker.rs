//! `philidor-worker`: holds libtorch, is handed nodes by the runner, and answers in JSON lines.

use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow};
use philidor::machine::Machine;
use philidor::model::device::{self, Description};
use philidor::model::libtorch;
use philidor::plan::Cx;
use philidor::progress::{Progress, Tick};
use philidor::run::{failure_of, panic_text};
use philidor::stages;
use philidor::store::{MadeBy, Store};
use philidor::train;
use philidor::train::bench::asked::Bench;
use philidor::train::bench::place::Place;
use philidor::worker::{Job, Reply, Request};
use serde_json::Value;

static STOP: AtomicBool = AtomicBool::new(false);

fn main() -> ExitCode {
    if std::env::args().len() > 1 {
        say(&Reply::Failed {
            failure: philidor::error::Fixable::usage("philidor-worker is started by philidor, and takes no arguments"),
        });
        return ExitCode::from(2);
    }
    let (requests, todo) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            let heard = match serde_json::from_str(&line) {
                Ok(Request::Stop) => {
                    STOP.store(true, Ordering::Relaxed);
                    true
                }
                Ok(request) => requests.send(request).is_ok(),
                Err(_) => false,
            };
            if !heard {
                break;
            }
        }
        // The runner is gone: save, and leave.
        STOP.store(true, Ordering::Relaxed);
    });
    for request in todo {
        let answered =
            catch_unwind(AssertUnwindSafe(|| answer(&request))).unwrap_or_else(|panic| Err(anyhow!(panic_text(&*panic))));
        say(&answered.unwrap_or_else(|error| Reply::Failed { failure: failure_of(&error) }));
    }
    ExitCode::SUCCESS
}

fn answer(request: &Request) -> Result<Reply> {
    match request {
        Request::Work(job) => work(job).map(|made_by| Reply::Done { made_by: Box::new(made_by) }),
        Request::Describe { device } => {
            let Description { text, facts } = device::describe(device)?;
            Ok(Reply::Described { text, facts })
        }
        Request::Bench { what, machine } => bench(what, machine).map(|result| Reply::Measured { result }),
        Request::Stop => unreachable!("a stop is heard by the listening thread"),
    }
}

fn work(job: &Job) -> Result<MadeBy> {
    let store = Store::at(&job.machine.store);
    // The runner holds the node; this holds the folder, should a worker outlive its runner.
    let _folder = store.lock_folder(job.node.slot())?;
    let work = stages::here(stages::TORCH, &job.node)
        .or_else(|| stages::here(stages::LOCAL, &job.node))
        .with_context(|| format!("no stage is called `{}`", job.node.stage))?;
    let tell = |tick: Tick| say(&Reply::Told { tick });
    let cx =
        Cx { node: &job.node, inputs: &job.inputs, store: &store, machine: &job.machine, progress: Progress::new(&tell, &STOP) };
    work(&cx, &job.out)?;
    // What the setting came to: `auto` says nothing of where the work was done.
    let device = device::name(device::open(&job.machine.device, job.machine.threads(), None)?);
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
    }
}

/// One line to the runner. If nobody listens the work is saved anyway, so a closed pipe is no error.
fn say(reply: &Reply) {
    let mut line = serde_json::to_vec(reply).expect("replies are plain values");
    line.push(b'\n');
    std::io::stdout().lock().write_all(&line).ok();
}
