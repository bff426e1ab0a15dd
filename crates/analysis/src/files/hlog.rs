//! `latency.hlog`: how long things took, over time, for the tools of HdrHistogram.

mod compare;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use model::plan::Plan;
use model::run::{Engine, Lengths, Run, SHORTEST_INTERVAL_NS};
use safe_io::input;

use super::record::from_utc;
use super::{FilesError, Provenance};
use crate::occupancy::stays;
use crate::times::handovers;

pub(super) use compare::compare;

const NAME: &str = "latency.hlog";

/// About so many intervals show how a run went without making the log large.
const INTERVALS: u64 = 50;

/// Nanoseconds in a millisecond: the log's readable maximum is in milliseconds.
const DIVISOR: f64 = 1e6;

pub(super) fn write(
    dir: &Path,
    plan: &Plan,
    run: &Run,
    from: &Provenance,
) -> Result<(), FilesError> {
    let path = dir.join(NAME);
    let zero = zero(run.engine, &from.started);
    let create = || {
        let mut writer = BufWriter::new(File::create(&path)?);
        log(&mut writer, plan, run, length_ns(run), zero)?;
        writer.flush()
    };
    create().map_err(|source: io::Error| FilesError::io("write", &path, source))
}

/// It has to be there; [`compare`] looks at what it says.
pub(super) fn check_there(dir: &Path) -> Result<(), FilesError> {
    let path = dir.join(NAME);
    let opened = input::open(&path, input::DOCUMENT_BYTES);
    let opened = opened.map_err(|source| FilesError::io("read", &path, source));
    opened.map(|_| ())
}

/// The moment from which the log counts: when processes were started. A simulated run has no such
/// moment; it begins with the epoch, so that it repeats to the byte.
fn zero(engine: Engine, started: &str) -> SystemTime {
    match engine {
        Engine::Sim => SystemTime::UNIX_EPOCH,
        Engine::Cluster => from_utc(started).unwrap_or(SystemTime::UNIX_EPOCH),
    }
}

/// Writes the log of a run that began at that moment.
fn log(
    writer: &mut impl Write,
    plan: &Plan,
    run: &Run,
    length_ns: u64,
    zero: SystemTime,
) -> io::Result<()> {
    let mut serializer = V2DeflateSerializer::new();
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment("[Histogram log format version 1.3]")
        .add_comment("values are nanoseconds, times count from the start of the run")
        .with_start_time(zero)
        .with_base_time(zero)
        .with_max_value_divisor(DIVISOR)
        .begin_log_with(writer, &mut serializer)?;
    for ((interval, tag), lengths) in intervals(plan, run, length_ns) {
        let most = lengths.longest_ns().max(2);
        let mut histogram =
            Histogram::<u64>::new_with_bounds(1, most, 3).map_err(io::Error::other)?;
        for (length, times) in lengths.iter() {
            histogram
                .record_n(length, times)
                .map_err(io::Error::other)?;
        }
        let start = Duration::from_nanos(interval * length_ns);
        let length = Duration::from_nanos(length_ns);
        log.write_histogram(&histogram, start, length, Tag::new(tag))
            .map_err(|error| io::Error::other(error.to_string()))?;
    }
    Ok(())
}

/// How long the intervals of a run's log are. Of a round trip that was told after the end, it is known
/// only in which long interval it was.
fn length_ns(run: &Run) -> u64 {
    interval_ns(run.ended_ns).max(run.round_trips.interval_ns())
}

/// What is in every interval and has a tag; a length belongs to the interval in which it was known.
fn intervals(plan: &Plan, run: &Run, length_ns: u64) -> BTreeMap<(u64, &'static str), Lengths> {
    let mut intervals = BTreeMap::<_, Lengths>::new();
    for (from_ns, trips) in run.round_trips.intervals() {
        let whole = intervals.entry((from_ns / length_ns, "rtt")).or_default();
        whole.merge(trips);
    }
    let mut add = |at_ns: u64, tag, value_ns| {
        let interval = intervals.entry((at_ns / length_ns, tag)).or_default();
        interval.add(value_ns);
    };
    for row in run.requests.iter().filter(|row| !row.uninvited) {
        if let Some(at_ns) = row.entered_ns {
            add(at_ns, "wait", at_ns.saturating_sub(row.arrived_ns));
        }
        if let Some(at_ns) = row.left_ns {
            add(at_ns, "turnaround", at_ns.saturating_sub(row.arrived_ns));
        }
    }
    let admitted = (plan.info().more.admits)(&plan.params);
    for handover in handovers(run, &stays(run), admitted) {
        add(handover.at_ns, "sync", handover.delay_ns);
    }
    intervals
}

/// A round length (1, 2 or 5 times a power of ten) that cuts the run into at most so many
/// intervals, and one more if it ends on a boundary.
fn interval_ns(ended_ns: u64) -> u64 {
    let mut decade_ns = SHORTEST_INTERVAL_NS;
    loop {
        for step in [1, 2, 5] {
            let length_ns = step * decade_ns;
            if ended_ns / length_ns < INTERVALS {
                return length_ns;
            }
        }
        decade_ns *= 10;
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    use super::*;
    use crate::fixtures::{plan, served};

    #[test]
    fn intervals_are_round_and_few() {
        assert_eq!(interval_ns(0), 1_000_000);
        assert_eq!(interval_ns(49_999_999), 1_000_000);
        assert_eq!(interval_ns(50_000_000), 2_000_000);
        assert_eq!(interval_ns(60_000_000_000), 2_000_000_000);
        // The longest run there is still ends.
        assert_eq!(u64::MAX / interval_ns(u64::MAX), 36);
    }

    /// Tools show when it was; of virtual time there is nothing to show.
    #[test]
    fn processes_began_at_a_real_moment() {
        let started = "2026-02-28T23:59:59Z";
        assert_eq!(zero(Engine::Sim, started), SystemTime::UNIX_EPOCH);
        let mut bytes = Vec::new();
        let began = zero(Engine::Cluster, started);
        let run = served([(0, 0, 0, 1_000_000)]);
        log(
            &mut bytes,
            &plan("raymond", 2),
            &run,
            length_ns(&run),
            began,
        )
        .unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains("#[StartTime: 1772323199.000 "), "{text}");
        assert!(text.contains("#[BaseTime: 1772323199.000 "), "{text}");
    }

    #[test]
    fn the_log_gives_back_what_was_measured() {
        let run = served([
            (0, 0, 0, 1_000_000),
            (1, 0, 1_500_000, 2_500_000),
            (0, 1_000_000, 3_000_000, 4_000_000),
        ]);
        let mut bytes = Vec::new();
        let zero = SystemTime::UNIX_EPOCH;
        log(&mut bytes, &plan("raymond", 2), &run, length_ns(&run), zero).unwrap();
        let mut read = Vec::new();
        for line in IntervalLogIterator::new(&bytes) {
            let LogEntry::Interval(interval) = line.unwrap() else {
                continue;
            };
            let tag = interval.tag().unwrap().as_str().to_owned();
            let packed = STANDARD.decode(interval.encoded_histogram()).unwrap();
            let histogram: Histogram<u64> = Deserializer::new()
                .deserialize(&mut packed.as_slice())
                .unwrap();
            read.push((
                interval.start_timestamp().as_millis(),
                tag,
                histogram.len(),
                histogram.max(),
            ));
        }
        let expected = |ms, tag: &str, values, max: u64| {
            // Three significant digits.
            let at = read.iter().find(|read| read.0 == ms && read.1 == tag);
            let at = at.unwrap_or_else(|| panic!("no {tag} at {ms} in {read:?}"));
            assert_eq!(at.2, values);
            assert!(at.3.abs_diff(max) * 1_000 <= max, "{at:?}");
        };
        assert_eq!(read.len(), 8);
        expected(0, "wait", 1, 0);
        expected(1, "turnaround", 1, 1_000_000);
        expected(1, "wait", 1, 1_500_000);
        expected(1, "sync", 1, 500_000);
        expected(2, "turnaround", 1, 2_500_000);
        expected(3, "wait", 1, 2_000_000);
        expected(3, "sync", 1, 500_000);
        expected(4, "turnaround", 1, 3_000_000);
    }

    #[test]
    fn round_trips_are_in_the_interval_in_which_they_ended() {
        let mut run = served([(0, 5, 5, 9)]);
        for (at_ns, trip_ns) in [(700, 90), (1_000_001, 40), (999_999, 30)] {
            run.round_trips.add(at_ns, trip_ns);
        }
        let intervals = intervals(&plan("raymond", 2), &run, 1_000_000);
        assert_eq!(lengths(&intervals[&(0, "rtt")]), [30, 90]);
        assert_eq!(lengths(&intervals[&(1, "rtt")]), [40]);
    }

    /// However long the run, those that are counted together belong to one interval of the log.
    #[test]
    fn an_interval_of_round_trips_lies_in_one_of_the_log() {
        for ended_ns in [1, 49, 50, 99, 249, 250, 499, 999, 2_499, 2_500, 60_000] {
            let ended_ns = ended_ns * 1_000_000;
            let mut trips = model::run::RoundTrips::default();
            trips.add(ended_ns, 1);
            let length_ns = interval_ns(ended_ns);
            assert_eq!(length_ns % trips.interval_ns(), 0, "{ended_ns}");
        }
        let mut run = served([(0, 5, 5, 249_000_000)]);
        run.round_trips.add(250_000_000, 1);
        let mut bytes = Vec::new();
        let zero = SystemTime::UNIX_EPOCH;
        log(&mut bytes, &plan("raymond", 2), &run, length_ns(&run), zero).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains("Tag=rtt,0.250,0.010,"), "{text}");
    }

    #[test]
    fn an_uninvited_entry_waited_for_nothing() {
        let mut run = served([(0, 5, 5, 9), (1, 20, 20, 21)]);
        run.requests[1].uninvited = true;
        let intervals = intervals(&plan("raymond", 2), &run, 1_000_000);
        assert_eq!(lengths(&intervals[&(0, "wait")]), [0]);
        assert_eq!(lengths(&intervals[&(0, "turnaround")]), [4]);
    }

    /// Each length as often as it occurred.
    fn lengths(lengths: &Lengths) -> Vec<u64> {
        let all = lengths.iter();
        all.flat_map(|(length, times)| (0..times).map(move |_| length))
            .collect()
    }
}
