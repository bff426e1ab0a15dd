//! Raymond's tree: one token moves along the edges, and each member knows only in which direction it is.
//!
//! Build it with: rustc -O --edition 2021 -o raymond examples/raymond.rs
//! Run it with:   orchestrator run external -n 7 -- ./raymond
use std::collections::VecDeque;
use std::io::{self, BufRead, Write};

#[derive(Default)]
struct Raymond {
    me: u32,
    /// The neighbour towards the token, or ourselves.
    holder: u32,
    inside: bool,
    /// A request to the holder is unanswered.
    asked: bool,
    queue: VecDeque<u32>,
    effects: Vec<String>,
}

impl Raymond {
    fn send(&mut self, to: u32, kind: &str) {
        self.effects
            .push(format!(r#"{{"send":{{"to":{to},"message":{{"kind":"{kind}"}}}}}}"#));
    }

    /// Passes the token on, or goes in; then asks for it if somebody is still queued.
    fn settle(&mut self) {
        if self.holder == self.me && !self.inside {
            if let Some(first) = self.queue.pop_front() {
                self.holder = first;
                self.asked = false;
                if first == self.me {
                    self.inside = true;
                    self.effects.push(r#"{"enter":{}}"#.to_owned());
                } else {
                    self.send(first, "TOKEN");
                }
            }
        }
        if self.holder != self.me && !self.queue.is_empty() && !self.asked {
            self.asked = true;
            self.send(self.holder, "REQUEST");
        }
    }
}

fn number(line: &str, field: &str) -> u32 {
    let (_, rest) = line.split_once(&format!("\"{field}\":")).expect("the field is there");
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().expect("a number")
}

fn main() {
    let mut node = Raymond::default();
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let mut declares = "";
        if line.starts_with(r#"{"init""#) {
            node.me = number(&line, "me");
            // When it is first asked what it is, there is no tree yet.
            node.holder = if line.contains("towards_holder") { number(&line, "towards_holder") } else { 0 };
            declares = r#","declares":{"kinds":["REQUEST","TOKEN"],"graph":"tree","token":"TOKEN"}"#;
        } else if line.starts_with(r#"{"request""#) {
            node.queue.push_back(node.me);
        } else if line.starts_with(r#"{"release""#) {
            node.inside = false;
        } else if line.contains("\"TOKEN\"") {
            node.holder = node.me;
        } else {
            node.queue.push_back(number(&line, "from"));
        }
        node.settle();
        println!(r#"{{"do":[{}]{declares}}}"#, node.effects.join(","));
        node.effects.clear();
        io::stdout().flush().expect("somebody reads");
    }
}
