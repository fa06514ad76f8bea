//! From a node, which is plain JSON, back to the stage that does its work.

use std::path::Path;

use anyhow::{Context as _, Result};

use crate::plan::{Cx, Node, Stage};

/// Does the work of a node whose stage it knows.
pub type Work = fn(&Cx, &Path) -> Result<()>;

pub(super) const fn entry<S: Stage>() -> (&'static str, Work) {
    (S::NAME, run::<S>)
}

fn run<S: Stage>(cx: &Cx, out: &Path) -> Result<()> {
    let with = cx.node.manifest["with"].clone();
    let stage: S = serde_json::from_value(with).with_context(|| format!("reading the settings of `{}`", cx.node.label))?;
    stage.run(cx, out)
}

/// The work of a node among those of `list`.
pub fn here(list: &[(&'static str, Work)], node: &Node) -> Option<Work> {
    list.iter().find(|(name, _)| *name == node.stage).map(|&(_, work)| work)
}
