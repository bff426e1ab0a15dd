//! A copy of the program in an empty directory does everything that one in the repository does.

mod common;

use std::fs;
use std::process::Command;

use common::Place;

/// What the repository has, under the names that it has there.
#[test]
fn an_installed_copy_needs_no_repository() {
    let place = Place::new();
    for (line, says) in [
        ("list claims --paper sanders", "SAN-24"),
        ("run experiments/saturated.toml --seed 1", "verdict: holds"),
        (
            "run sanders -n 3 --param structure=experiments/structures/fig4.toml --engine sim",
            "verdict: holds",
        ),
        (
            "sweep experiments/sweeps/light-load.toml --dry-run",
            "cells",
        ),
        (
            "structure experiments/structures/fig4.toml",
            "theorem: safe",
        ),
        (
            "reproduce SUR-2 SAN-24",
            "2 claims: 1 reproduced, 1 refuted",
        ),
        ("explain raymond", "Closed forms"),
        ("run raymond -n 3 --entries 2", "verdict: holds"),
    ] {
        place.line(line).expect(0).says(says);
    }
    // With the questions that the sources leave open.
    let pages = fs::read_dir(place.path().join("results/reproduction")).expect("a reproduction");
    let pages = pages.map(|entry| entry.expect("a directory").path().join("report.html"));
    let pages = pages.map(|page| fs::read_to_string(page).expect("a page"));
    let pages = pages.collect::<Vec<_>>();
    assert!(
        pages
            .iter()
            .any(|page| page.contains("optimal at every load")),
        "no questions"
    );
}

/// What stands where the program runs comes before what it carries.
#[test]
fn files_of_ones_own_come_first() {
    let place = Place::new();
    let claims = "source = \"mine\"\ntitle = \"mine\"\n[[claim]]\nid = \"MY-1\"\nplace = \"1\"\n\
                  says = \"So it is.\"\nkind = \"always\"\nlab = \"none\"\nnot-testable = \"no runs\"\n";
    place.file("elsewhere/mine.toml", claims);
    let listed = place.line("list claims --claims elsewhere").expect(0);
    listed.says("MY-1");
    assert!(!listed.stdout.contains("SAN-24"), "{}", listed.stdout);
    place.file(
        "experiments/saturated.toml",
        "algorithm = \"lamport\"\nengine = \"sim\"\n",
    );
    let line = "run experiments/saturated.toml --dry-run";
    place.line(line).expect(0).says("algorithm = \"lamport\"");
    place
        .line("list claims --claims nowhere")
        .expect(2)
        .warns("cannot read the claims in nowhere");
    place
        .line("run experiments/nothing.toml")
        .expect(2)
        .warns("cannot read the scenario");
}

#[test]
fn the_version_names_the_commit() {
    let place = Place::new();
    let shown = place.line("--version").expect(0).stdout;
    let version = env!("CARGO_PKG_VERSION");
    let expected = match option_env!("TURNSTILE_COMMIT") {
        Some(commit) => format!("orchestrator {version} ({commit})\n"),
        None => format!("orchestrator {version}\n"),
    };
    assert_eq!(shown, expected);
}

#[test]
fn shells_complete_every_command() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.line(&format!("completions {shell}")).expect(0);
        for word in ["reproduce", "completions", "detect-after"] {
            script.says(word);
        }
    }
    place
        .line("completions tcsh")
        .expect(2)
        .warns("possible values: bash");
}

#[test]
fn every_command_has_a_manual_page() {
    let place = Place::new();
    let page = place.line("man").expect(0);
    page.says(".TH orchestrator 1");
    place.line("man run").expect(0).says("detect\\-after");
    place.line("man ru").expect(2).warns("did you mean 'run'?");
    place.line("man --out pages").expect(0);
    let help = place.line("--help").expect(0).stdout;
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.take_while(|line| !line.is_empty());
    let commands = commands.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let commands = commands.filter(|name| !name.is_empty()).collect::<Vec<_>>();
    assert!(commands.len() > 10, "{commands:?}");
    for name in commands {
        let page = place.path().join(format!("pages/orchestrator-{name}.1"));
        assert!(page.exists(), "{}", page.display());
    }
}

/// The line that repeats a run is good in any directory, and lines to try begin as this one did.
#[test]
fn the_program_is_called_as_it_was() {
    let place = Place::new();
    let folder = place.path().join("bin");
    fs::create_dir(&folder).expect("a folder");
    let program = folder.join("orchestrator");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_orchestrator"), &program).expect("a link");
    let run = |program: &str, line: &str| {
        let mut command = Command::new(program);
        let path = std::env::join_paths([&folder]).expect("a path");
        command.current_dir(place.path()).env("PATH", path);
        let output = command.args(common::words(line)).output();
        common::Finished::new(output.expect("it starts")).expect(0)
    };
    let line = "run lamport -n 3 --entries 2 --engine sim --seed 1";
    let again = |done: common::Finished| {
        let mut lines = done.stdout.lines();
        let line = lines.find_map(|line| line.strip_prefix("again: "));
        line.expect("a line that repeats it").to_owned()
    };
    let whole = program.display();
    assert_eq!(
        again(run("bin/orchestrator", line)),
        format!("{whole} {line}")
    );
    assert_eq!(
        again(run("orchestrator", line)),
        format!("orchestrator {line}")
    );
    run("bin/orchestrator", "explain lamport").says("\n  bin/orchestrator run lamport\n");
    run("orchestrator", "explain lamport").says("\n  orchestrator run lamport\n");
}
