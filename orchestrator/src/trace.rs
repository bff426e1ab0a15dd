//! What happened in a traced run, as other people's viewers and a drawing want it: who waited and who was
//! inside, which message left when and what became of it, and when faults were in force.

pub(crate) mod perfetto;
pub(crate) mod shiviz;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use algorithms::NodeId;
use analysis::files;
use model::event::{Event, What};
use model::plan::Plan;
use model::run::Run;

use crate::Failure;

/// A traced run.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    /// How many members there are.
    pub(crate) nodes: u32,
    /// When the run ended.
    pub(crate) ended_ns: u64,
    /// Waits and stays, in the order in which they began.
    pub(crate) spans: Vec<Span>,
    /// Messages from one member to another, in the order in which they left.
    pub(crate) messages: Vec<Message>,
    /// Faults, in the order in which they came into force.
    pub(crate) faults: Vec<FaultSpan>,
}

/// A time in which a member waited, or was inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) node: NodeId,
    pub(crate) phase: Phase,
    pub(crate) from_ns: u64,
    pub(crate) until_ns: u64,
}

/// What a member was doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The algorithm had been asked.
    Waiting,
    /// It had let the client in; the entry's index, where it has one.
    Inside(Option<u32>),
}

/// A message on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// The member that sent it, and the one it was for.
    pub(crate) link: (NodeId, NodeId),
    pub(crate) kind: String,
    pub(crate) sent_ns: u64,
    pub(crate) end: MessageEnd,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageEnd {
    /// It arrived then.
    Received(u64),
    /// It never arrived.
    Lost,
    /// The run ended first.
    UnderWay,
}

/// A fault and how long it was in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FaultSpan {
    /// The member that it struck, if it struck one.
    pub(crate) node: Option<NodeId>,
    /// What it is and whom it hits, in words.
    pub(crate) name: String,
    pub(crate) from_ns: u64,
    /// When it was over; none if it struck once, or was not over at the end.
    pub(crate) until_ns: Option<u64>,
}

impl Trace {
    /// The trace of the run in that directory; an error says what is missing.
    pub(crate) fn read(directory: &Path, plan: &Plan, run: &Run) -> Result<Self, Failure> {
        let mut reader = Reader::new(plan.nodes);
        each_event(directory, plan, |event| reader.take(&event))?;
        Ok(reader.close(run.ended_ns))
    }

    /// The window that shows what led to that moment and what came of it: from the second entry before it
    /// to the end of the first one after it.
    pub(crate) fn around(&self, at_ns: u64) -> (u64, u64) {
        let inside = |span: &&Span| matches!(span.phase, Phase::Inside(_));
        let stays = self.spans.iter().filter(inside).collect::<Vec<_>>();
        let next = stays.partition_point(|stay| stay.from_ns <= at_ns);
        let first = stays.get(next.saturating_sub(2)).or(stays.last());
        let from_ns = first.map_or(0, |stay| stay.from_ns).min(at_ns);
        let last = stays.get(next).or(stays.last());
        let until_ns = last.map_or(self.ended_ns, |stay| stay.until_ns);
        let until_ns = until_ns.max(at_ns);
        // What begins at the very edge would not be seen.
        let margin_ns = (until_ns - from_ns) / 20 + 1;
        (
            from_ns.saturating_sub(margin_ns),
            until_ns.saturating_add(margin_ns),
        )
    }
}

impl Trace {
    /// When somebody last entered.
    pub(crate) fn last_entry_ns(&self) -> u64 {
        let inside = |span: &&Span| matches!(span.phase, Phase::Inside(_));
        let last = self.spans.iter().rfind(inside);
        last.map_or(self.ended_ns, |span| span.from_ns)
    }

    /// The selected members that wait, are inside, send or receive in the selected time.
    pub(crate) fn active(&self, selection: &Selection) -> Vec<NodeId> {
        let spans = self.spans.iter();
        let spans = spans.filter(|span| selection.meets(span.from_ns, span.until_ns));
        let sent = self.messages.iter();
        let sent = sent.filter(|message| selection.meets(message.sent_ns, message.sent_ns));
        let arrived = self
            .messages
            .iter()
            .filter_map(|message| match message.end {
                MessageEnd::Received(at_ns) if selection.meets(at_ns, at_ns) => {
                    Some(message.link.1)
                }
                MessageEnd::Received(_) | MessageEnd::Lost | MessageEnd::UnderWay => None,
            });
        let busy = spans.map(|span| span.node);
        let busy = busy
            .chain(sent.map(|message| message.link.0))
            .chain(arrived);
        let busy = busy.filter(|node| selection.has(*node));
        busy.collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// Shows the events of a traced run one after another.
pub(crate) fn each_event(
    directory: &Path,
    plan: &Plan,
    mut each: impl FnMut(Event),
) -> Result<(), Failure> {
    if !plan.trace {
        return Err(Failure::Usage(format!(
            "{}: there are no events to show; make the run with --trace",
            directory.display()
        )));
    }
    let read = files::read_events(directory, plan, |_, event| {
        each(event);
        Ok(())
    });
    read.map_err(|error| Failure::Usage(error.to_string()))
}

/// Puts a trace together from events.
struct Reader {
    trace: Trace,
    /// What each member is doing, as a place among the spans.
    doing: Vec<Option<usize>>,
    /// Messages under way by sender and number, as places among the messages: copies have one number.
    under_way: BTreeMap<(NodeId, u64), VecDeque<usize>>,
    /// Faults in force by name, as places among the faults.
    in_force: BTreeMap<String, usize>,
}

impl Reader {
    fn new(nodes: u32) -> Self {
        Self {
            trace: Trace {
                nodes,
                ..Trace::default()
            },
            doing: vec![None; nodes as usize],
            under_way: BTreeMap::new(),
            in_force: BTreeMap::new(),
        }
    }

    fn take(&mut self, event: &Event) {
        let now_ns = event.time_ns;
        if let Some(node) = event.node {
            match &event.what {
                What::Request { .. } => self.begin(now_ns, node, Phase::Waiting),
                What::Enter { index, .. } => self.begin(now_ns, node, Phase::Inside(*index)),
                What::Release => self.end(now_ns, node),
                What::Send { to, letter, .. } => {
                    let place = self.trace.messages.len();
                    self.trace.messages.push(Message {
                        link: (node, *to),
                        kind: letter.kind.to_string(),
                        sent_ns: now_ns,
                        end: MessageEnd::UnderWay,
                    });
                    let copies = self.under_way.entry((node, letter.number)).or_default();
                    copies.push_back(place);
                }
                What::Receive { from, letter, .. } => {
                    self.arrive((*from, letter.number), MessageEnd::Received(now_ns));
                }
                What::Lose { number, .. } => self.arrive((node, *number), MessageEnd::Lost),
                _ => {}
            }
        }
        match &event.what {
            What::Fault { name, .. } => {
                let text = match name.target.is_empty() {
                    true => name.fault.clone(),
                    false => format!("{} on {}", name.fault, name.target),
                };
                // The dead neither wait nor are inside.
                if let (Some(node), "kill" | "restart") = (event.node, name.fault.as_str()) {
                    self.end(now_ns, node);
                }
                self.in_force.insert(text.clone(), self.trace.faults.len());
                self.trace.faults.push(FaultSpan {
                    node: event.node,
                    name: text,
                    from_ns: now_ns,
                    until_ns: None,
                });
            }
            What::FaultOver { name } => {
                let text = format!("{} on {}", name.fault, name.target);
                let place = self.in_force.get(&text).or(self.in_force.get(&name.fault));
                if let Some(&place) = place {
                    self.trace.faults[place].until_ns = Some(now_ns);
                }
            }
            _ => {}
        }
    }

    fn begin(&mut self, now_ns: u64, node: NodeId, phase: Phase) {
        self.end(now_ns, node);
        self.doing[node.index()] = Some(self.trace.spans.len());
        self.trace.spans.push(Span {
            node,
            phase,
            from_ns: now_ns,
            until_ns: u64::MAX,
        });
    }

    fn end(&mut self, now_ns: u64, node: NodeId) {
        if let Some(place) = self.doing[node.index()].take() {
            self.trace.spans[place].until_ns = now_ns;
        }
    }

    fn arrive(&mut self, message: (NodeId, u64), end: MessageEnd) {
        let copies = self.under_way.get_mut(&message);
        if let Some(place) = copies.and_then(VecDeque::pop_front) {
            self.trace.messages[place].end = end;
        }
    }

    fn close(mut self, ended_ns: u64) -> Trace {
        for span in &mut self.trace.spans {
            span.until_ns = span.until_ns.min(ended_ns.max(span.from_ns));
        }
        Trace {
            ended_ns,
            ..self.trace
        }
    }
}

/// What part of a trace to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    pub(crate) from_ns: u64,
    pub(crate) until_ns: u64,
    /// The members to show, in the order to show them.
    pub(crate) nodes: Vec<NodeId>,
}

impl Selection {
    /// Whether a member is shown.
    pub(crate) fn has(&self, node: NodeId) -> bool {
        self.nodes.contains(&node)
    }

    /// Whether something that lasts from one time to another is shown, or some of it.
    pub(crate) fn meets(&self, from_ns: u64, until_ns: u64) -> bool {
        from_ns <= self.until_ns && until_ns >= self.from_ns
    }
}

/// Members as a person writes them: `0,2,5-7`.
pub(crate) fn members(text: &str) -> Result<Vec<NodeId>, String> {
    let wrong = || format!("'{text}' names no members; write 0,2,5-7");
    let mut members = BTreeSet::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |word: &str| word.trim().parse::<u32>().map_err(|_| wrong());
        let (first, last) = (number(first)?, number(last)?);
        const MOST: u32 = 10_000;
        if first > last || last - first > MOST {
            return Err(wrong());
        }
        members.extend((first..=last).map(NodeId));
    }
    Ok(members.into_iter().collect())
}

#[cfg(test)]
pub(crate) mod tests {
    use model::event::{FaultName, Letter};

    use super::*;

    pub(crate) fn event(time_ns: u64, node: u32, what: What) -> Event {
        Event {
            time_ns,
            node: Some(NodeId(node)),
            what,
        }
    }

    fn letter(number: u64) -> Box<Letter> {
        Box::new(Letter {
            number,
            kind: "TOKEN".into(),
            ..Letter::default()
        })
    }

    /// 0 is inside, sends the token twice to 1 (a fault doubles it), one copy arrives and one is lost, and 1,
    /// which waits, enters and is killed there.
    pub(crate) fn events() -> Vec<Event> {
        let enter = |index| What::Enter {
            fence: None,
            invited: true,
            witness: None,
            index: Some(index),
        };
        let send = || What::Send {
            to: NodeId(1),
            letter: letter(1),
            charge: None,
            bytes: 1,
        };
        let received = What::Receive {
            from: NodeId(0),
            letter: letter(1),
            delay_ns: 5,
        };
        let lost = What::Lose {
            to: NodeId(1),
            number: 1,
            kind: "TOKEN".into(),
        };
        let kill = What::Fault {
            name: Box::new(FaultName {
                fault: "kill".to_owned(),
                target: "1".to_owned(),
            }),
            remark: None,
        };
        vec![
            event(0, 0, What::Request { priority: 0 }),
            event(0, 0, enter(1)),
            event(3, 1, What::Request { priority: 0 }),
            event(10, 0, What::Release),
            event(10, 0, send()),
            event(10, 0, send()),
            event(15, 1, received),
            event(15, 1, enter(2)),
            event(16, 0, lost),
            event(20, 1, kill),
        ]
    }

    pub(crate) fn trace() -> Trace {
        let mut reader = Reader::new(2);
        events().iter().for_each(|event| reader.take(event));
        reader.close(30)
    }

    #[test]
    fn a_trace_says_who_did_what_and_what_became_of_messages() {
        let trace = trace();
        let spans = trace.spans.iter();
        let spans = spans.map(|span| (span.node.0, span.phase, span.from_ns, span.until_ns));
        let expected = [
            (0, Phase::Waiting, 0, 0),
            (0, Phase::Inside(Some(1)), 0, 10),
            (1, Phase::Waiting, 3, 15),
            (1, Phase::Inside(Some(2)), 15, 20),
        ];
        assert_eq!(spans.collect::<Vec<_>>(), expected);
        let ends = trace.messages.iter().map(|message| message.end);
        let expected = [MessageEnd::Received(15), MessageEnd::Lost];
        assert_eq!(ends.collect::<Vec<_>>(), expected);
        assert_eq!(trace.faults[0].name, "kill on 1");
    }

    #[test]
    fn a_window_has_the_entries_before_and_after_a_moment() {
        let trace = trace();
        let (from_ns, until_ns) = trace.around(12);
        assert!(from_ns == 0 && until_ns >= 20, "{from_ns} {until_ns}");
        assert_eq!(Trace::default().around(0), (0, 1));
    }

    #[test]
    fn members_are_numbers_and_ranges() {
        let numbers = |text| members(text).map(|all| all.iter().map(|node| node.0).collect());
        assert_eq!(numbers("0,2,5-7"), Ok(vec![0, 2, 5, 6, 7]));
        for wrong in ["", "a", "3-1", "1,,2", "0-4000000000"] {
            assert!(members(wrong).is_err(), "{wrong}");
        }
    }
}
