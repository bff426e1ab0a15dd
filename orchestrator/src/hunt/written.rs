//! The files of a run, as a judge sees them: they are read back and say the same, and there is not too
//! much of them. They are written where nobody keeps them.

use std::path::Path;
use std::time::SystemTime;

use analysis::Judgement;
use analysis::files::{self, Events};
use model::event::Event;
use model::run::Run;

use super::failure::{Failure, What};
use crate::scenario::Resolved;
use crate::{report, results};

/// What the files of a run may take: at all, for each member, for each request or row of messages, and
/// for each event of a trace, in which some messages name every member.
const BYTES: u64 = 512 << 10;
const BYTES_OF_MEMBER: u64 = 64 << 10;
const BYTES_OF_ROW: u64 = 1 << 10;
const BYTES_OF_EVENT: u64 = 1 << 10;
const BYTES_OF_EVENT_BY_MEMBER: u64 = 64;

/// Writes a run as `run` does, with its events if it was traced, and checks what is there.
pub(super) fn check(
    dir: &Path,
    resolved: &Resolved,
    run: &mut Run,
    judgement: &Judgement,
    events: Option<&[Event]>,
) -> Result<(), Failure> {
    // The directory has another name each time.
    let place = format!("{}/", dir.display());
    let wrong = |why: String| Failure::new(What::Files, why.replace(&place, ""));
    let unwritable = |error: files::FilesError| wrong(error.to_string());
    let plan = &resolved.plan;
    if let Some(events) = events {
        let mut file = Events::begin(dir).map_err(unwritable)?;
        events.iter().for_each(|event| file.add(event));
        file.finish(plan, run).map_err(unwritable)?;
    }
    let from = results::provenance("hunt", SystemTime::now());
    files::write_into(dir, plan, run, judgement, &from).map_err(unwritable)?;
    let again = files::recheck(dir).map_err(unwritable)?;
    if let Some(difference) = again.differences.first() {
        return Err(wrong(format!("read back, it is another run: {difference}")));
    }
    if again.judgement.conclusion() != judgement.conclusion() {
        return Err(wrong("read back, it is judged otherwise".to_owned()));
    }
    let most = most_bytes(run, plan.nodes, events.map_or(0, <[Event]>::len));
    let bytes = bytes_below(dir).map_err(|error| wrong(format!("cannot be looked at: {error}")))?;
    if bytes > most {
        return Err(wrong(format!(
            "its files take {bytes} bytes, more than {most}"
        )));
    }
    // Drawn for its panics alone.
    let _ = report::of_run(dir, plan, run, judgement, &from).html();
    Ok(())
}

fn most_bytes(run: &Run, nodes: u32, events: usize) -> u64 {
    let rows = run.requests.len() + run.messages.len() + run.notes.len() + run.faults.len();
    let of_event = BYTES_OF_EVENT + BYTES_OF_EVENT_BY_MEMBER * u64::from(nodes);
    BYTES
        + BYTES_OF_MEMBER * u64::from(nodes)
        + BYTES_OF_ROW * rows as u64
        + of_event * events as u64
}

fn bytes_below(dir: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in dir.read_dir()? {
        let entry = entry?;
        let about = entry.metadata()?;
        bytes += match about.is_dir() {
            true => bytes_below(&entry.path())?,
            false => about.len(),
        };
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use model::plan::Plan;

    use super::*;
    use crate::scenario::Scenario;

    fn checked(alter: impl FnOnce(&Path, &mut Run)) -> Result<(), String> {
        let text = "algorithm = \"raymond\"\nnodes = 3\nentries = 2\nengine = \"sim\"\nseed = 1";
        let scenario = Scenario::from_toml(text).expect("a scenario");
        let resolved = scenario.resolve().expect("it can be run");
        let Resolved { plan, topology, .. } = &resolved;
        let plan: &Plan = plan;
        let mut run = simulator::run(plan, &mut model::engine::Silent).expect("it runs");
        let judgement = analysis::judge(plan, topology, &run);
        let place = tempfile::tempdir().expect("a directory");
        alter(place.path(), &mut run);
        let checked = check(place.path(), &resolved, &mut run, &judgement, None);
        checked.map_err(|failure| failure.told)
    }

    #[test]
    fn files_that_say_something_else_or_too_much_are_noticed() {
        assert_eq!(checked(|_, _| ()), Ok(()));
        let other = checked(|_, run| run.window.entries += 1).expect_err("it is another run");
        assert!(other.contains("read back, it is another run"), "{other}");
        let large = |dir: &Path, _: &mut Run| {
            std::fs::write(dir.join("log"), vec![b'x'; 4 << 20]).expect("it can be written");
        };
        let large = checked(large).expect_err("it is too much");
        assert!(large.contains("more than"), "{large}");
    }
}
