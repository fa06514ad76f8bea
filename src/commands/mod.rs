//! One file a command: each reads from the top, calls the rest, and prints.

pub mod bench;
pub mod compare;
pub mod completions;
pub mod doctor;
pub mod export;
pub mod import;
pub mod ls;
pub mod mine;
pub mod plan;
pub mod power;
pub mod report;
pub mod run;
pub mod session;
pub mod show;
pub mod stop;
pub mod watch;
pub mod why;
