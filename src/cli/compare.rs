//! What `philidor compare` is asked.

use std::path::PathBuf;

use clap::Args;

use crate::report::compare::Budget;

#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub struct CompareArgs {
    /// Runs, named as in `report`; `RUN:POINT` is one point of a sweep, by its name or number. All are compared with the first
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<String>,
    /// Compare at one budget: `tokens=200e6`, `flops=1e17`, or `end` for final figures whatever they took
    #[arg(long, value_name = "BUDGET")]
    pub at: Option<At>,
    /// Show side by side what was not measured the same way, where it is refused otherwise
    #[arg(long)]
    pub exploratory: bool,
    /// Exit with 5 unless the difference of this figure, such as `agreement.top1`, is told at every budget that is compared
    /// (`--at end`: of the final figures alone); `agreement.top1=better` wants it so
    #[arg(long, value_name = "FIGURE")]
    pub verdict: Option<String>,
    /// List all settings: also those that do not differ, or that follow from others
    #[arg(long)]
    pub all_settings: bool,
    /// Write a page with charts, and all other forms of it, into this folder: a new one, or one with an earlier comparison
    #[arg(long, value_name = "FOLDER", group = "form")]
    pub page: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long, group = "form")]
    pub json: bool,
    /// Print a table of all figures, unrounded
    #[arg(long, group = "form")]
    pub csv: bool,
    /// Print Markdown
    #[arg(long, group = "form")]
    pub md: bool,
}

/// Where runs are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum At {
    /// At snapshots of so many tokens or operations.
    Level(Budget, f64),
    End,
}

impl std::str::FromStr for At {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "end" {
            return Ok(Self::End);
        }
        let wanted = || format!("`{text}` is none of `tokens=200e6`, `flops=1e17`, `end`");
        let (name, number) = text.split_once('=').ok_or_else(wanted)?;
        let budget = match name {
            "tokens" => Budget::Tokens,
            "flops" => Budget::Flops,
            _ => return Err(wanted()),
        };
        let at: f64 = number.replace('_', "").parse().map_err(|_| wanted())?;
        if (1.0..=1e30).contains(&at) { Ok(Self::Level(budget, at)) } else { Err(wanted()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_read_as_it_is_written_and_nothing_else_is() {
        assert_eq!("tokens=200e6".parse(), Ok(At::Level(Budget::Tokens, 2e8)));
        assert_eq!("flops=1_000".parse(), Ok(At::Level(Budget::Flops, 1e3)));
        assert_eq!("end".parse(), Ok(At::End));
        for wrong in ["tokens", "tokens=", "tokens=-1", "steps=5", "tokens=inf", ""] {
            assert!(wrong.parse::<At>().is_err(), "{wrong}");
        }
    }
}
