//! The sources' claims: data in `experiments/claims/`, one file for each source.
//!
//! ```toml
//! source = "banta"
//! title = "Banta, 1993"
//!
//! [sweep.light]                 # runs that claims look at, in the words of a sweep file
//! repetitions = 10
//! scenario = { engine = "sim", workload = "one-at-a-time", total = 400 }
//! grid = { algorithm = ["suzuki-kasami", "naimi-trehel"], nodes = [5, 10] }
//!
//! [[claim]]
//! id = "BAN-29"
//! place = "2.1.5"
//! says = "Naimi and Trehel's algorithm costs log n messages."
//! lab = "reproduced"            # what a first check by hand said
//! verdict = "reproduced"        # what was published last
//!
//! [[claim.test]]                # what speaks for it; several with a case each
//! sweep = "light"
//! where = { algorithm = "naimi-trehel" }
//! value = "messages_per_entry"
//! equals = "harmonic(nodes - 1)"
//! within = "3%"
//!
//! [[claim.test]]
//! case = "as printed"
//! explore = ["naimi-trehel --as-printed --wants 1,1,1"]
//! finds = "nothing"
//! ```
//!
//! Everything in a file is checked before anything runs, and an expectation that cannot fail is a
//! mistake like any other.

mod expected;
mod file;
mod published;
mod report;
mod search;
mod table;
mod trial;

pub(crate) use file::{Book, Claim, books, check_papers};
pub(crate) use report::{Picture, Questions, counted, page};
pub(crate) use table::{Real, Tried, csv, markdown};
pub(crate) use trial::Trial;

/// Where the claim files are, in the repository.
pub(crate) const CLAIMS: &str = "experiments/claims";
/// Where the published numbers are.
pub(crate) const PAPERS: &str = "results/papers";
