//! An algorithm that somebody else wrote, as a program in any language.
//!
//! What the registry says of an algorithm of ours, a program says of itself in its [`Declaration`]; from
//! it [`info`] makes the same entry. How a program is started and spoken to is no business of this crate:
//! what can do that is the [`Driver`] of the process, and is named once, when the process begins.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::erased::{Atlas, Group, Machine};
use crate::params::{Domain, Param, Value};
use crate::registry::{
    AlgorithmInfo, Family, Graph, LinkContract, LinkOrder, MachineSource, More, Sizes,
};
use crate::setup::Setting;

/// The name under which programs run.
pub const NAME: &str = "external";

/// The kind under which the messages of a program are counted that names no kinds.
pub const ANY_KIND: &str = "MESSAGE";

/// A program that is an algorithm: how it is started, and what it says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The directory in which it is started.
    pub directory: String,
    /// How long it may take to answer, in nanoseconds.
    pub answer_within_ns: u64,
    /// What it may take of the machine.
    #[serde(default)]
    pub limits: Limits,
    /// What it says of itself.
    pub declares: Declaration,
}

/// What one program may take of the machine; nothing is limited by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of memory that it and what it starts may have, all together.
    pub memory_bytes: Option<u64>,
    /// Processes that it and what it starts may be, all together.
    pub processes: Option<u32>,
}

/// What a program says of itself in its answer to `init`, or the scenario of it: what the registry says
/// of an algorithm of ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Declaration {
    /// What it is called, in words.
    pub title: String,
    /// The kinds of its messages; without any all are counted as one.
    pub kinds: Vec<String>,
    /// The graph that it runs on.
    pub graph: Graph,
    /// Whether it needs links that keep the order of messages.
    pub order: LinkOrder,
    /// What a cut link does to its messages.
    pub links: LinkContract,
    /// How many it admits at once.
    pub k: u32,
    /// The kind of message that carries the token, where there is one.
    pub token: Option<String>,
    /// How many crashes it survives.
    pub crashes: u32,
    /// The events that it wants to be told of besides those of its own.
    pub wants: Vec<Wanted>,
    /// Whether a member that waits tries again and again.
    pub retries: bool,
    /// The smallest number of nodes that it runs on.
    pub least_nodes: u32,
    /// What its notes mean, by their names.
    pub notes: BTreeMap<String, String>,
    /// What an entry costs in messages, where it says so.
    pub messages_per_entry: Option<Cost>,
    /// Whether it answers `save` and `load`, so that it can be explored.
    pub saves: bool,
}

impl Default for Declaration {
    fn default() -> Self {
        Self {
            title: String::new(),
            kinds: Vec::new(),
            graph: Graph::Complete,
            order: LinkOrder::Fifo,
            links: LinkContract::Patient,
            k: 1,
            token: None,
            crashes: 0,
            wants: Vec::new(),
            retries: false,
            least_nodes: 1,
            notes: BTreeMap::new(),
            messages_per_entry: None,
            saves: false,
        }
    }
}

/// An event that a program is told of only if it wants to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wanted {
    /// A member died.
    Peer,
    /// A link went down or came up.
    Link,
}

/// What an entry costs, as an expression such as `2*(nodes-1)`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cost {
    /// It costs exactly that, in every run without faults.
    Exactly(String),
    /// It never costs more.
    AtMost(String),
}

impl Declaration {
    /// Says what is wrong with it, if anything is.
    pub fn check(&self) -> Result<(), String> {
        /// More kinds than this are a mistake: each is a row of `messages.csv` for every link.
        const MOST_KINDS: usize = 64;
        /// Names are columns of tables.
        const LONGEST_NAME: usize = 64;
        if self.kinds.len() > MOST_KINDS {
            let many = self.kinds.len();
            return Err(format!(
                "{many} kinds of messages; there may be {MOST_KINDS}"
            ));
        }
        for (place, kind) in self.kinds.iter().enumerate() {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            if kind.is_empty() || kind.len() > LONGEST_NAME || !kind.chars().all(plain) {
                return Err(format!(
                    "the kind '{kind}' is not 1 to {LONGEST_NAME} letters, digits, - and _"
                ));
            }
            if self.kinds[..place].contains(kind) {
                return Err(format!("the kind '{kind}' is there twice"));
            }
        }
        if let Some(token) = &self.token
            && !self.kinds.contains(token)
        {
            return Err(format!("the token '{token}' is not among the kinds"));
        }
        if self.k == 0 {
            return Err("k is 0, so nobody could ever enter; write 1".to_owned());
        }
        if self.least_nodes == 0 {
            return Err("least_nodes is 0; write 1".to_owned());
        }
        Ok(())
    }
}

/// Starts programs and speaks to them.
pub trait Driver: Sync {
    /// One program for each of these members.
    fn group(&self, of: External, setting: &Setting, members: Range<u32>) -> Box<dyn Group>;

    /// The local states of a small world, asked of programs that save and load.
    fn atlas(&self, of: External, setting: Setting) -> Box<dyn Atlas>;
}

static DRIVER: OnceLock<&'static dyn Driver> = OnceLock::new();

/// From now on this drives all programs of this process. The first call decides.
pub fn drive_with(driver: &'static dyn Driver) {
    // The same driver may be named again, for example by every test of one process.
    let _ = DRIVER.set(driver);
}

/// A program as the engines see it: a machine like that of any algorithm. It is kept as long as the
/// process lives, as the registry is.
#[derive(Clone, Copy, Debug)]
pub struct External {
    /// How the program is started, and what it says of itself.
    pub program: &'static Program,
    kinds: &'static [&'static str],
}

impl External {
    fn driver(&self) -> &'static dyn Driver {
        let driver = DRIVER.get().copied();
        driver.expect("a process that runs programs names their driver when it begins")
    }
}

impl Machine for External {
    fn group(&self, setting: &Setting, members: Range<u32>) -> Box<dyn Group> {
        self.driver().group(*self, setting, members)
    }

    fn atlas(&self, setting: Setting) -> Box<dyn Atlas> {
        self.driver().atlas(*self, setting)
    }

    fn kinds(&self) -> &'static [&'static str] {
        self.kinds
    }

    fn wants_peer_events(&self) -> bool {
        self.program.declares.wants.contains(&Wanted::Peer)
    }

    fn wants_link_events(&self) -> bool {
        self.program.declares.wants.contains(&Wanted::Link)
    }
}

/// The entry that the registry would have of this program. It is kept as long as the process lives.
///
/// Its parameters are those in `params`, and `k`: a program takes whatever it is given.
pub fn info(program: Program, params: &[&str]) -> &'static AlgorithmInfo {
    let program: &'static Program = Box::leak(Box::new(program));
    let declares = &program.declares;
    let kinds = match declares.kinds.as_slice() {
        [] => vec![ANY_KIND],
        kinds => kinds.iter().map(String::as_str).collect(),
    };
    let machine = External {
        program,
        kinds: Box::leak(kinds.into_boxed_slice()),
    };
    let notes = declares.notes.iter();
    let notes = notes.map(|(name, meaning)| (name.as_str(), meaning.as_str()));
    let notes = notes.collect::<Vec<_>>().into_boxed_slice();
    let named = params.iter().filter(|name| **name != "k");
    let named = named.map(|name| Param {
        name: String::leak((*name).to_owned()),
        domain: Domain::Text { default: "" },
        help: "what the program makes of it",
        examples: &[],
    });
    let k = Param::integer(
        "k",
        1..=u32::MAX.into(),
        declares.k.into(),
        "how many are admitted",
    );
    let params = std::iter::once(k).chain(named).collect::<Vec<_>>();
    Box::leak(Box::new(AlgorithmInfo {
        name: NAME,
        title: match declares.title.as_str() {
            "" => "A program of your own",
            title => title,
        },
        paper: "",
        family: Family::Permission,
        cost: "",
        explanation: "A program in any language: docs/protocol.md says what it is asked and answers.",
        graph: declares.graph,
        link_order: declares.order,
        link_contract: declares.links,
        token: declares.token.as_deref(),
        // What the program itself takes is nobody's estimate.
        state_bytes: |_| 0,
        machine: MachineSource::Program(machine),
        more: More {
            sizes: Sizes {
                least: declares.least_nodes,
                fits: None,
            },
            params: Box::leak(params.into_boxed_slice()),
            admits: |params| match params.get("k") {
                Some(Value::Integer(k)) => u32::try_from(*k).unwrap_or(u32::MAX),
                _ => 1,
            },
            retries: match declares.retries {
                true => |_| true,
                false => |_| false,
            },
            notes: Box::leak(notes),
            crashes: declares.crashes,
            ..More::NONE
        },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(declares: Declaration) -> Program {
        Program {
            command: vec!["lock".to_owned()],
            directory: "/".to_owned(),
            answer_within_ns: 1,
            limits: Limits::default(),
            declares,
        }
    }

    #[test]
    fn what_a_program_declares_is_its_entry() {
        let declares = Declaration {
            kinds: vec!["REQUEST".to_owned(), "TOKEN".to_owned()],
            token: Some("TOKEN".to_owned()),
            graph: Graph::Tree,
            k: 2,
            wants: vec![Wanted::Peer],
            retries: true,
            ..Declaration::default()
        };
        let info = info(program(declares), &["speed"]);
        let params = info.choose(&[("speed", "7")]).expect("it is named");
        assert_eq!(
            info.machine(&params, &crate::printed::Printed::repaired())
                .kinds(),
            ["REQUEST", "TOKEN"]
        );
        assert_eq!((info.token, info.graph), (Some("TOKEN"), Graph::Tree));
        assert_eq!((info.more.admits)(&params), 2);
        assert!((info.more.retries)(&params));
        assert!(info.wants_peer_events() && !info.wants_link_events());
        assert!(info.choose(&[("haste", "7")]).is_err(), "it was not given");
    }

    #[test]
    fn a_program_that_names_no_kinds_has_one() {
        let info = info(program(Declaration::default()), &[]);
        let machine = info.machine(&info.defaults(), &crate::printed::Printed::repaired());
        assert_eq!(machine.kinds(), [ANY_KIND]);
    }

    #[test]
    fn a_declaration_that_contradicts_itself_is_refused() {
        let refused = |declares: Declaration| declares.check().expect_err("it is wrong");
        let kinds = |kinds: &[&str]| kinds.iter().map(|kind| (*kind).to_owned()).collect();
        let twice = Declaration {
            kinds: kinds(&["A", "B", "A"]),
            ..Declaration::default()
        };
        assert!(refused(twice).contains("'A' is there twice"));
        let unknown = Declaration {
            kinds: kinds(&["A"]),
            token: Some("B".to_owned()),
            ..Declaration::default()
        };
        assert!(refused(unknown).contains("the token 'B'"));
        let spaced = Declaration {
            kinds: kinds(&["A B"]),
            ..Declaration::default()
        };
        assert!(refused(spaced).contains("'A B'"));
        let nobody = Declaration {
            k: 0,
            ..Declaration::default()
        };
        assert!(refused(nobody).contains("k is 0"));
    }
}
