//! What a reader must know who lays these figures side by side.

use super::comparison::Axis;
use super::levels::{Budget, nearest_pair};
use super::section::{Alike, Section};
use super::subject::Subject;
use crate::report::results::Point;
use crate::text::{significant, thousands};
use crate::train::config::{Length, Schedule};

/// Of all figures, each said once, with names.
pub(crate) fn caveats(subjects: &[Subject]) -> Vec<String> {
    let one_each = "One training each: what another seed of the training would change is in none of these intervals.";
    vec![unlike_seeds(subjects).unwrap_or_else(|| one_each.to_owned())]
}

/// Of the snapshots alone.
pub(crate) fn of_levels(subjects: &[Subject], sections: &[Section], axis: Axis) -> Vec<String> {
    let mut said: Vec<String> = within_a_schedule(subjects, sections).into_iter().collect();
    if axis == Axis::Shared {
        let nearest: Vec<String> = (1..subjects.len()).filter_map(|other| no_equal_work(subjects, sections, other)).collect();
        if !nearest.is_empty() {
            said.push(format!("There are no snapshots within 5 % in work of these; the nearest are {}.", nearest.join("; ")));
        }
    }
    said
}

/// Snapshots of a training whose rate was still to fall: a training that ends there would have come further.
fn within_a_schedule(subjects: &[Subject], sections: &[Section]) -> Option<String> {
    let unfinished = |(at, subject): (usize, &Subject)| {
        let whole = falling_until(subject.first())?;
        let levels = sections.iter().filter(|section| section.budget.is_some());
        let rows = levels.flat_map(|section| &section.rows).filter(|row| row.alike != Some(Alike::Final));
        let steps = rows.filter_map(|row| Some(row.cells[at].as_ref()?.step)).filter(|step| *step < whole);
        let (least, most) = steps.fold((u64::MAX, 0), |(least, most), step| (least.min(step), most.max(step)));
        let between = match (thousands(least), thousands(most)) {
            _ if most == 0 => return None,
            (least, most) if least == most => format!("at step {least}"),
            (least, most) => format!("at steps {least} to {most}"),
        };
        Some(format!("{} {between} of {}", subject.label, thousands(whole)))
    };
    let named: Vec<String> = subjects.iter().enumerate().filter_map(unfinished).collect();
    (!named.is_empty()).then(|| {
        format!(
            "In the middle of a learning-rate schedule: {}. Each was to go on, and its rate to fall: what it shows there is most likely \
             less (of a loss: more) than a training whose schedule ends there would reach.",
            named.join("; ")
        )
    })
}

/// The step at which the learning rate is at its lowest; none where it does not fall.
fn falling_until(point: &Point) -> Option<u64> {
    let train = point.experiment.train()?;
    let falls = train.learning_rate.floor < train.learning_rate.peak;
    let steps = match train.length {
        Length::Steps(steps) => steps,
        Length::Epochs(_) => point.training.as_ref().map(|training| training.summary.steps)?,
    };
    match train.learning_rate.schedule {
        Schedule::Constant => None,
        Schedule::Cosine | Schedule::Wsd { .. } => falls.then_some(steps),
    }
}

/// Where models of unlike size have no snapshots of equal work: how near they come.
fn no_equal_work(subjects: &[Subject], sections: &[Section], other: usize) -> Option<String> {
    let flops = |at: usize| subjects[at].first().experiment.model.flops_per_token();
    let has = |section: &&Section| section.rows.iter().any(|row| row.cells[0].is_some() && row.cells[other].is_some());
    if flops(0) == flops(other)
        || sections.iter().filter(|section| section.budget == Some(Budget::Flops)).any(|section| has(&section))
    {
        return None;
    }
    let ([(our_step, ours), (their_step, theirs)], times) = nearest_pair(subjects, other, Budget::Flops)?;
    Some(format!(
        "{} at step {} ({}) and {} at step {} ({}), {} × as much",
        subjects[0].label,
        thousands(our_step),
        Budget::Flops.words(ours),
        subjects[other].label,
        thousands(their_step),
        Budget::Flops.words(theirs),
        significant(times, 2)
    ))
}

/// Means over seeds beside single trainings.
fn unlike_seeds(subjects: &[Subject]) -> Option<String> {
    let several: Vec<String> = subjects
        .iter()
        .filter(|subject| subject.seeds() > 1)
        .map(|subject| format!("{} ({} seeds)", subject.label, subject.seeds()))
        .collect();
    let single: Vec<String> =
        subjects.iter().filter(|subject| subject.seeds() == 1).map(|subject| subject.label.clone()).collect();
    if several.is_empty() {
        return None;
    }
    let known = format!(
        "{}: each figure is the mean over the seeds (n = 2 × 4,000 is two seeds of 4,000 items each), and its interval, as that of its difference, holds how much another seed may change it: few seeds make it wide.",
        several.join("; ")
    );
    let unknown = format!(" Of {} there is one training, and its interval knows nothing of another seed.", single.join(", "));
    Some(if single.is_empty() { known } else { known + &unknown })
}
