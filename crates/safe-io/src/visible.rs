//! What others wrote, shown so that it is read and not obeyed.

use std::borrow::Cow;

/// The text with control characters written out: a terminal obeys them, and what stands in a file or
/// in an argument has no business with the terminal of its reader. `ESC` becomes
/// `\u001b`, which JSON reads as the same character. Line feeds and tabs stay.
///
/// So do letters of every script, but not the marks that show a text in another order than it has.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match is_obeyed(letter) {
            true => shown += &format!("\\u{:04x}", u32::from(letter)),
            false => shown.push(letter),
        }
    }
    Cow::Owned(shown)
}

fn is_obeyed(letter: char) -> bool {
    let turns = ['\u{61c}', '\u{200e}', '\u{200f}'].contains(&letter)
        || ('\u{202a}'..='\u{202e}').contains(&letter)
        || ('\u{2066}'..='\u{2069}').contains(&letter);
    turns || letter.is_control() && !['\n', '\t'].contains(&letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_written_out() {
        assert_eq!(visible("a\u{1b}]0;b\u{7}"), "a\\u001b]0;b\\u0007");
        assert_eq!(
            visible("\r\u{7f}\u{9b}\u{202e}"),
            "\\u000d\\u007f\\u009b\\u202e"
        );
        assert!(matches!(visible("ein\tßatz\n日本 ✓"), Cow::Borrowed(_)));
    }
}
