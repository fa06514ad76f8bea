//! `--set key=value`: the strongest layer, kept as text until its key reads it.

use super::problem::Problem;
use super::raw;
use super::source::Place;
use super::tree::Table;

/// Overrides of the experiment and of the machine's settings; a later one wins.
#[derive(Default)]
pub(super) struct Overrides {
    pub science: Table,
    pub machine: Table,
}

pub(super) fn parse(sets: &[String], problems: &mut Vec<Problem>) -> Overrides {
    let mut overrides = Overrides::default();
    for set in sets {
        let place = Place::Set(set.clone());
        let Some((key, value)) = set.split_once('=') else {
            let problem = Problem::new(&place, set.trim(), format!("`{set}` sets nothing"));
            problems.push(problem.hint("write key=value, such as --set train.seed=2"));
            continue;
        };
        let path = raw::path(key);
        if path.is_empty() || path.iter().any(String::is_empty) || key.trim().ends_with('.') {
            problems.push(Problem::new(&place, key, format!("`{key}` is no key")).hint("such as train.learning_rate.peak"));
            continue;
        }
        if value.trim().is_empty() {
            problems.push(Problem::new(&place, key, format!("`{key}` is set to nothing")).hint("write a value after the `=`"));
            continue;
        }
        let node = raw::node(value, &place);
        match path.split_first() {
            Some((first, rest)) if first == "machine" && !rest.is_empty() => {
                overrides.machine.lay(Table::single(rest, &place, node));
            }
            Some((first, _)) if first == "extends" => {
                problems
                    .push(Problem::new(&place, key, "`extends` cannot be overridden").hint("set the keys that should differ"));
            }
            _ => overrides.science.lay(Table::single(&path, &place, node)),
        }
    }
    overrides
}
