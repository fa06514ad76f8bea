//! Short names of the points of a sweep: `layers=4 width=128 heads=4 hidden=352` is `4 × 128`.

use crate::experiment::Experiment;

/// How the part of a name begins that tells the seed of a training.
pub(crate) const SEED: &str = "seed ";

/// What sets each point apart from the others. Layers and width stand together; heads and hidden units, which go with them, are told
/// only where points would be called the same without; and a seed only where points differ in nothing else.
pub(super) fn parts(points: &[Experiment]) -> Vec<Vec<String>> {
    if points.len() < 2 {
        return points.iter().map(|point| settings(&point.point)).collect();
    }
    let sizes = |point: &Experiment| (point.model.layers, point.model.width);
    let tells_sizes = points.iter().any(|point| sizes(point) != sizes(&points[0])) && points.iter().any(names_size);
    let short: Vec<_> = points.iter().map(|point| named(point, tells_sizes, false)).collect();
    // The same name for what is not the same model would mislead.
    let misled = points
        .iter()
        .zip(&short)
        .any(|(point, name)| points.iter().zip(&short).any(|(other, same)| name == same && point.model != other.model));
    let mut names = if misled { points.iter().map(|point| named(point, tells_sizes, true)).collect() } else { short };
    for repeated in repeated(&names) {
        let seed = points[repeated].train().map(|train| format!("{SEED}{}", train.seed));
        names[repeated].extend(seed);
    }
    for repeated in repeated(&names) {
        names[repeated] = vec![points[repeated].point.clone()];
    }
    names
}

/// The places of names that others have too, or that say nothing.
fn repeated(names: &[Vec<String>]) -> Vec<usize> {
    let is_repeated = |at: &usize| names[*at].is_empty() || names.iter().filter(|name| **name == names[*at]).count() > 1;
    (0..names.len()).filter(is_repeated).collect()
}

fn named(point: &Experiment, tells_sizes: bool, whole: bool) -> Vec<String> {
    let size = tells_sizes.then(|| format!("{} × {}", point.model.layers, point.model.width));
    let is_told = |part: &String| match last_key(part) {
        Some("seed") => false,
        Some("layers" | "width") => !tells_sizes,
        Some("heads" | "hidden") => whole || !tells_sizes,
        Some(_) => true,
        None => *part != point.name,
    };
    size.into_iter().chain(settings(&point.point).into_iter().filter(is_told)).collect()
}

fn names_size(point: &Experiment) -> bool {
    settings(&point.point).iter().any(|part| matches!(last_key(part), Some("layers" | "width")))
}

/// The name of a point, setting by setting. A word that is none belongs to the one before.
pub(crate) fn settings(title: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for word in title.split(' ') {
        match parts.last_mut().filter(|_| !word.contains('=')) {
            Some(part) => {
                part.push(' ');
                part.push_str(word);
            }
            None => parts.push(word.to_owned()),
        }
    }
    parts
}

/// `width` of `model.width=128`.
fn last_key(part: &str) -> Option<&str> {
    part.split_once('=')?.0.rsplit('.').next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::experiment;

    fn names(points: &[(&str, u32, u32, u64)]) -> Vec<String> {
        let point = |&(title, layers, width, seed): &(&str, u32, u32, u64)| {
            let mut point = experiment(40);
            point.point = title.into();
            (point.model.layers, point.model.width) = (layers, width);
            point.training().seed = seed;
            point
        };
        parts(&points.iter().map(point).collect::<Vec<_>>()).into_iter().map(|parts| parts.join(", ")).collect()
    }

    #[test]
    fn sizes_are_told_as_layers_by_width_and_seeds_only_of_what_is_else_the_same() {
        let points = [
            ("layers=2 width=32 heads=1", 2, 32, 7),
            ("layers=4 width=128 heads=4", 4, 128, 7),
            ("layers=4 width=128 heads=4 seed=1", 4, 128, 1),
        ];
        assert_eq!(names(&points), ["2 × 32", "4 × 128, seed 7", "4 × 128, seed 1"]);
        assert_eq!(names(&[("seed=1", 2, 32, 1), ("seed=2", 2, 32, 2)]), ["seed 1", "seed 2"]);
    }

    #[test]
    fn what_else_differs_is_told_as_it_is_named() {
        let points = [("width=32 learning_rate.peak=1e-3", 2, 32, 7), ("width=64 learning_rate.peak=1e-3", 2, 64, 7)];
        assert_eq!(names(&points), ["2 × 32, learning_rate.peak=1e-3", "2 × 64, learning_rate.peak=1e-3"]);
        assert_eq!(names(&[("sources=a b.pgn", 2, 32, 7), ("sources=c.pgn", 2, 32, 7)]), ["sources=a b.pgn", "sources=c.pgn"]);
    }

    #[test]
    fn models_that_differ_are_never_called_the_same() {
        let mut points = [experiment(40), experiment(40), experiment(40)];
        for (point, (title, heads, width)) in
            points.iter_mut().zip([("width=64 heads=1", 1, 64), ("width=64 heads=2", 2, 64), ("width=32 heads=1", 1, 32)])
        {
            point.point = title.into();
            (point.model.layers, point.model.width, point.model.heads) = (2, width, heads);
        }
        assert_eq!(parts(&points)[..2], [["2 × 64", "heads=1"], ["2 × 64", "heads=2"]]);
    }
}
