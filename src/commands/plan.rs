//! `philidor plan`: what a run would make, why, and how long it takes. Makes nothing.

mod sharing;
mod tokens;

use std::io::Write as _;

use anyhow::Result;
use serde_json::json;

use crate::cli::PlanArgs;
use crate::commands::session::{self, Session};
use crate::error::Exit;
use crate::estimate::{self, ASSUMED_NETWORK, Basis, Rates};
use crate::experiment::Show;
use crate::explain::{self, Why};
use crate::growth::{self, Smaller, Start};
use crate::machine::Machine;
use crate::plan::{Node, Stage as _};
use crate::stages::fetch::sizes;
use crate::stages::passes;
use crate::stages::train::Train;
use crate::store::{Resume, State};
use crate::text::{bytes, duration, plural, si, thousands};
use crate::ui::lines::how_far;
use crate::ui::paint::Paint;
use crate::ui::say::{answer, aside};
use sharing::Sharing;

pub fn plan(args: &PlanArgs, paint: Paint) -> Result<Option<Exit>> {
    let mut left = false;
    let mut documents = Vec::new();
    for file in &args.asked.files {
        let mut session = session::open(file, &args.asked.sets)?;
        if args.resolved || args.origin {
            let shown = session.loaded.all_resolved(if args.origin { Show::Origins } else { Show::Values });
            std::io::stdout().lock().write_all(shown.as_bytes())?;
            continue;
        }
        let outside = sizes::learn(&mut session.plan, &session.store, &session.loaded.machine);
        if outside.unknown > 0 {
            let them = plural("month", outside.unknown as u64);
            aside(format!("note: the size of {them} is not known: {}", unknown(&session.loaded.machine)));
        }
        passes::learn(&mut session.plan, &session.store, &session.loaded.machine);
        let device = &session.loaded.machine.device;
        let flops_per_second = estimate::reached(Train::NAME, &session.store, device);
        let rates = Rates { device, network: outside.bytes_per_second, flops_per_second };
        let mut lines: Vec<Line> = session.plan.nodes.iter().map(|node| Line::of(node, &session, rates)).collect();
        beside::tell(&mut lines, &session, rates);
        left |= lines.iter().any(|line| line.state != State::Kept);
        if args.json {
            documents.push(document(&session, &lines));
        } else {
            show(&session, &lines, rates, args.all, paint)?;
        }
    }
    if args.json {
        answer(serde_json::to_string_pretty(&json!({ "schema": 1, "plans": documents }))?)?;
    }
    Ok((args.check && left).then_some(Exit::Incomplete))
}

fn unknown(machine: &Machine) -> String {
    match machine.mirror() {
        Some(mirror) => format!("{mirror} did not tell it"),
        None => format!("not in `{}`, and no mirror is set", machine.data.display()),
    }
}

/// One node, with what is known of it before anything runs.
struct Line<'a> {
    node: &'a Node,
    state: State,
    why: Option<Why>,
    estimate: Option<estimate::Estimate>,
    /// What it can be made beside, and on which device.
    beside: Option<(&'a Node, &'a str)>,
}

impl<'a> Line<'a> {
    fn of(node: &'a Node, session: &Session, rates: Rates) -> Self {
        let state = session.store.state(node.slot());
        let why = (state != State::Kept).then(|| explain::why(node, &session.plan, &session.before, &session.store));
        let estimate = estimate::seconds(node, &state, &session.store, rates);
        Self { node, state, why, estimate, beside: None }
    }

    /// Whether one line can tell of both.
    fn is_like(&self, other: &Self) -> bool {
        let cause = |line: &Self| match &line.why {
            Some(Why::Inputs { inputs, .. }) => Some(inputs.clone()),
            _ => None,
        };
        let same_why = self.why == other.why || (cause(self).is_some() && cause(self) == cause(other));
        let beside = |line: &Self| line.beside.map(|(of, _)| of.key);
        self.node.stage == other.node.stage && self.state == other.state && beside(self) == beside(other) && same_why
    }
}

/// A plan longer than this is told with like nodes in one line, unless all are asked for.
const LONG: usize = 80;

fn show(session: &Session, lines: &[Line], rates: Rates, all: bool, paint: Paint) -> Result<()> {
    answer(headline(session, lines, rates, paint))?;
    let fold = lines.len() > LONG && !all;
    let width = lines.iter().map(|line| line.node.label.len()).max().unwrap_or(0).min(48);
    let mut rest: Vec<&Line> = lines.iter().collect();
    while let Some(&first) = rest.first() {
        let alike: Vec<&Line>;
        (alike, rest) =
            if fold { rest.into_iter().partition(|line| line.is_like(first)) } else { (vec![first], rest.split_off(1)) };
        let told = if alike.len() > 1 {
            let seconds: f64 = alike.iter().filter_map(|line| line.estimate).map(|estimate| estimate.seconds).sum();
            let label = format!("{} × {}", first.node.stage, thousands(alike.len() as u64));
            line(first, session, &format!("{label:<width$}            "), &takes(seconds), paint)
        } else {
            let label = format!("{:<width$}  {}", first.node.label, paint.dim(&first.node.key.to_string()));
            line(first, session, &label, &first.estimate.map_or_else(String::new, |estimate| takes(estimate.seconds)), paint)
        };
        answer(told)?;
    }
    for told in tokens::lines(&tokens::groups(&asked(session, lines)), paint) {
        answer(told)?;
    }
    if fold {
        aside("\nhint: --all tells of each node");
    }
    Ok(())
}

/// What is left to be asked of models.
fn asked<'a>(session: &Session, lines: &[Line<'a>]) -> Vec<tokens::Asked<'a>> {
    let asked = |line: &Line<'a>| {
        let left = estimate::left(line.node, &line.state, &session.store);
        let passes = line.node.passes.as_ref().filter(|_| line.state != State::Kept)?;
        Some(tokens::Asked { passes, left, seconds: line.estimate.map(|estimate| estimate.seconds) })
    };
    lines.iter().filter_map(asked).collect()
}

fn line(line: &Line, session: &Session, label: &str, takes: &str, paint: Paint) -> String {
    match &line.state {
        State::Kept => format!("  {}    {}", paint.dim("kept"), label.trim_end()),
        State::Resumable(Resume { done, total, unit }) => {
            format!("  {}  {label}  at {}{takes}", paint.yellow("resume"), how_far(*done, *total, unit))
        }
        State::Absent => {
            let download = match line.node.cost.input_bytes {
                0 => String::new(),
                size => format!(", {} to download", bytes(size)),
            };
            let start = beginning(line.node, session).map_or_else(String::new, |told| format!(", {told}"));
            let beside = line.beside.map_or_else(String::new, |(of, device)| format!(", beside {} on {device}", of.label));
            format!("  {}    {label}  {}{start}{beside}{download}{takes}", paint.green("make"), reason(line, session))
        }
    }
}

fn headline(session: &Session, lines: &[Line], rates: Rates, paint: Paint) -> String {
    let to_make: Vec<&Line> = lines.iter().filter(|line| line.state != State::Kept).collect();
    let nodes = plural("node", lines.len() as u64);
    let sharing = Sharing::of(&session.loaded.points, lines.len());
    let points = sharing.map_or_else(String::new, Sharing::words);
    let then = if sharing.is_some() { ";" } else { "," };
    let name = paint.bold(session.loaded.name());
    if to_make.is_empty() {
        return format!("{name}: {nodes}{points}{then} all kept");
    }
    let known: Vec<_> = to_make.iter().filter_map(|line| line.estimate).collect();
    let seconds: f64 = known.iter().map(|estimate| estimate.seconds).sum();
    let has = |basis| known.iter().any(|estimate| estimate.basis == basis);
    let mut sources = Vec::new();
    if has(Basis::History) || !(has(Basis::Rate) || has(Basis::Flops) || has(Basis::Network)) {
        sources.push("from history".to_owned());
    }
    if let Some(rate) = rates.flops_per_second.filter(|_| has(Basis::Rate)) {
        sources.push(format!("from FLOPs at {}FLOP/s, as trainings reached here", si(rate)));
    }
    if has(Basis::Flops) {
        let rate = estimate::assumed(&session.loaded.machine.device);
        sources.push(format!("from FLOPs at {}FLOP/s, assumed of {}", si(rate.flops_per_second), rate.of));
    }
    if has(Basis::Network) {
        sources.push(format!("downloads at {}/s, assumed", bytes(ASSUMED_NETWORK as u64)));
    }
    let basis = sources.join(" and ");
    let mut parts = vec![format!("{name}: {nodes}{points}{then} {} to make{}", to_make.len(), beside::count(&to_make))];
    if known.is_empty() {
        parts.push("time not known before a first run".to_owned());
    } else {
        let untold = to_make.len() - known.len();
        let but = if untold == 0 { String::new() } else { format!(", without {} never timed", plural("node", untold as u64)) };
        parts.push(format!("about {} ({basis}{but})", duration(seconds)));
    }
    let disk: u64 = to_make.iter().map(|line| line.node.cost.disk_bytes).sum();
    if disk > 0 {
        // The sizes of a corpus that is taken whole are known only once it is read.
        parts.push(format!("at least {} of disk", bytes(disk)));
    }
    let device = to_make.iter().map(|line| line.node.cost.device_bytes).max().unwrap_or(0);
    if device > 0 {
        let of = if session.loaded.machine.device.starts_with("cuda") { "device memory" } else { "memory" };
        parts.push(format!("about {} of {of}", bytes(device)));
    }
    parts.join(", ")
}

fn reason(line: &Line, session: &Session) -> String {
    match &line.why {
        None | Some(Why::New) => "new".to_owned(),
        Some(Why::Damaged { damage }) => format!("damaged: {damage}"),
        Some(Why::Inputs { inputs, .. }) => format!("since {} changes", inputs.join(" and ")),
        Some(Why::Changed { changes, .. }) => {
            let mut told: Vec<String> =
                changes.iter().take(2).map(|change| format!("{change}{}", origin(change, session))).collect();
            if changes.len() > 2 {
                told.push(format!("and {} more", changes.len() - 2));
            }
            told.join(", ")
        }
    }
}

/// Where a node begins that is not begun at nothing, or why it is, although a smaller one is kept.
pub fn beginning(node: &Node, session: &Session) -> Option<String> {
    let at = |start: &Start| format!("at {} {} of {}", thousands(start.size), start.unit, start.key);
    Some(match growth::smaller(node, &session.store)? {
        Smaller::Begins(start) => format!("begins {}", at(&start)),
        Smaller::Refused(start, reason) => format!("does not begin {}: {reason}", at(&start)),
    })
}

/// ` (experiments/run1.toml:12)`, where the changed field was set there.
pub fn origin(change: &explain::Change, session: &Session) -> String {
    let place = change.key.as_deref().and_then(|key| session.loaded.origins.of(key));
    // The override itself would only repeat the change.
    let place = place.map(|place| if place.starts_with("--set ") { "--set".to_owned() } else { place });
    place.map_or_else(String::new, |place| format!(" ({place})"))
}

/// Nothing where it is as good as nothing, or nothing tells of it.
fn takes(seconds: f64) -> String {
    if seconds < NO_TIME { String::new() } else { format!("  ~{}", duration(seconds)) }
}

/// Seconds that are not told, such as those of reading a table of answers.
const NO_TIME: f64 = 1e-6;

fn document(session: &Session, lines: &[Line]) -> serde_json::Value {
    let nodes: Vec<_> = lines
        .iter()
        .map(|line| {
            let (state, resume) = match &line.state {
                State::Kept => ("kept", None),
                State::Resumable(resume) => ("resume", Some(resume)),
                State::Absent => ("make", None),
            };
            json!({ "key": line.node.key, "stage": line.node.stage, "label": line.node.label, "points": line.node.points, "state": state,
                    "resume": resume, "begins": growth::start(line.node, &session.store).filter(|_| line.state == State::Absent), "why": line.why,
                    "beside": line.beside.map(|(of, device)| json!({ "key": of.key, "device": device })), "estimate": line.estimate, "cost": line.node.cost,
                    "passes": line.node.passes })
        })
        .collect();
    let groups = tokens::groups(&asked(session, lines));
    json!({ "name": session.loaded.name(), "points": session.loaded.points.iter().map(|point| &point.point).collect::<Vec<_>>(), "nodes": nodes,
            "sharing": Sharing::of(&session.loaded.points, lines.len()).map(Sharing::document),
            "measuring": tokens::document(&groups, false), "training": tokens::document(&groups, true) })
}

mod beside;
