//! `sweep.toml` in a sweep's directory: what was asked for, so that it can be asked for again.
//!
//! It is the sweep's own file, and adds what that file may leave out: the name, which is the
//! file's own by default, and the repetitions, for which there is a flag.

use std::path::Path;

use toml::{Table, Value};

use super::Grid;
use crate::repeat_line::quoted;

/// The name of the file in the directory of a sweep.
pub(crate) const NAME: &str = "sweep.toml";

/// The keys that a sweep may have from elsewhere.
const FROM_ELSEWHERE: [&str; 2] = ["name", "repetitions"];

impl Grid {
    /// The text of `sweep.toml`.
    pub(super) fn manifest(&self) -> String {
        let mut text = self.text.clone();
        for (key, value) in self.stated().iter().rev() {
            text = with(&text, key, value);
        }
        // Lines are all that is looked at: somebody may have written the key in another way.
        match text.parse::<Table>() {
            Ok(table) if Some(&table) == self.table().as_ref() => text,
            _ => self.table().map_or(text, |table| table.to_string()),
        }
    }

    /// Whether a manifest is of the same sweep, perhaps with fewer repetitions.
    pub(super) fn matches_manifest(&self, manifest: &str) -> bool {
        let cells = |table: Table| {
            let pairs = table.into_iter();
            pairs
                .filter(|(key, _)| !FROM_ELSEWHERE.contains(&key.as_str()))
                .collect::<Table>()
        };
        let found = manifest.parse::<Table>().ok().map(cells);
        found.is_some() && found == self.table().map(cells)
    }

    fn stated(&self) -> [(&'static str, Value); 2] {
        let repetitions = i64::try_from(self.repetitions).unwrap_or(i64::MAX);
        let [name, number] = FROM_ELSEWHERE;
        [
            (name, Value::from(self.name.as_str())),
            (number, Value::from(repetitions)),
        ]
    }

    /// The sweep as a TOML table, with the name and the repetitions that it has now.
    fn table(&self) -> Option<Table> {
        let mut table = self.text.parse::<Table>().ok()?;
        let stated = self.stated().into_iter();
        table.extend(stated.map(|(key, value)| (key.to_owned(), value)));
        Some(table)
    }
}

/// How many repetitions the sweep in that directory has, if there is one.
pub(crate) fn repetitions_in(directory: &Path) -> Option<u64> {
    let text = safe_io::input::read_text(&directory.join(NAME)).ok()?;
    let table = text.parse::<Table>().ok()?;
    let repetitions = table.get("repetitions")?.as_integer()?;
    u64::try_from(repetitions).ok()
}

/// The command line that repeats the sweep in that directory, with results beside it.
pub(crate) fn repeat_line(program: &str, directory: &Path) -> String {
    let file = directory.join(NAME).display().to_string();
    let beside = format!("{}.again", directory.components().as_path().display());
    format!(
        "{} sweep {} --out {}",
        quoted(program),
        quoted(&file),
        quoted(&beside)
    )
}

/// The text with this value of a key that belongs to no table: where the key stands, or below the
/// first comments.
fn with(text: &str, key: &str, value: &Value) -> String {
    let stated = format!("{key} = {value}");
    let lines = text.lines();
    let before_tables = lines.clone().take_while(|line| !line.starts_with('['));
    let is_it = |line: &str| {
        let after = line.strip_prefix(key).map(str::trim_start);
        after.is_some_and(|after| after.starts_with('='))
    };
    let there = before_tables.into_iter().position(is_it);
    let mut lines = lines.collect::<Vec<_>>();
    match there {
        Some(there) => lines[there] = &stated,
        None => {
            let comments = lines.iter().take_while(|line| line.starts_with('#'));
            lines.insert(comments.count(), &stated);
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELLS: &str = "[scenario]\nengine = \"sim\"\n[grid]\nalgorithm = [\"lamport\"]\n";

    fn manifest(text: &str) -> String {
        let mut grid = Grid::parse(text, "here", Path::new("")).expect("a sweep");
        grid.repeat(3).expect("a number");
        grid.manifest()
    }

    #[test]
    fn what_stands_elsewhere_is_written_down() {
        let plain = manifest(&format!("# Why.\n\n{CELLS}"));
        let stated = "# Why.\nname = \"here\"\nrepetitions = 3\n\n";
        assert_eq!(plain, format!("{stated}{CELLS}"));
        let restated = manifest(&format!("repetitions=9 # many\nname = \"other\"\n{CELLS}"));
        assert_eq!(
            restated,
            format!("repetitions = 3\nname = \"other\"\n{CELLS}")
        );
    }

    /// A file that added lines would break is written as a whole.
    #[test]
    fn it_can_always_be_read_again() {
        for head in ["\"repetitions\" = 9\n", "  repetitions = 9\n"] {
            let table = manifest(&format!("{head}{CELLS}")).parse::<Table>();
            let table = table.expect("a table");
            assert_eq!(table["repetitions"].as_integer(), Some(3), "{head}");
            assert_eq!(table["name"].as_str(), Some("here"), "{head}");
        }
    }

    #[test]
    fn a_directory_may_end_with_a_stroke() {
        assert_eq!(
            repeat_line("o", Path::new("my sweeps/a/")),
            "o sweep 'my sweeps/a/sweep.toml' --out 'my sweeps/a.again'"
        );
    }
}
