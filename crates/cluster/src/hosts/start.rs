//! Starting an agent on each host.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};
use tokio::time::{Instant, timeout_at};

use super::spec::HostEngine;
use super::{Hosts, Reach};
use crate::child::last_lines;

/// A process here that has started an agent elsewhere.
#[derive(Debug)]
pub(super) struct Starter {
    process: Child,
    /// The places of the hosts that it is for.
    pub(super) hosts: Vec<usize>,
    /// What was run, for an error message.
    command: String,
    log: PathBuf,
}

/// What agents are told on their command line.
pub(super) struct Directions<'a> {
    /// Where the orchestrator may be, HOST:PORT each.
    pub(super) places: &'a [String],
    /// The text of the join secret.
    pub(super) secret: &'a str,
    /// Where the starters' own words go.
    pub(super) logs: &'a Path,
}

impl Starter {
    /// Whether it has ended, and how.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        self.process.try_wait().ok().flatten()
    }

    /// What to say of one that ended before its agent had come.
    pub(super) fn failure(&self, host: &str, status: ExitStatus) -> String {
        let words = match last_lines(&self.log).as_str() {
            "" => "it wrote nothing".to_owned(),
            words => format!("it wrote:\n{words}"),
        };
        let command = &self.command;
        format!("no agent came from {host}: `{command}` ended ({status}); {words}")
    }

    /// Waits for its end, and ends it if it takes longer.
    pub(super) async fn end(&mut self, deadline: Instant) {
        if timeout_at(deadline, self.process.wait()).await.is_ok() {
            return;
        }
        if let Some(group) = self.process.id().and_then(|id| Pid::from_raw(id as i32)) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.process.wait().await;
    }
}

/// Starts all agents; for those that somebody else starts it prints the line to type.
pub(super) async fn start_all(
    hosts: &Hosts,
    directions: &Directions<'_>,
) -> Result<Vec<Starter>, String> {
    let program = std::env::current_exe()
        .map_err(|error| format!("cannot tell where this program is: {error}"))?;
    let agent = |program: &str, name: Option<&str>| {
        let name = name.map_or(String::new(), |name| format!(" --name {}", quoted(name)));
        format!("{program} agent{name} {}", directions.places.join(" "))
    };
    let here = quoted(&program.to_string_lossy());
    let named = || hosts.spec.hosts.iter().map(|(name, _)| name).enumerate();
    match &hosts.spec.engine {
        HostEngine::Join => Ok(Vec::new()),
        HostEngine::Command(command) => {
            let mut starters = Vec::new();
            for (place, name) in named() {
                let command = command
                    .replace("{host}", name)
                    .replace("{agent}", &agent(&here, Some(name)));
                starters.push(start(&command, vec![place], name, directions).await?);
            }
            Ok(starters)
        }
        HostEngine::Ssh => {
            let mut starters = Vec::new();
            for (place, name) in named() {
                let there = there(&hosts.reach, name, &program).await?;
                let remote = quoted(&agent(&there, Some(name)));
                let command = format!("exec {} {} {remote}", hosts.reach.ssh, quoted(name));
                starters.push(start(&command, vec![place], name, directions).await?);
            }
            Ok(starters)
        }
        HostEngine::Slurm { inside } => {
            let count = hosts.spec.hosts.len();
            let which = match inside {
                true => "--overlap",
                false => "--job-name=turnstile",
            };
            // Every task reads all of stdin.
            let command = format!(
                "exec srun --nodes={count} --ntasks={count} --ntasks-per-node=1 {which} --input=all \
                 {}",
                agent(&here, None)
            );
            let all = (0..count).collect();
            Ok(vec![start(&command, all, "slurm", directions).await?])
        }
    }
}

/// Starts a command of a shell, and gives it the secret.
async fn start(
    command: &str,
    hosts: Vec<usize>,
    name: &str,
    directions: &Directions<'_>,
) -> Result<Starter, String> {
    let failed = |error| format!("cannot run `{command}`: {error}");
    let log = directions.logs.join(format!("agent.{name}.log"));
    let words = File::create(&log).map_err(failed)?;
    let mut process = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::piped())
        .stdout(words.try_clone().map_err(failed)?)
        .stderr(words)
        // Ctrl-C is for the orchestrator, which then ends its agents.
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(failed)?;
    if let Some(mut stdin) = process.stdin.take() {
        // One that does not read it is noticed when its agent does not come.
        let _ = stdin
            .write_all(format!("{}\n", directions.secret).as_bytes())
            .await;
    }
    Ok(Starter {
        process,
        hosts,
        command: command.to_owned(),
        log,
    })
}

/// The program on a host that ssh leads to, copied there unless it is there.
async fn there(reach: &Reach, host: &str, program: &Path) -> Result<String, String> {
    if !reach.copy {
        return Ok("orchestrator".to_owned());
    }
    let failed = |why: &str| format!("cannot copy this program to {host}: {why}");
    let bytes = std::fs::read(program).map_err(|error| failed(&error.to_string()))?;
    let hash = Command::new("sha256sum")
        .arg(program)
        .output()
        .await
        .map_err(|error| failed(&format!("sha256sum: {error}")))?;
    let hash = String::from_utf8_lossy(&hash.stdout).into_owned();
    let hash = hash
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .to_owned();
    let digits = hash
        .get(..16)
        .ok_or_else(|| failed("sha256sum has no answer"))?;
    let place = format!("\"$HOME\"/.cache/turnstile/orchestrator-{digits}");
    let look = format!("sha256sum < {place} 2>/dev/null");
    let found = ssh(reach, host, &look, &[])
        .await
        .map_err(|why| failed(&why))?;
    if !found.starts_with(&hash) {
        // Under another name first: two runs may copy it at the same time.
        let copy = format!(
            "umask 077; mkdir -p \"$HOME\"/.cache/turnstile && cat > {place}.$$ && \
             chmod 700 {place}.$$ && mv {place}.$$ {place} && echo copied"
        );
        let copied = ssh(reach, host, &copy, &bytes)
            .await
            .map_err(|why| failed(&why))?;
        if copied.trim() != "copied" {
            return Err(failed("the host did not store it"));
        }
    }
    Ok(place)
}

/// Runs a command on a host and returns what it prints. A command that fails is no error; ssh that fails is.
async fn ssh(reach: &Reach, host: &str, command: &str, input: &[u8]) -> Result<String, String> {
    let line = format!("exec {} {} {}", reach.ssh, quoted(host), quoted(command));
    let mut process = Command::new("sh")
        .args(["-c", &line])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| error.to_string())?;
    let stdin = process.stdin.take();
    let input = input.to_vec();
    let writer = tokio::spawn(async move {
        if let Some(mut stdin) = stdin {
            let _ = stdin.write_all(&input).await;
        }
    });
    let done = process.wait_with_output().await;
    let done = done.map_err(|error| error.to_string())?;
    let _ = writer.await;
    /// What ssh ends with when it could not do what it is for.
    const SSH_FAILED: i32 = 255;
    match done.status.code() {
        Some(SSH_FAILED) | None => Err(String::from_utf8_lossy(&done.stderr).trim().to_owned()),
        Some(_) => Ok(String::from_utf8_lossy(&done.stdout).into_owned()),
    }
}

/// A word as a shell takes it.
pub(super) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}
