//! An algorithm's own parameters: typed, with defaults, unknown ones refused.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A parameter an algorithm has.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Its name in `--param name=value`.
    pub name: &'static str,
    /// The values it takes, and its default.
    pub domain: Domain,
    /// What it does, in one line.
    pub help: &'static str,
    /// Texts that suit it, where it takes any text: for who tries out values.
    pub examples: &'static [&'static str],
}

impl Param {
    /// A parameter that is a whole number within bounds.
    pub(crate) const fn integer(
        name: &'static str,
        within: RangeInclusive<u64>,
        default: u64,
        help: &'static str,
    ) -> Self {
        let domain = Domain::Integer {
            least: *within.start(),
            most: *within.end(),
            default,
        };
        Self {
            name,
            domain,
            help,
            examples: &[],
        }
    }

    /// A parameter that is one of these words, by default the first.
    pub(crate) const fn choice(
        name: &'static str,
        words: &'static [&'static str],
        help: &'static str,
    ) -> Self {
        let domain = Domain::Choice(words);
        Self {
            name,
            domain,
            help,
            examples: &[],
        }
    }

    /// The same parameter, with texts that suit it.
    pub(crate) const fn such_as(self, examples: &'static [&'static str]) -> Self {
        Self { examples, ..self }
    }

    /// A parameter that is any text.
    pub(crate) const fn text(
        name: &'static str,
        default: &'static str,
        help: &'static str,
    ) -> Self {
        let domain = Domain::Text { default };
        Self {
            name,
            domain,
            help,
            examples: &[],
        }
    }
}

/// What a parameter may be; the default comes with it.
#[derive(Clone, Copy, Debug)]
pub enum Domain {
    /// A whole number within bounds.
    Integer {
        /// The smallest value.
        least: u64,
        /// The largest value.
        most: u64,
        /// The value by default.
        default: u64,
    },
    /// One of these words; the first is the default.
    Choice(&'static [&'static str]),
    /// A name, or a TOML file that says the same at length.
    Document {
        /// The value by default.
        default: &'static str,
        /// The file's text as a word that can be given instead of the file.
        condense: fn(&str) -> Result<String, String>,
    },
    /// Any text, for example a list.
    Text {
        /// The value by default.
        default: &'static str,
    },
}

/// The value that a parameter has in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// The value of a parameter whose domain is [`Domain::Integer`].
    Integer(u64),
    /// The value of a parameter with any other domain.
    Word(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Integer(number) => write!(f, "{number}"),
            Value::Word(word) => f.write_str(word),
        }
    }
}

/// All parameters of one algorithm, each with a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Params {
    values: BTreeMap<String, Value>,
}

/// Why given parameters do not fit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParamError {
    /// The algorithm has no such parameter.
    #[error("{algorithm} has no parameter '{name}'; it has {known}")]
    Unknown {
        /// The name of the algorithm.
        algorithm: &'static str,
        /// The name that was given.
        name: String,
        /// The parameters that the algorithm has.
        known: String,
    },
    /// The value is outside the parameter's domain.
    #[error("{algorithm}: {name}={value} does not fit; {name} is {domain}")]
    Unfit {
        /// The name of the algorithm.
        algorithm: &'static str,
        /// The name of the parameter.
        name: &'static str,
        /// The value that was given.
        value: String,
        /// The values that the parameter takes.
        domain: String,
    },
}

impl Params {
    /// The given values, checked, and the defaults of the rest.
    pub fn resolve(
        algorithm: &'static str,
        known: &[Param],
        given: &BTreeMap<String, String>,
    ) -> Result<Self, ParamError> {
        if let Some(name) = given
            .keys()
            .find(|name| known.iter().all(|param| param.name != **name))
        {
            let names = known.iter().map(|param| param.name).collect::<Vec<_>>();
            return Err(ParamError::Unknown {
                algorithm,
                name: name.clone(),
                known: if names.is_empty() {
                    "none".to_owned()
                } else {
                    names.join(", ")
                },
            });
        }
        let mut values = BTreeMap::new();
        for param in known {
            let value = match given.get(param.name) {
                None => param.domain.default(),
                Some(text) => param.domain.parse(text).ok_or_else(|| ParamError::Unfit {
                    algorithm,
                    name: param.name,
                    value: text.clone(),
                    domain: param.domain.to_string(),
                })?,
            };
            values.insert(param.name.to_owned(), value);
        }
        Ok(Self { values })
    }

    /// The value of a whole-number parameter.
    ///
    /// # Panics
    /// If the registry entry has no such parameter.
    pub fn integer(&self, name: &str) -> u64 {
        match self.values.get(name) {
            Some(Value::Integer(number)) => *number,
            other => panic!("{name} is not a whole-number parameter of this algorithm: {other:?}"),
        }
    }

    /// The value of any other parameter.
    ///
    /// # Panics
    /// If the registry entry has no such parameter.
    pub fn word(&self, name: &str) -> &str {
        match self.values.get(name) {
            Some(Value::Word(word)) => word,
            other => panic!("{name} is not a word parameter of this algorithm: {other:?}"),
        }
    }

    /// The value of a parameter that there may be.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// Names and values, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.values
            .iter()
            .map(|(name, value)| (name.as_str(), value))
    }
}

impl fmt::Display for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect::<Vec<_>>();
        f.write_str(&words.join(" "))
    }
}

impl Domain {
    fn default(&self) -> Value {
        match *self {
            Domain::Integer { default, .. } => Value::Integer(default),
            Domain::Choice(words) => Value::Word(words[0].to_owned()),
            Domain::Text { default } | Domain::Document { default, .. } => {
                Value::Word(default.to_owned())
            }
        }
    }

    fn parse(&self, text: &str) -> Option<Value> {
        match *self {
            Domain::Integer { least, most, .. } => {
                let number = text.parse().ok()?;
                (least..=most)
                    .contains(&number)
                    .then_some(Value::Integer(number))
            }
            Domain::Choice(words) => words.contains(&text).then(|| Value::Word(text.to_owned())),
            Domain::Text { .. } | Domain::Document { .. } => Some(Value::Word(text.to_owned())),
        }
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Domain::Integer {
                least,
                most: u64::MAX,
                default,
            } => {
                write!(f, "a whole number of at least {least} (default {default})")
            }
            Domain::Integer {
                least,
                most,
                default,
            } => {
                write!(
                    f,
                    "a whole number from {least} to {most} (default {default})"
                )
            }
            Domain::Choice(words) => {
                write!(f, "one of {} (default {})", words.join(", "), words[0])
            }
            Domain::Document { default, .. } => {
                write!(f, "a name or a file.toml (default {default})")
            }
            Domain::Text { default: "" } => f.write_str("a text"),
            Domain::Text { default } => write!(f, "a text (default {default})"),
        }
    }
}
