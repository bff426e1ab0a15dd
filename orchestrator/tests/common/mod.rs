//! Running the program as a user does: in a directory of its own, which goes when the test ends.

#![allow(dead_code, reason = "each test file uses its own part of this")]

pub(crate) mod agents;
pub(crate) mod namespaces;
pub(crate) mod processes;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A row of a table, by column.
pub(crate) type Row = BTreeMap<String, String>;

/// The rows of a table that the program has written.
pub(crate) fn rows(path: &Path) -> Vec<Row> {
    let mut reader = csv::Reader::from_path(path).expect("a table");
    let rows = reader.deserialize().map(|row| row.expect("a row"));
    rows.collect()
}

/// The only row of such a table.
pub(crate) fn row(path: &Path) -> Row {
    rows(path).pop().expect("one row")
}

/// A run's `summary.csv` without what says which run it was, when, and of which build.
pub(crate) fn undated(path: &Path) -> Vec<u8> {
    let mut row = row(path);
    for column in ["name", "started", "commit"] {
        row.insert(column.to_owned(), String::new());
    }
    format!("{row:?}").into_bytes()
}

/// A text has all of these words.
pub(crate) fn assert_contains(text: &str, words: &[&str]) {
    for words in words {
        assert!(text.contains(words), "no '{words}' in\n{text}");
    }
}

/// The words of a line, as a shell splits it.
pub(crate) fn words(line: &str) -> Vec<String> {
    shlex::split(line).unwrap_or_else(|| panic!("a quotation mark is missing in {line}"))
}

/// The fenced blocks of that language in a page.
pub(crate) fn blocks(page: &str, language: &str) -> Vec<String> {
    let opening = format!("```{language}\n");
    let blocks = page.split(&opening).skip(1);
    blocks
        .filter_map(|rest| Some(rest.split("```").next()?.to_owned()))
        .collect()
}

/// Says that a test cannot be done here: past what the test runner keeps back of tests that pass.
pub(crate) fn skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// The names of the files in a directory, sorted.
pub(crate) fn names_in(dir: &Path) -> Vec<String> {
    let files = fs::read_dir(dir).expect("the directory is there");
    let names = files.map(|file| file.expect("a file").file_name());
    let mut names = names
        .map(|name| name.into_string().expect("a name is text"))
        .collect::<Vec<_>>();
    names.sort();
    names
}

/// A directory to run the program in.
pub(crate) struct Place {
    dir: TempDir,
}

/// What a finished program left: its exit code and what it printed.
pub(crate) struct Finished {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("turnstile-").tempdir();
        Self {
            dir: dir.expect("a temporary directory can be made"),
        }
    }

    /// A directory with this file in it.
    pub(crate) fn with(name: &str, text: &str) -> Self {
        let place = Self::new();
        place.file(name, text);
        place
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Writes a file, and the directories it lies in.
    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        let parent = path.parent().expect("a file lies in a directory");
        fs::create_dir_all(parent).expect("a directory can be made");
        fs::write(&path, text).expect("a file can be written");
        path
    }

    /// The text of a file.
    pub(crate) fn read(&self, name: &str) -> String {
        let text = fs::read_to_string(self.path().join(name));
        text.unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Puts other words in the place of some that a file has.
    pub(crate) fn replace(&self, name: &str, from: &str, to: &str) {
        let text = self.read(name);
        assert!(text.contains(from), "no '{from}' in\n{text}");
        self.file(name, &text.replace(from, to));
    }

    /// The program with these arguments, not yet started.
    pub(crate) fn command<A: AsRef<std::ffi::OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_orchestrator"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env_remove("RUST_BACKTRACE")
            .env("COLUMNS", "100")
            .stdin(Stdio::null());
        command
    }

    /// Runs the program with what a person would type after its name.
    pub(crate) fn line(&self, line: &str) -> Finished {
        self.run(words(line))
    }

    /// None of these lines is run: each ends with code 2, and says why in these words, wherever they wrap.
    pub(crate) fn refuses(&self, cases: &[(&str, &str)]) {
        for (line, why) in cases {
            let refused = self.line(line).expect(2);
            let printed = refused.stderr.split_whitespace().collect::<Vec<_>>();
            let printed = printed.join(" ");
            assert!(printed.contains(why), "{line}: no '{why}' in\n{printed}");
        }
    }

    /// Runs the program to its end.
    pub(crate) fn run<A: AsRef<std::ffi::OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Finished {
        let output = self.command(arguments).output();
        Finished::new(output.expect("the program can be started"))
    }
}

impl Finished {
    pub(crate) fn new(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("the program writes text");
        Self {
            code: output.status.code().expect("no signal ended the program"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// The program printed this on stdout.
    pub(crate) fn says(&self, words: &str) {
        assert_contains(&self.stdout, &[words]);
    }

    /// The program printed this on stderr.
    pub(crate) fn warns(&self, words: &str) {
        assert_contains(&self.stderr, &[words]);
    }

    /// The program's output, if it ended with this code.
    pub(crate) fn expect(self, code: i32) -> Self {
        self.expect_one_of(&[code])
    }

    /// The program's output, if it ended with one of these codes.
    pub(crate) fn expect_one_of(self, codes: &[i32]) -> Self {
        let Self {
            code,
            stdout,
            stderr,
        } = &self;
        assert!(
            codes.contains(code),
            "{code}, not {codes:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}"
        );
        self
    }
}
