//! Networks that everybody knows, in the model's own words.
//!
//! The numbers are meant to be of the right size, not to be anybody's measurement; each preset says
//! where they come from. Delays are one way, so half a round trip.

use crate::delay::Delay;
use crate::language::{Form, LinkFault, Word};
use crate::matrix::Matrix;

/// A network that everybody knows by its name.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name in `preset NAME`.
    pub name: &'static str,
    /// The faults that together are like it.
    pub faults: &'static [&'static str],
    /// What it is, and where the numbers come from.
    pub about: &'static str,
}

/// All presets, in the order of the documents.
pub const PRESETS: [Preset; 6] = [
    Preset {
        name: "lan",
        faults: &["delay 100us 20us distribution normal", "rate 1gbit"],
        about: "Switched gigabit Ethernet: a quiet one answers a ping in about 0.2 ms.",
    },
    Preset {
        name: "wifi",
        faults: &[
            "delay 3ms 3ms distribution pareto",
            "loss 0.5%",
            "rate 40mbit limit 200",
        ],
        about: "A wireless network shared with neighbours: a few milliseconds, and a heavy tail where \
                frames are sent again; what even that does not repair is lost. Assumed, not measured.",
    },
    Preset {
        name: "dsl",
        faults: &[
            "delay 25ms 2ms distribution normal",
            "loss 0.1%",
            "rate 384kbit limit 100",
        ],
        about: "WebPageTest's DSL profile: 50 ms round trip, and 384 kbit/s on the way up, which is \
                the narrow end between two such homes. Jitter and loss assumed.",
    },
    Preset {
        name: "3g",
        faults: &[
            "delay 150ms 30ms distribution lognormal",
            "loss 0.5%",
            "rate 768kbit limit 200",
        ],
        about: "WebPageTest's 3G profile: 300 ms round trip, 768 kbit/s up. Jitter and loss assumed.",
    },
    Preset {
        name: "starlink",
        faults: &[
            "delay 25ms 7ms 50% distribution normal",
            "loss gemodel 0.02% 5%",
            "rate 20mbit limit 500",
        ],
        about: "Satellites in low orbit: in the first months of 2022 a dish in Belgium saw round trips \
                with quartiles of 40, 50 and 60 ms (Michel and others, A first look at Starlink \
                performance, IMC 2022). Losses come in bursts when satellites hand over; burst \
                length, correlation and rate are assumed.",
    },
    Preset {
        name: "grid",
        faults: &["delay matrix grid"],
        about: "Nine sites of a national grid, placed like those of Grid'5000 in France. Delays are \
                computed, not measured: light in fibre makes 200 km per ms, a cable is taken to be \
                twice as long as the great circle, equipment adds 0.5 ms, and the standard deviation \
                is a twentieth. Within a site it takes 0.1 ms.",
    },
];

/// How a preset is written.
pub(crate) const FORM: Form = Form {
    word: Word {
        word: "preset",
        form: "preset lan|wifi|dsl|3g|starlink|grid",
        meaning: "Several faults that together are like a network everybody knows.",
        example: "preset 3g on all",
    },
    parse: |cursor| match find(&cursor.text[cursor.place()]) {
        Some(preset) => {
            cursor.take();
            Ok(LinkFault::Preset(preset.name.to_owned()))
        }
        None => {
            let names = PRESETS.map(|preset| preset.name);
            Err(cursor.unfit(format!("write one of {}", names.join(", "))))
        }
    },
};

/// The preset of that name.
pub fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

/// The matrix of that name that needs no file.
pub fn matrix(name: &str) -> Option<Matrix> {
    (name == "grid").then(grid)
}

/// The nine sites, with latitude and longitude in degrees.
const SITES: [(&str, f64, f64); 9] = [
    ("bordeaux", 44.84, -0.58),
    ("grenoble", 45.19, 5.72),
    ("lille", 50.63, 3.07),
    ("lyon", 45.76, 4.84),
    ("nancy", 48.69, 6.18),
    ("orsay", 48.70, 2.19),
    ("rennes", 48.11, -1.68),
    ("sophia", 43.62, 7.05),
    ("toulouse", 43.60, 1.44),
];

fn grid() -> Matrix {
    const FIBRE_KM_PER_MS: f64 = 200.0;
    const DETOUR: f64 = 2.0;
    const EQUIPMENT_MS: f64 = 0.5;
    Matrix::between("grid", &SITES.map(|(name, ..)| name), |from, to| {
        if from == to {
            return Delay::Constant { ns: 100_000 };
        }
        let ms = distance_km(SITES[from], SITES[to]) * DETOUR / FIBRE_KM_PER_MS + EQUIPMENT_MS;
        // Whole tenths of a millisecond: more would pretend to be exact.
        let mean_ns = (ms * 10.0).round() as u64 * 100_000;
        Delay::Normal {
            mean_ns,
            jitter_ns: mean_ns / 20,
        }
    })
}

/// The great circle between two sites.
fn distance_km((_, lat_a, lon_a): (&str, f64, f64), (_, lat_b, lon_b): (&str, f64, f64)) -> f64 {
    const EARTH_KM: f64 = 6_371.0;
    let half = |a: f64, b: f64| libm::pow(libm::sin((b - a).to_radians() / 2.0), 2.0);
    let cosines = libm::cos(lat_a.to_radians()) * libm::cos(lat_b.to_radians());
    2.0 * EARTH_KM * libm::asin((half(lat_a, lat_b) + cosines * half(lon_a, lon_b)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_is_symmetric_and_its_farthest_sites_are_rennes_and_sophia() {
        let grid = matrix("grid").unwrap();
        assert_eq!(grid.sites().len(), 9);
        let mean_ns = |from, to| match *grid.delay(from, to) {
            Delay::Normal { mean_ns, .. } | Delay::Constant { ns: mean_ns } => mean_ns,
            _ => unreachable!("the grid is normal"),
        };
        let pairs = (0..9).flat_map(|from| (0..9).map(move |to| (from, to)));
        for (from, to) in pairs.clone() {
            assert_eq!(mean_ns(from, to), mean_ns(to, from));
        }
        let farthest = pairs.max_by_key(|(from, to)| mean_ns(*from, *to)).unwrap();
        assert_eq!(
            farthest.0 + farthest.1,
            6 + 7,
            "Rennes and Sophia are 840 km apart"
        );
        assert!((8_000_000..10_000_000).contains(&mean_ns(6, 7)));
    }
}
