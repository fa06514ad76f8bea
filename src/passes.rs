//! What passes through a model for a node, in tokens: so many where that is known, else no more than so many.

use std::iter::Sum;
use std::ops::Add;

use serde::{Deserialize, Serialize};

/// A number of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    pub tokens: u64,
    /// Else there may be fewer.
    pub exact: bool,
}

impl Count {
    pub const NONE: Self = Self::exactly(0);

    pub const fn exactly(tokens: u64) -> Self {
        Self { tokens, exact: true }
    }

    pub const fn at_most(tokens: u64) -> Self {
        Self { tokens, exact: false }
    }
}

impl Add for Count {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { tokens: self.tokens.saturating_add(other.tokens), exact: self.exact && other.exact }
    }
}

impl Sum for Count {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::NONE, Add::add)
    }
}

/// The passes of a model that a node takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Passes {
    /// What is done, such as `evaluate legality T=1`: nodes of one name differ in their weights and sizes alone.
    pub of: String,
    /// Whether the model learns by them, which takes a pass backward for each one forward.
    pub learns: bool,
    /// Tokens that go forward through the model, without padding; none where nothing bounds them before the inputs are kept.
    pub forward: Option<Count>,
    /// Tokens that the model generates, each after the one before it.
    pub generated: Count,
    /// Floating-point operations for [`forward`](Self::forward), where the inputs that are kept tell it exactly.
    pub flops: Option<f64>,
}

impl Passes {
    /// Passes in which the model learns.
    pub fn learning(of: impl Into<String>, forward: Option<Count>) -> Self {
        Self { learns: true, ..Self::reading(of, forward) }
    }

    /// Passes in which it is asked.
    pub fn reading(of: impl Into<String>, forward: Option<Count>) -> Self {
        Self { of: of.into(), learns: false, forward, generated: Count::NONE, flops: None }
    }

    /// Whether they are no passes at all: something reads what came of those of another node.
    pub fn is_none(&self) -> bool {
        self.forward == Some(Count::NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_exact_only_where_all_of_it_is() {
        let sum = |counts: &[Count]| counts.iter().copied().sum::<Count>();
        assert_eq!(sum(&[Count::exactly(2), Count::exactly(3)]), Count::exactly(5));
        assert_eq!(sum(&[Count::exactly(2), Count::at_most(3)]), Count::at_most(5));
        assert_eq!(sum(&[]), Count::NONE);
        assert!(Passes::reading("a", Some(sum(&[]))).is_none() && !Passes::reading("a", None).is_none());
    }
}
