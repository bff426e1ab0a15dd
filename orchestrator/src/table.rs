//! Tables that a person enjoys.

/// Rows of cells, aligned when shown.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings.
    pub(crate) fn new(headings: &[&str]) -> Self {
        Self {
            rows: vec![headings.iter().map(|&cell| cell.to_owned()).collect()],
        }
    }

    /// Adds a row.
    pub(crate) fn row<const N: usize>(&mut self, cells: [&str; N]) {
        self.rows
            .push(cells.iter().map(|&cell| cell.to_owned()).collect());
    }

    /// The table as text: headings, a rule, rows.
    pub(crate) fn show(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for (number, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let width = widths[column];
                line.push_str(&format!("{cell:<width$}  "));
            }
            text.push_str(line.trim_end());
            text.push('\n');
            if number == 0 {
                let rules = widths.iter().map(|&width| "─".repeat(width));
                text.push_str(&rules.collect::<Vec<_>>().join("  "));
                text.push('\n');
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(&["name", "messages"]);
        table.row(["raymond", "36"]);
        table.row(["ricart-agrawala", "180"]);
        insta::assert_snapshot!(table.show(), @r"
        name             messages
        ───────────────  ────────
        raymond          36
        ricart-agrawala  180
        ");
    }
}
