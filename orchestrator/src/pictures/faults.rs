//! Faults behind the pictures of a run: bands while one is in force, strokes where one strikes.

use model::run::{FaultOutcome, Happened, Run};

use super::TOP;
use super::canvas::{Canvas, Key, Stroke};
use super::palette::{Colour, GOLD, WINE};
use super::pixels::PixelRow;

/// How much of a band covers what lies behind.
const PALE: f64 = 0.3;

/// How a fault is shown in the pictures.
enum Shown {
    /// Not at all: it never happened, or it was in force from the beginning to the end, where a band
    /// would only hide the others.
    Nowhere,
    /// A stroke: it is a moment rather than a time.
    Stroke(u64),
    /// A band from one moment to another.
    Band(u64, u64),
}

impl Shown {
    fn of(fault: &FaultOutcome, run: &Run) -> Self {
        let Happened::From { at_ns, until_ns } = fault.happened else {
            return Shown::Nowhere;
        };
        let end_ns = until_ns.unwrap_or(run.ended_ns);
        if fault.is_death() || until_ns == Some(at_ns) {
            Shown::Stroke(at_ns)
        } else if at_ns == 0 && end_ns >= run.ended_ns {
            Shown::Nowhere
        } else {
            Shown::Band(at_ns, end_ns.max(at_ns))
        }
    }
}

/// Whether a fault was in force from the beginning of the run to its end.
pub(crate) fn lasts_throughout(fault: &FaultOutcome, run: &Run) -> bool {
    matches!(fault.happened, Happened::From { .. })
        && matches!(Shown::of(fault, run), Shown::Nowhere)
}

/// Draws the faults of the run between these times, down to that height.
pub(super) fn bands(canvas: &mut Canvas, run: &Run, (from_ns, until_ns): (u64, u64), bottom: f64) {
    let mut lasting = PixelRow::new(from_ns, until_ns);
    let mut striking = lasting.clone();
    for fault in &run.faults {
        match Shown::of(fault, run) {
            Shown::Nowhere => {}
            Shown::Stroke(at_ns) => striking.mark(at_ns, at_ns),
            Shown::Band(start_ns, end_ns) => lasting.mark(start_ns, end_ns),
        }
    }
    for (start, end) in lasting.spans() {
        canvas.block((start, TOP), (end - start, bottom - TOP), GOLD, PALE);
    }
    for (start, _) in striking.spans() {
        canvas.line((start, TOP), (start, bottom), Stroke::new(WINE, 2.0));
    }
}

/// What these colours mean, and those of the faults that are shown.
pub(super) fn legend(canvas: &mut Canvas, run: &Run, names: &[(&str, Colour)]) {
    let shown = run.faults.iter().map(|fault| Shown::of(fault, run));
    let lasting = shown.clone().any(|shown| matches!(shown, Shown::Band(..)));
    let striking = shown.clone().any(|shown| matches!(shown, Shown::Stroke(_)));
    let names = names.iter().map(|&(name, colour)| (name, colour, 1.0));
    let lasting = lasting.then_some(("a fault is in force", GOLD, PALE));
    let striking = striking.then_some(("a fault strikes", WINE, 1.0));
    let keys = names
        .chain(lasting)
        .chain(striking)
        .map(|(name, colour, opacity)| -> Key<'_> {
            let draw = move |canvas: &mut Canvas, (x, y): (f64, f64)| {
                canvas.block((x - 6.0, y - 6.0), (12.0, 12.0), colour, opacity);
            };
            (name, Box::new(draw))
        });
    canvas.legend(4.0, &keys.collect::<Vec<_>>());
}

#[cfg(test)]
mod tests {
    use algorithms::NodeId;
    use model::run::FaultKind;

    use super::*;
    use crate::pictures::occupancy;
    use crate::pictures::occupancy::tests::{request, run};
    use crate::pictures::palette::ORANGE;

    #[test]
    fn a_fault_is_a_band_and_a_death_a_stroke() {
        let fault = |kind, happened| FaultOutcome::unasked(kind, NodeId(1), happened);
        let mut run = run(vec![request(0, 0, 50, 60)], 1_000);
        let picture = |run: &Run| occupancy(run, 2, (0, 1_000)).svg;
        assert!(!picture(&run).contains("a fault"));
        run.faults = vec![
            fault(FaultKind::Links, Happened::from(0, None)),
            fault(FaultKind::Pause, Happened::Never),
        ];
        let svg = picture(&run);
        assert!(
            !svg.contains("a fault") && !svg.contains("opacity=\"0.3\""),
            "{svg}"
        );
        run.faults.extend([
            fault(FaultKind::Links, Happened::from(100, Some(300))),
            fault(FaultKind::Kill, Happened::from(100, None)),
        ]);
        let svg = picture(&run);
        assert!(
            svg.contains("a fault is in force") && svg.contains("a fault strikes"),
            "{svg}"
        );
        // The band, and its sample in the legend, which is as pale.
        let pale = format!("fill=\"{GOLD}\" opacity=\"0.3\"");
        assert_eq!(svg.matches(&pale).count(), 2);
        assert!(
            !svg.contains(&ORANGE.to_string()),
            "the longest wait has that"
        );
    }
}
