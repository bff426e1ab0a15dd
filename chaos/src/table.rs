//! Tables in CSV files, in which lines that begin with `#` are remarks.

use csv::{ReaderBuilder, Trim};
use thiserror::Error;

/// What is wrong with a table, and where. It never quotes the file: a client that may ask for a file by its
/// name may not be allowed to read it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {why}")]
pub struct TableError {
    /// The line, from 1.
    pub line: usize,
    /// The cell of that line, from 1.
    pub column: usize,
    /// What is wrong, and what would be right.
    pub why: String,
}

/// A cell of a table, and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) text: String,
}

impl Cell {
    pub(crate) fn error(&self, why: impl Into<String>) -> TableError {
        TableError {
            line: self.line,
            column: self.column,
            why: why.into(),
        }
    }
}

/// The rows of a table, without remarks and empty lines. Rows may differ in length.
pub(crate) fn rows(text: &str) -> Result<Vec<Vec<Cell>>, TableError> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(Trim::All)
        .from_reader(text.as_bytes());
    let mut rows = Vec::new();
    loop {
        let mut line = reader.position().line() as usize;
        // The reader counts from before the lines that it leaves out.
        let rest = text.get(reader.position().byte() as usize..).unwrap_or("");
        let left_out = |line: &&str| line.is_empty() || line.starts_with('#');
        line += rest.lines().take_while(left_out).count();
        let mut record = csv::StringRecord::new();
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => return Ok(rows),
            Err(error) => {
                let why = format!("{error}; write cells with commas between them");
                let column = 1;
                return Err(TableError { line, column, why });
            }
        }
        let cells = record.iter().zip(1..).map(|(text, column)| Cell {
            line,
            column,
            text: text.to_owned(),
        });
        let cells = cells.collect::<Vec<_>>();
        if !matches!(&cells[..], [only] if only.text.is_empty()) {
            rows.push(cells);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_know_their_place_whatever_is_left_out_or_quoted() {
        let text = "# a remark\n\n a ,\"b, c\"\r\n   \n# more\n\"two\nlines\",d\n\nlast";
        let rows = rows(text).unwrap();
        let cells = rows.iter().flatten();
        let cells = cells.map(|cell| (cell.line, cell.column, cell.text.as_str()));
        assert_eq!(
            cells.collect::<Vec<_>>(),
            [
                (3, 1, "a"),
                (3, 2, "b, c"),
                (6, 1, "two\nlines"),
                (6, 2, "d"),
                (9, 1, "last"),
            ]
        );
    }
}
