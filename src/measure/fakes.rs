//! Predictors whose score is known beforehand, and games to ask them about.

use anyhow::Result;
use shakmaty::{Chess, Position as _};

use crate::chess::replay::{Replay, legal_tokens};
use crate::chess::vocabulary::{BOS, PAD, VOCABULARY_SIZE, parse, to_move};
use crate::progress::silent;
use crate::random::{below, stream, unit};

use super::metric::Metric;
use super::parts::{Own, Threads};
use super::positions::ValidationGames;
use super::predictor::{Logits, Predictor, Prompt, Recompute, Session};
use super::{Material, Measured, measure};

/// A predictor that is a function of the prompt.
pub(super) struct Fake<F> {
    pub(super) answer: F,
    pub(super) context: usize,
    pub(super) batch: usize,
    pub(super) threads: Own,
}

impl<F: Fn(&[u16]) -> Vec<f32>> Fake<F> {
    pub(super) fn new(answer: F) -> Self {
        Self { answer, context: 400, batch: 64, threads: Own(1) }
    }

    pub(super) fn threads(self, threads: usize) -> Self {
        Self { threads: Own(threads), ..self }
    }

    pub(super) fn context(self, context: usize) -> Self {
        Self { context, ..self }
    }

    pub(super) fn batch(self, batch: usize) -> Self {
        Self { batch, ..self }
    }
}

impl<F: Fn(&[u16]) -> Vec<f32>> Predictor for Fake<F> {
    fn context(&self) -> usize {
        self.context
    }

    fn batch(&self) -> usize {
        self.batch
    }

    fn threads(&self) -> &dyn Threads {
        &self.threads
    }

    fn predict(&self, prompts: &[Prompt]) -> Result<Logits> {
        assert!(prompts.iter().all(|prompt| (1..=self.context).contains(&prompt.tokens.len())), "a prompt that does not fit");
        let prefixes = prefixes(prompts);
        Logits::new(prefixes.iter().flat_map(|prefix| (self.answer)(prefix)).collect(), prefixes.len())
    }

    fn session(&self, sequences: usize, _: usize) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(Recompute::new(self, sequences)))
    }
}

/// What stands before each answer.
fn prefixes<'a>(prompts: &[Prompt<'a>]) -> Vec<&'a [u16]> {
    prompts.iter().flat_map(|prompt| prompt.asked.iter().map(|&at| &prompt.tokens[..=at as usize])).collect()
}

/// Measures a predictor on games.
pub(super) fn measured(predictor: &dyn Predictor, games: &[Vec<u16>], metric: &Metric) -> Measured {
    let on = Material::of(ValidationGames::new(slices(games)));
    measure(metric, predictor, &on, &silent()).expect("games to measure on")
}

/// Knows nothing: every token is as likely.
pub(super) fn uniform() -> Fake<impl Fn(&[u16]) -> Vec<f32>> {
    Fake::new(|_| vec![0.0; VOCABULARY_SIZE])
}

/// Knows the rules and nothing else: every legal move is as likely.
pub(super) fn uniform_legal() -> Fake<impl Fn(&[u16]) -> Vec<f32>> {
    Fake::new(|prompt| legal_after(&prompt[1..]).map_or_else(|| vec![0.0; VOCABULARY_SIZE], |legal| one_of(&legal)))
}

/// Knows the games by heart. They must differ from the first move on.
pub(super) fn oracle(games: &[Vec<u16>]) -> Fake<impl Fn(&[u16]) -> Vec<f32>> {
    oracle_but(games, |_, _| false)
}

/// The same, but for the moves that it misses after some others: there it says `<pad>`.
pub(super) fn oracle_but(games: &[Vec<u16>], misses: impl Fn(&[u16], u16) -> bool) -> Fake<impl Fn(&[u16]) -> Vec<f32>> {
    Fake::new(move |prompt| {
        let game = games.iter().find(|game| game.len() >= prompt.len() && prompt[1..] == game[..prompt.len() - 1]);
        let human = game.expect("a prompt from these games")[prompt.len() - 1];
        one_of(&[if misses(&prompt[1..], human) { PAD } else { human }])
    })
}

/// Says one thing, whatever it is asked.
pub(super) fn always(token: u16) -> Fake<impl Fn(&[u16]) -> Vec<f32>> {
    Fake::new(move |_| one_of(&[token]))
}

/// Says again what it heard last: a move from a square that has just been left.
pub(super) fn copying() -> Fake<impl Fn(&[u16]) -> Vec<f32>> {
    Fake::new(|prompt| one_of(&prompt[prompt.len() - 1..]))
}

/// Says what depends on every token of the prompt, and on nothing else.
pub(super) fn moody() -> Fake<impl Fn(&[u16]) -> Vec<f32>> {
    Fake::new(|prompt| {
        let mood = prompt.iter().fold(7_u64, |mood, &token| mood.wrapping_mul(0x0100_0000_01b3) ^ u64::from(token));
        let mut rng = stream(mood, "mood", 0);
        (0..VOCABULARY_SIZE).map(|_| 8.0 * unit(&mut rng) as f32).collect()
    })
}

fn one_of(tokens: &[u16]) -> Vec<f32> {
    let mut logits = vec![f32::NEG_INFINITY; VOCABULARY_SIZE];
    for &token in tokens {
        logits[usize::from(token)] = 0.0;
    }
    logits
}

/// A predictor that is asked in batches of another size, by another number of threads.
pub(super) struct Rebatched<'a> {
    pub(super) inner: &'a dyn Predictor,
    pub(super) batch: usize,
    pub(super) threads: Own,
}

impl Predictor for Rebatched<'_> {
    fn context(&self) -> usize {
        self.inner.context()
    }

    fn batch(&self) -> usize {
        self.batch
    }

    fn threads(&self) -> &dyn Threads {
        &self.threads
    }

    fn predict(&self, prompts: &[Prompt]) -> Result<Logits> {
        self.inner.predict(prompts)
    }

    fn session(&self, sequences: usize, length: usize) -> Result<Box<dyn Session + '_>> {
        self.inner.session(sequences, length)
    }
}

/// A predictor held to the rules, with a session of its own or one that asks with whole prefixes.
pub(super) struct Lawful<'a> {
    pub(super) inner: &'a dyn Predictor,
    pub(super) cached: bool,
}

impl Predictor for Lawful<'_> {
    fn context(&self) -> usize {
        self.inner.context()
    }

    fn predict(&self, prompts: &[Prompt]) -> Result<Logits> {
        masked(&self.inner.predict(prompts)?, &prefixes(prompts))
    }

    fn session(&self, sequences: usize, length: usize) -> Result<Box<dyn Session + '_>> {
        let inner =
            if self.cached { self.inner.session(sequences, length)? } else { Box::new(Recompute::new(self.inner, sequences)) };
        let prefixes = vec![Vec::new(); sequences];
        Ok(Box::new(LawfulSession { inner, prefixes }))
    }
}

struct LawfulSession<'a> {
    inner: Box<dyn Session + 'a>,
    prefixes: Vec<Vec<u16>>,
}

impl Session for LawfulSession<'_> {
    fn step(&mut self, tokens: &[u16]) -> Result<Logits> {
        self.prefixes.iter_mut().zip(tokens).for_each(|(prefix, &token)| prefix.push(token));
        let prompts: Vec<&[u16]> = self.prefixes.iter().map(Vec::as_slice).collect();
        masked(&self.inner.step(tokens)?, &prompts)
    }

    fn keep(&mut self, sequences: &[usize]) -> Result<()> {
        self.prefixes = sequences.iter().map(|&sequence| std::mem::take(&mut self.prefixes[sequence])).collect();
        self.inner.keep(sequences)
    }
}

fn masked(logits: &Logits, prompts: &[&[u16]]) -> Result<Logits> {
    let rows = prompts.iter().enumerate().flat_map(|(row, prompt)| {
        let mask = legal_after(&prompt[1..]).map_or_else(|| vec![0.0; VOCABULARY_SIZE], |legal| one_of(&legal));
        logits.row(row).iter().zip(mask).map(|(logit, mask)| logit + mask).collect::<Vec<f32>>()
    });
    Logits::new(rows.collect(), prompts.len())
}

/// The legal moves after some moves; none after an end, or what is no game.
fn legal_after(moves: &[u16]) -> Option<Vec<u16>> {
    let (mut board, mut legal) = (Chess::default(), Vec::new());
    for &token in moves {
        board.play_unchecked(to_move(token, &board)?);
    }
    legal_tokens(&board, &mut legal);
    (!legal.is_empty()).then_some(legal)
}

/// Twenty random games, each with another first move.
pub(super) fn games() -> Vec<Vec<u16>> {
    let mut first = Vec::new();
    legal_tokens(&Chess::default(), &mut first);
    first.sort_unstable();
    first.into_iter().enumerate().map(|(index, token)| random_game(token, index as u64)).collect()
}

fn random_game(first: u16, index: u64) -> Vec<u16> {
    let mut rng = stream(11, "random games", index);
    let (mut board, mut game, mut legal) = (Chess::default(), vec![first], Vec::new());
    let plies = 20 + below(&mut rng, 100) as usize;
    loop {
        board.play_unchecked(to_move(game[game.len() - 1], &board).expect("a legal move"));
        legal_tokens(&board, &mut legal);
        if game.len() >= plies || legal.is_empty() {
            return game;
        }
        game.push(legal[below(&mut rng, legal.len() as u64) as usize]);
    }
}

/// A random game that no rule has ended after so many plies.
pub(super) fn endless_game(plies: usize) -> Vec<u16> {
    let play = |index| {
        let mut rng = stream(11, "endless games", index);
        let (mut board, mut position, mut game, mut legal) = (Replay::default(), Chess::default(), Vec::new(), Vec::new());
        while game.len() < plies && board.ended().is_none() {
            legal_tokens(&position, &mut legal);
            let token = legal[below(&mut rng, legal.len() as u64) as usize];
            board.step(token).expect("a legal move");
            position.play_unchecked(to_move(token, &position).expect("a legal move"));
            game.push(token);
        }
        board.ended().is_none().then_some(game)
    };
    (0..).find_map(play).expect("some game goes on")
}

/// A game from its moves in UCI.
pub(super) fn game(moves: &str) -> Vec<u16> {
    moves.split_whitespace().map(|text| parse(text).expect("in the vocabulary")).collect()
}

/// The games as [`ValidationGames`](super::positions::ValidationGames) takes them.
pub(super) fn slices(games: &[Vec<u16>]) -> Vec<&[u16]> {
    games.iter().map(Vec::as_slice).collect()
}

#[test]
fn a_fake_asks_for_a_prompt_that_begins_a_game() {
    let games = games();
    let logits = oracle(&games).predict(&[Prompt { tokens: &[BOS, games[3][0]], asked: &[1] }]).expect("a known game");
    assert_eq!(super::sampling::argmax(logits.row(0)), games[3][1]);
}
