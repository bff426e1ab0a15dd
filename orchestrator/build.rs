//! Tells the program which commit it was built from, where git knows, and builds it again when a file
//! comes to those that it carries.

use std::process::Command;

fn main() {
    // After a commit, and after any change since, the answer is another one.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    for member in [
        "algorithms",
        "analysis",
        "chaos",
        "node",
        "orchestrator",
        "simulator",
    ] {
        println!("cargo::rerun-if-changed=../{member}/src");
    }
    for carried in ["../experiments", "../results/papers"] {
        println!("cargo::rerun-if-changed={carried}");
    }
    let version = env!("CARGO_PKG_VERSION");
    let commit = git(&[
        "describe",
        "--always",
        "--dirty",
        "--abbrev=12",
        "--exclude=*",
    ]);
    match commit {
        Some(commit) => {
            println!("cargo::rustc-env=TURNSTILE_COMMIT={commit}");
            println!("cargo::rustc-env=TURNSTILE_VERSION={version} ({commit})");
        }
        None => println!("cargo::rustc-env=TURNSTILE_VERSION={version}"),
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim();
    (output.status.success() && !text.is_empty()).then(|| text.to_owned())
}
