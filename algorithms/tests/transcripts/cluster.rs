//! A small cluster that does what a transcript says, and nothing by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use algorithms::erased::{Group, Input, MessageId};
use algorithms::params::Params;
use algorithms::printed::Printed;
use algorithms::registry;
use algorithms::topology::Shape;
use algorithms::{After, Change, Effect, NodeId, Request, Setting, Timer};

/// Members, the messages between them, and who is where.
pub(crate) struct Cluster {
    group: Box<dyn Group>,
    nodes: u32,
    /// How many may be inside.
    admits: usize,
    /// Messages under way by directed link, in the order they were sent, each with its number.
    links: BTreeMap<Link, Vec<Sent>>,
    sent: u64,
    waiting: BTreeSet<NodeId>,
    inside: BTreeSet<NodeId>,
    timers: BTreeSet<(NodeId, Timer)>,
}

/// From, to.
type Link = (NodeId, NodeId);

/// A message under way and when it was sent, counted from the first.
type Sent = (u64, MessageId);

/// What a command led to, one line each; or what is wrong with the command.
type Happened = Result<Vec<String>, String>;

/// More deliveries than `deliver all` makes before it gives up.
const ENDLESS: u32 = 10_000;

impl Cluster {
    /// Does one command. A transcript begins with `cluster`, and may begin again.
    ///
    /// ```text
    /// cluster NAME nodes=3 [topology=path] [holder=0] [param=NAME=VALUE] [as-printed[=IDS]]
    /// request N [priority=P]      release N      state N      status
    /// deliver A->B [INDEX]        INDEX 1 takes the second message: that is overtaking
    /// deliver all                 in the order of sending, until nothing is under way
    /// lose A->B [INDEX]           duplicate A->B [INDEX]
    /// timer N NAME [TAG]          one that was set goes off
    /// down P at N      up P at N      link-down P at N      link-up P at N
    /// ```
    pub(crate) fn perform(cluster: &mut Option<Self>, command: &str) -> Happened {
        let words: Vec<_> = command.split_whitespace().collect();
        if let ["cluster", name, options @ ..] = words.as_slice() {
            *cluster = Some(Self::new(name, options)?);
            return Ok(Vec::new());
        }
        let cluster = cluster
            .as_mut()
            .ok_or("begin with 'cluster NAME nodes=3'")?;
        match words.as_slice() {
            ["request", node] => cluster.request(node, 0),
            ["request", node, option] => {
                let priority = option.strip_prefix("priority=").ok_or("write priority=P")?;
                cluster.request(node, number(priority)?)
            }
            ["release", node] => cluster.release(node),
            ["deliver", "all"] => cluster.deliver_all(),
            ["deliver", link] => cluster.deliver(link, 0),
            ["deliver", link, index] => cluster.deliver(link, number(index)?),
            ["lose", link] => cluster.lose(link, 0),
            ["lose", link, index] => cluster.lose(link, number(index)?),
            ["duplicate", link] => cluster.duplicate(link, 0),
            ["duplicate", link, index] => cluster.duplicate(link, number(index)?),
            ["timer", node, name] => cluster.timer(node, name, 0),
            ["timer", node, name, tag] => cluster.timer(node, name, number(tag)?),
            [what, peer, "at", node] => cluster.change(what, peer, node),
            ["state", node] => {
                let node = cluster.node(node)?;
                Ok(vec![cluster.group.describe_state(node)])
            }
            ["status"] => Ok(cluster.status()),
            _ => Err("no such command".to_owned()),
        }
    }

    fn new(name: &str, options: &[&str]) -> Result<Self, String> {
        let info = registry::find(name).ok_or("no such algorithm")?;
        let (mut nodes, mut holder, mut shape) = (None, NodeId(0), None);
        let mut given = BTreeMap::new();
        let mut printed = Printed::repaired();
        for option in options {
            match option.split_once('=') {
                Some(("nodes", value)) => nodes = Some(number(value)?),
                Some(("holder", value)) => holder = NodeId(number(value)?),
                Some(("topology", value)) => {
                    shape = Some(value.parse::<Shape>().map_err(|error| error.to_string())?);
                }
                Some(("param", value)) => {
                    let (name, value) = value.split_once('=').ok_or("write param=NAME=VALUE")?;
                    given.insert(name.to_owned(), value.to_owned());
                }
                Some(("as-printed", ids)) => {
                    let ids: Vec<_> = ids.split(',').collect();
                    printed = info.as_printed(&ids).map_err(|error| error.to_string())?;
                }
                None if *option == "as-printed" => printed = Printed::all(info.more.defects),
                _ => return Err(format!("no such option: {option}")),
            }
        }
        let nodes = nodes.ok_or("how many? write nodes=3")?;
        let shape = shape.unwrap_or_else(|| Shape::default_for(info.graph, nodes));
        let topology = shape.build(nodes, 0).map_err(|error| error.to_string())?;
        let fits = topology.fits(info.graph, holder);
        fits.map_err(|error| format!("{name} {error}"))?;
        let params = Params::resolve(info.name, info.more.params, &given);
        let params = params.map_err(|error| error.to_string())?;
        if let Some(why) = (info.more.refuses)(&params, nodes) {
            return Err(why);
        }
        let machine = info.machine(&params, &printed);
        let admits = (info.more.admits)(&params) as usize;
        let bound = Duration::from_millis(50);
        let setting = Setting::new(topology, holder, params, printed, bound);
        Ok(Self {
            group: machine.group(&setting, 0..nodes),
            nodes,
            admits,
            links: BTreeMap::new(),
            sent: 0,
            waiting: BTreeSet::new(),
            inside: BTreeSet::new(),
            timers: BTreeSet::new(),
        })
    }

    fn request(&mut self, node: &str, priority: u32) -> Happened {
        let node = self.node(node)?;
        if self.inside.contains(&node) || !self.waiting.insert(node) {
            return Err(format!("{node} has asked already"));
        }
        Ok(self.happen(node, Input::Request(Request { priority })))
    }

    fn release(&mut self, node: &str) -> Happened {
        let node = self.node(node)?;
        if !self.inside.remove(&node) {
            return Err(format!("{node} is not inside"));
        }
        Ok(self.happen(node, Input::Release))
    }

    fn deliver(&mut self, link: &str, index: usize) -> Happened {
        let (link, under_way) = self.link(link, index)?;
        let (_, message) = under_way.remove(index);
        Ok(self.arrive(link, message))
    }

    fn lose(&mut self, link: &str, index: usize) -> Happened {
        let (_, under_way) = self.link(link, index)?;
        let (_, message) = under_way.remove(index);
        self.group.discard(message);
        Ok(Vec::new())
    }

    fn duplicate(&mut self, link: &str, index: usize) -> Happened {
        let ((from, to), under_way) = self.link(link, index)?;
        let (_, message) = under_way[index];
        let again = self.group.duplicate(message);
        Ok(vec![self.send(from, to, again)])
    }

    /// A link that is written `0->1` and has a message of that index under way.
    fn link(&mut self, link: &str, index: usize) -> Result<(Link, &mut Vec<Sent>), String> {
        let (from, to) = link.split_once("->").ok_or("a link is written 0->1")?;
        let link = (self.node(from)?, self.node(to)?);
        let under_way = self.links.get_mut(&link);
        let under_way = under_way.filter(|under_way| index < under_way.len());
        let under_way = under_way.ok_or("there is no such message under way")?;
        Ok((link, under_way))
    }

    fn deliver_all(&mut self) -> Happened {
        let mut happened = Vec::new();
        for _ in 0..ENDLESS {
            // The first of a link was sent before the others of it.
            let firsts = self.links.iter().filter_map(|(&link, under_way)| {
                let &(number, _) = under_way.first()?;
                Some((number, link))
            });
            let Some((_, link)) = firsts.min() else {
                return Ok(happened);
            };
            let under_way = self.links.get_mut(&link).expect("the link was just there");
            let (_, message) = under_way.remove(0);
            happened.extend(self.arrive(link, message));
        }
        Err(format!(
            "there is no end to it: {ENDLESS} deliveries and more to come"
        ))
    }

    fn arrive(&mut self, (from, to): Link, message: MessageId) -> Vec<String> {
        let what = self.group.describe(message);
        let mut happened = vec![format!("> {to} gets {what} from {from}")];
        happened.extend(self.happen(to, Input::Receive { from, message }));
        happened
    }

    fn timer(&mut self, node: &str, name: &str, tag: u64) -> Happened {
        let node = self.node(node)?;
        let set = self.timers.iter().copied();
        let named =
            |(at, timer): &(NodeId, Timer)| (*at, timer.name, timer.tag) == (node, name, tag);
        let due = set.clone().find(named).ok_or("that timer is not set")?;
        self.timers.remove(&due);
        Ok(self.happen(node, Input::Timer(due.1)))
    }

    fn change(&mut self, what: &str, peer: &str, node: &str) -> Happened {
        let (peer, node) = (self.node(peer)?, self.node(node)?);
        let input = match what {
            "down" => Input::Peer {
                peer,
                change: Change::Down,
            },
            "up" => Input::Peer {
                peer,
                change: Change::Up,
            },
            "link-down" => Input::Link {
                neighbour: peer,
                change: Change::Down,
            },
            "link-up" => Input::Link {
                neighbour: peer,
                change: Change::Up,
            },
            _ => return Err("no such command".to_owned()),
        };
        Ok(self.happen(node, input))
    }

    /// Lets an event happen and does what the member wants done.
    fn happen(&mut self, node: NodeId, input: Input) -> Vec<String> {
        let mut effects = Vec::new();
        self.group.handle(node, input, &mut effects);
        let lines = effects.into_iter();
        lines.map(|effect| self.take_effect(node, effect)).collect()
    }

    fn take_effect(&mut self, node: NodeId, effect: Effect<MessageId>) -> String {
        let paid_by = |charge: Option<NodeId>| match charge {
            Some(origin) => format!(" for {origin}"),
            None => String::new(),
        };
        match effect {
            Effect::Send {
                to,
                message,
                charge,
            } => format!("{}{}", self.send(node, to, message), paid_by(charge)),
            Effect::Post { message } => self.send(node, node, message),
            Effect::Enter { fence } => self.enter(node, fence),
            Effect::SetTimer { timer, after } => {
                self.timers.insert((node, timer));
                let when = match after {
                    After::Exactly(span) | After::Again(span) => format!("after {span:?}"),
                    After::Uniform(least, most) => format!("after {least:?} to {most:?}"),
                };
                format!("> {node} sets {} {} {when}", timer.name, timer.tag)
            }
            Effect::CancelTimer { timer } => {
                self.timers.remove(&(node, timer));
                format!("> {node} cancels {} {}", timer.name, timer.tag)
            }
            Effect::Note {
                name,
                value,
                charge,
            } => format!("> {node} notes {name} = {value}{}", paid_by(charge)),
            Effect::ProtocolError { why } | Effect::Fail { why } => format!("! {node}: {why}"),
        }
    }

    fn send(&mut self, from: NodeId, to: NodeId, message: MessageId) -> String {
        self.sent += 1;
        let link = self.links.entry((from, to)).or_default();
        link.push((self.sent, message));
        format!("{from}->{to} {}", self.group.describe(message))
    }

    fn enter(&mut self, node: NodeId, fence: Option<u64>) -> String {
        let invited = self.waiting.remove(&node);
        let others = list(&self.inside);
        self.inside.insert(node);
        let number = fence.map_or_else(String::new, |fence| format!(" as number {fence}"));
        let crowded = self.inside.len() > self.admits;
        match (crowded, invited, others.as_str()) {
            (false, true, "") => format!("> {node} enters{number}"),
            (false, true, others) => format!("> {node} enters{number}, with {others} inside"),
            (false, false, _) => format!("! {node} enters uninvited"),
            (true, _, others) => format!("! {node} enters, with {others} inside"),
        }
    }

    fn status(&self) -> Vec<String> {
        let under_way: usize = self.links.values().map(Vec::len).sum();
        let mut lines = Vec::new();
        if !self.inside.is_empty() {
            lines.push(format!("inside: {}", list(&self.inside)));
        }
        if !self.waiting.is_empty() {
            lines.push(format!("waiting: {}", list(&self.waiting)));
        }
        for (&(from, to), messages) in &self.links {
            for &(_, message) in messages {
                lines.push(format!("{from}->{to} {}", self.group.describe(message)));
            }
        }
        let at_rest = under_way == 0 && self.inside.is_empty() && self.timers.is_empty();
        if at_rest && !self.waiting.is_empty() {
            lines.push("deadlock: nothing is under way".to_owned());
        }
        lines
    }

    fn node(&self, text: &str) -> Result<NodeId, String> {
        let node = NodeId(number(text)?);
        match node.0 < self.nodes {
            true => Ok(node),
            false => Err(format!("there is no node {node}")),
        }
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("'{text}' is no number"))
}

fn list(nodes: &BTreeSet<NodeId>) -> String {
    let numbers: Vec<_> = nodes.iter().map(NodeId::to_string).collect();
    numbers.join(" and ")
}
