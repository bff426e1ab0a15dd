//! Pages for people: what came out, with pictures, in one file that opens anywhere.

pub(crate) mod page;
mod run;
mod sweep;

use std::path::Path;

use crate::{Failure, results};
use page::Page;
pub(crate) use run::page as of_run;
pub(crate) use sweep::{is_one as is_sweep, page as of_sweep};

/// What a page is called in the directory that it is about.
pub(crate) const NAME: &str = "report.html";

/// Writes a page to a file.
pub(crate) fn write(page: &Page, path: &Path) -> Result<(), Failure> {
    results::replace(path, &page.html())
}
