//! What the words of the page mean. A term is explained where the page has one of the words that it is found by.

pub(crate) struct Term {
    pub(crate) name: &'static str,
    /// In small letters.
    found_by: &'static [&'static str],
    pub(crate) meaning: &'static str,
}

/// The terms that a text uses, in the order of the alphabet.
pub(crate) fn used(text: &str) -> Vec<&'static Term> {
    let text = text.to_lowercase();
    TERMS.iter().filter(|term| term.found_by.iter().any(|word| has(&text, word))).collect()
}

/// Whether a text has a word that does not go on at either side, but for the ending of several.
fn has(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let rest = &text[at + word.len()..];
        let after = rest.strip_prefix('s').unwrap_or(rest).chars().next();
        ![before, after].into_iter().flatten().any(char::is_alphanumeric)
    })
}

macro_rules! terms {
    ($($name:literal [$($word:literal),+] $meaning:literal)+) => {
        &[$(Term { name: $name, found_by: &[$($word),+], meaning: $meaning }),+]
    };
}

const TERMS: &[Term] = terms! {
    "agreement" ["agreement", "first choice"]
        "How often the first choice of the model, the move that it finds likeliest, is the move that was played in the game."
    "bootstrap" ["bootstrap"]
        "An interval from drawing the sample again, with replacement, many times."
    "calibration error, ECE" ["ece"]
        "How far the probability of the first choice lies from how often it is the move played, within tenths of that probability, \
         averaged over positions. Chance makes it too large, and the more so the fewer positions there are."
    "checkpoint" ["checkpoint"]
        "The weights that were measured: at the lowest validation loss (best), at the last step, or at another."
    "clean" ["clean", "without an illegal move"]
        "A clean game has no illegal move, also where the model ends it early."
    "clustered by game" ["clustered by game"]
        "An interval that takes whole games as what was drawn, since positions of one game are alike."
    "full game" ["full game"]
        "A game that the model plays against itself from the start, both sides, without a mask, until it ends the game, makes an illegal \
         move, or the game is over by the rules."
    "gate" ["gate"]
        "A known-answer test that refuses the run where it fails: nothing is measured with an instrument that is broken."
    "guessing" ["guessing"]
        "Giving all 1,971 tokens the same probability: a loss of ln 1971."
    "interval" ["interval"]
        "The numbers in brackets: the range that covers the true value in 95 % of samples like this one. It tells of the draw of the \
         sample, not of another training with another seed."
    "Jensen-Shannon divergence" ["jensen-shannon"]
        "How far two distributions of moves are apart, in bits, from 0 to 1."
    "Kaplan-Meier" ["kaplan-meier"]
        "An estimate of a share that remains over time, from games that end at different times; its interval is that of the log-log of it."
    "key" ["key"]
        "A digest of everything that decides what a stage makes: its settings, its version, and the keys of its inputs."
    "legal" ["legal"]
        "A move that the rules allow in its position. It is sampled from all tokens, legal or not, unless a mask is named."
    "loss" ["loss"]
        "The mean, over tokens, of minus the natural logarithm of the probability that the model gave to the right one; in nats. Lower is better."
    "mass on legal moves" ["mass"]
        "The probability that the model gives to all legal moves together, whichever it would choose."
    "MFU" ["mfu"]
        "Model FLOPs utilisation: the floating-point operations a second that the training needs, by count from the model's sizes, \
         as a share of the rate of a large matrix product measured on the same device."
    "n" ["n"]
        "The size of the sample: positions, games, or tokens."
    "ply" ["ply", "plies"]
        "A move of one side. A move of both is two plies."
    "probe" ["probe"]
        "A linear classifier that reads the board off the states within the model. Beside it stand the same on a model with random weights, \
         and the most frequent content of each square: only what lies above them was learned."
    "protocol" ["protocol"]
        "All that decides how a figure is measured: metric, data, choice of positions, temperature, mask, context, precision, seed. \
         The code is its digest: figures of equal codes may be compared."
    "snapshot" ["snapshot"]
        "The weights at a step of the training, kept and measured for the curves."
    "special token" ["special token"]
        "A token that is no move: the padding, the beginning of a game, its end."
    "Student" ["student"]
        "Student's t: an interval of a mean, from the spread of what it is the mean of."
    "survival" ["survival", "still without an illegal"]
        "The share of games without an illegal token after so many plies: a game that ends counts up to its end."
    "T" ["t"]
        "The temperature: logits are divided by it before a move is sampled, so that cooler is closer to the first choice."
    "tainted" ["tainted"]
        "Made although a gate refused. What is made of it inherits the word."
    "token" ["token"]
        "A unit that the model reads and predicts: a move, or one of three special ones."
    "top-5" ["first five"]
        "Whether the move that was played is among the five that the model finds likeliest."
    "total variation" ["total variation"]
        "The share of moves that would have to be other ones for two distributions to be the same."
    "untrained" ["untrained", "before any training"]
        "The same model with its random weights, before the first step."
    "validation" ["validation"]
        "Games that were kept apart from training: all figures are of these."
    "Wilson" ["wilson"]
        "An interval of a share, from how many of how many; it holds near 0 and 100 % too."
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_stand_in_the_order_of_the_alphabet_and_each_once() {
        let names: Vec<String> = TERMS.iter().map(|term| term.name.to_lowercase()).collect();
        assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "{names:?}");
    }

    #[test]
    fn a_term_is_explained_only_where_it_occurs() {
        let names = |text| used(text).iter().map(|term| term.name).collect::<Vec<_>>();
        assert_eq!(names("Plies of the games"), ["ply"]);
        assert_eq!(names("agatehouse, massive"), [""; 0]);
        assert_eq!(names("at T = 1.0, a snapshot"), ["snapshot", "T"]);
    }
}
