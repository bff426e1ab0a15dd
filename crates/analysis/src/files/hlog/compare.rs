//! Whether `latency.hlog` says what the requests say.

use std::io::Read;
use std::path::Path;
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use model::plan::Plan;
use model::run::Run;
use safe_io::input;

use super::super::FilesError;
use super::{NAME, interval_ns, log};

/// What a line of round trips begins with. They are in no table, so only the form of such a line can
/// be looked at.
const ROUND_TRIPS: &str = "Tag=rtt,";

/// The most bytes of a histogram, unpacked.
const MOST_BYTES: u64 = 1 << 20;

/// Where the log says something else than the requests: the first such place. When it began is a
/// comment of it, which is not looked at.
pub(in crate::files) fn compare(
    dir: &Path,
    plan: &Plan,
    run: &Run,
) -> Result<Vec<String>, FilesError> {
    let path = dir.join(NAME);
    let bytes = input::read(&path, input::DOCUMENT_BYTES)
        .map_err(|source| FilesError::io("read", &path, source))?;
    // What is no text is no line of ours.
    let found = String::from_utf8_lossy(&bytes);
    let mut expected = Vec::new();
    let (length_ns, zero) = (length_ns(&found, run), SystemTime::UNIX_EPOCH);
    log(&mut expected, plan, run, length_ns, zero)
        .map_err(|source| FilesError::io("read", &path, source))?;
    let expected = String::from_utf8_lossy(&expected);
    let difference = differs(&found, &expected);
    Ok(difference.into_iter().collect())
}

/// How long an interval of the log is: as its first line says, if the run can have had such a log.
fn length_ns(found: &str, run: &Run) -> u64 {
    let usual_ns = interval_ns(run.ended_ns);
    let mut tagged = found.lines().filter(|line| line.starts_with("Tag="));
    let tag = tagged.next().and_then(|line| line.split(',').nth(2));
    let tag = tag.and_then(|seconds| seconds.parse::<f64>().ok());
    let tag_ns = tag.map_or(usual_ns, |seconds| (seconds * 1e9).round() as u64);
    // A length that no run has would make a log without end.
    match interval_ns(tag_ns.saturating_mul(49)) == tag_ns {
        true => tag_ns.max(usual_ns),
        false => usual_ns,
    }
}

fn differs(found: &str, expected: &str) -> Option<String> {
    let is_data = |line: &&str| !line.starts_with('#');
    let mut expected = expected.lines().filter(is_data);
    for (number, line) in (1..).zip(found.lines()) {
        if !is_data(&line) {
            continue;
        }
        let as_expected = match line.starts_with(ROUND_TRIPS) {
            true => unpacked(line).is_some(),
            false => expected.next().is_some_and(|expected| {
                line == expected
                    || tag_of(line) == tag_of(expected) && same_histogram(line, expected)
            }),
        };
        if !as_expected {
            let tag = tag_of(line).chars().take(60).collect::<String>();
            return Some(format!(
                "{NAME}, line {number}: '{tag}' is not what entries.csv says"
            ));
        }
    }
    let missing = expected.next()?;
    Some(format!("{NAME}: the line '{}' is missing", tag_of(missing)))
}

/// A line without its histogram.
fn tag_of(line: &str) -> &str {
    line.rsplit_once(',').map_or(line, |(tag, _)| tag)
}

/// Whether two lines have the same histogram, however well it is packed.
fn same_histogram(one: &str, other: &str) -> bool {
    let one = unpacked(one);
    one.is_some() && one == unpacked(other)
}

/// The histogram at the end of a line: a cookie and a length, and then zlib's.
fn unpacked(line: &str) -> Option<Vec<u8>> {
    let (_, packed) = line.rsplit_once(',')?;
    let packed = STANDARD.decode(packed).ok()?;
    let mut bytes = Vec::new();
    let unpacked = ZlibDecoder::new(packed.get(8..)?).take(MOST_BYTES);
    { unpacked }.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::files::Provenance;
    use crate::fixtures::{plan, served};

    /// The log of a small run, and what is said of it after an edit.
    fn after(edit: impl Fn(&str) -> Vec<u8>) -> Vec<String> {
        let dir = tempfile::tempdir().expect("a directory");
        let mut run = served([(0, 0, 0, 1_000_000), (1, 0, 1_500_000, 2_500_000)]);
        run.round_trips.add(2_000_000, 700);
        let plan = plan("raymond", 2);
        super::super::write(dir.path(), &plan, &run, &Provenance::default())
            .expect("it can be written");
        // What is read back has no round trips.
        run.round_trips = model::run::RoundTrips::default();
        let path = dir.path().join(NAME);
        let text = fs::read_to_string(&path).expect("a log");
        fs::write(&path, edit(&text)).expect("it can be written");
        compare(dir.path(), &plan, &run).expect("it can be read")
    }

    #[test]
    fn a_log_says_what_the_requests_say() {
        assert_eq!(after(|text| text.into()), [] as [String; 0]);
    }

    #[test]
    fn garbage_and_a_cut_are_noticed() {
        let edits: [fn(&str) -> Vec<u8>; 6] = [
            |_| vec![0xff; 300],
            |_| Vec::new(),
            |text| text[..text.len() / 2].into(),
            |text| text.replace("Tag=wait,0.001", "Tag=wait,0.002").into(),
            |text| text.replace("Tag=wait", "Tag=sync").into(),
            |text| format!("{text}Tag=rtt,0.001,0.001,0.001,AAAA\n").into(),
        ];
        for (number, edit) in edits.into_iter().enumerate() {
            assert_eq!(after(edit).len(), 1, "edit {number}");
        }
        let last = after(|text| {
            let end = text.trim_end().rfind('\n').expect("several lines");
            text[..=end].into()
        });
        assert!(last[0].contains("is missing"), "{last:?}");
    }
}
