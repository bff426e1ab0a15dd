//! Where messages lie while they are under way.

use super::MessageId;

/// Messages by their ids. An id is used again when its message is gone, the latest first, so that
/// few messages under way stay close together in memory.
#[derive(Clone, Debug)]
pub struct Shelf<M> {
    places: Vec<Option<M>>,
    free: Vec<MessageId>,
}

impl<M> Default for Shelf<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M> Shelf<M> {
    /// A shelf with nothing on it.
    pub fn new() -> Self {
        Self {
            places: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Puts a message on the shelf.
    pub fn keep(&mut self, message: M) -> MessageId {
        if let Some(id) = self.free.pop() {
            self.places[id.0 as usize] = Some(message);
            return id;
        }
        let id = u32::try_from(self.places.len()).expect("fewer than 2^32 messages under way");
        self.places.push(Some(message));
        MessageId(id)
    }

    /// Takes a message off the shelf.
    ///
    /// # Panics
    /// If the message is not under way.
    pub fn take(&mut self, id: MessageId) -> M {
        let message = self.places[id.0 as usize].take();
        self.free.push(id);
        message.expect(UNDER_WAY)
    }

    /// Looks at a message.
    ///
    /// # Panics
    /// If the message is not under way.
    pub fn get(&self, id: MessageId) -> &M {
        self.places[id.0 as usize].as_ref().expect(UNDER_WAY)
    }
}

const UNDER_WAY: &str = "the message is under way";
