//! Which of them was asked for.

use std::io::{BufWriter, Write as _};

use anyhow::Result;

use crate::cli::Export;
use crate::export;
use crate::ui::paint::Paint;

use super::{games, hf};

pub fn export(what: &Export, paint: Paint) -> Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    match what {
        Export::Vocab => export::vocab::vocab(&mut out)?,
        Export::Games { asked } => {
            for file in &asked.files {
                games::games(file, &asked.sets, &mut out)?;
            }
        }
        Export::Hf(args) => {
            drop(out);
            return hf::hf(args, paint);
        }
    }
    Ok(out.flush()?)
}
