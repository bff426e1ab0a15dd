//! A trace for [Perfetto](https://ui.perfetto.dev): each member is a process with tracks for when it waited
//! and was inside and for its messages, which are connected by flows; faults have a track each.
//!
//! The file is a protobuf message, `perfetto.protos.Trace`, of which only a few fields are needed; they are
//! written here by their numbers:
//!
//! ```text
//! Trace           1 packet
//! TracePacket     8 timestamp · 10 trusted_packet_sequence_id · 11 track_event · 60 track_descriptor
//! TrackDescriptor 1 uuid · 2 name · 3 process (1 pid · 6 process_name) · 5 parent_uuid
//! TrackEvent      9 type · 11 track_uuid · 23 name · 47 flow_ids · 48 terminating_flow_ids
//! ```

use std::collections::BTreeMap;

use super::{MessageEnd, Phase, Selection, Span, Trace};

/// What a track event is: the values of `TrackEvent.Type`.
#[derive(Clone, Copy)]
enum Type {
    SliceBegin = 1,
    SliceEnd = 2,
    Instant = 3,
}

/// All packets come from one writer.
const SEQUENCE: u64 = 1;

/// What kinds of tracks a member has.
#[derive(Clone, Copy)]
enum Track {
    /// The process itself.
    Member = 0,
    Waiting = 1,
    Inside = 2,
    Messages = 3,
}

/// Room for this number of tracks of each member.
const TRACKS: u64 = 4;
/// The tracks of faults come after those of all members.
const FAULTS: u64 = 1 << 40;

fn uuid(node: u32, track: Track) -> u64 {
    (u64::from(node) + 1) * TRACKS + track as u64
}

/// The trace as bytes of a `perfetto.protos.Trace`, the part that is selected.
pub(crate) fn bytes(trace: &Trace, selection: &Selection) -> Vec<u8> {
    let mut file = File::default();
    let shown = |from_ns: u64, until_ns: u64| selection.meets(from_ns, until_ns);
    for node in &selection.nodes {
        let member = uuid(node.0, Track::Member);
        file.describe(member, None, &format!("member {node}"), Some(node.0));
        for (track, name) in [
            (Track::Waiting, "waiting"),
            (Track::Inside, "inside"),
            (Track::Messages, "messages"),
        ] {
            file.describe(uuid(node.0, track), Some(member), name, None);
        }
    }
    let mut events = Vec::new();
    for span in trace.spans.iter().filter(|span| selection.has(span.node)) {
        let Span {
            node,
            phase,
            from_ns,
            until_ns,
        } = *span;
        if !shown(from_ns, until_ns) {
            continue;
        }
        let (track, name) = match phase {
            Phase::Waiting => (Track::Waiting, "waiting".to_owned()),
            Phase::Inside(None) => (Track::Inside, "inside".to_owned()),
            Phase::Inside(Some(index)) => (Track::Inside, format!("inside, entry {index}")),
        };
        slice(&mut events, uuid(node.0, track), &name, from_ns, until_ns);
    }
    let both =
        |message: &&super::Message| selection.has(message.link.0) && selection.has(message.link.1);
    for (flow, message) in (1..).zip(trace.messages.iter().filter(both)) {
        let sent_ns = message.sent_ns;
        let received_ns = match message.end {
            MessageEnd::Received(at_ns) => Some(at_ns),
            MessageEnd::Lost | MessageEnd::UnderWay => None,
        };
        if !shown(sent_ns, received_ns.unwrap_or(sent_ns)) {
            continue;
        }
        let fate = match message.end {
            MessageEnd::Received(_) => "",
            MessageEnd::Lost => " (lost)",
            MessageEnd::UnderWay => " (under way at the end)",
        };
        let ((from, to), kind) = (message.link, &message.kind);
        events.push(TrackEvent {
            time_ns: sent_ns,
            what: Type::Instant,
            track: uuid(from.0, Track::Messages),
            name: format!("sends {kind} to {to}{fate}"),
            flow: received_ns.map(|_| Flow::Begins(flow)),
        });
        events.extend(received_ns.map(|time_ns| TrackEvent {
            time_ns,
            what: Type::Instant,
            track: uuid(to.0, Track::Messages),
            name: format!("receives {kind} from {from}"),
            flow: Some(Flow::Ends(flow)),
        }));
    }
    // Faults may overlap, and slices of one track must not: each has a track of its own, of its member if it
    // strikes one.
    let mut tracks = BTreeMap::new();
    for fault in &trace.faults {
        let until_ns = fault.until_ns.unwrap_or(fault.from_ns);
        let elsewhere = fault.node.is_some_and(|node| !selection.has(node));
        if elsewhere || !shown(fault.from_ns, until_ns) {
            continue;
        }
        let next = FAULTS + tracks.len() as u64;
        let track = *tracks.entry(&fault.name).or_insert_with(|| {
            let member = fault.node.map(|node| uuid(node.0, Track::Member));
            file.describe(next, member, &fault.name, None);
            next
        });
        slice(&mut events, track, &fault.name, fault.from_ns, until_ns);
    }
    // What ends at a moment makes room for what begins then.
    events.sort_by_key(|event| (event.time_ns, !matches!(event.what, Type::SliceEnd)));
    for event in &events {
        file.event(event);
    }
    file.bytes
}

/// Something lasts from one time to another, or happens at once.
fn slice(events: &mut Vec<TrackEvent>, track: u64, name: &str, from_ns: u64, until_ns: u64) {
    let event = |time_ns, what| TrackEvent {
        time_ns,
        what,
        track,
        name: name.to_owned(),
        flow: None,
    };
    if until_ns <= from_ns {
        events.push(event(from_ns, Type::Instant));
        return;
    }
    events.push(event(from_ns, Type::SliceBegin));
    events.push(event(until_ns, Type::SliceEnd));
}

struct TrackEvent {
    time_ns: u64,
    what: Type,
    track: u64,
    name: String,
    flow: Option<Flow>,
}

#[derive(Clone, Copy)]
enum Flow {
    Begins(u64),
    Ends(u64),
}

/// A trace in the making.
#[derive(Default)]
struct File {
    bytes: Vec<u8>,
}

impl File {
    /// Says what a track is called, and which it belongs to; a member's own is that of a process.
    fn describe(&mut self, uuid: u64, parent: Option<u64>, name: &str, process: Option<u32>) {
        let mut track = Fields::default();
        track.number(1, uuid);
        match process {
            None => track.text(2, name),
            Some(node) => {
                let mut process = Fields::default();
                process.number(1, u64::from(node) + 1);
                process.text(6, name);
                track.message(3, &process);
            }
        }
        if let Some(parent) = parent {
            track.number(5, parent);
        }
        let mut packet = Fields::default();
        packet.number(10, SEQUENCE);
        packet.message(60, &track);
        self.packet(&packet);
    }

    fn event(&mut self, event: &TrackEvent) {
        let mut track = Fields::default();
        track.number(9, event.what as u64);
        track.number(11, event.track);
        if !matches!(event.what, Type::SliceEnd) {
            track.text(23, &event.name);
        }
        match event.flow {
            Some(Flow::Begins(flow)) => track.fixed(47, flow),
            Some(Flow::Ends(flow)) => track.fixed(48, flow),
            None => {}
        }
        let mut packet = Fields::default();
        packet.number(8, event.time_ns);
        packet.number(10, SEQUENCE);
        packet.message(11, &track);
        self.packet(&packet);
    }

    fn packet(&mut self, packet: &Fields) {
        let mut fields = Fields {
            bytes: std::mem::take(&mut self.bytes),
        };
        fields.message(1, packet);
        self.bytes = fields.bytes;
    }
}

/// The fields of a protobuf message as bytes.
#[derive(Default)]
struct Fields {
    bytes: Vec<u8>,
}

impl Fields {
    /// A whole number of varying length.
    fn number(&mut self, field: u64, value: u64) {
        self.varint(field << 3);
        self.varint(value);
    }

    /// A whole number of eight bytes.
    fn fixed(&mut self, field: u64, value: u64) {
        self.varint(field << 3 | 1);
        self.bytes.extend(value.to_le_bytes());
    }

    fn text(&mut self, field: u64, text: &str) {
        self.delimited(field, text.as_bytes());
    }

    fn message(&mut self, field: u64, message: &Fields) {
        self.delimited(field, &message.bytes);
    }

    fn delimited(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.bytes.extend(bytes);
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use algorithms::NodeId;

    use super::super::tests::trace;
    use super::*;

    #[test]
    fn numbers_are_written_as_protobuf_has_them() {
        let mut fields = Fields::default();
        fields.number(1, 150);
        fields.text(2, "testing");
        fields.fixed(47, 1);
        let expected = [
            &[0x08, 0x96, 0x01, 0x12, 0x07][..],
            b"testing",
            &[0xf9, 0x02, 1, 0, 0, 0, 0, 0, 0, 0],
        ];
        assert_eq!(fields.bytes, expected.concat());
    }

    #[test]
    fn only_what_is_selected_is_written() {
        let of = |nodes: &[u32], from_ns, until_ns| {
            let selection = Selection {
                from_ns,
                until_ns,
                nodes: nodes.iter().copied().map(NodeId).collect(),
            };
            String::from_utf8_lossy(&bytes(&trace(), &selection)).into_owned()
        };
        let whole = of(&[0, 1], 0, 30);
        for words in [
            "member 1",
            "inside, entry 2",
            "sends TOKEN to 1",
            "sends TOKEN to 1 (lost)",
            "receives TOKEN from 0",
            "kill on 1",
        ] {
            assert!(whole.contains(words), "{words}");
        }
        let one = of(&[0], 0, 30);
        assert!(!one.contains("member 1") && !one.contains("TOKEN"), "{one}");
        let late = of(&[0, 1], 17, 30);
        assert!(late.contains("inside, entry 2") && !late.contains("entry 1"));
    }
}
