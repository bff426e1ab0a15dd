//! The files of a run, altered at random: whatever they say, `check`, `replay` and `report` end with
//! a verdict or a message, never with a panic.

mod common;

use std::cell::RefCell;
use std::ffi::OsString;
use std::fs::{self, File};
use std::ops::Range;
use std::panic;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use analysis::files::FILES;
use common::Place;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What a number becomes.
const NUMBERS: [&str; 8] = [
    "0",
    "-1",
    "9007199254740992",
    "9223372036854775808",
    "18446744073709551615",
    "1e308",
    "NaN",
    "",
];

/// Where the process that reads the altered files finds them, and says what it found.
const DIRECTORY: &str = "TURNSTILE_MUTATED";

/// How many alterations, of which each is a number: the seed of its chance.
fn mutations() -> u64 {
    std::env::var("TURNSTILE_MUTATIONS").map_or(300, |count| count.parse().expect("a number"))
}

/// `TURNSTILE_MUTATIONS` asks for so many, as `scripts/soak` does.
#[test]
fn altered_files_end_with_a_verdict_or_a_message() {
    let place = Place::new();
    for line in [
        "run mra-p -n 3 --engine sim --seed 1 --total 9 --warm-up 1 --trace --priority 1,5,9 \
         --fault 'at 1ms loss 20% for 20ms' --out simulated",
        "run naimi-trehel -n 3 --seed 1 --total 9 --think 1ms --trace --loss 5% --out processes",
    ] {
        place.line(line).expect(0);
    }
    // In a process of its own, for its messages, and for an end that no test survives.
    let output = File::create(place.path().join("output")).expect("a file");
    let ended = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "read_altered_files", "--ignored"])
        .env(DIRECTORY, place.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(output)
        .status();
    let told = |name: &str| place.read(name);
    assert!(
        ended.expect("it can be started").success(),
        "it ended with {}\n{}",
        told("last"),
        told("output").lines().rev().take(5).collect::<String>(),
    );
    assert_eq!(told("panics"), "");
}

#[test]
#[ignore = "the test above starts it in a process of its own"]
fn read_altered_files() {
    let Some(place) = std::env::var_os(DIRECTORY).map(PathBuf::from) else {
        return;
    };
    thread_local! {
        static WHERE: RefCell<String> = const { RefCell::new(String::new()) };
    }
    panic::set_hook(Box::new(|told| WHERE.set(told.to_string())));
    let mut panics = String::new();
    for number in 0..mutations() {
        let mut chance = ChaCha8Rng::seed_from_u64(number);
        let run = ["simulated", "processes"][chance.random_range(0..2)];
        let name = FILES[chance.random_range(0..FILES.len())];
        let path = place.join(run).join(name);
        let whole = fs::read(&path).expect("a file of a run");
        let (what, altered) = mutation(&mut chance, &whole);
        fs::write(&path, &altered).expect("it can be written");
        for command in ["check", "replay", "report"] {
            let what = format!("{number}: {command} after {what} of {run}/{name}");
            fs::write(place.join("last"), &what).expect("it can be written");
            let exit = panic::catch_unwind(|| ended(command, &place.join(run)));
            match exit {
                Ok(0..=4) => {}
                Ok(code) => panics.push_str(&format!("{what}: exit code {code}\n")),
                Err(_) => panics.push_str(&format!("{what}: {}\n", WHERE.take())),
            }
        }
        fs::write(&path, whole).expect("it can be written");
    }
    let _ = panic::take_hook();
    fs::write(place.join("panics"), panics).expect("it can be written");
}

fn ended(command: &str, run: &Path) -> u8 {
    let words = ["orchestrator", command].map(OsString::from);
    orchestrator::command_line(words.into_iter().chain([run.into()])).code()
}

/// What was done, and what came of it.
fn mutation(chance: &mut ChaCha8Rng, whole: &[u8]) -> (String, Vec<u8>) {
    let lines = || whole.split_inclusive(|&byte| byte == b'\n');
    let count = lines().count();
    if count == 0 {
        return ("a line in nothing".to_owned(), b"1,2,3\n".to_vec());
    }
    let line = chance.random_range(0..count);
    let start = lines().take(line).map(<[u8]>::len).sum::<usize>();
    let end = start + lines().nth(line).map_or(0, <[u8]>::len);
    let to = NUMBERS[chance.random_range(0..NUMBERS.len())];
    match chance.random_range(0..10) {
        0..=3 => {
            let places = numbers(whole, 0..whole.len());
            let place = places.choose(chance).cloned().unwrap_or(0..0);
            let what = format!("the number at byte {} as '{to}'", place.start);
            (what, replaced(whole, &[place], to))
        }
        4 => {
            let what = format!("every number of line {} as '{to}'", line + 1);
            (what, replaced(whole, &numbers(whole, start..end), to))
        }
        5 => {
            let what = format!("every number as '{to}'");
            (what, replaced(whole, &numbers(whole, 0..whole.len()), to))
        }
        6 => {
            let mut altered = whole.to_vec();
            let place = chance.random_range(0..whole.len());
            altered[place] ^= 1 << chance.random_range(0..8);
            (format!("a flipped bit in byte {place}"), altered)
        }
        7 => {
            let length = chance.random_range(0..whole.len());
            (format!("the first {length} bytes"), whole[..length].into())
        }
        8 => {
            let altered = [&whole[..end], &whole[start..]].concat();
            (format!("line {} doubled", line + 1), altered)
        }
        _ => {
            let altered = [&whole[..start], &whole[end..]].concat();
            (format!("line {} dropped", line + 1), altered)
        }
    }
}

/// The ranges of bytes that are numbers.
fn numbers(text: &[u8], within: Range<usize>) -> Vec<Range<usize>> {
    let digit = |place: usize| text[place].is_ascii_digit() || text[place] == b'.';
    let mut places = Vec::<Range<usize>>::new();
    for place in within.filter(|&place| digit(place)) {
        match places.last_mut() {
            Some(last) if last.end == place => last.end += 1,
            _ => places.push(place..place + 1),
        }
    }
    places
}

fn replaced(text: &[u8], places: &[Range<usize>], to: &str) -> Vec<u8> {
    let mut altered = Vec::new();
    let mut rest = 0;
    for place in places {
        altered.extend_from_slice(&text[rest..place.start]);
        altered.extend_from_slice(to.as_bytes());
        rest = place.end;
    }
    altered.extend_from_slice(&text[rest..]);
    altered
}
