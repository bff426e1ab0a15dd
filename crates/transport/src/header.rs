//! The moment a message was sent travels in front of it, so that its receiver knows the delay.
//!
//! Where processes are traced its number follows, so that a trace can tell which message arrived.

/// Begins a message that is sent now: the rest of it is appended.
pub fn write(now_ns: u64, number: Option<u64>, bytes: &mut Vec<u8>) {
    bytes.clear();
    for written in std::iter::once(now_ns).chain(number) {
        postcard::to_io(&written, &mut *bytes).expect("a number can be written to memory");
    }
}

/// When a message was sent, its number (0 if it has none) and the rest of it; `None` if it does not
/// begin so.
pub fn read(bytes: &[u8], numbered: bool) -> Option<(u64, u64, &[u8])> {
    let (sent_ns, rest) = postcard::take_from_bytes(bytes).ok()?;
    let (number, rest) = match numbered {
        true => postcard::take_from_bytes(rest).ok()?,
        false => (0, rest),
    };
    Some((sent_ns, number, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_read_as_it_was_written() {
        let mut bytes = Vec::new();
        for number in [None, Some(300)] {
            write(5_000, number, &mut bytes);
            bytes.extend(b"rest");
            let read = read(&bytes, number.is_some());
            assert_eq!(read, Some((5_000, number.unwrap_or(0), &b"rest"[..])));
        }
        assert_eq!(read(&[0x80], true), None);
    }
}
