//! What the tables of a run that was not traced tell, as events: requests, entries, exits and faults.

use model::event::{Event, What};
use model::plan::Plan;
use model::run::Run;

/// The events that follow from the rows of `entries.csv` and `faults.csv`, in the order of time.
pub fn events_of_tables(plan: &Plan, run: &Run) -> Vec<Event> {
    let mut events = Vec::new();
    for row in &run.requests {
        let stayed = row.left_ns > row.entered_ns;
        let mut add = |time_ns: Option<u64>, what: What| {
            // Of one moment an exit comes first: who leaves and who enters were not inside together.
            let later = !(stayed && what == What::Release);
            let node = Some(row.node);
            events.extend(time_ns.map(|time_ns| {
                (
                    later,
                    Event {
                        time_ns,
                        node,
                        what,
                    },
                )
            }));
        };
        let priority = row.priority;
        add(Some(row.arrived_ns), What::Arrive { priority });
        add(row.asked_ns, What::Request { priority });
        let enter = What::Enter {
            fence: row.fence,
            invited: !row.uninvited,
            witness: row.witness_slot,
            index: row.index,
        };
        add(row.entered_ns, enter);
        add(row.left_ns, What::Release);
    }
    for fault in &run.faults {
        let faults = Event::of_fault(fault, &plan.faults);
        events.extend(faults.into_iter().map(|event| (true, event)));
    }
    events.sort_by_key(|(later, event)| (event.time_ns, *later));
    events.into_iter().map(|(_, event)| event).collect()
}
