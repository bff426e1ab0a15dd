//! Tokens, and reading them one by one.

use std::num::NonZeroU32;
use std::ops::Range;

use super::error::FaultError;
use super::scope::{Part, Scope};
use crate::percent::Percent;
use crate::span::{parse_ns, scale};

/// A place in a text, from which the rest is read.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    pub text: &'a str,
    pub scope: &'a Scope<'a>,
    /// Where the next token begins, or something before it.
    at: usize,
    /// Where the last token that was taken ends.
    taken: usize,
}

/// A token: the smallest part of a text that means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// A word such as `loss`.
    Word(&'a str),
    /// A number and its unit, such as `75` and `ms`.
    Number(&'a str, &'a str),
    /// `->`, `-`, `,`, `|`, `..`, `#`
    Sign(&'a str),
    /// Anything else, up to the next space.
    Other(&'a str),
    End,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str, scope: &'a Scope<'a>) -> Self {
        Self {
            text,
            scope,
            at: 0,
            taken: 0,
        }
    }

    /// The next token, left where it is.
    pub(crate) fn peek(&self) -> Token<'a> {
        self.scan().0
    }

    /// The place of the next token.
    pub(crate) fn place(&self) -> Range<usize> {
        self.scan().1
    }

    /// The place from there up to the last token that was taken.
    pub(crate) fn since(&self, start: usize) -> Range<usize> {
        start..self.taken
    }

    /// Takes the next token.
    pub(crate) fn take(&mut self) -> Token<'a> {
        let (token, place) = self.scan();
        self.at = place.end;
        self.taken = place.end;
        token
    }

    /// Takes the word if it comes next.
    pub(crate) fn takes(&mut self, word: &str) -> bool {
        self.takes_token(Token::Word(word))
    }

    /// Takes the sign if it comes next.
    pub(crate) fn takes_sign(&mut self, sign: &str) -> bool {
        self.takes_token(Token::Sign(sign))
    }

    /// Takes the sign if it follows the last token without a space.
    pub(crate) fn takes_joined(&mut self, sign: &str) -> bool {
        self.place().start == self.taken && self.takes_sign(sign)
    }

    fn takes_token(&mut self, token: Token<'_>) -> bool {
        let found = self.peek() == token;
        if found {
            self.take();
        }
        found
    }

    /// The error that the next token is not what would be right.
    pub(crate) fn unfit(&self, right: impl Into<String>) -> FaultError {
        let (token, place) = self.scan();
        let wrong = match token {
            Token::End => "something is missing at the end".to_owned(),
            _ => format!("'{}' does not fit here", &self.text[place.clone()]),
        };
        self.error(place, wrong, right)
    }

    /// An error at that place.
    pub(crate) fn error(
        &self,
        place: Range<usize>,
        wrong: impl Into<String>,
        right: impl Into<String>,
    ) -> FaultError {
        FaultError {
            text: self.text.to_owned(),
            place,
            wrong: wrong.into(),
            right: right.into(),
        }
    }

    /// Requires a part that was read there to fit the group.
    pub(crate) fn fit(&self, part: Part<'_>, place: Range<usize>) -> Result<(), FaultError> {
        match self.scope.mismatch(part) {
            None => Ok(()),
            Some((wrong, right)) => Err(self.error(place, wrong, right)),
        }
    }

    /// Requires the text to end here.
    pub(crate) fn end(&self, right: &str) -> Result<(), FaultError> {
        match self.peek() {
            Token::End => Ok(()),
            _ => Err(self.unfit(right)),
        }
    }

    /// Takes a word that must come next.
    pub(crate) fn expect(&mut self, word: &str, right: &str) -> Result<(), FaultError> {
        if self.takes(word) {
            Ok(())
        } else {
            Err(self.unfit(right))
        }
    }

    /// A length of time, in nanoseconds.
    pub(crate) fn time_ns(&mut self) -> Result<u64, FaultError> {
        const RIGHT: &str = "write a time such as 200us, 75ms or 1.5s";
        let place = self.place();
        match self.peek() {
            Token::Number(number, unit) => match parse_ns(&self.text[place.clone()]) {
                Ok(ns) => {
                    self.take();
                    Ok(ns)
                }
                Err(_) if unit.is_empty() => {
                    Err(self.error(place, format!("'{number}' has no unit"), RIGHT))
                }
                Err(_) => {
                    let text = &self.text[place.clone()];
                    let right = format!("{RIGHT}, of at most a year (8760h)");
                    Err(self.error(place, format!("'{text}' is not a time"), right))
                }
            },
            _ => Err(self.unfit(RIGHT)),
        }
    }

    /// A length of time that is not 0.
    pub(crate) fn lasting_ns(&mut self) -> Result<u64, FaultError> {
        let place = self.place();
        match self.time_ns()? {
            0 => Err(self.error(place, "no time at all", "write a time longer than 0")),
            ns => Ok(ns),
        }
    }

    /// A share, such as `5%`.
    pub(crate) fn percent(&mut self) -> Result<Percent, FaultError> {
        const RIGHT: &str = "write a share from 0% to 100%, such as 5%";
        let place = self.place();
        match self.peek() {
            Token::Number(number, "%") => {
                let percent = number.parse().ok().and_then(Percent::new);
                let percent = percent.ok_or_else(|| {
                    self.error(place, format!("'{number}%' is not a share"), RIGHT)
                })?;
                self.take();
                Ok(percent)
            }
            Token::Number(number, "") => {
                Err(self.error(place, format!("'{number}' has no percent sign"), RIGHT))
            }
            _ => Err(self.unfit(RIGHT)),
        }
    }

    /// A share, if one comes next.
    pub(crate) fn maybe_percent(&mut self) -> Result<Option<Percent>, FaultError> {
        match self.peek() {
            Token::Number(_, "%") => self.percent().map(Some),
            _ => Ok(None),
        }
    }

    /// A whole number of at least 1.
    pub(crate) fn count(&mut self, what: &str) -> Result<NonZeroU32, FaultError> {
        let right = format!("write {what}: a whole number of at least 1");
        let count = match self.peek() {
            Token::Number(number, "") => number.parse().ok(),
            _ => None,
        };
        let count = count.ok_or_else(|| self.unfit(right))?;
        self.take();
        Ok(count)
    }

    /// A number with one of these units.
    pub(crate) fn amount(&mut self, units: &[(u64, &str)], right: &str) -> Result<u64, FaultError> {
        let amount = match self.peek() {
            Token::Number(number, unit) => units
                .iter()
                .find(|(_, name)| *name == unit)
                .and_then(|(size, _)| scale(number, *size)),
            _ => None,
        };
        let amount = amount.ok_or_else(|| self.unfit(right))?;
        self.take();
        Ok(amount)
    }

    /// The name of a file, up to the next space or between quotation marks.
    pub(crate) fn path(&mut self, right: &str) -> Result<&'a str, FaultError> {
        let start = self.place().start;
        let rest = &self.text[start..];
        let (path, length) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let Some(end) = quoted.find('"') else {
                    let place = start..self.text.len();
                    return Err(self.error(place, "the quotation mark is not closed", right));
                };
                (&quoted[..end], end + 2)
            }
            None => {
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                (&rest[..end], end)
            }
        };
        if path.is_empty() || path.contains('"') {
            return Err(self.unfit(right));
        }
        self.at = start + length;
        self.taken = self.at;
        Ok(path)
    }

    /// The name of a host, up to the next space, `,` or `|`.
    pub(crate) fn host_name(&mut self, right: &str) -> Result<&'a str, FaultError> {
        let start = self.place().start;
        let rest = &self.text[start..];
        let fits = |c: char| c.is_alphanumeric() || "._-@[]:%".contains(c);
        let name = &rest[..run(rest, fits)];
        if name.is_empty() {
            return Err(self.unfit(right));
        }
        self.at = start + name.len();
        self.taken = self.at;
        Ok(name)
    }

    fn scan(&self) -> (Token<'a>, Range<usize>) {
        let text = self.text;
        let space = text[self.at..].find(|c: char| !c.is_whitespace());
        let Some(space) = space else {
            return (Token::End, text.len()..text.len());
        };
        let start = self.at + space;
        let rest = &text[start..];
        let first = rest.chars().next().expect("the rest is not empty");
        let (token, length) = if first.is_ascii_digit() {
            scan_number(rest)
        } else if first.is_alphabetic() || first == '_' {
            let length = run(rest, |c| c.is_alphanumeric() || c == '_');
            (Token::Word(&rest[..length]), length)
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            (Token::Sign(sign), sign.len())
        } else {
            let length = run(rest, |c| !c.is_whitespace() && !c.is_alphanumeric());
            let length = length.max(first.len_utf8());
            (Token::Other(&rest[..length]), length)
        };
        (token, start..start + length)
    }
}

/// All signs, the longer ones first.
const SIGNS: [&str; 6] = ["->", "..", "-", ",", "|", "#"];

fn scan_number(rest: &str) -> (Token<'_>, usize) {
    let whole = run(rest, |c| c.is_ascii_digit());
    let fraction = match rest[whole..].strip_prefix('.') {
        Some(rest) => match run(rest, |c| c.is_ascii_digit()) {
            0 => 0,
            digits => digits + 1,
        },
        None => 0,
    };
    let digits = whole + fraction;
    let unit = run(&rest[digits..], |c| c.is_alphabetic() || c == '%');
    let number = Token::Number(&rest[..digits], &rest[digits..digits + unit]);
    (number, digits + unit)
}

/// How many bytes at the beginning are of this sort.
fn run(text: &str, sort: impl Fn(char) -> bool) -> usize {
    text.find(|c| !sort(c)).unwrap_or(text.len())
}
