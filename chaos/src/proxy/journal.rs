//! What the proxy did, one JSON object per line.

use std::io::Write;
use std::time::SystemTime;

use humantime::format_rfc3339_millis;
use serde::Serialize;

/// Where what happens is written down: nowhere, or line by line into something.
#[derive(Default)]
pub struct Journal {
    into: Option<Box<dyn Write>>,
}

/// A line of the journal.
#[derive(Serialize)]
struct Line<'a, T> {
    /// The time since the proxy began.
    time_ns: u64,
    /// The same moment on the wall clock.
    utc: &'a str,
    event: &'a str,
    #[serde(flatten)]
    about: T,
}

impl Journal {
    /// A journal that writes down what happens.
    pub fn new(into: impl Write + 'static) -> Self {
        Self {
            into: Some(Box::new(into)),
        }
    }

    /// Writes a line. A journal that cannot be written ends; the proxy goes on.
    pub(super) fn note(&mut self, time_ns: u64, event: &str, about: impl Serialize) {
        let Some(into) = &mut self.into else { return };
        let line = Line {
            time_ns,
            utc: &format_rfc3339_millis(SystemTime::now()).to_string(),
            event,
            about,
        };
        let text = serde_json::to_string(&line).expect("a line of the journal is plain data");
        if writeln!(into, "{text}")
            .and_then(|()| into.flush())
            .is_err()
        {
            self.into = None;
        }
    }
}
