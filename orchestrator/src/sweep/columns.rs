//! What tells the cells of a sweep apart, in as few columns as it takes, and in words.

use super::Grid;

impl Grid {
    /// Where the keys stand that a table of the cells needs: those of the plot, and of the others
    /// those that do not follow from them, as a delay does where each size has its own.
    pub(crate) fn telling(&self) -> Vec<usize> {
        let mut telling = match &self.plot {
            None => Vec::new(),
            Some(plot) => {
                let x = self.keys.iter().position(|key| *key == plot.x);
                let lines = self.lines(plot).into_iter().chain(self.named(plot));
                x.into_iter().chain(lines).collect()
            }
        };
        for key in 0..self.keys.len() {
            if !self.follows(key, &telling) {
                telling.push(key);
            }
        }
        telling.retain(|&key| !self.follows(key, &[]));
        telling.sort_unstable();
        telling.dedup();
        telling
    }

    /// Whether cells with the same values of these keys have the same value of that one.
    pub(super) fn follows(&self, key: usize, from: &[usize]) -> bool {
        let mut seen = std::collections::BTreeMap::new();
        self.cells.iter().all(|cell| {
            let known = from.iter().map(|&key| &cell.values[key]);
            let value = &cell.values[key];
            *seen.entry(known.collect::<Vec<_>>()).or_insert(value) == value
        })
    }
}

/// The key of a column as its heading.
pub(crate) fn heading(key: &str) -> &str {
    key.strip_prefix("params.").unwrap_or(key)
}

/// A value in a column: a list of words without what TOML needs around them.
pub(crate) fn in_a_column(value: &str) -> String {
    match value
        .strip_prefix('[')
        .and_then(|value| value.strip_suffix(']'))
    {
        Some("") => "none".to_owned(),
        Some(words) if words.contains('"') => words.replace('"', ""),
        Some(_) | None => value.to_owned(),
    }
}

/// A metric as it stands at an axis or above a column, and how many of its units make one there.
pub(crate) fn in_words(metric: &str) -> (f64, String) {
    let words = |name: &str| name.replace('_', " ");
    match (metric.strip_suffix("_us"), metric.strip_suffix("_t")) {
        (Some(name), _) => (1e-3, words(name) + ", ms"),
        (_, Some(name)) => (1.0, words(name) + ", link delays"),
        (None, None) => (1.0, words(metric)),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn telling(text: &str) -> Vec<String> {
        let grid = Grid::parse(text, "test", Path::new("")).expect("a sweep");
        let telling = grid.telling().into_iter();
        telling.map(|key| grid.keys[key].clone()).collect()
    }

    const SIZES: &str = "[scenario]\nengine = \"sim\"\n\
                         [grid]\nalgorithm = [\"raymond\", \"lamport\"]\nentries = [3]\n\
                         [[variant]]\ndelay = \"1ms\"\nnodes = 3\n\
                         [[variant]]\ndelay = \"2ms\"\nnodes = 5\n";

    #[test]
    fn what_follows_or_is_always_the_same_needs_no_column() {
        let plot = "[plot]\nx = \"nodes\"\ny = \"messages\"\n";
        assert_eq!(telling(&format!("{SIZES}{plot}")), ["nodes", "algorithm"]);
        assert_eq!(telling(SIZES), ["delay", "algorithm"]);
    }

    /// A plot may leave out what tells cells apart; a table of them must not.
    #[test]
    fn no_two_cells_look_alike() {
        let plot = "[plot]\nx = \"nodes\"\ny = \"messages\"\nlines = [\"delay\"]\n";
        let shown = telling(&format!("{SIZES}{plot}"));
        assert_eq!(shown, ["delay", "nodes", "algorithm"]);
    }

    #[test]
    fn a_value_is_a_word() {
        assert_eq!(heading("params.tau"), "tau");
        assert_eq!(in_a_column("[]"), "none");
        assert_eq!(in_a_column(r#"["F7", "F8"]"#), "F7, F8");
        assert_eq!(in_a_column("[1, 0]"), "[1, 0]");
    }

    #[test]
    fn a_metric_has_its_unit() {
        assert_eq!(in_words("wait_mean_us"), (1e-3, "wait mean, ms".to_owned()));
        assert_eq!(in_words("messages_per_entry").1, "messages per entry");
        assert_eq!(
            in_words("sync_delay_mean_t").1,
            "sync delay mean, link delays"
        );
    }
}
