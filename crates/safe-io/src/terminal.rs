//! Messages for a person at a terminal.

use std::borrow::Cow;
use std::io::Write;

use crate::visible;

/// Says something to a person, with what a terminal would obey written out. Where
/// stderr is closed, or its disk is full, nobody hears it, and that is no reason to stop.
///
/// No line is longer than a few of a terminal's, for somebody may have a megabyte quoted; its
/// beginning and its end are shown.
pub fn to_stderr(text: &str) {
    let lines = visible(text);
    let lines = lines.split('\n').map(shortened).collect::<Vec<_>>();
    let _ = std::io::stderr().write_all(lines.join("\n").as_bytes());
}

fn shortened(line: &str) -> Cow<'_, str> {
    const MOST_BYTES: usize = 2_000;
    if line.len() <= MOST_BYTES {
        return Cow::Borrowed(line);
    }
    let end = line.floor_char_boundary(MOST_BYTES / 2);
    let start = line.ceil_char_boundary(line.len() - MOST_BYTES / 2);
    let left_out = start - end;
    Cow::Owned(format!(
        "{} … ({left_out} bytes) … {}",
        &line[..end],
        &line[start..]
    ))
}
