//! `orchestrator trace`: a traced run for a paper, and for other people's viewers.

use std::collections::BTreeSet;
use std::path::PathBuf;

use algorithms::NodeId;
use analysis::files::{self, FilesError};
use chaos::span;
use clap::{Args, ValueEnum};
use model::plan::Plan;

use crate::numbers::count;
use crate::pictures::space_time;
use crate::result_table::warn;
use crate::trace::{Phase, Selection, Trace as Recorded, each_event, members, perfetto, shiviz};
use crate::{Exit, Failure, files as disk, print};

/// Draws a traced run as a space-time diagram, or writes it for Perfetto or ShiViz
///
/// The run was made with --trace. `svg` is a picture for a paper. `perfetto` is for ui.perfetto.dev: tracks for
/// each member's waits and stays, and flows for messages. `shiviz` is for bestchai.bitbucket.io/shiviz: events
/// with vector clocks. Nothing is sent anywhere; you open the file there.
#[derive(Debug, Args)]
pub(crate) struct Trace {
    /// The directory of a run, such as results/latest
    directory: PathBuf,
    /// The kind of file to write
    #[arg(long, value_enum)]
    format: Format,
    /// File to write [default: trace.svg, trace.perfetto or trace.shiviz in the run's directory]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Show nothing before this time of the run, such as 250ms
    #[arg(long, value_name = "TIME", value_parser = span::parse_ns, conflicts_with = "around")]
    from: Option<u64>,
    /// Show nothing after this time of the run
    #[arg(long, value_name = "TIME", value_parser = span::parse_ns, conflicts_with = "around")]
    to: Option<u64>,
    /// Show the entries before and after this: `violation`, `end` or a time of the run [default of svg: a
    /// violation if there is one, or else the end]
    #[arg(long, value_name = "WHAT", value_parser = around)]
    around: Option<Around>,
    /// Show only these members, such as 0,2,5-7 [default: all; of svg those that do something]
    #[arg(long, value_name = "MEMBERS")]
    nodes: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A space-time diagram
    Svg,
    /// A trace for Perfetto (TrackEvent protobuf)
    Perfetto,
    /// A log for ShiViz
    Shiviz,
}

/// The moment that a picture is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Around {
    Violation,
    End,
    Time(u64),
}

fn around(text: &str) -> Result<Around, String> {
    match text {
        "violation" => Ok(Around::Violation),
        "end" => Ok(Around::End),
        time => span::parse_ns(time)
            .map(Around::Time)
            .map_err(|why| format!("{why}; or write violation, or end")),
    }
}

impl Trace {
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        let usage = |error: FilesError| Failure::Usage(error.to_string());
        let files::Contents { plan, run, .. } = files::read(&self.directory).map_err(usage)?;
        let trace = Recorded::read(&self.directory, &plan, &run)?;
        let selection = self.selection(&plan, &trace).map_err(Failure::Usage)?;
        let (name, bytes) = match self.format {
            Format::Svg => {
                let picture = space_time(&trace, &selection).map_err(Failure::Usage)?;
                ("trace.svg", picture.svg.into_bytes())
            }
            Format::Perfetto => ("trace.perfetto", perfetto::bytes(&trace, &selection)),
            Format::Shiviz => {
                let mut log = shiviz::Log::new(&selection);
                each_event(&self.directory, &plan, |event| log.take(&event))?;
                if log.left_out > 0 {
                    warn(&format!(
                        "ShiViz draws {} events at most; {} more are left out. Choose a time with --from, --to \
                         or --around, or members with --nodes.",
                        count(shiviz::MOST_EVENTS as u64),
                        count(log.left_out as u64)
                    ));
                }
                ("trace.shiviz", log.text().into_bytes())
            }
        };
        let path = self.out.unwrap_or_else(|| self.directory.join(name));
        disk::replace(&path, &bytes)
            .map_err(|error| Failure::Usage(format!("cannot write {}: {error}", path.display())))?;
        let mut text = format!("file: {}\n", path.display());
        if self.format == Format::Shiviz {
            text += &format!("expression for ShiViz: {}\n", shiviz::PATTERN);
        }
        print(&text)?;
        Ok(Exit::Holds)
    }

    /// The part of the run to show.
    fn selection(&self, plan: &Plan, trace: &Recorded) -> Result<Selection, String> {
        let around = match (self.around, self.format, self.from.or(self.to)) {
            (Some(around), ..) => Some(around),
            (None, Format::Svg, None) => match violation_ns(plan, trace) {
                Some(at_ns) => Some(Around::Time(at_ns)),
                None => Some(Around::End),
            },
            (None, ..) => None,
        };
        let (from_ns, until_ns) = match around {
            None => (
                self.from.unwrap_or(0),
                self.to.unwrap_or(u64::MAX).min(trace.ended_ns),
            ),
            Some(Around::Time(at_ns)) => trace.around(at_ns),
            Some(Around::End) => trace.around(trace.last_entry_ns()),
            Some(Around::Violation) => {
                let at_ns = violation_ns(plan, trace);
                trace.around(at_ns.ok_or("--around violation: exclusion was kept in this run")?)
            }
        };
        if from_ns > until_ns {
            return Err("--from is later than --to, or than the end of the run".to_owned());
        }
        let mut selection = Selection {
            from_ns,
            until_ns,
            nodes: (0..plan.nodes).map(NodeId).collect(),
        };
        match &self.nodes {
            Some(text) => {
                selection.nodes = members(text)?;
                let stranger = selection.nodes.iter().find(|node| node.0 >= plan.nodes);
                if let Some(stranger) = stranger {
                    let last = plan.nodes - 1;
                    return Err(format!(
                        "--nodes: there is no member {stranger}; they are 0 to {last}"
                    ));
                }
            }
            None if self.format == Format::Svg => selection.nodes = trace.active(&selection),
            None => {}
        }
        Ok(selection)
    }
}

/// When the first entered that another had not left, or had not been known to leave; none where more than
/// one may be inside.
fn violation_ns(plan: &Plan, trace: &Recorded) -> Option<u64> {
    if (plan.info().more.admits)(&plan.params) > 1 {
        return None;
    }
    let mut until_ns = 0;
    let mut indices = BTreeSet::new();
    let stays = trace.spans.iter().filter_map(|span| match span.phase {
        Phase::Inside(index) => Some((span, index)),
        Phase::Waiting => None,
    });
    for (stay, index) in stays {
        let repeated = index.is_some_and(|index| !indices.insert(index));
        if stay.from_ns < until_ns || repeated {
            return Some(stay.from_ns);
        }
        until_ns = until_ns.max(stay.until_ns);
    }
    None
}
