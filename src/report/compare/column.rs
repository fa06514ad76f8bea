//! What stands above a column of a comparison: the model, and where it comes from.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::folder::relative;
use super::subject::{Member, Subject};
use crate::experiment::Weights;
use crate::report::words;

#[derive(Debug, Serialize)]
pub struct Column {
    /// Whole: the run, and the point where there are several.
    pub name: String,
    /// Short, and no other column's.
    pub label: String,
    pub seeds: usize,
    /// Without the embedding.
    pub parameters: u64,
    pub flops_per_token: u64,
    /// One a seed.
    pub members: Vec<Origin>,
    /// Why its figures may not be what they seem.
    pub tainted: Vec<String>,
}

/// Where a model comes from.
#[derive(Debug, Serialize)]
pub struct Origin {
    /// The name of the run.
    pub name: String,
    /// Its id.
    pub run: String,
    pub point: String,
    pub seed: Option<u64>,
    /// The key of the weights; empty where they are not there.
    pub weights: String,
    /// RFC 3339.
    pub started: String,
    /// The commit of the folder in which the run was started, with `+dirty` where it had changes.
    pub git: String,
    pub philidor: String,
    pub host: String,
    pub device: String,
    /// The command that makes the run again.
    pub command: String,
    /// The page of the run, from where the comparison lies.
    pub report: Option<String>,
    /// The page of the run, wherever the comparison lies.
    #[serde(skip)]
    page: Option<PathBuf>,
}

impl Column {
    pub(crate) fn of(subject: &Subject) -> Self {
        let said = |member: &Member| words::tainted(member.results).into_iter().chain(member.results.damaged.clone());
        let mut tainted: Vec<String> = subject.members.iter().flat_map(said).collect();
        tainted.dedup();
        let model = &subject.first().experiment.model;
        Self {
            name: subject.name.clone(),
            label: subject.label.clone(),
            seeds: subject.seeds(),
            parameters: model.parameters(),
            flops_per_token: model.flops_per_token(),
            members: subject.members.iter().map(Origin::of).collect(),
            tainted,
        }
    }
}

impl Origin {
    fn of(member: &Member) -> Self {
        let Member { results, point, folder } = member;
        let run = &results.run;
        let (device, threads) = results.machine();
        let threads = threads.map_or_else(String::new, |threads| format!(", {}", crate::text::plural("thread", threads)));
        let page = folder.map(|folder| folder.join("report.html")).filter(|page| page.exists());
        let weights = match (&point.training, &point.experiment.weights) {
            (Some(training), _) => training.key.full(),
            (None, Weights::Import { blake3, .. }) => blake3.clone(),
            (None, Weights::Train(_)) => String::new(),
        };
        Self {
            name: run.name.clone(),
            run: run.id.clone(),
            point: point.title().to_owned(),
            seed: point.experiment.train().map(|train| train.seed),
            weights,
            started: run.started.clone(),
            git: run.git.clone(),
            philidor: run.philidor.clone(),
            host: run.host.clone(),
            device: format!("{device}{threads}"),
            command: match &run.command {
                serde_json::Value::String(line) => line.clone(),
                serde_json::Value::Array(words) => {
                    words.iter().filter_map(serde_json::Value::as_str).collect::<Vec<_>>().join(" ")
                }
                _ => String::new(),
            },
            report: None,
            page,
        }
    }

    /// Says where the page of the run is for one who reads the comparison in this folder; never by a path of this machine.
    pub(crate) fn seen_from(&mut self, folder: &Path) {
        self.report = self.page.as_ref().and_then(|page| relative(page, folder));
    }
}
