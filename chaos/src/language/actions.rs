//! A whole fault: its time, what happens, and the rest.

use super::cursor::{Cursor, Token};
use super::error::FaultError;
use super::schedule::Clauses;
use super::scope::{Part, Scope};
use super::spec::{Action, Choice, FaultSpec, PartitionGroups};
use crate::churn::{Churn, SHORTEST_CYCLE_NS};
use crate::fault::InFlight;
use crate::partition::NAMED;
use crate::process_fault::{self, AnyProcessFault};
use crate::reach::Reach;
use crate::span::show_ns;

impl FaultSpec {
    /// Reads a fault; what the scope knows is checked as well.
    pub fn parse(text: &str, scope: &Scope<'_>) -> Result<Self, FaultError> {
        let mut cursor = Cursor::new(text, scope);
        let mut clauses = Clauses::default();
        clauses.take(&mut cursor)?;
        let action = cursor.action()?;
        Self::parse_rest(cursor, clauses, action)
    }

    /// Reads a fault of all links, from the beginning of the run, after its word: `5%` of `loss`.
    pub fn of_all_links(word: &str, text: &str) -> Result<Self, FaultError> {
        let scope = Scope::default();
        let mut cursor = Cursor::new(text, &scope);
        let fault = cursor.link_fault(word)?;
        let fault = fault.ok_or_else(|| {
            cursor.error(
                0..text.len(),
                format!("'{word}' is no fault of links"),
                "write loss",
            )
        })?;
        let reach = Reach::All;
        let action = Action::Links { fault, reach };
        let spec = Self::parse_rest(cursor, Clauses::from_the_beginning(), action)?;
        match &spec.action {
            Action::Links { reach, .. } if *reach != Reach::All => Err(FaultError {
                text: text.to_owned(),
                place: text.find(" on ").map_or(0, |at| at + 1)..text.len(),
                wrong: "this is for all links".to_owned(),
                right: format!("leave it out, or write --fault \"at 0s {word} {text}\""),
            }),
            _ => Ok(spec),
        }
    }

    /// Reads what follows the action.
    fn parse_rest(
        mut cursor: Cursor<'_>,
        mut clauses: Clauses,
        mut action: Action,
    ) -> Result<Self, FaultError> {
        let mut rest = Rest::default();
        clauses.take(&mut cursor)?;
        while rest.take(&mut cursor, &mut action)? {
            clauses.take(&mut cursor)?;
        }
        cursor.end("end here, or go on with on, at, every, for, until or when")?;
        let schedule = clauses.schedule(&cursor, &action)?;
        Ok(Self { schedule, action })
    }
}

/// What may follow a fault, among its times: on which links, and what becomes of datagrams under way.
#[derive(Default)]
struct Rest {
    on: bool,
    in_flight: bool,
}

impl Rest {
    /// Takes one of them, if one comes next.
    fn take(&mut self, cursor: &mut Cursor<'_>, action: &mut Action) -> Result<bool, FaultError> {
        let place = cursor.place();
        let verb = action.verb();
        let twice = match (cursor.peek(), action) {
            (Token::Word("on"), Action::Links { reach, .. }) => {
                cursor.take();
                *reach = cursor.reach()?;
                std::mem::replace(&mut self.on, true)
            }
            (Token::Word("on"), _) => {
                let wrong = format!("'on' does not go with '{verb}'");
                return Err(cursor.error(place, wrong, "leave it out"));
            }
            (Token::Word(word @ ("drop" | "hold" | "deliver")), action) => {
                let Some(in_flight) = in_flight(action) else {
                    return Ok(false);
                };
                cursor.take();
                *in_flight = match word {
                    "drop" => InFlight::Drop,
                    "hold" => InFlight::Hold,
                    _ => InFlight::Deliver,
                };
                std::mem::replace(&mut self.in_flight, true)
            }
            _ => return Ok(false),
        };
        if twice {
            return Err(cursor.error(place, "this was written before", "write it once"));
        }
        Ok(true)
    }
}

/// What becomes of datagrams under way, of an action that cuts links.
fn in_flight(action: &mut Action) -> Option<&mut InFlight> {
    match action {
        Action::Cut { in_flight, .. }
        | Action::Partition { in_flight, .. }
        | Action::Isolate { in_flight, .. }
        | Action::Churn { in_flight, .. } => Some(in_flight),
        Action::Host(fault) => fault.in_flight(),
        Action::Links { .. }
        | Action::Heal { .. }
        | Action::Process { .. }
        | Action::Message(_) => None,
    }
}

impl Cursor<'_> {
    fn action(&mut self) -> Result<Action, FaultError> {
        let Token::Word(word) = self.peek() else {
            return Err(self.unfit(self.scope.all_actions()));
        };
        let before = self.clone();
        self.take();
        let mut ahead = self.clone();
        let of_message = ahead.takes("message") && matches!(word, "delay" | "duplicate");
        let place = ahead.since(before.place().start);
        let of_process = process_fault::WORDS.iter().any(|known| known.word == word);
        match word {
            _ if of_process => self.fit(Part::Process(word), place)?,
            _ if of_message || matches!(word, "lose" | "hide") => {
                self.fit(Part::Message(&self.text[place.clone()]), place)?;
            }
            _ => {}
        }
        let in_flight = InFlight::default();
        Ok(match word {
            "delay" | "duplicate" if self.takes("message") => {
                Action::Message(self.message_fault(word)?)
            }
            "lose" => {
                self.expect("message", "write message and its kind: lose message TOKEN")?;
                Action::Message(self.message_fault(word)?)
            }
            "hide" => Action::Message(self.hide()?),
            "cut" => Action::Cut {
                choice: self.choice()?,
                in_flight,
            },
            "partition" => match self.parted_hosts()? {
                Some(action) => action,
                None => Action::Partition {
                    groups: self.partition()?,
                    in_flight,
                },
            },
            "isolate" => match self.isolated_host()? {
                Some(action) => action,
                None => Action::Isolate {
                    who: self.who()?,
                    in_flight,
                },
            },
            "heal" => Action::Heal {
                reach: self.healed()?,
            },
            "churn" => self.churn()?,
            _ if of_process => match self.process_of_host(word)? {
                Some(action) => action,
                None => {
                    let who = self.who()?;
                    let fault = AnyProcessFault::parse(word, self)?;
                    Action::Process { fault, who }
                }
            },
            _ => match self.link_fault(word)? {
                Some(fault) => Action::Links {
                    fault,
                    reach: Reach::All,
                },
                None => return Err(before.unfit(self.scope.all_actions())),
            },
        })
    }

    fn choice(&mut self) -> Result<Choice, FaultError> {
        if self.takes("edges") {
            return Ok(Choice::Edges);
        }
        let mut ahead = self.clone();
        let place = ahead.place();
        if let Token::Number(number, "") = ahead.take()
            && ahead.takes("random")
        {
            let count = self.count("how many edges")?.get();
            self.take();
            if !(self.takes("edges") || (number == "1" && self.takes("edge"))) {
                return Err(self.unfit("write edges: 4 random edges"));
            }
            self.fit(Part::RandomEdges(count), place)?;
            return Ok(Choice::Random(count));
        }
        self.reach().map(Choice::Links)
    }

    fn partition(&mut self) -> Result<PartitionGroups, FaultError> {
        let place = self.place();
        if let Token::Word(word) = self.peek()
            && let Some((_, named)) = NAMED.iter().find(|(name, _)| *name == word)
        {
            self.take();
            self.fit(Part::Partition(*named), place)?;
            return Ok(PartitionGroups::Named(*named));
        }
        let groups = match self.scope.names {
            [a, b, ..] => format!("{a}|{b}"),
            _ => "0,1|2,3".to_owned(),
        };
        let right =
            format!("write groups such as {groups}, or halves, one, majority, ring or bridge");
        if !matches!(self.peek(), Token::Number(..) | Token::Word(_)) {
            return Err(self.unfit(right));
        }
        let known = match self.peek() {
            Token::Word(word) => self.scope.names.iter().any(|name| name == word),
            _ => true,
        };
        if !known {
            return Err(self.unfit(right));
        }
        match self.reach()? {
            reach @ Reach::Across(_) => Ok(PartitionGroups::Groups(reach)),
            Reach::All | Reach::Between(_) | Reach::Apart { .. } => {
                let place = self.since(place.start);
                Err(self.error(place, "these are links and not groups", right))
            }
        }
    }

    fn healed(&mut self) -> Result<Reach, FaultError> {
        match self.peek() {
            Token::Number(..) | Token::Word("all") => self.reach(),
            Token::Word(word) if self.scope.names.iter().any(|name| name == word) => self.reach(),
            _ => Ok(Reach::All),
        }
    }

    fn churn(&mut self) -> Result<Action, FaultError> {
        let choice = self.choice()?;
        let start = self.place().start;
        self.expect(
            "fail",
            "write fail and the mean time to a failure: fail 5s repair 1s",
        )?;
        let fail_ns = self.lasting_ns()?;
        self.expect(
            "repair",
            "write repair and the mean time to a repair: repair 1s",
        )?;
        let repair_ns = self.lasting_ns()?;
        let churn = Churn { fail_ns, repair_ns };
        if churn.cycle_ns() < SHORTEST_CYCLE_NS {
            let cycle = show_ns(churn.cycle_ns());
            let wrong = format!("an edge would fail every {cycle}");
            let right = format!(
                "write times that make at least {} together",
                show_ns(SHORTEST_CYCLE_NS)
            );
            return Err(self.error(self.since(start), wrong, right));
        }
        Ok(Action::Churn {
            choice,
            churn,
            in_flight: InFlight::default(),
        })
    }
}
