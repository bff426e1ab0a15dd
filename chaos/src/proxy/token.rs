//! The word without which nothing is told and nothing changes.

use std::io;
use std::path::Path;

use axum::http::{HeaderMap, header};

use safe_io::input;

/// A word that nobody can guess.
#[derive(Clone)]
pub struct Token(String);

/// What is shorter could be tried out.
const SHORTEST: usize = 16;
const LONGEST: usize = 256;

impl Token {
    /// A new token, drawn at random.
    pub fn fresh() -> io::Result<Self> {
        let mut bytes = [0_u8; 16];
        rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty())?;
        Ok(Self(
            bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        ))
    }

    /// One that somebody chose; what is wrong with it otherwise, without saying it.
    pub fn chosen(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(
                "a token has only letters, digits and signs of ASCII, no spaces".to_owned(),
            );
        }
        if !(SHORTEST..=LONGEST).contains(&text.len()) {
            let length = text.len();
            let why = format!("a token has {SHORTEST} to {LONGEST} letters, and this has {length}");
            return Err(why);
        }
        Ok(Self(text.to_owned()))
    }

    /// The one that stands in a file.
    pub fn from_file(path: &Path) -> Result<Self, String> {
        let bytes = input::read(path, 4096).map_err(|error| error.to_string())?;
        let text = String::from_utf8(bytes).map_err(|_| "it is not a text".to_owned())?;
        Self::chosen(&text)
    }

    /// The text of the token.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether a request says it. The time this takes does not tell how much of it was right.
    pub(super) fn is_said_in(&self, headers: &HeaderMap) -> bool {
        let given = headers.get(header::AUTHORIZATION);
        let given = given.and_then(|value| value.to_str().ok());
        let given = given.and_then(|value| value.strip_prefix("Bearer "));
        given.is_some_and(|given| self.is(given))
    }

    /// Whether this is the token. The time this takes does not tell how much of it was right.
    pub fn is(&self, given: &str) -> bool {
        let differ = given
            .bytes()
            .zip(self.0.bytes())
            .fold(0, |all, (a, b)| all | (a ^ b));
        given.len() == self.0.len() && differ == 0
    }
}
