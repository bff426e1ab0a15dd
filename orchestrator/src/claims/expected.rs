//! What a test expects, as a person writes it.

use analysis::claims::{Expectation, Relation, Selection, Side, Tolerance};
use analysis::expression::Expression;
use serde::Deserialize;
use toml::Value;

use crate::commands::explore::WorldSpec;

/// The keys of a test that say what is expected; exactly one relation among them.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct TestKeys {
    /// The quantity that is measured.
    pub(super) value: Option<Formula>,
    pub(super) equals: Option<Formula>,
    pub(super) within: Option<Value>,
    /// Why the tolerance is another than the rule's.
    pub(super) because: Option<String>,
    pub(super) at_most: Option<Formula>,
    pub(super) at_least: Option<Formula>,
    pub(super) of: Option<toml::Table>,
    pub(super) below: Option<toml::Table>,
    pub(super) above: Option<toml::Table>,
    pub(super) same_as: Option<toml::Table>,
    pub(super) rises_with: Option<String>,
    pub(super) falls_with: Option<String>,
    pub(super) margin: Option<Value>,
    pub(super) always: Option<Formula>,
    pub(super) sometimes: Option<Formula>,
    pub(super) share: Option<Formula>,
    // The rest of a test, read by its owner.
    pub(super) case: Option<String>,
    pub(super) sweep: Option<String>,
    pub(super) explore: Option<Vec<WorldSpec>>,
    pub(super) finds: Option<String>,
    pub(super) recompute: Option<String>,
    #[serde(rename = "where")]
    pub(super) among: Option<toml::Table>,
    pub(super) published: Option<super::published::PublishedKeys>,
}

/// A formula, or a number by itself.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub(super) enum Formula {
    Number(f64),
    Text(String),
}

/// How far a number may be off by the rule: not at all where the source gives it exactly, a hundredth of
/// a closed form, a twentieth of a rounded example.
const RULES: [Tolerance; 3] = [
    Tolerance::Absolute(0.0),
    Tolerance::Share(0.01),
    Tolerance::Share(0.05),
];

/// Differences smaller than this share are none, unless a test says otherwise.
const MARGIN: f64 = 0.02;

impl Formula {
    fn parse(&self) -> Result<Expression, String> {
        match self {
            Self::Number(number) => Expression::parse(&number.to_string()),
            Self::Text(text) => Expression::parse(text),
        }
    }

    fn number(&self) -> Result<f64, String> {
        match self {
            Self::Number(number) => Ok(*number),
            Self::Text(text) => percent(text),
        }
    }
}

impl TestKeys {
    /// The expectation of a test that says nothing else.
    pub(crate) fn plain_expectation(&self) -> Result<Expectation, String> {
        let others = [
            ("case", self.case.is_some()),
            ("sweep", self.sweep.is_some()),
            ("explore", self.explore.is_some()),
            ("finds", self.finds.is_some()),
            ("recompute", self.recompute.is_some()),
            ("where", self.among.is_some()),
            ("published", self.published.is_some()),
        ];
        match others.into_iter().find(|(_, there)| *there) {
            Some((key, _)) => Err(format!("{key}: only a claim has this")),
            None => self.expectation(),
        }
    }

    /// The expectation that these keys describe.
    pub(super) fn expectation(&self) -> Result<Expectation, String> {
        let given = [
            ("equals", self.equals.is_some()),
            ("at-most", self.at_most.is_some() && self.share.is_none()),
            ("at-least", self.at_least.is_some() && self.share.is_none()),
            ("below", self.below.is_some()),
            ("above", self.above.is_some()),
            ("same-as", self.same_as.is_some()),
            ("rises-with", self.rises_with.is_some()),
            ("falls-with", self.falls_with.is_some()),
            ("always", self.always.is_some()),
            ("sometimes", self.sometimes.is_some()),
            ("share", self.share.is_some()),
        ];
        let names = given.map(|(name, _)| name).join(", ");
        let mut given = given.into_iter().filter(|(_, there)| *there);
        let (Some((kind, _)), None) = (given.next(), given.next()) else {
            return Err(format!(
                "one expectation is needed in each test, of {names}"
            ));
        };
        let expectation = self.of_kind(kind)?;
        match expectation.cannot_fail() {
            Some(why) => Err(format!("{kind}: it cannot fail: {why}")),
            None => Ok(expectation),
        }
    }

    fn of_kind(&self, kind: &str) -> Result<Expectation, String> {
        let formula = |formula: &Option<Formula>| match formula {
            Some(formula) => formula.parse(),
            None => Err(format!("{kind}: value = \"messages_per_entry\" is missing")),
        };
        let value = || formula(&self.value);
        let margin = || match &self.margin {
            None => Ok(MARGIN),
            Some(Value::String(text)) => percent(text),
            Some(other) => Err(format!("margin: a share such as \"2%\", not {other}")),
        };
        let bounded = |side, bound: &Option<Formula>| {
            Ok(Expectation::Bounded {
                value: value()?,
                side,
                bound: formula(bound)?,
            })
        };
        let ordered = |relation, to: &Option<toml::Table>| {
            let of = self.of.as_ref();
            let of = of.ok_or_else(|| {
                format!("{kind}: of = {{ algorithm = \"raymond\" }} says which cells are compared")
            })?;
            Ok(Expectation::Ordered {
                value: value()?,
                of: selection(of)?,
                relation,
                to: selection(to.as_ref().expect("it is the kind"))?,
                margin: margin()?,
            })
        };
        let trend = |relation, along: &Option<String>| {
            Ok(Expectation::Trend {
                value: value()?,
                along: along.clone().expect("it is the kind"),
                relation,
                margin: margin()?,
            })
        };
        match kind {
            "equals" => Ok(Expectation::Equals {
                value: value()?,
                to: formula(&self.equals)?,
                within: self.within()?,
            }),
            "at-most" => bounded(Side::AtMost, &self.at_most),
            "at-least" => bounded(Side::AtLeast, &self.at_least),
            "below" => ordered(Relation::Below, &self.below),
            "above" => ordered(Relation::Above, &self.above),
            "same-as" => ordered(Relation::Same, &self.same_as),
            "rises-with" => trend(Relation::Above, &self.rises_with),
            "falls-with" => trend(Relation::Below, &self.falls_with),
            "always" => Ok(Expectation::Always(formula(&self.always)?)),
            "sometimes" => Ok(Expectation::Sometimes(formula(&self.sometimes)?)),
            _ => {
                let end = |end: &Option<Formula>, unless_said| {
                    end.as_ref().map_or(Ok(unless_said), Formula::number)
                };
                Ok(Expectation::Share {
                    of: formula(&self.share)?,
                    least: end(&self.at_least, 0.0)?,
                    most: end(&self.at_most, 1.0)?,
                })
            }
        }
    }

    fn within(&self) -> Result<Tolerance, String> {
        let within = self.tolerance()?;
        let by_rule = RULES.contains(&within);
        match (&self.because, by_rule) {
            (None, false) => Err(
                "within: 0 for what the source gives exactly, \"1%\" for a closed form, \"5%\" for a \
                 rounded example; because = \"…\" says why it is another"
                    .to_owned(),
            ),
            (Some(_), true) => {
                Err("because: the tolerance is that of the rule, and needs no reason".to_owned())
            }
            (Some(_), false) | (None, true) => Ok(within),
        }
    }

    fn tolerance(&self) -> Result<Tolerance, String> {
        match &self.within {
            Some(Value::String(text)) => percent(text).map(Tolerance::Share),
            Some(Value::Float(number)) => Ok(Tolerance::Absolute(*number)),
            Some(Value::Integer(number)) => Ok(Tolerance::Absolute(*number as f64)),
            Some(other) => Err(format!("within: \"2%\" or a number, not {other}")),
            None => Err(
                "equals: within says how far it may be away: \"2%\", or a number; 0 is exactly"
                    .to_owned(),
            ),
        }
    }
}

/// The cells that a table of keys means: a value, or several, for each.
pub(super) fn selection(table: &toml::Table) -> Result<Selection, String> {
    let mut selection = Selection::new();
    for (key, value) in crate::sweep::flat("", table) {
        let values = match value {
            Value::Array(values) => values.iter().map(crate::sweep::shown).collect(),
            value => vec![crate::sweep::shown(value)],
        };
        selection.insert(key, values);
    }
    Ok(selection)
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%');
    let number = number.and_then(|number| number.trim().parse::<f64>().ok());
    let number = number.filter(|number| number.is_finite() && *number >= 0.0);
    let number = number.ok_or_else(|| format!("'{text}': a share such as 2% is expected"))?;
    Ok(number / 100.0)
}
