//! The sealed connection between an agent and the orchestrator: bytes in, bytes out.
//!
//! Who knows the join secret may talk, and nobody else can read or change what is said. The handshake is
//! Noise's `NNpsk0`, as the `snow` crate has it: both sides contribute a fresh key and prove that they know
//! the secret, so nothing that was recorded once can be played again. Every piece after it has a number of
//! its own, so that none can be left out, doubled or moved.
//!
//! ```text
//!   agent ── a key, sealed with the secret ──► orchestrator
//!         ◄── a key, sealed with both ─────────
//!         ── pieces ──►        ◄── pieces ──
//! ```
//!
//! A message is cut in pieces of at most 64 KiB: two bytes of length, then the sealed piece, whose first
//! byte says whether it is the last one of its message.

use std::sync::Arc;

use snow::{Builder, HandshakeState, StatelessTransportState};
use thiserror::Error;

/// The join secret, as the key that it is used as.
#[derive(Clone)]
pub(crate) struct Secret([u8; 32]);

/// The fewest characters of a secret that somebody has chosen.
pub(crate) const SHORTEST_SECRET: usize = 16;

/// What is wrong with what came over the connection.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum Broken {
    /// It was not sealed with the same secret, or somebody changed it on its way.
    #[error("it is not sealed with the join secret of this run")]
    Seal,
    /// It is sealed well, and longer than any message.
    #[error("a message has more than {MOST_BYTES} bytes")]
    TooLong,
}

/// The most bytes of a message.
const MOST_BYTES: usize = 64 << 20;
/// The most bytes of a message in one piece.
const PIECE: usize = 65_000;
/// What sealing adds to a piece.
const TAG: usize = 16;

const PATTERN: &str = "Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s";
/// What both sides must mean, so that two versions of this protocol never talk to each other.
const PROLOGUE: &[u8] = b"turnstile agent 1";

impl Secret {
    /// A fresh secret, and the text that it is made from.
    pub(crate) fn fresh() -> Result<(Self, String), String> {
        let mut bytes = [0; 32];
        rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
            .map_err(|error| format!("no random numbers for a secret: {error}"))?;
        let text = blake3::Hash::from(bytes).to_hex().to_string();
        Ok((Self::of(&text), text))
    }

    /// The secret that this text is.
    pub(crate) fn from_text(text: &str) -> Result<Self, String> {
        let text = text.trim();
        match text.len() {
            0 => Err("there is no join secret; its first line must be one".to_owned()),
            1..SHORTEST_SECRET => Err(format!(
                "the join secret has fewer than {SHORTEST_SECRET} characters, so it could be guessed"
            )),
            _ => Ok(Self::of(text)),
        }
    }

    fn of(text: &str) -> Self {
        Self(blake3::derive_key(
            "turnstile 2026 join secret",
            text.as_bytes(),
        ))
    }
}

/// A handshake that has begun.
pub(crate) struct Handshake(Box<HandshakeState>);

impl Handshake {
    /// The agent's side.
    pub(crate) fn of_agent(secret: &Secret) -> Self {
        Self(Box::new(
            builder(secret).build_initiator().expect("the pattern fits"),
        ))
    }

    /// The orchestrator's side.
    pub(crate) fn of_orchestrator(secret: &Secret) -> Self {
        Self(Box::new(
            builder(secret).build_responder().expect("the pattern fits"),
        ))
    }

    /// The next message of the handshake with this in it, its length before it.
    pub(crate) fn say(&mut self, words: &[u8]) -> Result<Vec<u8>, Broken> {
        let mut sealed = vec![0; words.len() + 128];
        let written = self.0.write_message(words, &mut sealed);
        sealed.truncate(written.map_err(|_| Broken::TooLong)?);
        Ok(with_length(&sealed))
    }

    /// What the other side's message has in it.
    pub(crate) fn hear(&mut self, message: &[u8]) -> Result<Vec<u8>, Broken> {
        let mut words = vec![0; message.len()];
        let read = self.0.read_message(message, &mut words);
        words.truncate(read.map_err(|_| Broken::Seal)?);
        Ok(words)
    }

    /// The two directions, once both sides have spoken.
    pub(crate) fn finish(self) -> Result<(Sealer, Opener), Broken> {
        let both = self.0.into_stateless_transport_mode();
        let both = Arc::new(both.map_err(|_| Broken::Seal)?);
        let sealer = Sealer {
            cipher: Arc::clone(&both),
            next: 0,
        };
        let opener = Opener {
            cipher: both,
            next: 0,
            arrived: Vec::new(),
            message: Vec::new(),
        };
        Ok((sealer, opener))
    }
}

fn builder(secret: &Secret) -> Builder<'_> {
    let params = PATTERN.parse().expect("the pattern has a known name");
    Builder::new(params)
        .prologue(PROLOGUE)
        .and_then(|builder| builder.psk(0, &secret.0))
        .expect("a prologue and one secret")
}

fn with_length(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).expect("pieces are short");
    [&length.to_be_bytes(), bytes].concat()
}

/// Seals what leaves.
pub(crate) struct Sealer {
    cipher: Arc<StatelessTransportState>,
    /// The number of the next piece.
    next: u64,
}

impl Sealer {
    /// Adds a message, sealed.
    pub(crate) fn seal(&mut self, message: &[u8], out: &mut Vec<u8>) {
        let mut pieces = message.chunks(PIECE).peekable();
        let mut empty = message.is_empty().then_some(&[][..]);
        while let Some(piece) = pieces.next().or_else(|| empty.take()) {
            let last = u8::from(pieces.peek().is_none());
            let plain = [&[last], piece].concat();
            let mut sealed = vec![0; plain.len() + TAG];
            let written = self.cipher.write_message(self.next, &plain, &mut sealed);
            sealed.truncate(written.expect("the piece is short enough"));
            self.next += 1;
            out.extend(with_length(&sealed));
        }
    }
}

/// Opens what arrives.
pub(crate) struct Opener {
    cipher: Arc<StatelessTransportState>,
    /// The number that the next piece must have.
    next: u64,
    arrived: Vec<u8>,
    /// The pieces of a message whose last one has not come yet.
    message: Vec<u8>,
}

impl Opener {
    /// Takes in what arrived.
    pub(crate) fn take_in(&mut self, bytes: &[u8]) {
        self.arrived.extend_from_slice(bytes);
    }

    /// The next whole message, if it is there.
    pub(crate) fn open(&mut self) -> Result<Option<Vec<u8>>, Broken> {
        let mut taken = 0;
        let mut whole = false;
        while !whole && let Some(length) = self.arrived[taken..].first_chunk::<2>() {
            let length = usize::from(u16::from_be_bytes(*length));
            let Some(sealed) = self.arrived[taken + 2..].get(..length) else {
                break;
            };
            let mut plain = vec![0; length];
            let read = self.cipher.read_message(self.next, sealed, &mut plain);
            plain.truncate(read.map_err(|_| Broken::Seal)?);
            self.next += 1;
            taken += 2 + length;
            let (last, piece) = plain.split_first().ok_or(Broken::Seal)?;
            if self.message.len() + piece.len() > MOST_BYTES {
                return Err(Broken::TooLong);
            }
            self.message.extend_from_slice(piece);
            whole = *last == 1;
        }
        self.arrived.drain(..taken);
        Ok(whole.then(|| std::mem::take(&mut self.message)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> Secret {
        Secret::from_text(text).expect("a secret")
    }

    const OURS: &str = "0123456789abcdef";

    /// A connection between two who know the secret.
    fn joined() -> ((Sealer, Opener), (Sealer, Opener)) {
        let secret = secret(OURS);
        let mut agent = Handshake::of_agent(&secret);
        let mut orchestrator = Handshake::of_orchestrator(&secret);
        let hello = agent.say(b"hello").expect("it fits");
        assert_eq!(orchestrator.hear(&hello[2..]), Ok(b"hello".to_vec()));
        let welcome = orchestrator.say(b"welcome").expect("it fits");
        assert_eq!(agent.hear(&welcome[2..]), Ok(b"welcome".to_vec()));
        let finished = (agent.finish(), orchestrator.finish());
        (
            finished.0.expect("both spoke"),
            finished.1.expect("both spoke"),
        )
    }

    #[test]
    fn messages_of_any_length_arrive_however_they_are_cut() {
        let ((mut sealer, _), (_, mut opener)) = joined();
        let long = (0..200_000_u32).map(|n| n as u8).collect::<Vec<_>>();
        let messages = [b"one".to_vec(), Vec::new(), long, vec![7; PIECE]];
        let mut wire = Vec::new();
        for message in &messages {
            sealer.seal(message, &mut wire);
        }
        let mut read = Vec::new();
        for some in wire.chunks(999) {
            opener.take_in(some);
            while let Some(message) = opener.open().expect("it is whole") {
                read.push(message);
            }
        }
        assert_eq!(read, messages);
    }

    #[test]
    fn another_secret_is_refused() {
        let hello = Handshake::of_agent(&secret("another secret 99")).say(b"hello");
        let mut orchestrator = Handshake::of_orchestrator(&secret(OURS));
        let heard = orchestrator.hear(&hello.expect("it fits")[2..]);
        assert_eq!(heard, Err(Broken::Seal));
    }

    #[test]
    fn a_hello_played_again_leads_nowhere() {
        let secret = secret(OURS);
        let mut agent = Handshake::of_agent(&secret);
        let hello = agent.say(b"hello").expect("it fits");
        let mut first = Handshake::of_orchestrator(&secret);
        let mut second = Handshake::of_orchestrator(&secret);
        for orchestrator in [&mut first, &mut second] {
            orchestrator.hear(&hello[2..]).expect("it knew the secret");
        }
        let welcome = first.say(b"welcome").expect("it fits");
        agent.hear(&welcome[2..]).expect("it knows the secret");
        second.say(b"welcome").expect("it fits");
        // What the agent told the first one is nothing to the second.
        let (mut sealer, _) = agent.finish().expect("both spoke");
        let (_, mut opener) = second.finish().expect("both spoke");
        let mut wire = Vec::new();
        sealer.seal(b"ready", &mut wire);
        opener.take_in(&wire);
        assert_eq!(opener.open(), Err(Broken::Seal));
    }

    #[test]
    fn nothing_can_be_changed_doubled_left_out_or_turned_back() {
        let pieces = |sealer: &mut Sealer| {
            [b"first", b"other"].map(|message| {
                let mut wire = Vec::new();
                sealer.seal(message, &mut wire);
                wire
            })
        };
        let ((mut sealer, mut own), (_, mut opener)) = joined();
        let [first, second] = pieces(&mut sealer);
        own.take_in(&first);
        assert_eq!(own.open(), Err(Broken::Seal), "sent back to its sender");
        opener.take_in(&first);
        assert_eq!(opener.open(), Ok(Some(b"first".to_vec())));
        opener.take_in(&first);
        assert_eq!(opener.open(), Err(Broken::Seal), "doubled");
        let ((mut sealer, _), (_, mut opener)) = joined();
        let [_, later] = pieces(&mut sealer);
        opener.take_in(&later);
        assert_eq!(opener.open(), Err(Broken::Seal), "one was left out");
        let ((mut sealer, _), (_, mut opener)) = joined();
        let [mut changed, _] = pieces(&mut sealer);
        changed[5] ^= 1;
        opener.take_in(&changed);
        assert_eq!(opener.open(), Err(Broken::Seal), "changed");
        drop(second);
    }

    #[test]
    fn a_secret_that_could_be_guessed_is_refused() {
        assert!(Secret::from_text(" \n").is_err_and(|why| why.contains("no join secret")));
        assert!(Secret::from_text("123").is_err_and(|why| why.contains("fewer than 16")));
        assert!(Secret::from_text("0123456789abcdef\n").is_ok());
    }
}
