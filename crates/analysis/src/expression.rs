//! Arithmetic over named quantities, as a person writes it in a claim or a sweep.
//!
//! ```text
//!   2*(nodes-1)      (messages.REQUEST + messages.REPLY) / entries      max_inside > 1
//! ```
//!
//! A name may carry a choice in brackets, `entry.messages.mean[node=0]`, which is part of the name.
//! A comparison is 1 or 0.

use std::cmp::Ordering;
use std::fmt;
use std::iter::Peekable;
use std::vec::IntoIter;

/// A formula that was understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    text: String,
    root: Term,
}

/// A comparison of a formula, with the values of its sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// What stands on the left of the sign.
    pub left: f64,
    /// `≤`, `≥`, `<` or `>`.
    pub sign: &'static str,
    /// What stands on its right.
    pub right: f64,
}

#[derive(Clone, Debug, PartialEq)]
enum Term {
    Number(f64),
    Name(String),
    Negated(Box<Term>),
    Both(Operator, Box<Term>, Box<Term>),
    Call(Function, Vec<Term>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Or,
    And,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Equal,
    Unequal,
    Plus,
    Minus,
    Times,
    Over,
    Power,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Min,
    Max,
    Abs,
    Sqrt,
    Ln,
    Log2,
    Ceil,
    Floor,
    Harmonic,
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(f64),
    Name(String),
    Sign(&'static str),
}

/// Longer ones first, so that `<=` is not `<` and something.
const SIGNS: [&str; 14] = [
    "<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "^", "(", ")", ",",
];

/// The operators, from those that bind least to those that bind most.
const BINDING: [&[(&str, Operator)]; 5] = [
    &[("or", Operator::Or)],
    &[("and", Operator::And)],
    &[
        ("<=", Operator::AtMost),
        (">=", Operator::AtLeast),
        ("==", Operator::Equal),
        ("!=", Operator::Unequal),
        ("<", Operator::Less),
        (">", Operator::Greater),
    ],
    &[("+", Operator::Plus), ("-", Operator::Minus)],
    &[("*", Operator::Times), ("/", Operator::Over)],
];

const FUNCTIONS: [(&str, Function, usize); 9] = [
    ("min", Function::Min, 2),
    ("max", Function::Max, 2),
    ("abs", Function::Abs, 1),
    ("sqrt", Function::Sqrt, 1),
    ("ln", Function::Ln, 1),
    ("log2", Function::Log2, 1),
    ("ceil", Function::Ceil, 1),
    ("floor", Function::Floor, 1),
    ("harmonic", Function::Harmonic, 1),
];

impl Expression {
    /// Understands a formula, or says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let complaint = |why: String| format!("'{text}': {why}");
        if text.len() > MOST_BYTES {
            return Err(format!("a formula has at most {MOST_BYTES} letters"));
        }
        let mut parser = Parser {
            tokens: tokens(text).map_err(complaint)?.into_iter().peekable(),
            depth: 0,
        };
        let root = parser.level(0).map_err(complaint)?;
        match parser.tokens.next() {
            None => Ok(Self {
                text: text.trim().to_owned(),
                root,
            }),
            Some(token) => Err(complaint(format!("{token} is not expected there"))),
        }
    }

    /// One quantity, whatever signs its name has (`messages.REQUEST+BOUNCE`).
    pub fn quantity(name: &str) -> Self {
        Self {
            text: name.to_owned(),
            root: Term::Name(name.to_owned()),
        }
    }

    /// The names in it, each once.
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.root.collect(&mut names);
        names
    }

    /// Its value; `None` if a quantity in it has none, or the result is no number.
    pub fn evaluate(&self, value_of: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
        self.root
            .evaluate(value_of)
            .filter(|value| value.is_finite())
    }

    /// Of the bounds in it, all of which must hold, the one whose sides are nearest to each other;
    /// `None` if there is none, or one of its sides has no value.
    pub fn tightest_bound(&self, value_of: &dyn Fn(&str) -> Option<f64>) -> Option<Bound> {
        let mut bounds = Vec::new();
        self.root.bounds(value_of, &mut bounds);
        bounds.into_iter().min_by(Bound::by_room)
    }
}

impl Bound {
    /// How much room there is, as a share of the larger side.
    fn room(&self) -> f64 {
        let larger = self.left.abs().max(self.right.abs());
        match larger > 0.0 {
            true => (self.left - self.right).abs() / larger,
            false => 0.0,
        }
    }

    /// The tighter of two is the smaller one.
    pub fn by_room(&self, other: &Self) -> Ordering {
        self.room().total_cmp(&other.room())
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Term {
    fn collect<'a>(&'a self, names: &mut Vec<&'a str>) {
        match self {
            Term::Number(_) => {}
            Term::Name(name) if names.contains(&name.as_str()) => {}
            Term::Name(name) => names.push(name),
            Term::Negated(inner) => inner.collect(names),
            Term::Both(_, left, right) => {
                left.collect(names);
                right.collect(names);
            }
            Term::Call(_, arguments) => {
                for argument in arguments {
                    argument.collect(names);
                }
            }
        }
    }

    /// The comparisons that must all hold for this to hold.
    fn bounds(&self, value_of: &dyn Fn(&str) -> Option<f64>, bounds: &mut Vec<Bound>) {
        let Term::Both(operator, left, right) = self else {
            return;
        };
        let sign = match operator {
            Operator::And => {
                left.bounds(value_of, bounds);
                right.bounds(value_of, bounds);
                return;
            }
            Operator::Less => "<",
            Operator::AtMost => "≤",
            Operator::Greater => ">",
            Operator::AtLeast => "≥",
            _ => return,
        };
        let sides = left.evaluate(value_of).zip(right.evaluate(value_of));
        let sides = sides.filter(|(left, right)| left.is_finite() && right.is_finite());
        bounds.extend(sides.map(|(left, right)| Bound { left, sign, right }));
    }

    fn evaluate(&self, value_of: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
        Some(match self {
            Term::Number(number) => *number,
            Term::Name(name) => value_of(name)?,
            Term::Negated(inner) => -inner.evaluate(value_of)?,
            Term::Both(operator, left, right) => {
                operator.apply(left.evaluate(value_of)?, right.evaluate(value_of)?)
            }
            Term::Call(function, arguments) => {
                let values = arguments.iter().map(|argument| argument.evaluate(value_of));
                function.apply(&values.collect::<Option<Vec<_>>>()?)
            }
        })
    }
}

impl Operator {
    fn apply(self, left: f64, right: f64) -> f64 {
        let truth = |holds: bool| f64::from(u8::from(holds));
        match self {
            Operator::Or => truth(left != 0.0 || right != 0.0),
            Operator::And => truth(left != 0.0 && right != 0.0),
            Operator::Less => truth(left < right),
            Operator::AtMost => truth(left <= right),
            Operator::Greater => truth(left > right),
            Operator::AtLeast => truth(left >= right),
            Operator::Equal => truth(left == right),
            Operator::Unequal => truth(left != right),
            Operator::Plus => left + right,
            Operator::Minus => left - right,
            Operator::Times => left * right,
            Operator::Over => left / right,
            Operator::Power => left.powf(right),
        }
    }
}

impl Function {
    /// Its value; the parser has counted the arguments.
    fn apply(self, arguments: &[f64]) -> f64 {
        let (first, last) = (arguments[0], arguments[arguments.len() - 1]);
        match self {
            Function::Min => first.min(last),
            Function::Max => first.max(last),
            Function::Abs => first.abs(),
            Function::Sqrt => first.sqrt(),
            Function::Ln => first.ln(),
            Function::Log2 => first.log2(),
            Function::Ceil => first.ceil(),
            Function::Floor => first.floor(),
            Function::Harmonic => harmonic(first),
        }
    }
}

/// The sum of the reciprocals of 1 to n.
fn harmonic(n: f64) -> f64 {
    let n = n.max(0.0).floor();
    if n <= 10_000.0 {
        return (1..=n as u32).map(|n| f64::from(n).recip()).sum();
    }
    // Euler's expansion; what it leaves out is below what a number of this type can tell.
    const EULER: f64 = 0.577_215_664_901_532_9;
    n.ln() + EULER + (2.0 * n).recip() - (12.0 * n * n).recip()
}

struct Parser {
    tokens: Peekable<IntoIter<Token>>,
    /// How many brackets, signs and powers are open: each takes some of the stack.
    depth: usize,
}

/// The longest formula; a chain of so many sums still fits on a stack.
const MOST_BYTES: usize = 4_000;
/// The most brackets, signs and powers that may be open at once.
const MOST_DEPTH: usize = 100;

impl Parser {
    /// Everything that binds at least this tightly, from left to right.
    fn level(&mut self, level: usize) -> Result<Term, String> {
        let Some(operators) = BINDING.get(level) else {
            return self.power();
        };
        let mut left = self.level(level + 1)?;
        while let Some(operator) = self.operator(operators) {
            let right = self.level(level + 1)?;
            left = Term::Both(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn operator(&mut self, operators: &[(&str, Operator)]) -> Option<Operator> {
        let word = match self.tokens.peek()? {
            Token::Sign(sign) => *sign,
            Token::Name(name) => name.as_str(),
            Token::Number(_) => return None,
        };
        let (_, operator) = *operators.iter().find(|(sign, _)| *sign == word)?;
        self.tokens.next();
        Some(operator)
    }

    /// A power binds from right to left, and more than a minus before it.
    fn power(&mut self) -> Result<Term, String> {
        if self.depth == MOST_DEPTH {
            return Err(format!("it is nested more than {MOST_DEPTH} deep"));
        }
        self.depth += 1;
        let power = self.shallow_power();
        self.depth -= 1;
        power
    }

    fn shallow_power(&mut self) -> Result<Term, String> {
        if self.accept("-") {
            return Ok(Term::Negated(Box::new(self.power()?)));
        }
        let base = self.atom()?;
        if self.accept("^") {
            let exponent = self.power()?;
            return Ok(Term::Both(
                Operator::Power,
                Box::new(base),
                Box::new(exponent),
            ));
        }
        Ok(base)
    }

    fn atom(&mut self) -> Result<Term, String> {
        match self.tokens.next() {
            Some(Token::Number(number)) => Ok(Term::Number(number)),
            Some(Token::Name(name)) if self.accept("(") => self.call(&name),
            Some(Token::Name(name)) => Ok(Term::Name(name)),
            Some(Token::Sign("(")) => {
                let inner = self.level(0)?;
                self.expect(")")?;
                Ok(inner)
            }
            Some(token) => Err(format!("a number or a name is missing before {token}")),
            None => Err("it ends where a number or a name should be".to_owned()),
        }
    }

    fn call(&mut self, name: &str) -> Result<Term, String> {
        let known = FUNCTIONS.iter().find(|(known, ..)| *known == name);
        let Some((_, function, wanted)) = known else {
            let known = FUNCTIONS.map(|(known, ..)| known).join(", ");
            return Err(format!("there is no function {name}; there are {known}"));
        };
        let mut arguments = vec![self.level(0)?];
        while self.accept(",") {
            arguments.push(self.level(0)?);
        }
        self.expect(")")?;
        match arguments.len() == *wanted {
            true => Ok(Term::Call(*function, arguments)),
            false => Err(format!("{name} takes {wanted}, not {}", arguments.len())),
        }
    }

    fn accept(&mut self, sign: &str) -> bool {
        let there = matches!(self.tokens.peek(), Some(Token::Sign(next)) if *next == sign);
        if there {
            self.tokens.next();
        }
        there
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        match self.accept(sign) {
            true => Ok(()),
            false => Err(format!("a {sign} is missing")),
        }
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Number(number) => write!(f, "{number}"),
            Token::Name(name) => write!(f, "'{name}'"),
            Token::Sign(sign) => write!(f, "'{sign}'"),
        }
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = if first.is_ascii_digit() {
            number(rest)?
        } else if first.is_alphabetic() || first == '_' {
            name(rest)?
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            let sign = sign.ok_or_else(|| format!("'{first}' means nothing here"))?;
            (Token::Sign(sign), sign.len())
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

fn number(rest: &str) -> Result<(Token, usize), String> {
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.');
    let digits = &rest[..end.unwrap_or(rest.len())];
    let number = digits
        .parse()
        .map_err(|_| format!("'{digits}' is no number"))?;
    Ok((Token::Number(number), digits.len()))
}

/// A name, with dots in it and the choice in brackets that may follow.
fn name(rest: &str) -> Result<(Token, usize), String> {
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.');
    let mut end = end.unwrap_or(rest.len());
    if rest[end..].starts_with('[') {
        let close = rest[end..].find(']');
        end += 1 + close.ok_or("a ] is missing")?;
    }
    let name = rest[..end].chars().filter(|c| !c.is_whitespace());
    Ok((Token::Name(name.collect()), end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_and_operator_is_documented() {
        let page = include_str!("../../../docs/sweeps.md");
        let (_, formulas) = page.split_once("## Formulas").unwrap();
        let (formulas, _) = formulas.split_once("\n## ").unwrap();
        let words = formulas.split(['`', ' ', ',', '\n']).collect::<Vec<_>>();
        let operators = BINDING.iter().flat_map(|level| level.iter());
        let operators = operators.map(|(word, _)| *word);
        for word in operators.chain(FUNCTIONS.map(|(word, ..)| word)) {
            assert!(words.contains(&word), "{word}");
        }
    }

    fn value(text: &str) -> Option<f64> {
        let nodes = |name: &str| (name == "nodes").then_some(5.0);
        Expression::parse(text).unwrap().evaluate(&nodes)
    }

    #[test]
    fn arithmetic_binds_as_in_school() {
        assert_eq!(value("2*(nodes-1)"), Some(8.0));
        assert_eq!(value("1 + 2 * 3 - 4 / 2"), Some(5.0));
        assert_eq!(value("8 - 3 - 2"), Some(3.0));
        assert_eq!(value("2^3^2"), Some(512.0));
        assert_eq!(value("-2^2"), Some(-4.0));
        assert_eq!(value("2*-3"), Some(-6.0));
        assert_eq!(value("nodes > 4 and nodes != 6 or 0"), Some(1.0));
        assert_eq!(value("1 + nodes <= 5"), Some(0.0));
    }

    #[test]
    fn functions_take_what_they_take() {
        assert_eq!(value("max(nodes, 7) - min(2, nodes)"), Some(5.0));
        assert_eq!(value("sqrt(nodes + 4) + ceil(0.2) + log2(8)"), Some(7.0));
        let harmonic = value("harmonic(nodes - 1)").unwrap();
        assert!((harmonic - 25.0 / 12.0).abs() < 1e-12);
        let step = value("harmonic(10001) - harmonic(10000) - 1/10001").unwrap();
        assert!(step.abs() < 1e-12, "{step}");
        assert!(value("harmonic(4000000000)").unwrap() > 22.0);
    }

    #[test]
    fn the_bound_with_the_least_room_is_the_tightest() {
        let tightest = |text: &str| {
            let nodes = |name: &str| (name == "nodes").then_some(5.0);
            let bound = Expression::parse(text).unwrap().tightest_bound(&nodes)?;
            Some((bound.left, bound.sign, bound.right))
        };
        let both = "nodes <= 10 and 2*nodes >= 9 and nodes == 5";
        assert_eq!(tightest(both), Some((10.0, "≥", 9.0)));
        assert_eq!(tightest("nodes < 6 and nodes > 0"), Some((5.0, "<", 6.0)));
        // Of two that need not both hold neither is a bound.
        assert_eq!(tightest("nodes <= 10 or nodes >= 5"), None);
        assert_eq!(tightest("nodes == 5"), None);
        assert_eq!(tightest("beauty <= 10"), None);
    }

    #[test]
    fn a_quantity_without_a_value_makes_no_number() {
        assert_eq!(value("nodes + beauty"), None);
        assert_eq!(value("1 / (nodes - 5)"), None);
    }

    #[test]
    fn a_choice_belongs_to_the_name() {
        let expression = Expression::parse("entry.messages.mean[node = 0] / messages.P2REQ");
        let expression = expression.unwrap();
        let names = ["entry.messages.mean[node=0]", "messages.P2REQ"];
        assert_eq!(expression.names(), names);
    }

    #[test]
    fn no_formula_is_too_deep_for_the_stack() {
        let nested = |times: usize, open: &str, close: &str| {
            format!("{}1{}", open.repeat(times), close.repeat(times))
        };
        for (open, close) in [("(", ")"), ("abs(", ")"), ("-", ""), ("1^", "")] {
            assert!(
                Expression::parse(&nested(99, open, close)).is_ok(),
                "{open}"
            );
            let deep = Expression::parse(&nested(500, open, close)).unwrap_err();
            assert!(deep.contains("more than 100 deep"), "{deep}");
            let long = Expression::parse(&nested(200_000, open, close)).unwrap_err();
            assert_eq!(long, "a formula has at most 4000 letters");
        }
        assert_eq!(value(&format!("1{}", "+1".repeat(1_999))), Some(2_000.0));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let wrong = |text: &str| Expression::parse(text).unwrap_err();
        assert!(wrong("2*(nodes-1").contains("a ) is missing"));
        assert!(wrong("2*").contains("ends where"));
        assert!(wrong("2 nodes").contains("'nodes' is not expected there"));
        assert!(wrong("log(2)").contains("no function log"));
        assert!(wrong("max(2)").contains("max takes 2, not 1"));
        assert!(wrong("2 $ 3").contains("'$' means nothing"));
        assert!(wrong("a[node=1").contains("a ] is missing"));
        assert!(wrong("1.2.3").contains("no number"));
    }
}
