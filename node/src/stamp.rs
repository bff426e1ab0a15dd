//! The moment a message was sent travels in front of it, so that its receiver knows the delay.

/// Begins a message that is sent now: the rest of it is appended.
pub fn write(now_ns: u64, bytes: &mut Vec<u8>) {
    bytes.clear();
    postcard::to_io(&now_ns, bytes).expect("a number can be written to memory");
}

/// When a message was sent, and the rest of it; `None` if it does not begin with a moment.
pub fn read(bytes: &[u8]) -> Option<(u64, &[u8])> {
    postcard::take_from_bytes(bytes).ok()
}
