//! The secret that the members of one run share.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::MAC_BYTES;

/// A run's key. It is printed by nothing but the control channel that hands it over.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Key([u8; 32]);

/// A text that is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a key is 64 hexadecimal digits")]
pub struct KeyError;

impl Key {
    /// These bytes as a key; they should be random and fresh.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The full mac of these bytes.
    pub(super) fn mac(&self, bytes: &[u8]) -> blake3::Hash {
        blake3::keyed_hash(&self.0, bytes)
    }

    /// Whether `claimed` begins the mac of these bytes, in a time that does not depend on where it
    /// differs.
    pub(super) fn verifies(&self, bytes: &[u8], claimed: &[u8]) -> bool {
        let mac = self.mac(bytes);
        let mut whole = *mac.as_bytes();
        // Completed with the right rest, it can be compared as a hash, which takes constant time.
        whole[..MAC_BYTES].copy_from_slice(claimed);
        mac == blake3::Hash::from_bytes(whole)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(secret)")
    }
}

impl From<Key> for String {
    fn from(key: Key) -> Self {
        blake3::Hash::from_bytes(key.0).to_hex().as_str().to_owned()
    }
}

impl TryFrom<String> for Key {
    type Error = KeyError;

    fn try_from(text: String) -> Result<Self, KeyError> {
        let hash = blake3::Hash::from_hex(text).map_err(|_| KeyError)?;
        Ok(Self(*hash.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_does_not_show_itself() {
        let shown = format!("{:?}", Key::new([0xab; 32]));
        assert_eq!(shown, "Key(secret)");
    }

    #[test]
    fn a_key_passes_the_control_channel_as_text() {
        let key = Key::new(std::array::from_fn(|place| place as u8));
        let text = String::from(key.clone());
        assert_eq!(text.len(), 64);
        assert_eq!(Key::try_from(text), Ok(key));
        for wrong in ["", "abc", &"z".repeat(64), &"0".repeat(65)] {
            assert_eq!(Key::try_from(wrong.to_owned()), Err(KeyError));
        }
    }

    #[test]
    fn a_mac_is_compared_to_its_last_byte() {
        let key = Key::new([1; 32]);
        let mac = key.mac(b"text");
        let mut claimed = mac.as_bytes()[..MAC_BYTES].to_vec();
        assert!(key.verifies(b"text", &claimed));
        for place in 0..MAC_BYTES {
            claimed[place] ^= 1;
            assert!(!key.verifies(b"text", &claimed), "byte {place}");
            claimed[place] ^= 1;
        }
    }
}
