//! The messages under way on one directed link.

use algorithms::erased::MessageId;
use algorithms::registry::Order;

/// The messages of one link: as they were sent on links that keep order, else sorted, so that equal
/// mail has one form.
pub(super) type Queue = Vec<MessageId>;

/// Adds a message that was just sent.
pub(super) fn put(queue: &mut Queue, message: MessageId, order: Order) {
    let place = match order {
        Order::Fifo => queue.len(),
        Order::Any => queue.partition_point(|&other| other <= message),
    };
    queue.insert(place, message);
}

/// The places of the messages that can arrive next; of equal ones only the first.
pub(super) fn next_places(queue: &[MessageId], order: Order) -> impl Iterator<Item = usize> {
    let ahead = match order {
        Order::Fifo => queue.len().min(1),
        Order::Any => queue.len(),
    };
    (0..ahead).filter(|&place| place == 0 || queue[place] != queue[place - 1])
}

/// What may be left of the queue when its sender crashes: any prefix, or any part where links do
/// not keep order; the whole of it first.
pub(super) fn remains(queue: &[MessageId], order: Order) -> Vec<Queue> {
    match order {
        Order::Fifo => (0..=queue.len())
            .rev()
            .map(|kept| queue[..kept].to_vec())
            .collect(),
        Order::Any => {
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
        messages.iter().copied().map(MessageId).collect()
    }

    #[test]
    fn an_ordered_link_delivers_its_oldest_message_only() {
        let mut link = Queue::new();
        for message in [5, 3, 5] {
            put(&mut link, MessageId(message), Order::Fifo);
        }
        assert_eq!(link, queue(&[5, 3, 5]));
        assert!(next_places(&link, Order::Fifo).eq([0]));
    }

    #[test]
    fn an_unordered_link_delivers_any_but_equal_messages_once() {
        let mut link = Queue::new();
        for message in [5, 3, 5] {
            put(&mut link, MessageId(message), Order::Any);
        }
        assert_eq!(link, queue(&[3, 5, 5]));
        assert!(next_places(&link, Order::Any).eq([0, 1]));
    }

    #[test]
    fn a_crash_leaves_a_prefix_or_any_part() {
        assert_eq!(
            remains(&queue(&[5, 3]), Order::Fifo),
            [queue(&[5, 3]), queue(&[5]), queue(&[])]
        );
        assert_eq!(
            remains(&queue(&[3, 5, 5]), Order::Any),
            [
                queue(&[3, 5, 5]),
                queue(&[3, 5]),
                queue(&[3]),
                queue(&[5, 5]),
                queue(&[5]),
                queue(&[]),
            ]
        );
        assert_eq!(remains(&[], Order::Any), [queue(&[])]);
    }
}
