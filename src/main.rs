//! The edge: parse, call, print the error, exit code.

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser as _;
use philidor::cli::{Bench, Cli, Command};
use philidor::commands;
use philidor::error::{Exit, exit_of, io_kind};
use philidor::ui::paint::Paint;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let paint = Paint::new(cli.color);
    match run(&cli, paint) {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(exit)) => ExitCode::from(exit.code()),
        Err(error) if broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            philidor::ui::error::print(&error, paint);
            ExitCode::from(exit_of(&error).code())
        }
    }
}

fn run(cli: &Cli, paint: Paint) -> Result<Option<Exit>> {
    let out = Paint::for_stdout(cli.color);
    match &cli.command {
        Command::Plan(args) => return commands::plan::plan(args, out),
        Command::Run(args) => return commands::run::run(args, paint),
        Command::Why(args) => commands::why::why(args, out),
        Command::Ls(args) => commands::ls::ls(args, out),
        Command::Show(args) => commands::show::show(args, out),
        Command::Report(args) => commands::report::report(args),
        Command::Watch(args) => commands::watch::watch(args),
        Command::Compare(args) => return commands::compare::compare(args),
        Command::Mine(args) => commands::mine::mine(args, paint),
        Command::Export(what) => commands::export::export(what, paint),
        Command::Import(args) => commands::import::import(args, out),
        Command::Bench(Bench::Corpus(args)) => commands::bench::corpus::corpus(args, out),
        Command::Bench(Bench::Loader(args)) => commands::bench::loader::loader(args),
        Command::Bench(Bench::Measure(args)) => commands::bench::measure::measure(args),
        Command::Bench(Bench::Device(args)) => return commands::bench::device::device(args, out),
        Command::Bench(Bench::Train(args)) => commands::bench::train::train(args, out),
        Command::Power(args) => commands::power::power(args),
        Command::Doctor(args) => return commands::doctor::doctor(args, out),
        Command::Completions { shell } => commands::completions::completions(*shell),
    }?;
    Ok(None)
}

/// Whoever read our output has seen enough: no failure of ours.
fn broken_pipe(error: &anyhow::Error) -> bool {
    io_kind(error) == Some(std::io::ErrorKind::BrokenPipe)
}
