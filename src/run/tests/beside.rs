//! What is made while something else is: by whom, of what, and what becomes of it when that ends in any way.

use std::time::{Duration, Instant};

use super::despite::{Check, despite_of, store, strict};
use super::*;
use crate::plan::Piece;

/// Something that takes long, and publishes files on the way.
#[derive(Serialize, Deserialize)]
struct Long {
    after: Vec<Handle<Folder>>,
}

impl Stage for Long {
    const NAME: &'static str = "long";
    const VERSION: u32 = 1;
    const RESUMES: bool = true;
    type Output = Folder;
    fn run(&self, _: &Cx, _: &Path) -> Result<()> {
        unreachable!("the tests hand in their own workshop")
    }
}

/// Looks at one file of it.
#[derive(Serialize, Deserialize)]
struct Look {
    at: Handle<Folder>,
    file: String,
}

impl Stage for Look {
    const NAME: &'static str = "look";
    const VERSION: u32 = 1;
    type Output = Folder;
    fn run(&self, _: &Cx, _: &Path) -> Result<()> {
        unreachable!("the tests hand in their own workshop")
    }
    fn piece(&self) -> Option<Piece> {
        Some(Piece { of: self.at.key(), file: self.file.clone() })
    }
    fn detail(&self) -> String {
        self.file.clone()
    }
}

/// `a`, `long` after it, which publishes `one` and `two`; a look at each, `sum` of the first look, and `last`, of all of `long`.
fn watched() -> Plan {
    let mut plan = Plan::default();
    plan.point("p");
    let a = add(&mut plan, "a", &[]);
    let long = plan.add(Long { after: vec![a] }, &[]);
    let one = plan.add(Look { at: long, file: "one".into() }, &[]);
    plan.add(Look { at: long, file: "two".into() }, &[]);
    add(&mut plan, "sum", &[one]);
    add(&mut plan, "last", &[long]);
    plan
}

fn node<'a>(plan: &'a Plan, label: &str) -> &'a Node {
    plan.nodes.iter().find(|node| node.label == label).expect("in the plan")
}

fn until(mut happened: impl FnMut() -> bool) {
    let began = Instant::now();
    while !happened() {
        assert!(began.elapsed() < Duration::from_secs(20), "waited in vain");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A folder with a plan, and who made what in it.
struct Place {
    plan: Plan,
    store: Store,
    _dir: tempfile::TempDir,
    stop: AtomicBool,
    /// `first long`, `second look one`, …
    done: Mutex<Vec<String>>,
}

type Work<'a> = dyn Fn(&Place, &Node, &Path) -> Result<()> + Sync + 'a;

impl Place {
    fn new() -> Self {
        let (dir, store) = store();
        Self { plan: watched(), store, _dir: dir, stop: AtomicBool::new(false), done: Mutex::default() }
    }

    fn kept(&self, label: &str) -> bool {
        self.store.state(node(&self.plan, label).slot()) == State::Kept
    }

    fn read(&self, label: &str) -> String {
        let node = node(&self.plan, label);
        fs_err::read_to_string(self.store.dir(&node.stage, node.key).join("file")).expect("it was made")
    }

    /// Who made a node.
    fn by(&self, label: &str) -> Vec<String> {
        let done = self.done.lock().expect("no holder panics");
        done.iter().filter_map(|told| told.strip_suffix(label)).map(|by| by.trim().to_owned()).collect()
    }

    /// A run whose two workshops do this work.
    fn go(&self, keep_going: bool, force: &[&str], work: &Work) -> Run {
        self.told(keep_going, force, work, &|_| ())
    }

    fn told(&self, keep_going: bool, force: &[&str], work: &Work, tell: &(dyn Fn(&Event) + Sync)) -> Run {
        let made = |by: &str, node: &Node, out: &Path| {
            self.done.lock().expect("no holder panics").push(format!("{by} {}", node.label));
            work(self, node, out).map(|()| MadeBy::default())
        };
        let beside = |lend: &mut dyn FnMut(&mut Workshop)| lend(&mut |node, out, _| made("second", node, out));
        let options = Options {
            wait: Wait::Yes,
            force: force.iter().map(|&stage| stage.to_owned()).collect(),
            until: None,
            keep_going,
            despite: BTreeSet::from(["check".to_owned()]),
            beside: Some(&beside),
            stop: &self.stop,
        };
        run(&self.plan, &self.store, &mut |node, out, _| made("first", node, out), &options, tell).expect("the store works")
    }

    /// What is looked at, or the node's own name.
    fn look(&self, node: &Node, out: &Path) -> Result<()> {
        let text = match &node.piece {
            Some(piece) => fs_err::read_to_string(self.store.input(out, "long", piece.of).join(&piece.file))?,
            None => node.label.clone(),
        };
        Ok(fs_err::write(out.join("file"), text)?)
    }

    /// Publishes `one`, and `two` once all that needs no more is made.
    fn publish(&self, node: &Node, out: &Path) -> Result<()> {
        if node.stage != "long" {
            return self.look(node, out);
        }
        crate::disk::write_whole(&out.join("one"), b"1")?;
        until(|| self.kept("look one") && self.kept("step sum"));
        crate::disk::write_whole(&out.join("two"), b"2")?;
        until(|| self.kept("look two"));
        Ok(())
    }
}

#[test]
fn what_needs_a_piece_alone_is_made_while_the_rest_is_in_the_making_and_comes_out_the_same() {
    let place = Place::new();
    let events = Mutex::new(Vec::new());
    let tell = |event: &Event| {
        if let Event::Made { key, .. } = event {
            events.lock().expect("no holder panics").push(place.plan.node(*key).expect("in the plan").label.clone());
        }
    };
    let run = place.told(false, &[], &Place::publish, &tell);
    assert_eq!(told(&place.plan, &run), ["a made", "long made", "look one made", "look two made", "sum made", "last made"]);
    let order = ["step a", "look one", "step sum", "look two", "long", "step last"];
    assert_eq!(*events.lock().expect("no holder panics"), order);
    for (label, by) in [("long", "first"), ("look one", "second"), ("step sum", "second"), ("step last", "first")] {
        assert_eq!(place.by(label), [by], "{label}");
    }

    let (_dir, after) = store();
    let mut one_by_one = |node: &Node, out: &Path, _: &(dyn Fn(Tick) + Sync)| {
        if node.stage == "long" {
            fs_err::write(out.join("one"), "1")?;
            fs_err::write(out.join("two"), "2")?;
        } else {
            let file = node.piece.as_ref().map(|piece| after.dir("long", piece.of).join(&piece.file));
            fs_err::write(out.join("file"), file.map_or(Ok(node.label.clone()), fs_err::read_to_string)?)?;
        }
        Ok(MadeBy::default())
    };
    go(&place.plan, &after, false, &mut one_by_one);
    for node in &place.plan.nodes {
        let files = |store: &Store| store.manifest(&node.stage, node.key).expect("made").files;
        assert_eq!(files(&place.store), files(&after), "{}", node.label);
    }
    let taken = |label: &str| -> Vec<String> {
        let node = node(&place.plan, label);
        let manifest = place.store.manifest(&node.stage, node.key).expect("made");
        manifest.made_by.taken.into_iter().map(|taken| taken.file).collect()
    };
    assert_eq!((taken("look one"), taken("step sum")), (vec!["one".to_owned()], vec!["one".to_owned()]));
    assert!(taken("step last").is_empty());
    assert!(told(&place.plan, &place.go(false, &[], &Place::publish)).iter().all(|told| told.ends_with("kept")));
}

#[test]
fn what_was_made_of_something_that_then_fails_stays() {
    let place = Place::new();
    let breaks = |place: &Place, node: &Node, out: &Path| {
        if node.stage == "long" && place.kept("look one") {
            anyhow::bail!("it broke at once");
        }
        if node.stage == "long" {
            crate::disk::write_whole(&out.join("one"), b"1")?;
            until(|| place.kept("look one") && place.kept("step sum"));
            anyhow::bail!("it broke");
        }
        place.look(node, out)
    };
    let run = place.go(true, &[], &breaks);
    let skipped = ["look two skipped for long", "sum made", "last skipped for long"];
    assert_eq!(told(&place.plan, &run)[1..3], ["long failed: it broke", "look one made"]);
    assert_eq!(told(&place.plan, &run)[3..], skipped);
    let again = told(&place.plan, &place.go(true, &[], &breaks));
    assert_eq!(again[1], "long failed: it broke at once");
    assert_eq!(again[2..], ["look one kept", "look two skipped for long", "sum kept", "last skipped for long"]);
}

#[test]
fn a_failure_beside_ends_the_run_once_the_other_node_is_made_or_skips_only_what_depends_on_it() {
    for (keep_going, ended) in [
        (false, ["look two pending", "sum skipped for look one", "last pending"]),
        (true, ["look two made", "sum skipped for look one", "last made"]),
    ] {
        let place = Place::new();
        let work = |place: &Place, node: &Node, out: &Path| {
            assert!(node.label != "look one", "no such thing");
            if node.stage == "long" {
                crate::disk::write_whole(&out.join("one"), b"1")?;
                until(|| !place.by("look one").is_empty());
                crate::disk::write_whole(&out.join("two"), b"2")?;
                until(|| !keep_going || place.kept("look two"));
                return Ok(());
            }
            place.look(node, out)
        };
        let run = place.go(keep_going, &[], &work);
        assert_eq!(told(&place.plan, &run)[1..3], ["long made", "look one failed: no such thing"]);
        assert_eq!(told(&place.plan, &run)[3..], ended);
        assert_eq!((run.exit(), place.by("look one")), (Some(Exit::Failed), vec!["second".to_owned()]));
    }
}

#[test]
fn an_interruption_stops_both_and_leaves_the_rest() {
    let place = Place::new();
    let work = |place: &Place, node: &Node, out: &Path| {
        if node.stage == "step" {
            return place.look(node, out);
        }
        if node.stage == "long" {
            crate::disk::write_whole(&out.join("one"), b"1")?;
            until(|| !place.by("look one").is_empty());
            place.stop.store(true, Ordering::Relaxed);
        }
        until(|| place.stop.load(Ordering::Relaxed));
        Err(Fixable::interrupted("saved").into())
    };
    let run = place.go(true, &[], &work);
    let ended = ["a made", "long failed: saved", "look one failed: saved", "look two pending", "sum pending", "last pending"];
    assert_eq!((told(&place.plan, &run), run.exit()), (ended.map(str::to_owned).to_vec(), Some(Exit::Interrupted)));
    place.stop.store(false, Ordering::Relaxed);
    assert!(told(&place.plan, &place.go(false, &[], &Place::publish)).iter().skip(1).all(|told| told.ends_with("made")));
}

#[test]
fn a_piece_outlives_the_folder_that_it_was_taken_of() {
    let place = Place::new();
    let work = |place: &Place, node: &Node, out: &Path| {
        if node.stage == "long" {
            crate::disk::write_whole(&out.join("one"), b"1")?;
            until(|| !place.by("look one").is_empty());
            return Ok(());
        }
        if node.label == "look one" {
            until(|| place.kept("long"));
        }
        if node.label == "look two" { Ok(()) } else { place.look(node, out) }
    };
    let run = place.go(false, &[], &work);
    assert_eq!(told(&place.plan, &run)[1..3], ["long made", "look one made"]);
    assert_eq!((place.read("look one"), place.by("look one")), ("1".to_owned(), vec!["second".to_owned()]));
    assert_eq!(place.by("look two"), ["first"], "what was not reached is made as if there were no second workshop");
}

#[test]
fn what_is_forced_is_not_looked_at_as_an_earlier_try_left_it() {
    let place = Place::new();
    let mut stale = |node: &Node, out: &Path, _: &(dyn Fn(Tick) + Sync)| {
        fs_err::write(out.join("one"), "stale")?;
        anyhow::ensure!(node.stage != "long", "stopped half-way");
        Ok(MadeBy::default())
    };
    go(&place.plan, &place.store, false, &mut stale);
    let work = |place: &Place, node: &Node, out: &Path| {
        assert!(node.stage != "long" || !out.join("one").exists(), "it begins anew");
        place.publish(node, out)
    };
    let run = place.go(false, &["long"], &work);
    assert_eq!(told(&place.plan, &run)[2], "look one made");
    assert_eq!(place.read("look one"), "1");
}

#[test]
fn what_was_made_of_a_file_that_then_came_out_otherwise_is_made_again() {
    let place = Place::new();
    // As on a device that never computes the same twice: killed, it goes on from before the file.
    let work = |text: &'static [u8], finishes: bool| {
        move |place: &Place, node: &Node, out: &Path| {
            if node.stage != "long" {
                return place.look(node, out);
            }
            crate::disk::write_whole(&out.join("two"), text)?;
            crate::disk::write_whole(&out.join("one"), text)?;
            until(|| ["look one", "look two", "step sum"].iter().all(|label| place.kept(label)));
            anyhow::ensure!(finishes, "killed");
            Ok(())
        }
    };
    place.go(true, &[], &work(b"before", false));
    assert_eq!((place.read("look one"), place.read("look two")), ("before".to_owned(), "before".to_owned()));
    let run = place.go(true, &[], &work(b"after", true));
    assert_eq!(told(&place.plan, &run)[1..], ["long made", "look one made", "look two made", "sum made", "last made"]);
    assert_eq!((place.read("look one"), place.read("look two")), ("after".to_owned(), "after".to_owned()));
    assert_eq!(place.by("look one"), ["second", "first"]);
    // Of the same bytes nothing is made again.
    let again = Place::new();
    again.go(true, &[], &work(b"same", false));
    again.go(true, &[], &work(b"same", true));
    assert_eq!(again.by("look one"), ["second"]);
}

#[test]
fn what_another_process_makes_is_left_until_the_turn_of_the_first_workshop_comes() {
    let place = Place::new();
    let never = AtomicBool::new(false);
    let slot = node(&place.plan, "look one").slot();
    let claim = place.store.claim(slot, Wait::No, false, &never, &mut |_| ()).expect("it is free");
    let held = Mutex::new(Some(claim));
    let work = |place: &Place, node: &Node, out: &Path| {
        if node.stage != "long" {
            return place.look(node, out);
        }
        crate::disk::write_whole(&out.join("one"), b"1")?;
        crate::disk::write_whole(&out.join("two"), b"2")?;
        until(|| place.kept("look two"));
        held.lock().expect("no holder panics").take();
        // It may still be made beside, now that it is free.
        Ok(())
    };
    let run = place.go(false, &[], &work);
    assert_eq!(told(&place.plan, &run)[2..4], ["look one made", "look two made"]);
    assert_eq!((place.by("look one").len(), place.by("look two")), (1, vec!["second".to_owned()]));
}

#[test]
fn what_is_made_beside_something_tainted_is_tainted() {
    let mut place = Place::new();
    place.plan = Plan::default();
    place.plan.point("p");
    let gate = place.plan.add(Check { asks: "hard".into() }, &[]);
    place.plan.gate(gate);
    let long = place.plan.add(Long { after: Vec::new() }, &[]);
    place.plan.point("q");
    // It waits for no gate itself.
    place.plan.add(Look { at: long, file: "one".into() }, &[]);
    let work = |place: &Place, node: &Node, out: &Path| {
        if node.stage == "check" {
            return strict(node, out, &|_| ()).map(|_| ());
        }
        if node.stage != "long" {
            return place.look(node, out);
        }
        crate::disk::write_whole(&out.join("one"), b"1")?;
        until(|| place.kept("look one"));
        Ok(())
    };
    let run = place.go(false, &[], &work);
    assert_eq!(told(&place.plan, &run)[1..], ["long made", "look one made"]);
    assert_eq!(place.by("look one"), ["second"]);
    assert_eq!(despite_of(&place.plan, &place.store, "look one"), ["check: too hard"]);
}
