//! How a node wants to be drawn: where its pointers lead, which queues and sets it keeps, what it has.
//!
//! A page that shows a run draws every algorithm from this, so an algorithm says in a few lines what a
//! reader of its paper would draw:
//!
//! ```text
//! fn draw(&self, view: &mut View) {
//!     view.points_to("holder", self.holder);
//!     view.queue("request_q", &self.request_q);
//!     view.token(self.holder == self.me);
//! }
//! ```

use std::borrow::Borrow;
use std::fmt::Debug;

use serde::Serialize;

use crate::contract::NodeId;

/// One node as it wants to be drawn. Names are those of the paper, or of the node's variables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct View {
    /// Arrows to other nodes, or to the node itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points_to: Vec<Pointer>,
    /// Nodes in an order, the next first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<Nodes>,
    /// Nodes without an order: whom it asked, who voted for it, who is put off.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sets: Vec<Nodes>,
    /// The token, if the node has it: what it carries, in words; empty where it carries nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// What else is to be seen at once: that the node is the controller, that it has asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<&'static str>,
}

/// An arrow from a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pointer {
    /// What it means.
    pub name: &'static str,
    /// Where it leads.
    pub to: NodeId,
}

/// Nodes that a node keeps, under a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Nodes {
    /// What they have in common.
    pub name: &'static str,
    /// The nodes; a set that has none is listed all the same.
    pub nodes: Vec<NodeId>,
}

impl View {
    /// Whether the node shows nothing but its data.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Draws an arrow, if there is somebody to point at.
    pub(crate) fn points_to(&mut self, name: &'static str, to: impl Into<Option<NodeId>>) {
        let pointer = to.into().map(|to| Pointer { name, to });
        self.points_to.extend(pointer);
    }

    /// Draws a queue, the next first.
    pub(crate) fn queue<N: Borrow<NodeId>>(
        &mut self,
        name: &'static str,
        nodes: impl IntoIterator<Item = N>,
    ) {
        self.queues.push(Nodes::new(name, nodes));
    }

    /// Draws a set of nodes.
    pub(crate) fn set<N: Borrow<NodeId>>(
        &mut self,
        name: &'static str,
        nodes: impl IntoIterator<Item = N>,
    ) {
        self.sets.push(Nodes::new(name, nodes));
    }

    /// Draws a token that carries nothing, if it is here.
    pub(crate) fn token(&mut self, is_here: bool) {
        self.token = is_here.then(String::new);
    }

    /// Draws the token with what it carries, if it is here.
    pub(crate) fn token_with(&mut self, carried: Option<impl Debug>) {
        self.token = carried.map(|carried| format!("{carried:?}"));
    }

    /// Draws the token with what it carries, if it is here, and a queue that travels in it.
    pub(crate) fn token_with_queue<'a, T, N, Q>(
        &mut self,
        token: Option<&'a T>,
        name: &'static str,
        queue: impl FnOnce(&'a T) -> Q,
    ) where
        T: Debug,
        N: Borrow<NodeId>,
        Q: IntoIterator<Item = N>,
    {
        self.token_with(token);
        if let Some(token) = token {
            self.queue(name, queue(token));
        }
    }

    /// Marks the node, if that is true of it.
    pub(crate) fn mark(&mut self, name: &'static str, is_true: bool) {
        self.marks.extend(is_true.then_some(name));
    }
}

impl Nodes {
    fn new<N: Borrow<NodeId>>(name: &'static str, nodes: impl IntoIterator<Item = N>) -> Self {
        let nodes = nodes.into_iter().map(|node| *node.borrow()).collect();
        Self { name, nodes }
    }
}

/// The fields of a state in words, `Name { a: 1, b: [2, 3] }`, if that is what it looks like.
pub fn fields(words: &str) -> Option<Vec<&str>> {
    let (_, inner) = words.split_once(" { ")?;
    let inner = inner.strip_suffix(" }")?;
    let (mut depth, mut start, mut fields) = (0_i32, 0, Vec::new());
    for (place, character) in inner.char_indices() {
        match character {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                fields.push(inner[start..place].trim());
                start = place + 1;
            }
            _ => {}
        }
    }
    fields.push(inner[start..].trim());
    Some(fields)
}
