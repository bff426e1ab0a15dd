//! Directories in the making: their names are taken at once, and nothing recorded is lost.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use analysis::files::{self, FilesError};
use tempfile::TempDir;

fn place() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// A draft with a file `x`.
fn draft_with_x(target: &Path) -> files::Draft {
    let draft = files::Draft::begin(target).unwrap();
    fs::write(draft.path().join("x"), "y").unwrap();
    draft
}

#[test]
fn a_result_appears_only_when_it_is_published() {
    let place = place();
    let target = place.path().join("run");
    let draft = draft_with_x(&target);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let usual = mode(&target);
    assert_eq!(mode(draft.path()), 0o700, "nobody else can enter it");
    assert_eq!(
        fs::read_dir(&target).unwrap().count(),
        0,
        "only its name is taken"
    );
    assert_eq!(draft.publish().unwrap(), target);
    assert!(target.join("x").exists());
    assert_eq!(mode(&target), usual);
    let beside = fs::read_dir(target.parent().unwrap()).unwrap();
    assert_eq!(beside.count(), 1, "the draft is no longer there");
}

#[test]
fn a_name_is_taken_before_any_work_is_done() {
    let place = place();
    let target = place.path().join("run");
    let first = files::Draft::begin(&target).unwrap();
    let second = files::Draft::begin(&target);
    assert!(matches!(second, Err(FilesError::Exists(_))), "{second:?}");
    drop(first);
    files::Draft::begin(&target).unwrap();
}

#[test]
fn a_name_that_leads_nowhere_is_taken() {
    let place = place();
    let target = place.path().join("run");
    symlink("nothing", &target).unwrap();
    let begun = files::Draft::begin(&target);
    assert!(matches!(begun, Err(FilesError::Exists(_))), "{begun:?}");
}

#[test]
fn a_result_whose_name_is_filled_meanwhile_gets_the_next() {
    let place = place();
    let target = place.path().join("run");
    let draft = draft_with_x(&target);
    fs::write(target.join("other"), "somebody else's").unwrap();
    fs::create_dir(target.with_file_name("run.2")).unwrap();
    let third = target.with_file_name("run.3");
    assert_eq!(draft.publish().unwrap(), third);
    assert!(third.join("x").exists() && target.join("other").exists());
}

#[test]
fn only_what_a_dead_owner_recorded_is_an_orphan() {
    let dir = place();
    let place = dir.path();
    let begin = |name: &str, record: &str| {
        let draft = files::Draft::begin(&place.join(name)).unwrap();
        fs::create_dir(draft.path().join("members")).unwrap();
        fs::write(draft.path().join("members/0.0.rec"), record).unwrap();
        draft
    };
    let living = begin("living", "x");
    drop(begin("silent", ""));
    drop(begin("dead", "x"));
    let open = begin("open", "x");
    fs::set_permissions(open.path(), fs::Permissions::from_mode(0o755)).unwrap();
    drop(open);
    let found = files::orphans(place);
    let targets = found.iter().map(files::Draft::target).collect::<Vec<_>>();
    assert_eq!(targets, [place.join("dead")]);
    assert_eq!(
        files::orphans(place).len(),
        0,
        "one finder locks out another"
    );
    assert!(!place.join("silent").exists(), "nothing was recorded there");
    assert!(living.has_records());
}
