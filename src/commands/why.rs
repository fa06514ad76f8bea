//! `philidor why FILE STAGE`: why nodes would be made again, field by field, or what they were made of.

use anyhow::Result;

use crate::cli::WhyArgs;
use crate::commands::plan::{beginning, origin};
use crate::commands::session;
use crate::explain::{self, Why};
use crate::plan::Node;
use crate::store::State;
use crate::text::duration;
use crate::ui::paint::Paint;
use crate::ui::say::{answer, aside};

pub fn why(args: &WhyArgs, paint: Paint) -> Result<()> {
    let session = session::open(&args.file, &args.sets)?;
    let asked = args.stage.as_str();
    let is_asked = |node: &&Node| node.stage == asked || node.label.contains(asked) || node.key.full().starts_with(asked);
    let nodes: Vec<_> = session.plan.nodes.iter().filter(is_asked).collect();
    let manifests = nodes.len() == 1;
    if nodes.is_empty() {
        session::check_stage(&session.plan, &args.stage)?;
    }
    for node in nodes {
        answer(format!("{}  {}", paint.bold(&node.label), node.key))?;
        match session.store.state(node.slot()) {
            State::Kept => {
                let made_by = session.store.manifest(&node.stage, node.key)?.made_by;
                answer(format!("  kept: made {} in {} on {}", made_by.at, duration(made_by.seconds), made_by.host))?;
            }
            State::Resumable(resume) => {
                answer(format!("  unfinished: goes on at {} of {} {}", resume.done, resume.total, resume.unit))?;
            }
            State::Absent => match explain::why(node, &session.plan, &session.before, &session.store) {
                Why::New => answer("  never made before")?,
                Why::Damaged { damage } => answer(format!("  made before, and damaged: {damage}"))?,
                Why::Inputs { from, inputs } => {
                    answer(format!("  was {from}; remade since its inputs change: {}", inputs.join(", ")))?;
                }
                Why::Changed { from, changes } => {
                    answer(format!("  was {from}; what differs:"))?;
                    for change in changes {
                        answer(format!("    {change}{}", origin(&change, &session)))?;
                    }
                }
            },
        }
        if session.store.state(node.slot()) == State::Absent
            && let Some(told) = beginning(node, &session)
        {
            answer(format!("  {told}"))?;
        }
        if manifests {
            answer(indent(&serde_json::to_string_pretty(&node.manifest)?, paint))?;
        }
    }
    if !manifests {
        aside("\nhint: name one of them, or the beginning of its key, to see all that it is made of");
    }
    Ok(())
}

fn indent(text: &str, paint: Paint) -> String {
    text.lines().map(|line| paint.dim(&format!("  {line}"))).collect::<Vec<_>>().join("\n")
}
