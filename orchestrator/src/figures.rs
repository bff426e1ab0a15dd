//! The published figures: a table and a picture of every sweep in `experiments/sweeps`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use safe_io::input;

use crate::claims::{Claim, ClaimFile};
use crate::suggest::did_you_mean;
use crate::sweep::{Grid, Plot, Share, draw, sweep};
use crate::{Exit, Failure, embedded, print, results};

/// Where the sweeps are.
const SWEEPS: &str = "experiments/sweeps";

/// Metrics that every table has, beside what its sweep measures and draws.
const ALWAYS: [&str; 6] = [
    "entries",
    "max_inside",
    "messages",
    "messages_per_entry",
    "sync_delay_mean_t",
    "turnaround_mean_us",
];

/// A sweep whose results are published.
pub(crate) struct Figure {
    /// The name of the sweep's file, without its ending.
    pub(crate) name: String,
    grid: Grid,
}

impl Figure {
    /// All figures, by name.
    pub(crate) fn all() -> Result<Vec<Self>, String> {
        let paths = embedded::list(Path::new(SWEEPS), "toml")
            .map_err(|error| format!("cannot read the sweeps in {SWEEPS}: {error}"))?;
        let figures = paths.iter().map(|path| {
            let grid = Grid::read(path)?;
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            Ok(Self {
                name: name.into_owned(),
                grid,
            })
        });
        figures.collect()
    }

    /// The figures that are asked for: of these names, and about claims of these files. All, if nothing is.
    pub(crate) fn wanted(
        names: &[String],
        files: Option<&[&ClaimFile]>,
    ) -> Result<Vec<Self>, String> {
        let mut figures = Self::all()?;
        for name in names {
            if figures.iter().all(|figure| figure.name != *name) {
                let known = figures.iter().map(|figure| figure.name.as_str());
                let hint = did_you_mean(name, known.clone());
                let known = known.collect::<Vec<_>>().join(", ");
                return Err(format!(
                    "there is no figure '{name}'{hint}\nThere are {known}."
                ));
            }
        }
        figures.retain(|figure| names.is_empty() || names.contains(&figure.name));
        if let Some(files) = files {
            let claims = files.iter().flat_map(|file| &file.claims);
            let claims = claims.collect::<Vec<_>>();
            figures.retain(|figure| claims.iter().any(|claim| figure.is_about(claim)));
        }
        match figures.is_empty() {
            true => Err("no figure is all of that at once".to_owned()),
            false => Ok(figures),
        }
    }

    /// What is drawn, if anything is.
    pub(crate) fn plot(&self) -> Option<&Plot> {
        self.grid.plot.as_ref()
    }

    /// Whether the picture belongs to a claim.
    pub(crate) fn is_about(&self, claim: &Claim) -> bool {
        let plot = self.plot();
        plot.is_some_and(|plot| plot.claims.contains(&claim.id))
    }

    /// Runs the sweep, or what is missing of it, and says the texts of the figure's files by name; nothing
    /// if somebody interrupted.
    fn make(
        &self,
        runs: &Path,
        interrupted: &AtomicBool,
    ) -> Result<Option<Vec<(String, String)>>, Failure> {
        let place = runs.join(&self.name);
        let swept = sweep(&self.grid, &place, Share::default(), interrupted)?;
        if swept.missing > 0 {
            return Ok(None);
        }
        let read = |path: &Path| {
            input::read_text(path).map_err(|error| {
                Failure::Testbed(format!("cannot read {}: {error}", path.display()))
            })
        };
        let aggregate = read(&swept.directory.join("aggregate.csv"))?;
        let table = self.table(&aggregate).map_err(Failure::Testbed)?;
        let mut files = vec![(format!("{}.csv", self.name), table)];
        if let Some(picture) = draw(&self.grid, &swept)? {
            files.push((format!("{}.svg", self.name), read(&picture)?));
        }
        Ok(Some(files))
    }

    /// The rows of an `aggregate.csv` about what the sweep measures, what it draws, and the usual.
    fn table(&self, aggregate: &str) -> Result<String, String> {
        let plotted = self.plot().map_or(Ok(Vec::new()), Plot::values)?;
        let mut kept = plotted.iter().map(ToString::to_string).collect::<Vec<_>>();
        kept.extend(self.grid.measured.iter().map(|(name, _)| name.clone()));
        kept.extend(ALWAYS.map(str::to_owned));
        let mut reader = csv::Reader::from_reader(aggregate.as_bytes());
        let mut writer = csv::Writer::from_writer(Vec::new());
        let wrong = |error: csv::Error| format!("aggregate.csv of {}: {error}", self.name);
        let heading = reader.headers().map_err(wrong)?.clone();
        let metric = heading.iter().position(|column| column == "metric");
        let metric =
            metric.ok_or_else(|| format!("aggregate.csv of {} has no metric", self.name))?;
        writer.write_record(&heading).map_err(wrong)?;
        for record in reader.records() {
            let record = record.map_err(wrong)?;
            if record
                .get(metric)
                .is_some_and(|name| kept.iter().any(|known| known == name))
            {
                writer.write_record(&record).map_err(wrong)?;
            }
        }
        let bytes = writer.into_inner().map_err(|error| error.to_string())?;
        String::from_utf8(bytes).map_err(|error| error.to_string())
    }
}

/// Makes these figures in a directory, and says of each file whether it is what was there. The runs are kept
/// in another, so that an interrupted command goes on where it was.
pub(crate) fn make(
    figures: &[Figure],
    directory: &Path,
    runs: &Path,
    interrupted: &AtomicBool,
) -> Result<Exit, Failure> {
    fs::create_dir_all(directory)
        .map_err(|error| Failure::Usage(format!("cannot make {}: {error}", directory.display())))?;
    let mut changed = Vec::<PathBuf>::new();
    for (nth, figure) in figures.iter().enumerate() {
        let Some(files) = figure.make(runs, interrupted)? else {
            print(&format!(
                "interrupted after {nth} of {} figures; the same command goes on from there\n",
                figures.len()
            ))?;
            return Ok(Exit::Interrupted);
        };
        for (name, text) in files {
            let path = directory.join(&name);
            let word = match input::read_text(&path) {
                Ok(there) if there == text => "the same",
                Ok(_) => "changed",
                Err(_) => "new",
            };
            if word != "the same" {
                results::replace(&path, &text)?;
            }
            if word == "changed" {
                changed.push(path);
            }
            print(&format!("{word:8}  {name}\n"))?;
        }
    }
    let (all, place) = (figures.len(), directory.display());
    let changed = changed.len();
    print(&format!(
        "{all} figures, {changed} files are not what they were\nfiles: {place}\n"
    ))?;
    Ok(match changed {
        0 => Exit::Holds,
        _ => Exit::Violated,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::{CLAIMS, PAPERS, claim_files};

    /// Every picture belongs to a claim, and every claim that one belongs to is there.
    #[test]
    fn pictures_belong_to_claims() {
        let files = claim_files(Path::new(CLAIMS), Path::new(PAPERS)).expect("claims");
        let known = files.iter().flat_map(|file| &file.claims);
        let known = known.map(|claim| claim.id.as_str()).collect::<Vec<_>>();
        for figure in Figure::all().expect("figures") {
            let Some(plot) = figure.plot() else {
                continue;
            };
            assert!(!plot.claims.is_empty(), "{}: claims = [...]", figure.name);
            for id in &plot.claims {
                assert!(known.contains(&id.as_str()), "{}: {id}", figure.name);
            }
        }
    }

    /// What an axis says is for people: neither the name of a column nor that of a key.
    #[test]
    fn axes_have_labels_in_words() {
        for figure in Figure::all().expect("figures") {
            let Some(plot) = figure.plot() else {
                continue;
            };
            let name = &figure.name;
            assert!(plot.title.is_some(), "{name}: title");
            assert!(plot.y_label.is_some(), "{name}: y-label");
            assert!(plot.rows.is_some() || plot.label.is_some(), "{name}: label");
        }
    }
}
