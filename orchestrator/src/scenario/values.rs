//! The values of a scenario as people write them, the same in a flag and in a file.

use std::fmt;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use algorithms::NodeId;
use algorithms::topology::{Shape, TopologyError};
use chaos::language::Start;
use chaos::span::{SpanError, parse_ns, show_ns};
use chaos::{FaultError, FaultSpec};
use model::plan::Detector;
use model::workload::Ask;
use safe_io::input;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, DeserializeOwned, IntoDeserializer, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Values that a file holds as the text that a flag has.
macro_rules! written_as_text {
    ($($value:ty),*) => {$(
        impl Serialize for $value {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $value {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                from_word(deserializer)
            }
        }
    )*};
}

written_as_text!(
    Time,
    Between,
    Detecting,
    AskText,
    ShapeSpec,
    LossSpec,
    DuplicateSpec,
    ReorderSpec
);

/// A length of time, in nanoseconds: `75ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time(pub u64);

impl FromStr for Time {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Self, SpanError> {
        parse_ns(text).map(Time)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&show_ns(self.0))
    }
}

/// From one length of time to another: `50ms..500ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Between(pub u64, pub u64);

impl FromStr for Between {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || format!("'{text}' is not TIME..TIME, such as 50ms..500ms");
        let (least, most) = text.split_once("..").ok_or_else(form)?;
        let [least, most] = [least, most].map(|time| parse_ns(time).map_err(|_| form()));
        match (least?, most?) {
            (least, most) if least > most => Err(format!("'{text}' begins after its end")),
            (least, most) => Ok(Between(least, most)),
        }
    }
}

impl fmt::Display for Between {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", show_ns(self.0), show_ns(self.1))
    }
}

/// How members learn that another has died: `told`, or `timeout:500ms`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detecting(pub Detector);

impl FromStr for Detecting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || format!("'{text}' is neither told nor timeout:TIME, such as timeout:500ms");
        match text.split_once(':') {
            None if text == "told" => Ok(Detecting(Detector::Told)),
            Some(("timeout", time)) => {
                let silence_ns = parse_ns(time).map_err(|_| form())?;
                Ok(Detecting(Detector::Timeout(silence_ns)))
            }
            None | Some(_) => Err(form()),
        }
    }
}

impl fmt::Display for Detecting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Detector::Told => f.write_str("told"),
            Detector::Timeout(silence_ns) => write!(f, "timeout:{}", show_ns(silence_ns)),
        }
    }
}

/// The links between the nodes: a shape such as `tree:2`, or a file with an edge in each line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShapeSpec {
    /// A shape that stands for itself.
    Shape(Shape),
    /// `file:EDGES`, relative to the file that names it.
    File(PathBuf),
}

impl ShapeSpec {
    /// The shape; the edges of a file are read.
    pub(crate) fn shape(&self, folder: &Path) -> Result<Shape, String> {
        let file = match self {
            ShapeSpec::Shape(shape) => return Ok(shape.clone()),
            ShapeSpec::File(file) => file,
        };
        let path = folder.join(file);
        let path_is = |why: String| format!("{}: {why}", path.display());
        let edges = input::read_text(&path).map_err(|error| path_is(error.to_string()))?;
        Shape::from_edge_list(&edges).map_err(|error| path_is(error.to_string()))
    }
}

impl FromStr for ShapeSpec {
    type Err = TopologyError;

    fn from_str(text: &str) -> Result<Self, TopologyError> {
        match text.strip_prefix("file:") {
            Some(file) => Ok(ShapeSpec::File(file.into())),
            None => text.parse().map(ShapeSpec::Shape),
        }
    }
}

impl fmt::Display for ShapeSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShapeSpec::Shape(shape) => shape.fmt(f),
            ShapeSpec::File(file) => write!(f, "file:{}", file.display()),
        }
    }
}

/// Faults of all links that have a flag of their own, whose value is what follows the fault's word.
macro_rules! faults_of_all_links {
    ($($(#[$doc:meta])* $name:ident = $word:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name(pub FaultSpec);

        impl FromStr for $name {
            type Err = FaultError;

            fn from_str(text: &str) -> Result<Self, FaultError> {
                FaultSpec::of_all_links($word, text).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_after($word, &self.0, f)
            }
        }
    )*};
}

faults_of_all_links! {
    /// Packets that get lost on every link: `5%`, `gemodel 1% 10%` or `every 7`.
    LossSpec = "loss";
    /// Packets that arrive twice on every link: `1%`.
    DuplicateSpec = "duplicate";
    /// Packets that overtake others on every link: `25% gap 5`.
    ReorderSpec = "reorder";
}

/// Writes a fault of all links without its word, as its flag has it.
fn write_after(word: &str, spec: &FaultSpec, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let name = spec.action.name();
    f.write_str(name.strip_prefix(word).unwrap_or(&name).trim_start())?;
    if let Start::Every { period_ns, .. } = spec.schedule.start {
        write!(f, " every {}", show_ns(period_ns))?;
    }
    if let Some(for_ns) = spec.schedule.for_ns {
        write!(f, " for {}", show_ns(for_ns))?;
    }
    match spec.schedule.until_ns {
        Some(until_ns) => write!(f, " until {}", show_ns(until_ns)),
        None => Ok(()),
    }
}

/// One or more values: `1ms,5ms` in a flag, one value or an array in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct List<T>(pub Vec<T>);

impl<T: FromStr> FromStr for List<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Self, T::Err> {
        let items = text.split(',').map(|item| item.trim().parse());
        items.collect::<Result<_, _>>().map(List)
    }
}

impl<T: Serialize> Serialize for List<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0[..] {
            [one] => one.serialize(serializer),
            several => several.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrSeveral(PhantomData))
    }
}

/// Passes a lone value on to `T`, so that what is wrong with it is said in `T`'s words.
struct OneOrSeveral<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrSeveral<T> {
    type Value = List<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one value or an array of them")
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<List<T>, E> {
        T::deserialize(value.into_deserializer()).map(|one| List(vec![one]))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<List<T>, E> {
        T::deserialize(value.into_deserializer()).map(|one| List(vec![one]))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<List<T>, E> {
        T::deserialize(value.into_deserializer()).map(|one| List(vec![one]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, several: A) -> Result<List<T>, A::Error> {
        let several = Vec::deserialize(SeqAccessDeserializer::new(several))?;
        if several.is_empty() {
            return Err(de::Error::custom(
                "an empty array says nothing; write one value or several",
            ));
        }
        Ok(List(several))
    }
}

/// Which defects of the print to leave unrepaired: all, or some by id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AsPrinted {
    /// `--as-printed`, or `true` in a file.
    All,
    /// `--as-printed=F2,F3`, or an array in a file; `false` is none.
    Some(Vec<String>),
}

impl FromStr for AsPrinted {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "all" => AsPrinted::All,
            "none" => AsPrinted::Some(Vec::new()),
            ids => AsPrinted::Some(ids.split(',').map(|id| id.trim().to_owned()).collect()),
        })
    }
}

impl Serialize for AsPrinted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            AsPrinted::All => serializer.serialize_bool(true),
            AsPrinted::Some(ids) => ids.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for AsPrinted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AllOrSome)
    }
}

/// Reads [`AsPrinted`].
struct AllOrSome;

impl<'de> Visitor<'de> for AllOrSome {
    type Value = AsPrinted;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true, false or an array of defect ids")
    }

    fn visit_bool<E: de::Error>(self, all: bool) -> Result<AsPrinted, E> {
        Ok(if all {
            AsPrinted::All
        } else {
            AsPrinted::Some(Vec::new())
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, ids: A) -> Result<AsPrinted, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(ids)).map(AsPrinted::Some)
    }
}

/// A parameter of the algorithm: `max_req=5`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The parameter's name.
    pub name: String,
    /// The parameter's value as text; the algorithm knows its type.
    pub value: String,
}

impl FromStr for Assignment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() => Ok(Self {
                name: name.trim().to_owned(),
                value: value.trim().to_owned(),
            }),
            _ => Err(format!("'{text}' is not NAME=VALUE")),
        }
    }
}

/// How often a node asks, relative to the others: a number for the next node in turn, or
/// `NODE=WEIGHT` for one node, the rest being 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weight {
    /// A weight for the next node in turn.
    InTurn(f64),
    /// A weight for the named node.
    Of(NodeId, f64),
}

impl FromStr for Weight {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is neither a weight such as 2.5 nor NODE=WEIGHT");
        let weight = |text: &str| match text.parse::<f64>() {
            Ok(weight) if weight.is_finite() && weight >= 0.0 => Ok(weight),
            _ => Err(wrong()),
        };
        match text.split_once('=') {
            None => weight(text).map(Weight::InTurn),
            Some((node, text)) => {
                let node = node.trim().parse().map_err(|_| wrong())?;
                Ok(Weight::Of(NodeId(node), weight(text.trim())?))
            }
        }
    }
}

impl Serialize for Weight {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Weight::InTurn(weight) => serializer.serialize_f64(*weight),
            Weight::Of(node, weight) => serializer.collect_str(&format_args!("{node}={weight}")),
        }
    }
}

impl<'de> Deserialize<'de> for Weight {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_word(deserializer)
    }
}

/// A request of a batch as text; a plan has it as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskText(pub Ask);

impl FromStr for AskText {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().map(Self)
    }
}

impl fmt::Display for AskText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Reads a value in a file as a flag would read it.
fn from_word<'de, T: FromStr<Err: fmt::Display>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    let Word(text) = Word::deserialize(deserializer)?;
    text.parse().map_err(de::Error::custom)
}

/// The same of a key that may be missing.
pub(crate) fn maybe_a_word<'de, T: FromStr<Err: fmt::Display>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    from_word(deserializer).map(Some)
}

/// Reads one fault, or an array of them.
pub(super) fn faults<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<FaultSpec>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "write a text, or an array of texts")]
    enum Texts {
        One(String),
        Several(Vec<String>),
    }
    let texts = match Texts::deserialize(deserializer)? {
        Texts::One(text) => vec![text],
        Texts::Several(texts) => texts,
    };
    let faults = texts.iter().map(|text| text.parse());
    faults.collect::<Result<_, _>>().map_err(de::Error::custom)
}

/// A text or a number that will be read as text: `5` and `"5"` are the same.
pub(super) struct Word(pub(super) String);

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyWord)
    }
}

/// Reads a [`Word`].
struct AnyWord;

impl Visitor<'_> for AnyWord {
    type Value = Word;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a number")
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Word, E> {
        Ok(Word(value.to_owned()))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Word, E> {
        Ok(Word(value.to_string()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Word, E> {
        Ok(Word(value.to_string()))
    }
}

/// Reads a whole number that a file can hold too: TOML has signed ones.
pub(crate) fn whole<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let number = text.parse::<u64>().ok().filter(|&number| number < 1 << 63);
    let number = number.and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| {
        let bits = (8 * size_of::<T>()).min(63);
        format!("'{text}' is not a whole number below 2^{bits}")
    })
}

/// Reads a whole number of a file that a flag can hold too, in a flag's words.
pub(crate) fn whole_in_file<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let number = u64::deserialize(from)?;
    whole(&number.to_string()).map_err(de::Error::custom)
}

/// The same of a key that may be missing.
pub(crate) fn maybe_whole<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    whole_in_file(from).map(Some)
}

/// Reads a number that need not be whole.
pub(super) fn number(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| format!("'{text}' is not a number such as 20 or 0.5"))
}

/// The case of an enum that has this name in a file.
pub(crate) fn named<T: DeserializeOwned>(name: String) -> Result<T, de::value::Error> {
    T::deserialize(name.into_deserializer())
}

/// Assignments as a table of a file.
pub(crate) mod assignments {
    use std::collections::BTreeMap;

    use super::{Assignment, Deserialize, Deserializer, Serialize, Serializer, Word};

    pub(crate) fn serialize<S: Serializer>(
        assignments: &[Assignment],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let table = assignments.iter().map(|a| (&a.name, &a.value));
        table.collect::<BTreeMap<_, _>>().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Assignment>, D::Error> {
        let table = BTreeMap::<String, Word>::deserialize(deserializer)?;
        let assignment = |(name, Word(value))| Assignment { name, value };
        Ok(table.into_iter().map(assignment).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_of_all_links_is_written_as_its_flag_reads_it() {
        for text in [
            "5%",
            "gemodel 1% 10% 100% 0%",
            "every 7",
            "5% for 3s",
            "5% every 2s for 1s",
        ] {
            let loss: LossSpec = text.parse().unwrap();
            assert_eq!(loss.to_string(), text);
        }
        let reorder: ReorderSpec = "25% gap 5".parse().unwrap();
        assert_eq!(reorder.to_string(), "25% gap 5");
        let FaultSpec { schedule, .. } = "5%".parse::<DuplicateSpec>().unwrap().0;
        assert_eq!(schedule.start, Start::At(0));
    }
}
