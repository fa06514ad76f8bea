//! Months of the archive, from a mirror of the test's own, through the program.

use std::path::PathBuf;

use sha2::{Digest as _, Sha256};

use crate::mirror::{Act, LoopbackMirror};
use crate::support::{Lab, Said, TINY, random_games, said, signal, wait_until};

const NAME: &str = "lichess_db_standard_rated_2013-01.pgn.zst";
const SUMS: &str = "sha256sums.txt";

/// A laboratory whose experiment wants a month, and a mirror that has it and lists its digest.
struct Archive {
    lab: Lab,
    mirror: LoopbackMirror,
    body: Vec<u8>,
}

impl Archive {
    fn new() -> Self {
        let archive = Self { lab: Lab::new(), mirror: LoopbackMirror::new(), body: month() };
        archive.lab.write("tiny.toml", &TINY.replace("files = [\"games.pgn\"]", "months = [\"2013-01\"]"));
        archive.mirror.serve(NAME, &archive.body);
        archive.mirror.serve(SUMS, format!("{}  {NAME}\n", archive.sha256()).as_bytes());
        archive
    }

    fn sha256(&self) -> String {
        format!("{:x}", Sha256::digest(&self.body))
    }

    fn set(&self) -> String {
        format!("machine.mirror={}", self.mirror.base())
    }

    fn run(&self, until: &str) -> Said {
        self.lab.philidor(&["run", "tiny.toml", "--until", until, "-S", &self.set()])
    }

    fn plan(&self) -> Said {
        self.lab.philidor(&["plan", "tiny.toml", "-S", &self.set()]).ended(0)
    }

    /// The line of a plan that tells of the month.
    fn planned(&self) -> String {
        let plan = self.plan().stdout;
        plan.lines().find(|line| line.contains(NAME)).unwrap_or_else(|| panic!("{plan}")).to_owned()
    }

    /// What came so far.
    fn part(&self) -> Option<PathBuf> {
        self.lab.artifacts("fetch", "part").first().map(|folder| folder.join("archive.part")).filter(|part| part.exists())
    }

    fn came(&self) -> u64 {
        self.part().and_then(|part| part.metadata().ok()).map_or(0, |part| part.len())
    }

    /// Starts a run whose month comes slowly, and returns it once some of it is here.
    fn slow_run(&self) -> std::process::Child {
        self.mirror.act(NAME, [Act::TrickleAfter(self.body.len() / 2)]);
        let run = self.lab.start(&["run", "tiny.toml", "--until", "parse", "-S", &self.set()]);
        wait_until("half of the month", || self.came() >= self.body.len() as u64 / 2);
        run
    }

    /// Makes sure that the month is kept, byte for byte.
    fn assert_kept(&self) {
        let fetched = self.lab.only("fetch");
        assert!(std::fs::read(fetched.join("archive")).expect("an archive") == self.body);
        let origin = std::fs::read_to_string(fetched.join("source.json")).expect("an origin");
        assert!(origin.contains(&self.sha256()) && origin.contains(NAME), "{origin}");
        let mut files: Vec<_> = std::fs::read_dir(&fetched).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
        files.sort();
        assert_eq!(files, ["archive", "manifest.json", "source.json"], "nothing of the download is left");
    }
}

/// A small month as the archive packs it.
fn month() -> Vec<u8> {
    zstd::encode_all(random_games(60, 11).as_bytes(), 1).expect("text can be packed")
}

#[test]
fn a_run_fetches_a_month_verifies_it_and_reads_it() {
    let archive = Archive::new();
    archive.mirror.act(NAME, [Act::CutAfter(5_000)]);
    let first = archive.run("parse").ended(0);
    assert!(first.stderr.contains("trying again in 1.0 s") && !first.stderr.contains("not verified"), "{}", first.stderr);
    archive.assert_kept();
    let report = std::fs::read_to_string(archive.lab.only("parse").join("report.json")).expect("an account");
    assert!(report.contains("\"read\":60"), "{report}");
    let asked = archive.mirror.asked(NAME).len();
    archive.run("parse").ended(0);
    assert_eq!(archive.mirror.asked(NAME).len(), asked, "what is kept is not asked for");
}

#[test]
fn a_wrong_body_is_refused_with_both_digests_and_nothing_is_kept() {
    let archive = Archive::new();
    archive.mirror.serve(NAME, b"(\xb5/\xfd another month");
    let seen = format!("{:x}", Sha256::digest(b"(\xb5/\xfd another month"));
    let refused = archive.run("parse").ended(1).stderr;
    assert!(refused.contains(&format!("`{}` wanted, `{seen}` seen, and nothing was kept", archive.sha256())), "{refused}");
    assert!(refused.contains("the mirror's sha256sums.txt says"), "{refused}");
    assert!(archive.part().is_none() && archive.planned().contains("make"));
    // The experiment's own digest comes first, and the mirror's list is not asked.
    let pin = format!("corpus.sha256={{\"2013-01\" = \"{}\"}}", "0".repeat(64));
    let refused =
        archive.lab.philidor(&["run", "tiny.toml", "--until", "fetch", "-S", &archive.set(), "-S", &pin]).ended(1).stderr;
    assert!(refused.contains("than the experiment says: `0000") && archive.part().is_none(), "{refused}");
    assert_eq!(archive.mirror.asked(SUMS).len(), 1);
    archive.mirror.serve(NAME, &archive.body);
    archive.run("parse").ended(0);
    archive.assert_kept();
}

#[test]
fn without_a_list_a_month_is_taken_with_a_word_and_a_page_of_a_proxy_is_not() {
    let archive = Archive::new();
    archive.mirror.act(SUMS, vec![Act::Status(404, Vec::new()); 2]);
    archive.mirror.serve(NAME, b"<!DOCTYPE html>");
    let refused = archive.run("fetch").ended(1).stderr;
    assert!(refused.contains("is no zstd file (it begins with `<!DO`), and nothing was kept"), "{refused}");
    assert!(archive.part().is_none());
    archive.mirror.serve(NAME, &archive.body);
    let taken = archive.run("fetch").ended(0).stderr;
    assert!(taken.contains("is not verified"), "{taken}");
    archive.assert_kept();
}

#[test]
fn a_month_that_is_not_published_says_so() {
    let archive = Archive::new();
    archive.mirror.act(NAME, [Act::Status(404, Vec::new())]);
    let said = archive.run("parse").ended(1).stderr.replace(&archive.mirror.base(), "MIRROR");
    insta::assert_snapshot!(said.split("tiny: ").next().expect("text"));
}

#[test]
fn a_run_killed_in_the_midst_of_a_month_goes_on_where_it_was() {
    let archive = Archive::new();
    for _ in 0..2 {
        let mut run = archive.slow_run();
        signal(run.id(), "KILL");
        run.wait().expect("it was killed");
        assert!(archive.lab.artifacts("fetch", "").is_empty(), "nothing half-done is taken for whole");
    }
    let here = archive.came();
    archive.run("parse").ended(0);
    assert_eq!(archive.mirror.ranges(NAME).last(), Some(&format!("bytes={here}-")));
    archive.assert_kept();
}

#[test]
fn ctrl_c_keeps_what_came_and_prints_the_command_that_goes_on() {
    let archive = Archive::new();
    let run = archive.slow_run();
    signal(run.id(), "INT");
    let stopped = said(&run.wait_with_output().expect("it ends by itself")).ended(130).stderr;
    assert!(stopped.contains("are kept") && stopped.contains("philidor run tiny.toml -S machine.mirror="), "{stopped}");
    let planned = archive.planned();
    assert!(planned.contains("resume") && planned.contains(" KiB  ~"), "{planned}");
    assert!(archive.mirror.asked(NAME).iter().all(|asked| asked.method == "GET"), "its size is known by now");
    archive.run("parse").ended(0);
    assert!(archive.mirror.ranges(NAME).last().is_some_and(|range| range.starts_with("bytes=")));
    archive.assert_kept();
}

#[test]
fn a_month_in_the_data_folder_is_taken_from_there() {
    let archive = Archive::new();
    // Half of it came before somebody put it there.
    let run = archive.slow_run();
    signal(run.id(), "INT");
    said(&run.wait_with_output().expect("it ends by itself")).ended(130);
    let asked = archive.mirror.asked(NAME).len();
    std::fs::create_dir(archive.lab.path("data")).expect("the folder is ours");
    std::fs::write(archive.lab.path("data").join(NAME), &archive.body).expect("the folder is ours");
    archive.run("parse").ended(0);
    assert_eq!(archive.mirror.asked(NAME).len(), asked);
    archive.assert_kept();
}

#[test]
fn a_plan_tells_the_size_of_a_month_and_remembers_it_where_there_is_a_store() {
    let archive = Archive::new();
    let told = |archive: &Archive| archive.planned().contains(" to download  ~");
    assert!(told(&archive) && archive.plan().stdout.contains("downloads at 19.1 MiB/s, assumed"));
    assert_eq!(archive.mirror.asked(NAME).len(), 2, "without a store nothing is remembered");
    assert!(!archive.lab.path("runs").exists(), "a plan leaves no trace");
    archive.mirror.act(NAME, [Act::Status(404, Vec::new())]);
    archive.run("fetch").ended(1);
    assert!(told(&archive) && told(&archive));
    let heads = archive.mirror.asked(NAME).iter().filter(|asked| asked.method == "HEAD").count();
    assert_eq!(heads, 3, "asked once more, and then remembered");
    let document = archive.lab.philidor(&["plan", "--json", "tiny.toml", "-S", &archive.set()]).ended(0).stdout;
    let document: serde_json::Value = serde_json::from_str(&document).expect("JSON");
    assert_eq!(document["plans"][0]["nodes"][0]["cost"]["disk_bytes"], archive.body.len());
}

#[test]
fn a_plan_without_a_mirror_says_in_a_line_what_it_does_not_know() {
    let archive = Archive::new();
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("it is bound");
    for (mirror, why) in [("none".to_owned(), "no mirror is set"), (format!("http://{nobody}"), "did not tell it")] {
        let set = format!("machine.mirror={mirror}");
        let said = archive.lab.philidor(&["plan", "tiny.toml", "-S", &set]).ended(0);
        assert!(
            said.stderr.starts_with("note: the size of 1 month is not known") && said.stderr.contains(why),
            "{}",
            said.stderr
        );
        assert_eq!(said.stderr.lines().count(), 1, "{}", said.stderr);
    }
    let wrong = archive.lab.philidor(&["plan", "tiny.toml", "-S", "machine.mirror=lichess.org"]).ended(2).stderr;
    assert!(wrong.contains("an address such as"), "{wrong}");
}
