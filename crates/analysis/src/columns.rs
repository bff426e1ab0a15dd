//! Tables whose columns are declared once: the name, the cell and the documentation of a column all
//! follow from its row in [`columns!`].

use std::fmt;

use model::plan::UseTransport;
use model::run::Engine;

use crate::certificate::Certified;
use crate::judgement::{Status, Verdict};

/// What a column is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The run was asked for with it.
    Setting,
    /// It says where the run comes from.
    Origin,
    /// What was found out about the run, in a word.
    Finding,
    /// A number that was measured, and that sweeps average.
    Metric,
}

/// What one cell holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The run does not have it.
    Unknown,
    /// A whole number.
    Count(u64),
    /// A measured number.
    Number(f64),
    /// A word, or several.
    Word(String),
}

/// One column of a table about a row of type `R`.
pub struct Column<R: 'static> {
    /// Its heading; units are in the names of times.
    pub name: &'static str,
    /// What the column is about.
    pub kind: Kind,
    /// What it counts, or the unit it is in; empty for words and ratios.
    pub unit: &'static str,
    /// Its meaning, in a sentence.
    about: &'static str,
    /// The cell of a row.
    pub of: fn(&R) -> Value,
}

/// A type that a cell can hold.
pub(crate) trait Cell: Sized {
    fn value(&self) -> Value;
    /// Reads back the text of a value.
    fn read(text: &str) -> Result<Self, String>;
}

/// Declares a row as a struct and the table of its columns, in the order of the file:
///
/// ```text
/// columns! {
///     /// What a row is.
///     pub struct Row, static COLUMNS, from (seen: &Observed);
///     /// The meaning of the column.
///     name: type [kind, "unit"] = how it is computed;
/// }
/// ```
macro_rules! columns {
    (
        $(#[$of_row:meta])*
        pub struct $Row:ident, static $COLUMNS:ident, from ($($input:ident: $Input:ty),+);
        $(
            $(#[doc = $about:literal])+
            $name:ident: $Type:ty [$kind:ident, $unit:literal] = $value:expr;
        )+
    ) => {
        $(#[$of_row])*
        pub struct $Row {
            $($(#[doc = $about])+ pub $name: $Type,)+
        }

        static $COLUMNS: &[Column<$Row>] = &[$(Column::new(
            stringify!($name),
            $crate::columns::Kind::$kind,
            $unit,
            concat!($($about),+),
            |row| $crate::columns::Cell::value(&row.$name),
        )),+];

        impl $Row {
            pub(crate) fn new($($input: $Input),+) -> Self {
                Self { $($name: $value),+ }
            }

            /// The row of which these are the cells.
            pub fn from_cells<'a>(
                mut cells: impl Iterator<Item = &'a str>,
            ) -> Result<Self, String> {
                let mut next = |name| $crate::columns::cell(name, cells.next());
                let row = Self { $($name: next(stringify!($name)).and_then(
                    |text| $crate::columns::read(stringify!($name), text))?),+ };
                match cells.next() {
                    None => Ok(row),
                    Some(_) => Err(format!("more columns than the {} there are", $COLUMNS.len())),
                }
            }
        }
    };
}
pub(crate) use columns;

/// The next cell, which must be there.
pub(crate) fn cell<'a>(column: &str, text: Option<&'a str>) -> Result<&'a str, String> {
    text.ok_or_else(|| format!("there is no column '{column}'"))
}

/// What a cell holds.
pub(crate) fn read<T: Cell>(column: &str, text: &str) -> Result<T, String> {
    T::read(text).map_err(|expected| format!("{column} is '{text}', expected {expected}"))
}

impl<R> Column<R> {
    pub(crate) const fn new(
        name: &'static str,
        kind: Kind,
        unit: &'static str,
        about: &'static str,
        of: fn(&R) -> Value,
    ) -> Self {
        Self {
            name,
            kind,
            unit,
            about,
            of,
        }
    }

    /// Its meaning, in a sentence.
    pub fn about(&self) -> &'static str {
        self.about.trim()
    }

    /// Its line in a table of columns: name, kind, unit and meaning.
    pub fn documented(&self) -> String {
        let Self {
            name, kind, unit, ..
        } = self;
        format!("| `{name}` | {kind} | {unit} | {} |", self.about())
    }
}

impl<R> fmt::Debug for Column<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Column({})", self.name)
    }
}

/// Two columns of a table are the same if they have the same name.
impl<R> PartialEq for Column<R> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl<R> Eq for Column<R> {}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Setting => "setting",
            Self::Origin => "origin",
            Self::Finding => "finding",
            Self::Metric => "metric",
        })
    }
}

impl Value {
    /// The number that it is.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Unknown | Self::Word(_) => None,
            Self::Count(count) => Some(*count as f64),
            Self::Number(number) => Some(*number),
        }
    }
}

/// The text of a value in a file.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => Ok(()),
            Self::Count(count) => count.fmt(f),
            // The shortest text that is read back as the same number, with an exponent below
            // 0.00001 (Rust alone would begin at 0.0001) and from 1e16.
            Self::Number(number) if (1e-5..1e-4).contains(&number.abs()) => write!(f, "{number}"),
            Self::Number(number) => write!(f, "{number:?}"),
            Self::Word(word) => f.write_str(word),
        }
    }
}

/// Makes cells of numbers: how they are held, and what is expected where one cannot be read.
macro_rules! numbers {
    ($($Type:ty: $Variant:ident, $expected:literal;)+) => {
        $(impl Cell for $Type {
            fn value(&self) -> Value {
                Value::$Variant((*self).into())
            }

            fn read(text: &str) -> Result<Self, String> {
                text.parse().map_err(|_| $expected.to_owned())
            }
        })+
    };
}

numbers! {
    u64: Count, "a whole number";
    u32: Count, "a whole number";
    f64: Number, "a number";
}

impl Cell for String {
    fn value(&self) -> Value {
        Value::Word(self.clone())
    }

    fn read(text: &str) -> Result<Self, String> {
        Ok(text.to_owned())
    }
}

impl<T: Cell> Cell for Option<T> {
    fn value(&self) -> Value {
        self.as_ref().map_or(Value::Unknown, T::value)
    }

    fn read(text: &str) -> Result<Self, String> {
        match text {
            "" => Ok(None),
            _ => T::read(text)
                .map(Some)
                .map_err(|known| format!("{known} or nothing")),
        }
    }
}

/// Makes cells of types that are one of a few words.
macro_rules! words {
    ($($Type:ty: $($variant:ident = $word:literal),+;)+) => {
        $(impl Cell for $Type {
            fn value(&self) -> Value {
                Value::Word(match self { $(Self::$variant => $word),+ }.to_owned())
            }

            fn read(text: &str) -> Result<Self, String> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(concat!("one of" $(, " ", $word)+).to_owned()),
                }
            }
        })+
    };
}

words! {
    Engine: Sim = "sim", Cluster = "cluster";
    UseTransport: Auto = "auto", Always = "always", Never = "never";
    Verdict: Holds = "holds", Violated = "violated", Inconclusive = "inconclusive";
    Certified: Yes = "yes", No = "no", NotExercised = "not exercised";
    Status: Holds = "holds", Violated = "violated", Inconclusive = "inconclusive",
        NotExercised = "not exercised";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_csv_files_always_had_them() {
        for number in [
            0.0,
            1000.0,
            0.1,
            1e-4,
            9.9e-5,
            1e-5,
            9.9e-6,
            1.5e-7,
            9.9e15,
            1e16,
            1e300,
            -2.5,
            1.0 / 3.0,
        ] {
            let mut writer = csv::Writer::from_writer(Vec::new());
            writer.serialize((number,)).unwrap();
            let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
            assert_eq!(number.value().to_string(), text.trim());
        }
    }
}
