//! Colours and marks by which the series of a picture are told apart.

use std::fmt::{self, Display};

/// A colour by its red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Colour(u8, u8, u8);

/// Colours that people tell apart whether or not they see red and green: Okabe and Ito's, without
/// those that are too light for a thin line, and then the darker ones of Tol's muted scheme.
pub(crate) const COLOURS: [Colour; 10] = [
    BLUE,
    ORANGE,
    Colour(0x00, 0x9E, 0x73),
    Colour(0xCC, 0x79, 0xA7),
    GOLD,
    SKY,
    Colour(0x33, 0x22, 0x88),
    WINE,
    Colour(0x99, 0x99, 0x33),
    Colour(0x6E, 0x6E, 0x6E),
];
pub(super) const BLUE: Colour = Colour(0x00, 0x72, 0xB2);
pub(super) const ORANGE: Colour = Colour(0xD5, 0x5E, 0x00);
pub(super) const GOLD: Colour = Colour(0xE6, 0x9F, 0x00);
pub(super) const SKY: Colour = Colour(0x56, 0xB4, 0xE9);
pub(super) const WINE: Colour = Colour(0x88, 0x22, 0x55);
/// The colour of words and axes.
pub(super) const INK: Colour = Colour(0, 0, 0);
/// The colour of the paper.
pub(super) const WHITE: Colour = Colour(0xFF, 0xFF, 0xFF);
/// The colour of lines that lead the eye.
pub(super) const RULE: Colour = Colour(0xD9, 0xDD, 0xE1);

/// What the pages' style calls the colours of a picture.
const STYLED: [(Colour, &str); 13] = [
    (WHITE, "paper"),
    (BLUE, "blue"),
    (ORANGE, "orange"),
    (COLOURS[2], "green"),
    (COLOURS[3], "purple"),
    (GOLD, "gold"),
    (SKY, "sky"),
    (COLOURS[6], "indigo"),
    (WINE, "wine"),
    (COLOURS[8], "olive"),
    (COLOURS[9], "grey"),
    (RULE, "rule"),
    (INK, "ink"),
];

/// Marks around the origin as SVG paths, for printers without colours: a disc, a triangle, a square,
/// a diamond, a cross, a hanging triangle, two lying ones, a bar and a post.
const MARKS: [&str; 10] = [
    "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z",
    "M0 -6L5 4H-5z",
    "M-4 -4H4V4H-4z",
    "M0 -6L6 0L0 6L-6 0z",
    "M-2 -6H2V-2H6V2H2V6H-2V2H-6V-2H-2z",
    "M0 6L5 -4H-5z",
    "M-6 0L4 5V-5z",
    "M6 0L-4 5V-5z",
    "M-6 -2H6V2H-6z",
    "M-2 -6H2V6H-2z",
];

/// The colour and the mark of one series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Look {
    pub(super) colour: Colour,
    /// The mark as an SVG path around the origin.
    pub(super) mark: &'static str,
}

/// The look of the n-th series. When all colours are used, they repeat with the next mark, so that
/// no two of the first hundred look alike.
pub(super) fn look(nth: usize) -> Look {
    let (round, place) = (nth / COLOURS.len(), nth % COLOURS.len());
    Look {
        colour: COLOURS[place],
        mark: MARKS[(place + round) % MARKS.len()],
    }
}

/// Style by which a picture, drawn for white paper, follows the colours of a dark page.
pub(crate) fn style() -> String {
    let rules = STYLED.iter().map(|(colour, name)| {
        ["fill", "stroke"]
            .map(|part| format!("figure svg [{part}=\"{colour}\"] {{ {part}: var(--{name}); }}\n"))
    });
    rules.flatten().collect()
}

impl Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Colour(red, green, blue) = self;
        write!(f, "#{red:02X}{green:02X}{blue:02X}")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The eleventh series has the first one's colour and another mark.
    #[test]
    fn no_two_of_a_hundred_series_look_alike() {
        assert_eq!((0..100).map(look).collect::<BTreeSet<_>>().len(), 100);
        let marks = (0..10).map(|nth| look(nth).mark);
        assert_eq!(marks.collect::<BTreeSet<_>>().len(), 10);
    }

    /// In the light and in the dark alike.
    #[test]
    fn the_style_of_pages_has_every_colour() {
        let page = include_str!("../report/page.css");
        for colour in COLOURS {
            assert!(
                style().contains(&format!("[stroke=\"{colour}\"]")),
                "{colour}"
            );
        }
        for (_, name) in STYLED {
            assert_eq!(page.matches(&format!("--{name}: ")).count(), 2, "{name}");
        }
    }
}
