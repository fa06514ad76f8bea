//! `philidor export hf RUN`: a folder that Hugging Face's `transformers` loads, with a model card.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::{Context as _, Result};
use fs_err as fs;
use serde_json::json;

use crate::cli::ExportHfArgs;
use crate::commands::session;
use crate::error::Fixable;
use crate::export::hf::card::Card;
use crate::machine::Machine;
use crate::measure::metric::Checkpoint;
use crate::measure::score::Score;
use crate::plan::{Artifact as _, Handle, Node, Plan, Stage as _};
use crate::provenance;
use crate::report::results::{Asked, Point, Results};
use crate::run::{self, Event, Options, Outcome};
use crate::runs;
use crate::stages::Workshop;
use crate::stages::export_hf::{ExportHf, Exported};
use crate::stages::import::Import;
use crate::stages::train::{Train, Trained};
use crate::store::{Key, State, Store, Wait};
use crate::taint;
use crate::text::{plural, thousands};
use crate::ui::paint::Paint;
use crate::ui::progress::Progress;
use crate::ui::say::{answer, aside};

/// What is exported, and where to.
struct Wanted<'a> {
    results: &'a Results,
    point: &'a Point,
    /// The node that made the weights.
    trained: &'a Node,
    checkpoint: Checkpoint,
    out: &'a Path,
}

pub(super) fn hf(args: &ExportHfArgs, paint: Paint) -> Result<()> {
    let machine = session::machine()?;
    let folder = runs::find(&machine.runs, &args.run)?;
    let store = Store::at(&machine.store);
    let results = Results::load(&folder.path, &store)?;
    let chosen = chosen(&results, args.point.as_deref())?;
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}-hf", results.run.name)));
    check_free(&out)?;
    let checkpoint = args.checkpoint.unwrap_or(chosen.experiment.measure.checkpoint);
    let wanted = Wanted {
        results: &results,
        point: chosen,
        trained: trained(&results, chosen, checkpoint, &store)?,
        checkpoint,
        out: &out,
    };
    let key = make(&wanted, &store, &machine, paint)?;
    for sentence in tainted(wanted.trained, &store) {
        aside(paint.yellow(&sentence));
    }
    let exported = Exported::open(&store.dir(ExportHf::NAME, key))?;
    put(&store, key, &out, &card(&wanted, &exported, &store, key))?;

    let worst = exported.compared.iter().map(|at| at.greatest_difference).fold(0.0, f64::max);
    let lengths: Vec<String> = exported.compared.iter().map(|at| at.length.to_string()).collect();
    aside(format!(
        "{}: {}; at {} tokens two forward passes give logits at most {worst:.1e} apart",
        paint.bold(&results.run.name),
        weights(wanted.checkpoint, &exported),
        lengths.join(", ")
    ));
    aside(format!("where transformers is installed, try it with: scripts/check_hf.py {}", out.display()));
    answer(out.display())
}

/// The point that was named, or the only one.
fn chosen<'a>(results: &'a Results, name: Option<&str>) -> Result<&'a Point> {
    let names = || results.points.iter().map(|point| format!("`{}`", point.title())).collect::<Vec<_>>().join(", ");
    match (results.points.as_slice(), name) {
        ([point], None) => Ok(point),
        (points, Some(name)) => points.iter().find(|point| point.title() == name).ok_or_else(|| {
            Fixable::usage(format!("no point of this run is called `{name}`")).hint(format!("the points are {}", names())).into()
        }),
        (points, None) => {
            Err(Fixable::usage(format!("this run has {}, each with a model of its own", plural("point", points.len() as u64)))
                .hint(format!("say which with --point: {}", names()))
                .into())
        }
    }
}

/// The node that made the weights. Nothing is trained for an export.
fn trained<'a>(results: &'a Results, point: &Point, checkpoint: Checkpoint, store: &Store) -> Result<&'a Node> {
    let makes = |stage: &str| stage == Train::NAME || stage == Import::NAME;
    let mine = |node: &&Node| makes(&node.stage) && node.points.iter().any(|name| name == point.title());
    let nodes: Vec<&Node> = results.nodes.iter().map(|outcome| &outcome.node).filter(mine).collect();
    // A trunk stands before the training that goes on from it, and keeps the snapshots of its steps.
    let has = |node: &&&Node| {
        let trained = Trained::open(&store.dir(&node.stage, node.key));
        matches!(checkpoint, Checkpoint::Step(_)) && trained.is_ok_and(|trained| trained.weights(checkpoint).is_ok())
    };
    let node = *nodes.iter().find(has).or(nodes.last()).context("the run's plan has no weights")?;
    if store.state(node.slot()) != State::Kept {
        return Err(Fixable::failed(format!(
            "the weights of `{}` are not in the store `{}`",
            point.title(),
            store.root().display()
        ))
        .hint(format!(
            "make them first: {}; or name an older run, of those that `philidor ls` lists",
            results.run.command.as_str().unwrap_or("philidor run FILE")
        ))
        .into());
    }
    if node.stage == Train::NAME {
        // Told before a worker is begun for it.
        Trained::open(&store.dir(&node.stage, node.key))?.weights(checkpoint)?;
    }
    Ok(node)
}

/// Makes the artifact, where it is not kept: converts the weights, and checks them.
fn make(wanted: &Wanted, store: &Store, machine: &Machine, paint: Paint) -> Result<Key> {
    let mut plan = Plan::default();
    plan.nodes.push(wanted.trained.clone());
    let trained: Handle<Trained> = serde_json::from_value(json!({ "artifact": wanted.trained.key }))?;
    let key = plan.add(ExportHf { trained, checkpoint: wanted.checkpoint }, &[]).key();
    let stop = AtomicBool::new(false);
    let none = std::collections::BTreeSet::new;
    let options =
        Options { wait: Wait::Yes, force: none(), until: None, keep_going: false, despite: none(), beside: None, stop: &stop };
    let progress = Progress::new(&plan, paint);
    // A failure is told once, where the command ends.
    let tell = |event: &Event| {
        if !matches!(event, Event::Failed { .. }) {
            progress.show(event);
        }
    };
    let mut workshop = Workshop::new(&plan, store, machine, &stop, provenance::made_by(machine));
    let done = run::run(&plan, store, &mut |node, out, tell| workshop.work(node, out, tell), &options, &tell);
    progress.end();
    if let Some(failure) = done?.outcomes.into_iter().find_map(|(_, outcome)| match outcome {
        Outcome::Failed(failure) => Some(failure),
        _ => None,
    }) {
        return Err(failure.into());
    }
    Ok(key)
}

/// What was passed over to make the weights.
fn tainted(trained: &Node, store: &Store) -> Vec<String> {
    let made_by = store.manifest(&trained.stage, trained.key).map(|manifest| manifest.made_by).unwrap_or_default();
    taint::sentences(std::iter::once((trained.stage.as_str(), made_by.despite.as_slice())))
}

fn card(wanted: &Wanted, exported: &Exported, store: &Store, key: Key) -> String {
    let Wanted { results, point, trained, checkpoint, out } = *wanted;
    let manifest = |stage: &str, key| store.manifest(stage, key).ok();
    let made_by = manifest(&trained.stage, trained.key).map(|manifest| manifest.made_by).unwrap_or_default();
    let digest = manifest(ExportHf::NAME, key).and_then(|manifest| Some(manifest.files.get("model.safetensors")?.blake3.clone()));
    let tokens = results.nodes.iter().find(|outcome| outcome.node.stage == "encode").map(|outcome| outcome.node.key.full());
    let provenance = [
        ("run", results.run.id.clone()),
        ("command", results.run.command.as_str().unwrap_or_default().to_owned()),
        ("philidor", results.run.philidor.clone()),
        ("git", made_by.git),
        ("libtorch", made_by.libtorch),
        ("device", made_by.device),
        ("made at", made_by.at),
        ("key of the tokens", tokens.unwrap_or_default()),
        ("key of the weights", trained.key.full()),
        ("BLAKE3 of model.safetensors", digest.unwrap_or_default()),
    ];
    let name =
        if results.points.len() == 1 { results.run.name.clone() } else { format!("{}, {}", results.run.name, point.title()) };
    Card {
        folder: &out.file_name().unwrap_or_default().to_string_lossy(),
        name: &name,
        question: &point.experiment.question,
        model: &exported.model,
        weights: &weights(checkpoint, exported),
        tainted: &tainted(trained, store),
        scores: &scores(point, exported.step),
        sources: &point.experiment.corpus.sources,
        learned: point.experiment.train().is_some(),
        provenance: &provenance,
        check: &exported.compared,
    }
    .text()
}

/// What was measured of weights of this step: as final figures, or else as a point of a curve.
fn scores(point: &Point, step: u64) -> Vec<Score> {
    let of = |asked| {
        let these = point.scores.iter().filter(move |score| score.asked == asked && score.score.checkpoint.step == step);
        these.map(|score| score.score.clone()).collect::<Vec<_>>()
    };
    Some(of(Asked::Final)).filter(|scores| !scores.is_empty()).unwrap_or_else(|| of(Asked::Snapshot))
}

fn weights(checkpoint: Checkpoint, exported: &Exported) -> String {
    if exported.tokens == 0 && exported.step == 0 && !matches!(checkpoint, Checkpoint::Step(_)) {
        return "the imported ones".to_owned();
    }
    let after = format!("after {} and {}", plural("step", exported.step), plural("token", exported.tokens));
    match checkpoint {
        Checkpoint::Best => format!("those of the lowest validation loss, {after}"),
        Checkpoint::Last => format!("the last, {after}"),
        Checkpoint::Ema => format!("their moving average, {after}"),
        Checkpoint::Step(step) => format!("those of step {}, {after}", thousands(step)),
    }
}

/// Refuses a folder with something in it.
pub(in crate::commands) fn check_free(out: &Path) -> Result<()> {
    let taken = out.exists() && (!out.is_dir() || fs::read_dir(out)?.next().is_some());
    if taken {
        return Err(Fixable::usage(format!("`{}` is there, and is not empty", out.display()))
            .hint("name another folder with --out, or move this one away")
            .into());
    }
    Ok(())
}

/// Copies the artifact and the card into a folder beside `out`, which takes its name when it is whole.
fn put(store: &Store, key: Key, out: &Path, card: &str) -> Result<()> {
    let parent = out.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(parent)?;
    let part = tempfile::Builder::new().prefix(".export-").tempdir_in(parent)?;
    let from = store.dir(ExportHf::NAME, key);
    for name in store.manifest(ExportHf::NAME, key)?.files.into_keys().filter(|name| name != Exported::FILE) {
        fs::copy(from.join(&name), part.path().join(&name))?;
    }
    fs::write(part.path().join("README.md"), card)?;
    fs::set_permissions(part.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    fs::rename(part.path(), out)?;
    // It is nobody's temporary folder any more.
    let _ = part.keep();
    Ok(())
}
