//! `philidor import FOLDER`: looks at a model from elsewhere, and says how it is measured here.

use std::path::{Path, PathBuf};

use anyhow::Result;
use fs_err as fs;

use crate::cli::ImportArgs;
use crate::commands::export::check_free;
use crate::export::folder::{ModelFolder, with_weights, write};
use crate::text::{bytes, thousands};
use crate::ui::paint::Paint;
use crate::ui::say::answer;

pub fn import(args: &ImportArgs, paint: Paint) -> Result<()> {
    if let Some(out) = &args.out {
        check_free(out)?;
    }
    let folder = ModelFolder::open(&args.folder)?;
    let model = &folder.model;
    let digest = with_weights(&folder.weights, model, |tensors, digest| {
        if let Some(out) = &args.out {
            fs::create_dir_all(out)?;
            write(out, model, tensors)?;
        }
        Ok(digest.to_owned())
    })?;
    let parameters = thousands(model.parameters() + model.embedding_parameters());
    let file = folder.weights.file_name().unwrap_or_default().to_string_lossy();
    answer(format!("{}, {}", paint.bold(&folder.name), folder.kind()))?;
    answer(format!(
        "  {} layers, {} heads, width {}, hidden {}, a context of {} tokens; {parameters} parameters with the embedding",
        model.layers, model.heads, model.width, model.hidden, model.context
    ))?;
    answer(format!("  {file}, {}, BLAKE3 {digest}", bytes(fs::metadata(&folder.weights)?.len())))?;
    if let Some(out) = &args.out {
        answer(format!("  written in Philidor's own layout to {}", out.display()))?;
    }
    let named = whole(args.out.as_deref().unwrap_or(&args.folder));
    answer("\nTo measure it, say in an experiment, in the place of [train] and of the shape of the model:\n")?;
    answer(format!("  [model]\n  weights = {:?}\n", named.display().to_string()))?;
    answer("or measure it as an experiment measures its own model, on the same positions, such as run1's:\n")?;
    answer(format!(
        "  philidor run experiments/run1.toml -S name={} -S model.weights={:?}",
        as_name(&folder.name),
        named.display().to_string()
    ))
}

/// From the root, since a path in an experiment is relative to its file.
fn whole(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// A folder's name as the name of an experiment.
fn as_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    name.chars().map(plain).collect::<String>().trim_start_matches('.').to_owned()
}
