//! Tables that a person enjoys.

use std::io::{self, IsTerminal};
use std::ops::RangeInclusive;

use terminal_size::{Width, terminal_size_of};

/// As wide as a table gets, unless the terminal says otherwise; the last column is wrapped to fit.
const WIDTH: usize = 100;
/// Wider lines are hard to read, narrower ones hold no table.
const WIDTHS: RangeInclusive<usize> = 60..=140;
/// As narrow as its last column gets, whatever the others take.
const LAST_AT_LEAST: usize = 24;

/// Rows of cells, aligned when shown.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings.
    pub fn new<const N: usize>(headings: [&str; N]) -> Self {
        Self::of(headings.map(str::to_owned).to_vec())
    }

    /// A table with headings of which one cannot know in advance how many there are.
    pub(crate) fn of(headings: Vec<String>) -> Self {
        Self {
            rows: vec![headings],
        }
    }

    /// Adds a row.
    pub fn row<const N: usize>(&mut self, cells: [&str; N]) {
        self.add(cells.map(str::to_owned).to_vec());
    }

    /// Adds a row with as many cells as there are headings.
    pub(crate) fn add(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The table as Markdown, or else as text.
    pub fn shown(&self, markdown: bool) -> String {
        match markdown {
            true => self.markdown(),
            false => self.show(),
        }
    }

    /// The table as Markdown has it, each row in one line.
    fn markdown(&self) -> String {
        let line = |cells: &[String]| {
            let cells = cells.iter();
            let cells = cells.map(|cell| cell.replace('|', "\\|").replace('\n', " "));
            format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
        };
        let rule = |row: &Vec<String>| format!("|{}\n", "---|".repeat(row.len()));
        let mut rows = self.rows.iter();
        let headings = rows.next().map(|row| line(row) + &rule(row));
        headings
            .into_iter()
            .chain(rows.map(|row| line(row)))
            .collect()
    }

    /// The table as text: headings, a rule, rows; as wide as the terminal, if it goes to one.
    pub fn show(&self) -> String {
        let terminal = match io::stdout().is_terminal() {
            true => terminal_size_of(io::stdout()),
            false => None,
        };
        let columns = terminal.map(|(Width(columns), _)| usize::from(columns));
        self.show_within(columns.map_or(WIDTH, |columns| {
            columns.clamp(*WIDTHS.start(), *WIDTHS.end())
        }))
    }

    /// The table as text of at most that width, where its first columns leave so much.
    fn show_within(&self, most: usize) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            let lines = cells.flat_map(|cell| cell.lines());
            lines.map(|line| line.chars().count()).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = (0..columns).map(width).collect();
        if let Some((last, others)) = widths.split_last_mut() {
            let before = others.iter().map(|width| width + 2).sum();
            *last = (*last).min(most.saturating_sub(before).max(LAST_AT_LEAST));
        }
        let mut text = String::new();
        for (number, row) in self.rows.iter().enumerate() {
            text.push_str(&show_row(row, &widths));
            if number == 0 {
                let rules = widths.iter().map(|&width| "─".repeat(width));
                text.push_str(&rules.collect::<Vec<_>>().join("  "));
                text.push('\n');
            }
        }
        text
    }
}

/// A row as a line, or several where its last cell has several or is wrapped.
fn show_row(row: &[String], widths: &[usize]) -> String {
    let Some((last, others)) = row.split_last() else {
        return "\n".to_owned();
    };
    let cells = others.iter().zip(widths);
    let mut line: String = cells
        .map(|(cell, &width)| format!("{cell:<width$}  "))
        .collect();
    let indent = line.chars().count();
    let mut text = String::new();
    let width = widths[others.len()];
    // Not `lines`, which takes a cell with nothing in it for no line at all.
    for part in last.split('\n').flat_map(|line| wrap(line, width)) {
        line.push_str(&part);
        text.push_str(line.trim_end());
        text.push('\n');
        line = " ".repeat(indent);
    }
    text
}

/// The text behind its lead, wrapped, further lines under the first.
///
/// A line that begins with a space is a quotation and stays as it is: what is marked below it would
/// be something else otherwise.
pub(crate) fn indented(lead: &str, text: &str) -> String {
    let indent = lead.chars().count();
    let mut shown = String::new();
    let mut lead = lead.to_owned();
    let fitting = |line: &str| match line.starts_with(' ') {
        true => vec![line.to_owned()],
        false => wrap(line, WIDTH - indent),
    };
    for line in text.split('\n').flat_map(fitting) {
        shown.push_str(format!("{lead}{line}").trim_end());
        shown.push('\n');
        lead = " ".repeat(indent);
    }
    shown
}

/// The text in lines of at most `width` characters, broken between words; at least one line.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_with_nothing_at_its_end_is_a_row() {
        let mut table = Table::new(["name", ""]);
        table.row(["raymond", ""]);
        assert_eq!(table.show(), "name\n───────  \nraymond\n");
    }

    #[test]
    fn a_table_is_as_wide_as_it_may_be() {
        let mut table = Table::new(["name", "what it is"]);
        table.row(["raymond", &"a word ".repeat(30)]);
        for most in [60, 100, 140] {
            let shown = table.show_within(most);
            let widest = shown.lines().map(|line| line.chars().count()).max();
            assert!((most - 7..=most).contains(&widest.unwrap_or(0)), "{shown}");
        }
    }

    #[test]
    fn a_row_of_markdown_is_one_line() {
        let mut table = Table::new(["name", "a|b"]);
        table.row(["raymond", "two\nlines"]);
        let expected = "| name | a\\|b |\n|---|---|\n| raymond | two lines |\n";
        assert_eq!(table.shown(true), expected);
    }

    #[test]
    fn a_quotation_keeps_its_marks_below_what_they_mark() {
        let text = "'y' does not fit here\n  x  y\n     ^\n  write z";
        assert_eq!(
            indented("error: ", text),
            "error: 'y' does not fit here\n         x  y\n            ^\n         write z\n"
        );
    }

    #[test]
    fn columns_line_up_and_the_last_is_wrapped() {
        let mut table = Table::new(["name", "messages", "what it is"]);
        table.row(["raymond", "36", "a tree"]);
        table.row([
            "ricart-agrawala",
            "180",
            &"permission from everybody ".repeat(4),
        ]);
        insta::assert_snapshot!(table.show(), @r"
        name             messages  what it is
        ───────────────  ────────  ─────────────────────────────────────────────────────────────────────────
        raymond          36        a tree
        ricart-agrawala  180       permission from everybody permission from everybody permission from
                                   everybody permission from everybody
        ");
    }
}
