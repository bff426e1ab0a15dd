//! The messages under way on one directed link.

use algorithms::erased::MessageId;
use algorithms::registry::LinkOrder;

/// The messages of one link: as they were sent on links that keep order, else sorted, so that equal
/// mail has one form; of equal messages the oldest first.
pub(super) type Queue = Vec<Mail>;

/// A message under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Mail {
    pub(super) message: MessageId,
    /// In how many ticks it must have arrived; 0 where there is no bound.
    pub(super) left: u32,
}

/// Adds a message that was just sent.
pub(super) fn put(queue: &mut Queue, mail: Mail, order: LinkOrder) {
    let place = match order {
        LinkOrder::Fifo => queue.len(),
        LinkOrder::Any => queue.partition_point(|&other| other <= mail),
    };
    queue.insert(place, mail);
}

/// The places of the messages that can arrive next; of equal ones only the oldest, which has the
/// least time.
pub(super) fn next_places(queue: &[Mail], order: LinkOrder) -> impl Iterator<Item = usize> {
    let ahead = match order {
        LinkOrder::Fifo => queue.len().min(1),
        LinkOrder::Any => queue.len(),
    };
    (0..ahead).filter(|&place| place == 0 || queue[place].message != queue[place - 1].message)
}

/// What may be left of the queue when its sender crashes: any prefix, or any part where links do
/// not keep order; the whole of it first.
pub(super) fn remains(queue: &[Mail], order: LinkOrder) -> Vec<Queue> {
    match order {
        LinkOrder::Fifo => (0..=queue.len())
            .rev()
            .map(|kept| queue[..kept].to_vec())
            .collect(),
        LinkOrder::Any => {
            let mut parts = vec![Queue::new()];
            for equal in queue.chunk_by(PartialEq::eq) {
                parts = parts
                    .iter()
                    .flat_map(|part| {
                        let kept = (0..=equal.len()).rev();
                        kept.map(|kept| [part, &equal[..kept]].concat())
                    })
                    .collect();
            }
            parts
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(messages: &[u32]) -> Queue {
        messages.iter().map(|&message| mail(message)).collect()
    }

    fn mail(message: u32) -> Mail {
        Mail {
            message: MessageId(message),
            left: 0,
        }
    }

    /// The link on which these were sent, one after another.
    fn sent(messages: &[u32], order: LinkOrder) -> Queue {
        let mut link = Queue::new();
        for &message in messages {
            put(&mut link, mail(message), order);
        }
        link
    }

    #[test]
    fn an_ordered_link_delivers_its_oldest_message_only() {
        let link = sent(&[5, 3, 5], LinkOrder::Fifo);
        assert_eq!(link, queue(&[5, 3, 5]));
        assert!(next_places(&link, LinkOrder::Fifo).eq([0]));
    }

    #[test]
    fn an_unordered_link_delivers_any_but_equal_messages_once() {
        let link = sent(&[5, 3, 5], LinkOrder::Any);
        assert_eq!(link, queue(&[3, 5, 5]));
        assert!(next_places(&link, LinkOrder::Any).eq([0, 1]));
    }

    #[test]
    fn a_crash_leaves_a_prefix_or_any_part() {
        assert_eq!(
            remains(&queue(&[5, 3]), LinkOrder::Fifo),
            [queue(&[5, 3]), queue(&[5]), queue(&[])]
        );
        assert_eq!(
            remains(&queue(&[3, 5, 5]), LinkOrder::Any),
            [
                queue(&[3, 5, 5]),
                queue(&[3, 5]),
                queue(&[3]),
                queue(&[5, 5]),
                queue(&[5]),
                queue(&[]),
            ]
        );
        assert_eq!(remains(&[], LinkOrder::Any), [queue(&[])]);
    }
}
