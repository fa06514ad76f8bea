//! The other process: `philidor-worker` holds libtorch, is handed nodes, and answers in JSON lines.
//!
//! A crash or a device fault fails the node at hand and no more; memory of a device comes back when the
//! process ends. The worker stops by itself, with its work saved, when the runner is gone.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, ErrorKind, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Fixable, io_kind};
use crate::machine::Machine;
use crate::plan::Node;
use crate::progress::Tick;
use crate::store::{Key, MadeBy};

/// What the runner says, one line each.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "kebab-case")]
pub enum Request {
    Work(Box<Job>),
    /// Save, and give up the node at hand.
    Stop,
    /// Say which libtorch and which device this is.
    Describe {
        device: String,
    },
    /// Measure something that needs libtorch. What that may be, the two programs know.
    Bench {
        what: Value,
        machine: Box<Machine>,
    },
}

/// A node with all that its work needs to know.
#[derive(Debug, Serialize, Deserialize)]
pub struct Job {
    pub node: Node,
    /// Each artifact that it reads, or a piece of it, and the folder where that lies.
    pub inputs: Vec<(Key, PathBuf)>,
    pub out: PathBuf,
    pub machine: Machine,
}

/// What the worker says, one line each.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "kebab-case")]
pub enum Reply {
    Told {
        #[serde(flatten)]
        tick: Tick,
    },
    Done {
        made_by: Box<MadeBy>,
    },
    Failed {
        failure: Fixable,
    },
    Described {
        text: String,
        facts: Value,
    },
    /// What a bench found.
    Measured {
        result: Value,
    },
}

/// A running worker, seen from the runner.
pub struct Worker {
    child: Child,
    requests: Option<ChildStdin>,
    replies: Receiver<Reply>,
    /// The last lines it wrote to stderr, for the message when it crashes.
    last_words: Arc<Mutex<Vec<String>>>,
}

/// The argument that makes a worker one of several ranks, started by `mpirun`.
pub const RANKED: &str = "--mpi";

const LAST_WORDS: usize = 20;
const SPIN_COUNT: &str = "1000";

impl Worker {
    /// Starts the worker program that lies beside the runner's, with the libtorch of the machine settings.
    ///
    /// # Errors
    ///
    /// Where it is not there or does not start, or the settings name a folder without a libtorch.
    pub fn start(machine: &Machine) -> Result<Self> {
        Self::spawn(Command::new(program()?), machine)
    }

    /// Starts the ranks of a training: as many workers, of which the first hears and answers for all.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start); and where the command that starts them is not there.
    pub fn start_ranks(machine: &Machine) -> Result<Self> {
        let mut words = machine.mpirun.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or("mpirun"));
        command.args(words).args(["-n", &machine.ranks.to_string()]).arg(program()?).arg(RANKED);
        // Open MPI starts nothing for root unasked, lest a program harm the system. This one is root already, if at all.
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        Self::spawn(command, machine).map_err(|error| match io_kind(&error) {
            Some(ErrorKind::NotFound) => Fixable::failed(format!("`{}` is not there, and ranks need it", machine.mpirun))
                .hint("install an MPI (Debian: apt-get install openmpi-bin), or name its command: mpirun in philidor.toml")
                .into(),
            _ => error,
        })
    }

    fn spawn(mut command: Command, machine: &Machine) -> Result<Self> {
        if let Some(folder) = &machine.libtorch {
            command.env("LD_LIBRARY_PATH", before(&libraries(folder)?, std::env::var_os("LD_LIBRARY_PATH"))?);
        }
        if std::env::var_os("CUDA_DEVICE_ORDER").is_none() {
            // As the driver's own tools number them, and not the fastest first.
            command.env("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
        }
        if std::env::var_os("OMP_WAIT_POLICY").is_none() && std::env::var_os("GOMP_SPINCOUNT").is_none() {
            // Threads of libtorch wait for one another by spinning, for far longer than a step takes: on cores that
            // others use too, that made training ten times slower here. A short spin, and then to sleep.
            command.env("GOMP_SPINCOUNT", SPIN_COUNT);
        }
        // Its own process group: CTRL-C reaches the runner, which asks the worker to save.
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .with_context(|| format!("starting `{}`", Path::new(command.get_program()).display()))?;
        let requests = child.stdin.take();
        let stdout = child.stdout.take().expect("stdout is piped");
        let stderr = child.stderr.take().expect("stderr is piped");
        let (sender, replies) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                // A library that prints must not break the conversation.
                if let Ok(reply) = serde_json::from_str(&line)
                    && sender.send(reply).is_err()
                {
                    break;
                }
            }
        });
        let last_words = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&last_words);
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let mut words = heard.lock().expect("no holder panics");
                if words.len() == LAST_WORDS {
                    words.remove(0);
                }
                words.push(line);
            }
        });
        Ok(Self { child, requests, replies, last_words })
    }

    /// Has a node made, and passes on what it tells; asks it to save once `stop` is set.
    ///
    /// # Errors
    ///
    /// The node's own failure, or how the worker ended in the midst of it.
    pub fn work(&mut self, job: Job, stop: &AtomicBool, tell: &(dyn Fn(Tick) + Sync)) -> Result<MadeBy> {
        let label = job.node.label.clone();
        match self.ask(&Request::Work(Box::new(job)), &label, stop, tell)? {
            Reply::Done { made_by } => Ok(*made_by),
            other => anyhow::bail!("the worker answers a node with {other:?}"),
        }
    }

    /// Has something measured, and passes on what is told of it; asks it to end once `stop` is set.
    ///
    /// # Errors
    ///
    /// The bench's own failure, or how the worker ended in the midst of it.
    pub fn bench(
        &mut self,
        what: &impl Serialize,
        machine: &Machine,
        stop: &AtomicBool,
        tell: &(dyn Fn(Tick) + Sync),
    ) -> Result<Value> {
        let request = Request::Bench { what: serde_json::to_value(what)?, machine: Box::new(machine.clone()) };
        match self.ask(&request, "a bench", stop, tell)? {
            Reply::Measured { result } => Ok(result),
            other => anyhow::bail!("the worker answers a bench with {other:?}"),
        }
    }

    /// Says a request, and hears until it is answered.
    fn ask(&mut self, request: &Request, label: &str, stop: &AtomicBool, tell: &(dyn Fn(Tick) + Sync)) -> Result<Reply> {
        if self.say(request).is_err() {
            return Err(self.crash(label));
        }
        let mut asked = false;
        loop {
            match self.replies.recv_timeout(Duration::from_millis(50)) {
                Ok(Reply::Told { tick }) => tell(tick),
                Ok(Reply::Failed { failure }) => return Err(failure.into()),
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Disconnected) => return Err(self.crash(label)),
                Err(RecvTimeoutError::Timeout) => (),
            }
            if stop.load(Ordering::Relaxed) && !asked {
                asked = true;
                self.say(&Request::Stop).ok();
                // A step of a large model may take minutes, and nothing else would be seen to happen.
                tell(Tick::Note {
                    text: "asked to stop, once the step at hand is done and saved; asked again, it ends at once".to_owned(),
                });
            }
        }
    }

    /// What libtorch and device the worker works with: a sentence, and facts.
    pub fn describe(&mut self, device: &str) -> Result<(String, Value)> {
        if self.say(&Request::Describe { device: device.to_owned() }).is_err() {
            return Err(self.crash("a first question"));
        }
        match self.replies.recv() {
            Ok(Reply::Described { text, facts }) => Ok((text, facts)),
            Ok(Reply::Failed { failure }) => Err(failure.into()),
            Ok(other) => anyhow::bail!("the worker answers a question with {other:?}"),
            Err(_) => Err(self.crash("a first question")),
        }
    }

    fn say(&mut self, request: &Request) -> Result<()> {
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        let pipe = self.requests.as_mut().context("the worker's input is closed")?;
        pipe.write_all(&line)?;
        Ok(pipe.flush()?)
    }

    /// The error that tells how the worker ended.
    fn crash(&mut self, label: &str) -> anyhow::Error {
        self.requests = None;
        let status = self.child.wait();
        let killed = status.as_ref().is_ok_and(|status| signal_of(*status) == Some(libc::SIGKILL));
        let ended = status.map_or_else(|error| format!("ended: {error}"), how);
        let words = self.last_words.lock().expect("no holder panics").join("\n  ");
        let may_lack_memory = killed || words.contains("memory allocation");
        let said = if words.is_empty() { String::new() } else { format!("; its last words:\n  {words}") };
        Fixable::failed(format!("the worker {ended} in the midst of `{label}`{said}"))
            .hint(if words.contains("error while loading shared libraries: libtorch") {
                "set `libtorch` in philidor.toml (PHILIDOR_LIBTORCH) to the lib folder of a torch 2.11.0"
            } else if may_lack_memory {
                "run it again: what was finished is kept, and a training goes on from its last checkpoint; if memory ran out, lower train.batch first"
            } else {
                "run it again: what was finished is kept, and a training goes on from its last checkpoint"
            })
            .into()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // A closed input tells it to leave; one that is stuck must not outlive us.
        self.requests = None;
        for _ in 0..200 {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The signal that ended it, or one of its ranks: `mpirun` ends with 128 more, as a shell.
fn signal_of(status: ExitStatus) -> Option<i32> {
    status.signal().or_else(|| status.code().map(|code| code - 128).filter(|signal| (1..=64).contains(signal)))
}

fn how(status: ExitStatus) -> String {
    match (signal_of(status), status.code()) {
        (Some(signal), _) => format!("was killed by signal {signal}"),
        (None, Some(code)) => format!("exited with code {code}"),
        (None, None) => "ended".to_owned(),
    }
}

/// `philidor-worker`, beside the program that runs.
fn program() -> Result<PathBuf> {
    let own = std::env::current_exe().context("finding this program's own path")?;
    let beside = own.parent().unwrap_or(Path::new(".")).join("philidor-worker");
    if beside.exists() {
        return Ok(beside);
    }
    Err(Fixable::failed(format!("`{}` is not there, and this stage needs it", beside.display()))
        .hint("build both programs: cargo build --bins")
        .into())
}

/// The folder of a libtorch's libraries: as named, or the `lib` in it.
fn libraries(named: &Path) -> Result<PathBuf> {
    let folders = [named.to_owned(), named.join("lib"), named.join("torch/lib")];
    if let Some(folder) = folders.iter().find(|folder| folder.join("libtorch_cpu.so").exists()) {
        return std::path::absolute(folder).with_context(|| format!("finding `{}`", folder.display()));
    }
    Err(Fixable::usage(format!("`libtorch` is `{}`, where there is no libtorch_cpu.so", named.display()))
        .hint("name the folder torch/lib of a Python that has torch 2.11.0, or leave it out to use the one of the build")
        .into())
}

/// A search path with a folder before the others.
fn before(folder: &Path, others: Option<OsString>) -> Result<OsString> {
    let others = others.unwrap_or_default();
    let others = std::env::split_paths(&others).filter(|other| !other.as_os_str().is_empty());
    Ok(std::env::join_paths(std::iter::once(folder.to_owned()).chain(others))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_libtorch_is_found_in_the_folder_named_or_in_its_lib_and_is_looked_in_first() {
        let root = tempfile::tempdir().expect("a folder");
        let lib = root.path().join("torch/lib");
        std::fs::create_dir_all(&lib).expect("a folder");
        let error = libraries(root.path()).expect_err("it is empty");
        assert!(error.to_string().contains("no libtorch_cpu.so"), "{error}");
        std::fs::write(lib.join("libtorch_cpu.so"), b"").expect("written");
        for named in [lib.as_path(), &root.path().join("torch"), root.path()] {
            assert_eq!(libraries(named).expect("it is there"), lib);
        }
        assert_eq!(before(&lib, Some("/b:/c".into())).expect("a path"), OsString::from(format!("{}:/b:/c", lib.display())));
        assert_eq!(before(&lib, Some("".into())).expect("a path"), lib, "an empty entry would be the working folder");
    }
}
