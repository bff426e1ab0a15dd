//! A real browser, driven over the WebDriver protocol: Debian's `chromium` and `chromium-driver`.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A browser without a window. It ends when this is dropped.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: TempDir,
}

impl Browser {
    /// Starts a browser; none if there is none here, which is reported on stderr. With
    /// `TURNSTILE_BROWSER=required` that is a failure.
    pub(crate) fn start(test: &str) -> Option<Self> {
        let there = |name: &str| {
            let path = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
        };
        if !there("chromedriver") || !there("chromium") {
            let required = std::env::var("TURNSTILE_BROWSER").is_ok_and(|word| word == "required");
            assert!(!required, "chromium or chromedriver is not installed");
            // A test that does nothing shall not look like one that passed.
            let words = format!("SKIPPED {test}: install chromium and chromium-driver to run it\n");
            let _ = io::stderr().write_all(words.as_bytes());
            return None;
        }
        let profile = tempfile::tempdir().expect("a directory");
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver starts");
        let mut told = BufReader::new(driver.stdout.take().expect("it is piped"));
        let port = loop {
            let mut line = String::new();
            let read = told.read_line(&mut line).expect("chromedriver tells");
            assert!(read > 0, "chromedriver ended before it told its port");
            let port = line.split("successfully on port ").nth(1);
            if let Some(port) = port.and_then(|rest| rest.trim().trim_end_matches('.').parse().ok())
            {
                break port;
            }
        };
        // Nobody reads it any more, and it must not block.
        std::thread::spawn(move || io::copy(&mut told, &mut io::sink()));
        let mut browser = Self {
            driver,
            port,
            session: String::new(),
            _profile: profile,
        };
        let profile = browser._profile.path().display();
        let arguments = [
            "--headless=new".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            "--disable-background-networking".to_owned(),
            "--disable-component-update".to_owned(),
            "--disable-sync".to_owned(),
            "--no-first-run".to_owned(),
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1".to_owned(),
            "--window-size=1280,1000".to_owned(),
            format!("--user-data-dir={profile}"),
        ];
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": {"args": arguments},
            "goog:loggingPrefs": {"performance": "ALL"},
        }}});
        let made = browser.call("POST", "/session", Some(&wanted));
        let session = made["sessionId"].as_str().expect("a session").to_owned();
        browser.session = session;
        // A busy machine draws a frame seldom.
        browser.of_session("timeouts", &json!({"script": 120_000}));
        Some(browser)
    }

    /// Opens an address. The same page at another place of it is loaded again.
    pub(crate) fn open(&self, address: &str) {
        self.of_session("url", &json!({"url": "about:blank"}));
        self.of_session("url", &json!({"url": address}));
    }

    /// Opens a page on disk at some place of it: `#t=5ms`.
    pub(crate) fn open_file(&self, path: &Path, place: &str) {
        let path = path.canonicalize().expect("the page is there");
        self.open(&format!("file://{}{place}", path.display()));
    }

    /// What a piece of script returns.
    pub(crate) fn ask(&self, script: &str) -> Value {
        self.of_session("execute/sync", &json!({"script": script, "args": []}))
    }

    /// What a piece of script passes to `done`, however long that takes.
    pub(crate) fn wait_for(&self, script: &str) -> Value {
        let script = format!("const done = arguments[arguments.length - 1]; {script}");
        self.of_session("execute/async", &json!({"script": script, "args": []}))
    }

    /// What a piece of script returns, as text.
    pub(crate) fn text(&self, script: &str) -> String {
        match self.ask(script) {
            Value::String(text) => text,
            other => other.to_string(),
        }
    }

    /// Presses keys, one after another, as a person does. The page shows what came of it then.
    pub(crate) fn press(&self, keys: &str) {
        let pressed = keys.chars().flat_map(|key| {
            let key = key.to_string();
            [
                json!({"type": "keyDown", "value": key}),
                json!({"type": "keyUp", "value": key}),
            ]
        });
        let keyboard =
            json!({"type": "key", "id": "keyboard", "actions": pressed.collect::<Vec<_>>()});
        self.of_session("actions", &json!({"actions": [keyboard]}));
        self.settle();
    }

    /// Clicks on what a selector finds first.
    pub(crate) fn click(&self, selector: &str) {
        let found = self.of_session(
            "element",
            &json!({"using": "css selector", "value": selector}),
        );
        let element = found.as_object().and_then(|found| found.values().next());
        let element = element.and_then(Value::as_str).expect("an element");
        self.of_session(&format!("element/{element}/click"), &json!({}));
        self.settle();
    }

    /// Waits until the page has drawn what it was asked for.
    pub(crate) fn settle(&self) {
        self.wait_for("requestAnimationFrame(() => requestAnimationFrame(() => done(true)));");
    }

    /// Waits until a piece of script returns something true; fails after a minute.
    pub(crate) fn until(&self, what: &str, script: &str) -> Value {
        let begun = Instant::now();
        loop {
            let found = self.ask(script);
            if !matches!(found, Value::Null | Value::Bool(false)) {
                return found;
            }
            let error = self.text("return document.body?.dataset.error ?? ''");
            assert!(
                begun.elapsed() < Duration::from_secs(60),
                "{what} did not come; {error}"
            );
            self.settle();
        }
    }

    /// Makes the window so wide.
    pub(crate) fn resize(&self, width: u32, height: u32) {
        self.of_session("window/rect", &json!({"width": width, "height": height}));
        self.settle();
    }

    /// Nothing went wrong in the page, and it has asked nobody but this machine for anything.
    pub(crate) fn is_at_peace(&self) {
        assert_eq!(self.text("return document.body.dataset.error ?? ''"), "");
        let log = self.of_session("se/log", &json!({"type": "performance"}));
        for line in log.as_array().expect("a log") {
            let line: Value = serde_json::from_str(line["message"].as_str().unwrap_or_default())
                .expect("a line of the log");
            if line["message"]["method"] != "Network.requestWillBeSent" {
                continue;
            }
            let url = line["message"]["params"]["request"]["url"].as_str();
            let url = url.unwrap_or_default();
            let here = ["file:", "data:", "about:", "chrome", "http://127.0.0.1:"];
            assert!(
                here.iter().any(|prefix| url.starts_with(prefix)),
                "the page asked for {url}"
            );
        }
    }

    fn of_session(&self, what: &str, body: &Value) -> Value {
        let path = format!("/session/{}/{what}", self.session);
        self.call("POST", &path, Some(body))
    }

    fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let value = self
            .try_call(method, path, body)
            .expect("chromedriver answers");
        assert!(value["error"].is_null(), "{path}: {value}");
        value
    }

    fn try_call(&self, method: &str, path: &str, body: Option<&Value>) -> io::Result<Value> {
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        let patience = Some(Duration::from_secs(180));
        stream.set_read_timeout(patience)?;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            self.port,
            body.len()
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())?;
        let mut answer = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            answer.read_line(&mut line)?;
            let line = line.trim().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(bytes) = line.strip_prefix("content-length:") {
                length = bytes.trim().parse().expect("a length");
            }
        }
        let mut bytes = vec![0; length];
        answer.read_exact(&mut bytes)?;
        let mut answer: Value = serde_json::from_slice(&bytes)?;
        Ok(answer["value"].take())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser ends with its session, also that of a test that failed.
        if !self.session.is_empty() {
            let _ = self.try_call("DELETE", &format!("/session/{}", self.session), None);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
