//! The command line of Turnstile.
fn main() {}
