//! A headless Chromium, driven over two pipes by its debugging protocol: what a reader's browser does with a page.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

const PROGRAMS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// One tab of a browser that ends with this value.
pub(crate) struct Chromium {
    browser: Child,
    to: File,
    from: BufReader<File>,
    session: String,
    asked: u64,
    /// What the page did since it was opened, in order.
    events: Vec<Value>,
    _dir: TempDir,
}

impl Chromium {
    /// None where there is no browser, which CI does not accept.
    #[expect(clippy::print_stderr, reason = "a test that tried nothing says so")]
    pub(crate) fn start() -> Option<Self> {
        let Some(program) = PROGRAMS.iter().find_map(|name| installed(name)) else {
            assert!(std::env::var_os("CI").is_none(), "CI looks at pages in Chromium, and there is none: .ci/run installs it");
            eprintln!("not tried: none of {PROGRAMS:?} is installed");
            return None;
        };
        let dir = tempfile::tempdir().expect("a temporary folder");
        let [to, from] = ["to", "from"].map(|name| dir.path().join(name));
        assert!(Command::new("mkfifo").args([&to, &from]).status().expect("mkfifo is there").success());
        let mut shell = Command::new("sh");
        shell.arg("-c").arg("exec \"$0\" \"$@\" 3<\"$TO\" 4>\"$FROM\"").arg(program);
        shell.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"]);
        shell.args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--remote-debugging-pipe",
        ]);
        shell.arg(format!("--user-data-dir={}", dir.path().join("profile").display()));
        shell.env("TO", &to).env("FROM", &from).env("HOME", dir.path()).stdout(Stdio::null()).stderr(Stdio::null());
        let browser = shell.spawn().expect("a shell is there");
        // Each opening waits for the other side, in the order in which the shell opens them.
        let to = File::create(to).expect("the browser reads from it");
        let from = BufReader::new(File::open(from).expect("the browser writes to it"));
        let mut chromium = Self { browser, to, from, session: String::new(), asked: 0, events: Vec::new(), _dir: dir };
        let target = chromium.ask("Target.createTarget", &json!({ "url": "about:blank" }))["targetId"].clone();
        let session = chromium.ask("Target.attachToTarget", &json!({ "targetId": target, "flatten": true }))["sessionId"].clone();
        session.as_str().expect("a session").clone_into(&mut chromium.session);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            chromium.ask(&format!("{domain}.enable"), &json!({}));
        }
        Some(chromium)
    }

    /// Opens a file at a width in CSS pixels, in a theme, and waits until it is drawn. Forgets what earlier pages did.
    pub(crate) fn open(&mut self, page: &Path, width: u32, theme: &str) {
        self.visit(&format!("file://{}", page.display()), width, theme);
    }

    pub(crate) fn visit(&mut self, url: &str, width: u32, theme: &str) {
        self.events.clear();
        let metrics = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500 });
        self.ask("Emulation.setDeviceMetricsOverride", &metrics);
        self.ask("Emulation.setEmulatedMedia", &json!({ "features": [{ "name": "prefers-color-scheme", "value": theme }] }));
        self.ask("Page.navigate", &json!({ "url": url }));
        self.wait("Page.loadEventFired");
        self.run("document.fonts.ready.then(() => document.fonts.size)");
    }

    /// The value of an expression in the page; of a promise, once it is kept.
    pub(crate) fn run(&mut self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let mut answer = self.ask("Runtime.evaluate", &asked);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer:#}");
        answer["result"]["value"].take()
    }

    /// Everything the page complained of, or asked of anyone but its own file.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let text = |event: &Value| match event["method"].as_str()? {
            said @ ("Runtime.exceptionThrown" | "Log.entryAdded" | "Runtime.consoleAPICalled") => {
                Some(format!("{said}: {}", event["params"]))
            }
            "Network.requestWillBeSent" => {
                let url = event["params"]["request"]["url"].as_str()?;
                let own = event["params"]["type"] == "Document" && url.starts_with("file://");
                (!own && !url.starts_with("data:")).then(|| format!("asks for {url}"))
            }
            _ => None,
        };
        self.events.iter().filter_map(text).collect()
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = self.session.clone().into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).expect("the browser listens");
        loop {
            let mut heard = self.hear();
            if heard["id"] == id {
                assert!(heard.get("error").is_none(), "{method}: {heard:#}");
                return heard["result"].take();
            }
            self.events.push(heard);
        }
    }

    fn wait(&mut self, method: &str) {
        while !self.events.iter().any(|event| event["method"] == method) {
            let heard = self.hear();
            self.events.push(heard);
        }
    }

    fn hear(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.from.read_until(0, &mut bytes).expect("the browser speaks");
        assert_eq!(bytes.pop(), Some(0), "the browser went away");
        serde_json::from_slice(&bytes).expect("the protocol is JSON")
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.browser.kill();
        let _ = self.browser.wait();
    }
}

fn installed(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}
