//! The command line: what can be typed, and nothing of what is done.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::measure::metric::Checkpoint;

mod compare;

pub use compare::{At, CompareArgs};

/// Declared experiments on chess language models: from a TOML file to a report.
#[derive(Parser)]
#[command(name = "philidor", version, arg_required_else_help = true, max_term_width = 100)]
pub struct Cli {
    /// Whether to colour what is told
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub color: Color,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    Always,
    Never,
}

#[derive(Subcommand)]
pub enum Command {
    /// Say what a run would make, why, and how long it takes
    Plan(PlanArgs),
    /// Make what is not kept, and write the report
    Run(RunArgs),
    /// Say why a stage would be made again, or what it was made of
    Why(WhyArgs),
    /// List the runs
    Ls(LsArgs),
    /// Show a run: its nodes, its figures, its files
    Show(ShowArgs),
    /// Draw the report of a run again
    Report(ReportArgs),
    /// Show the page of a run while it runs, on this machine alone
    Watch(WatchArgs),
    /// Lay runs side by side: what differs in what was asked, and in what came out
    Compare(CompareArgs),
    /// Play engine games and write them as a month of the public archive
    Mine(MineArgs),
    /// Write the vocabulary, the kept games, or a model for others to load
    #[command(subcommand)]
    Export(Export),
    /// Look at a model from elsewhere, and say how to measure it
    Import(ImportArgs),
    /// Measure what this machine can do
    #[command(subcommand)]
    Bench(Bench),
    /// Say what a sample size buys: how near a share is known, and which differences it tells
    Power(PowerArgs),
    /// Look over this machine: folders, libtorch, devices, engine
    Doctor(DoctorArgs),
    /// Print a completion script for a shell
    Completions { shell: clap_complete::Shell },
}

/// An experiment and what the command line changes in it.
#[derive(Args)]
pub struct Asked {
    /// Experiment files
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Set a key of the experiment, or a machine setting as `machine.device=cpu`
    #[arg(short = 'S', long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<String>,
}

#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub struct PlanArgs {
    #[command(flatten)]
    pub asked: Asked,
    /// Print the resolved experiment instead
    #[arg(long)]
    pub resolved: bool,
    /// Print the resolved experiment, with where each value was set
    #[arg(long)]
    pub origin: bool,
    /// Tell of each node, also in a long plan
    #[arg(long)]
    pub all: bool,
    /// Exit with 3 where something is left to make
    #[arg(long)]
    pub check: bool,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub asked: Asked,
    /// Stop after this stage
    #[arg(long, value_name = "STAGE")]
    pub until: Option<String>,
    /// Make this stage again although it is kept
    #[arg(long, value_name = "STAGE")]
    pub force: Vec<String>,
    /// Go on although this gate refuses (`inspect`, `initial_loss`, `overfit`); all that is made after it is marked as tainted
    #[arg(long, value_name = "GATE")]
    pub despite: Vec<String>,
    /// After a failure, go on with what does not depend on it
    #[arg(short = 'k', long)]
    pub keep_going: bool,
    /// Exit with 75 where another process makes what is needed, instead of waiting
    #[arg(long)]
    pub no_wait: bool,
    /// Print one JSON document at the end
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct WhyArgs {
    /// Experiment file
    pub file: PathBuf,
    /// A stage, such as `train`; part of a name that `plan` shows, such as `legality`; or the beginning of a key
    pub stage: String,
    /// Set a key of the experiment
    #[arg(short = 'S', long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<String>,
}

#[derive(Args)]
pub struct LsArgs {
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct ShowArgs {
    /// A run's folder, its name (the newest run of it), or a unique prefix of its id
    pub run: String,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct ReportArgs {
    /// A run's folder, its name (the newest run of it), or a unique prefix of its id
    pub run: String,
    /// Write its curves as event files of `TensorBoard` into this folder instead
    #[arg(long, value_name = "FOLDER")]
    pub tensorboard: Option<PathBuf>,
}

#[derive(Args)]
pub struct WatchArgs {
    /// A run's folder, its name (the newest run of it), or a unique prefix of its id
    pub run: String,
    /// The port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    pub port: u16,
}

#[derive(Args)]
pub struct MineArgs {
    /// A file that says which games to play
    pub file: PathBuf,
    /// Where the games go; beside FILE, as `.pgn.zst`, where left out
    #[arg(long)]
    pub out: Option<PathBuf>,
}

#[derive(Subcommand)]
pub enum Export {
    /// Print the vocabulary as JSON
    Vocab,
    /// Print the kept games, one a line in UCI, in input order
    Games {
        #[command(flatten)]
        asked: Asked,
    },
    /// Write a run's model as a folder that Hugging Face's transformers loads, with a model card
    Hf(ExportHfArgs),
}

#[derive(Args)]
pub struct ExportHfArgs {
    /// A run's folder, its name (the newest run of it), or a unique prefix of its id
    pub run: String,
    /// Which weights: `best` by validation loss, `last`, their average `ema`, or the step of a snapshot; those of the final figures where left out
    #[arg(long, value_parser = checkpoint)]
    pub checkpoint: Option<Checkpoint>,
    /// Which point, where the run has several
    #[arg(long, value_name = "NAME")]
    pub point: Option<String>,
    /// The folder to write, which must be new or empty; the run's name and `-hf` where left out
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}

#[derive(Args)]
pub struct ImportArgs {
    /// A folder of transformers or of ours, or a safetensors file with its configuration beside it
    pub folder: PathBuf,
    /// Also write it here, in Philidor's own layout; a folder that is new or empty
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}

/// `best`, `last`, or a step.
fn checkpoint(text: &str) -> Result<Checkpoint, String> {
    match text {
        "best" => Ok(Checkpoint::Best),
        "last" => Ok(Checkpoint::Last),
        "ema" => Ok(Checkpoint::Ema),
        step => step
            .replace('_', "")
            .parse()
            .map(Checkpoint::Step)
            .map_err(|_| "`best`, `last`, `ema` or a step was wanted".to_owned()),
    }
}

#[derive(Subcommand)]
pub enum Bench {
    /// Time each step of reading a corpus, alone and together, beside `zstd` and `pzstd`
    Corpus(BenchCorpusArgs),
    /// Time the making of batches, with no training behind it
    Loader(BenchLoaderArgs),
    /// Time products and copies on the device, and hold what it computes against the CPU
    Device(BenchDeviceArgs),
    /// Time the training step of an experiment by batch size, and say what fits and how long it all takes
    Train(BenchTrainArgs),
    /// Time the final measures of an experiment beside the passes that they need, and beside the published way
    Measure(BenchMeasureArgs),
}

#[derive(Args)]
pub struct BenchMeasureArgs {
    /// Experiment file; of a sweep, its first point is measured
    pub file: PathBuf,
    /// Set a key of the experiment, or a machine setting as `machine.device=cpu`
    #[arg(short = 'S', long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<String>,
    /// Runs of the measures and of their bare passes, in turn
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Games held to legal moves
    #[arg(long, value_name = "N", default_value = "64", value_parser = clap::value_parser!(u32).range(1..=1 << 16))]
    pub games: u32,
    /// Plies of each of them
    #[arg(long, value_name = "N", default_value = "100", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub plies: u32,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct BenchTrainArgs {
    /// Experiment file; of a sweep, its first point is measured
    pub file: PathBuf,
    /// Set a key of the experiment, or a machine setting as `machine.device=cpu`
    #[arg(short = 'S', long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<String>,
    /// Batch sizes to try, such as 4,8,16; left out: those that keep batch × accumulate, as far as memory and two minutes reach
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub batch: Vec<u32>,
    /// Steps to time for each batch
    #[arg(long, value_name = "N", default_value = "10", value_parser = number)]
    pub steps: u64,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct BenchDeviceArgs {
    /// Measure the rates alone
    #[arg(long)]
    pub no_checks: bool,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct BenchCorpusArgs {
    /// A file of games; of a large one, a part is measured
    pub file: PathBuf,
    /// Time to spend on rounds; at least three are run
    #[arg(long, value_name = "S", default_value = "100", value_parser = seconds)]
    pub seconds: f64,
    /// Filter as this experiment does, instead of as published
    #[arg(long, value_name = "FILE")]
    pub experiment: Option<PathBuf>,
    /// Say how long so many moves of kept games would take; 800,000,000 where neither this nor the experiment says it
    #[arg(long, value_name = "N", value_parser = number)]
    pub moves: Option<u64>,
    /// Measure the whole file, however large
    #[arg(long)]
    pub whole: bool,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct BenchLoaderArgs {
    /// An experiment; of several points, the first is measured
    pub file: PathBuf,
    /// Set a key of the experiment, or a machine setting as `machine.device=cpu`
    #[arg(short = 'S', long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<String>,
    /// Time to measure
    #[arg(long, value_name = "S", default_value = "5", value_parser = seconds)]
    pub seconds: f64,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// A time above 0 and of at most a day.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if 0.0 < seconds && seconds <= 86_400.0 => Ok(seconds),
        _ => Err("seconds above 0 were wanted, such as 100".to_owned()),
    }
}

/// A whole number above 0, with `_` between digits where one likes.
fn number(text: &str) -> Result<u64, String> {
    match text.replace('_', "").parse() {
        Ok(0) | Err(_) => Err("a whole number above 0 was wanted, such as 800_000_000".to_owned()),
        Ok(number) => Ok(number),
    }
}

#[derive(Args)]
pub struct DoctorArgs {
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct PowerArgs {
    /// A share that is to be known, such as 0.98
    #[arg(long, value_name = "SHARE", value_parser = share, conflicts_with_all = ["from", "to"])]
    pub share: Option<f64>,
    /// How near: half the width of its interval, such as 0.002
    #[arg(long, value_name = "WIDTH", value_parser = share, requires = "share", conflicts_with = "n")]
    pub within: Option<f64>,
    /// Observations at hand, of each where two are compared
    #[arg(long, value_name = "N", value_parser = number)]
    pub n: Option<u64>,
    /// A share that is to be told from another
    #[arg(long, value_name = "SHARE", value_parser = share, requires = "to")]
    pub from: Option<f64>,
    /// The other share
    #[arg(long, value_name = "SHARE", value_parser = share, requires = "from")]
    pub to: Option<f64>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// A number above 0 and below 1.
fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if 0.0 < share && share < 1.0 => Ok(share),
        _ => Err("a share above 0 and below 1 was wanted, such as 0.98".to_owned()),
    }
}
