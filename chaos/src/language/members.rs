//! Members and links: `3`, `holder`, `0,2,5..9`, `3->4`, `0,1|2,3`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::cursor::{Cursor, Token};
use super::error::FaultError;
use super::scope::{Part, Print, Printer, Scope, display_as_printed};
use crate::fate::Member;
use crate::reach::{Members, Pair, Reach};

/// One member, by its number or by what it is when the time comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Who {
    /// The member of that number.
    Member(Member),
    /// The member inside; with several the first that entered, with none the next to enter.
    Holder,
    /// The member that last reported having the token.
    Token,
    /// One of the living members, drawn by chance.
    Random,
}

impl Print for Who {
    fn print(&self, out: &mut dyn Printer) -> fmt::Result {
        match self {
            Who::Member(member) => out.part(Part::Member(*member)),
            Who::Holder => out.part(Part::Holder),
            Who::Token => out.part(Part::Token),
            Who::Random => out.write_str("random"),
        }
    }
}

display_as_printed!(Who);

/// Links as they are written; a `ring` has no short way to be written.
impl FromStr for Reach {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        let scope = Scope::default();
        let mut cursor = Cursor::new(text, &scope);
        let reach = cursor.reach()?;
        cursor.end("write links such as 3->4, 3-4, 0,1|2,3 or all, and nothing else")?;
        Ok(reach)
    }
}

impl Cursor<'_> {
    /// One member, fixed or found out later.
    pub(crate) fn who(&mut self) -> Result<Who, FaultError> {
        let place = self.place();
        if self.takes("holder") {
            self.fit(Part::Holder, place)?;
            Ok(Who::Holder)
        } else if self.takes("token") {
            self.fit(Part::Token, place)?;
            Ok(Who::Token)
        } else if self.takes("random") {
            Ok(Who::Random)
        } else {
            let one_member = self.scope.one_member();
            let right = match self.scope.links_only {
                true => format!("write who: {one_member} or random"),
                false => format!("write who: {one_member}, holder, token or random"),
            };
            self.member(&right).map(Who::Member)
        }
    }

    /// One member by its number or name.
    pub(crate) fn member(&mut self, right: &str) -> Result<Member, FaultError> {
        let place = self.place();
        let named = |word| self.scope.names.iter().position(|name| name == word);
        let member = match self.peek() {
            Token::Number(number, "") => number.parse().ok(),
            Token::Word(word) => named(word).map(|number| number as Member),
            Token::Number(..) | Token::Sign(_) | Token::Other(_) | Token::End => None,
        };
        let member: Member = member.ok_or_else(|| self.unfit(right))?;
        self.fit(Part::Member(member), place)?;
        self.take();
        Ok(member)
    }

    /// Links, such as `all`, `3->4`, `3-4 and 5->6` or `0,1|2,3`.
    pub(crate) fn reach(&mut self) -> Result<Reach, FaultError> {
        let first = self.members()?;
        if self.peek() == Token::Sign("|") {
            return self.groups(first).map(Reach::Across);
        }
        if first == Members::All && !matches!(self.peek(), Token::Sign("-" | "->")) {
            return Ok(Reach::All);
        }
        let mut pairs = vec![self.pair(first)?];
        while self.takes("and") {
            let from = self.members()?;
            pairs.push(self.pair(from)?);
        }
        Ok(Reach::Between(pairs))
    }

    fn pair(&mut self, from: Members) -> Result<Pair, FaultError> {
        let both = if self.takes_sign("->") {
            false
        } else if self.takes_sign("-") {
            true
        } else {
            return Err(self.unfit("write - (both ways), -> (one way) or | (between groups)"));
        };
        let place = self.place();
        let to = self.members()?;
        if let (Members::Listed(a), Members::Listed(b)) = (&from, &to)
            && a == b
            && a.len() == 1
            && a[0].0 == a[0].1
        {
            return Err(self.error(place, "nobody has a link to itself", "write another member"));
        }
        Ok(Pair { from, to, both })
    }

    fn groups(&mut self, first: Members) -> Result<Vec<Members>, FaultError> {
        let mut groups = vec![first];
        while self.takes_sign("|") {
            let start = self.place().start;
            let group = self.members()?;
            let place = self.since(start);
            if let Some(member) = groups.iter().find_map(|other| other.common(&group)) {
                let wrong = format!("{member} is in two groups");
                return Err(self.error(place, wrong, "put each member into one group"));
            }
            groups.push(group);
        }
        Ok(groups)
    }

    fn members(&mut self) -> Result<Members, FaultError> {
        let right = match self.scope.names {
            [a, b, ..] => format!(
                "write {}, several as {a},{b}, or all",
                self.scope.one_member()
            ),
            _ => format!(
                "write {}, several as 0,2,5..9, or all",
                self.scope.one_member()
            ),
        };
        if self.takes("all") {
            return Ok(Members::All);
        }
        let mut runs = Vec::new();
        loop {
            let first = self.member(&right)?;
            let mut last = first;
            if self.takes_sign("..") {
                let place = self.place();
                last = self.member(&right)?;
                if last < first {
                    let wrong = format!("{last} comes before {first}");
                    return Err(self.error(place, wrong, "write the smaller number first"));
                }
            }
            runs.push((first, last));
            if !self.takes_sign(",") {
                return Ok(Members::runs(runs));
            }
        }
    }
}

impl Members {
    /// The first member of both.
    fn common(&self, other: &Members) -> Option<Member> {
        match (self, other) {
            (Members::All, Members::All) => Some(0),
            (Members::All, Members::Listed(runs)) | (Members::Listed(runs), Members::All) => {
                runs.first().map(|(first, _)| *first)
            }
            (Members::Listed(a), Members::Listed(b)) => {
                let meet = |x: &(Member, Member), y: &(Member, Member)| {
                    let first = x.0.max(y.0);
                    (first <= x.1.min(y.1)).then_some(first)
                };
                a.iter().find_map(|x| b.iter().find_map(|y| meet(x, y)))
            }
        }
    }
}
