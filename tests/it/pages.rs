//! Pages as a reader's browser shows them: of a run, of a sweep and of a comparison, on a telephone and on a desk.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::chromium::Chromium;
use crate::support::{Lab, signal, wait_until};

const WIDTHS: [u32; 3] = [390, 800, 1440];

/// A run with every measure, a sweep over sizes and seeds, and a comparison of two of its points.
fn pages(lab: &Lab) -> [(&'static str, PathBuf); 3] {
    let all = ["dense={ games = 6, temperature = 1.0 }", "calibration={ positions = 60 }", "openings={ prefixes = [\"\"] }"];
    let mut arguments = vec!["run", "tiny.toml", "-S", "name=whole"];
    let all = all.map(|metric| format!("measure.final.{metric}"));
    for metric in &all {
        arguments.extend(["-S", metric]);
    }
    let run = lab.philidor(&arguments).ended(0);
    let grid = "sweep.grid={ \"model.width\" = [16, 32], \"train.seed\" = [7, 8] }";
    let sweep = lab.philidor(&["run", "tiny.toml", "-S", "name=swept", "-S", grid]).ended(0);
    lab.philidor(&["compare", "swept:1", "swept:3", "--page", "compared"]).ended(0);
    [
        ("run", lab.path(run.stdout.trim())),
        ("sweep", lab.path(sweep.stdout.trim())),
        ("comparison", lab.path("compared/compare.html")),
    ]
}

/// Faults that are looked for in the page itself: a list of each, empty where there are none.
const CHECKS: &str = include_str!("pages.js");

fn faults(browser: &mut Chromium, check: &str) -> Vec<String> {
    let found = browser.run(&format!("{CHECKS}; {check}()"));
    found.as_array().expect("a list").iter().map(|fault| fault.as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn pages_work_from_files_in_a_browser_at_every_width_and_in_both_themes() {
    let Some(mut browser) = Chromium::start() else { return };
    let lab = Lab::new();
    let mut found = Vec::new();
    for (name, page) in pages(&lab) {
        for theme in ["light", "dark"] {
            for width in WIDTHS {
                let at = format!("the page of a {name} at {width} px, {theme}");
                browser.open(&page, width, theme);
                found.extend(browser.complaints().into_iter().map(|fault| format!("{at}: {fault}")));
                for check in ["sticksOut", "unreadable", "structure"] {
                    found.extend(faults(&mut browser, check).into_iter().map(|fault| format!("{at}: {fault}")));
                }
            }
        }
        links_lead_to_files(&mut browser, &page);
        found.extend(faults(&mut browser, "unsorted").into_iter().map(|fault| format!("the page of a {name}: {fault}")));
        assert!(browser.run("document.querySelectorAll('.sortable th button').length").as_u64() > Some(0), "{name}");
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
        std::fs::create_dir_all(&kept).expect("the target folder is ours");
        std::fs::copy(&page, kept.join(format!("{name}.html"))).expect("a page");
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

fn links_lead_to_files(browser: &mut Chromium, page: &Path) {
    let links = browser
        .run("[...document.querySelectorAll('a[href]')].map(a => a.getAttribute('href')).filter(href => !href.startsWith('#'))");
    for link in links.as_array().expect("a list").iter().filter_map(Value::as_str) {
        if !link.starts_with("https://") {
            let path = page.parent().expect("a file stands in a folder").join(link.split('#').next().unwrap_or_default());
            assert!(path.exists(), "{link} of {} leads nowhere", page.display());
        }
    }
}

#[test]
fn what_is_wrong_with_a_page_is_seen() {
    let Some(mut browser) = Chromium::start() else { return };
    let lab = Lab::new();
    lab.write(
        "bad.html",
        "<!doctype html><h1>a</h1><h3 id=x>b</h3><p id=x style='width:3000px'>c</p><a href='#y'>d</a>\
         <figure><svg viewBox='0 0 100 10' width=100><text x=90 font-size=4>too long</text></svg></figure>\
         <script src='https://example.org/x.js'></script><script>console.error(1); nothing();</script>",
    );
    browser.open(&lab.path("bad.html"), 390, "light");
    let complaints = browser.complaints().join("\n");
    for wanted in ["asks for https://example.org/x.js", "nothing is not defined", "consoleAPICalled"] {
        assert!(complaints.contains(wanted), "{wanted}: {complaints}");
    }
    let all = ["sticksOut", "unreadable", "structure"].map(|check| faults(&mut browser, check).join("\n")).join("\n");
    for wanted in
        ["the page is 30", "cut off", "id x twice", "h3 follows h1", "#y leads nowhere", "a chart without a name", "0 of main"]
    {
        assert!(all.contains(wanted), "{wanted}: {all}");
    }
}

#[test]
fn a_watched_run_tells_in_the_browser_how_far_it_is() {
    let Some(mut browser) = Chromium::start() else { return };
    let lab = Lab::new();
    lab.philidor(&["run", "tiny.toml", "-S", "sweep.grid={ \"model.width\" = [16, 32] }", "--until", "train"]).ended(0);
    let mut served = lab.start(&["watch", "tiny"]);
    let mut url = String::new();
    BufReader::new(served.stdout.take().expect("it is piped")).read_line(&mut url).expect("the address is told first");
    browser.visit(url.trim(), 390, "dark");
    let mut text = String::new();
    wait_until("the page to hear of the run", || {
        text = browser.run("document.getElementById('live').innerText").as_str().unwrap_or_default().to_owned();
        text.contains("nodes are done")
    });
    signal(served.id(), "INT");
    served.wait().expect("it ends");
    assert!(text.starts_with("partial: 8 of 32 nodes are done"), "{text}");
    assert!(text.contains("✓ parse") && text.contains("✓ train 2 of 2") && text.contains("○ ask 0 of 10"), "{text}");
    assert!(
        !browser.complaints().iter().any(|fault| !fault.starts_with("asks for http://127.0.0.1")),
        "{:?}",
        browser.complaints()
    );
    assert_eq!(faults(&mut browser, "sticksOut"), Vec::<String>::new());
}
