//! A member started by hand. The orchestrator starts its members by itself; this program is for
//! people who play the orchestrator: they write messages as JSON lines to its stdin and read its
//! answers on stdout.

use std::process::ExitCode;

use safe_io::to_stderr;
use wire::ChildArgs;

const USAGE: &str = "\
One member of a mutual exclusion group, on a UDP socket.

Usage: node [--port=PORT] [--bind=ADDRESS] [--ports=LOW-HIGH] [--parent=PID] [--core=NUMBER]

  --port=PORT       the port to bind; 0, the default, is any
  --bind=ADDRESS    the address to bind; loopback, if it is left out
  --ports=LOW-HIGH  the ports that may be taken where any may
  --parent=PID      die when the process that started this one dies, which must be PID
  --core=NUMBER     stay on this processor

Orders are JSON lines on stdin, reports are JSON lines on stdout; the documentation of the module
node::control lists them. The member ends when it is told to, or when stdin ends. What it does goes
to stderr as loud as TURNSTILE_LOG says (off, error, warn, info, debug, trace).
";

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).peekable();
    if arguments
        .peek()
        .is_some_and(|first| first == "-h" || first == "--help")
    {
        to_stderr(USAGE);
        return ExitCode::SUCCESS;
    }
    // A member's program is started through this one.
    if arguments
        .next_if(|first| first == external::sandbox::CHILD)
        .is_some()
    {
        return external::sandbox::main(arguments);
    }
    match ChildArgs::from_arguments(arguments) {
        Ok(birth) => node::main(birth),
        Err(why) => {
            to_stderr(&format!("error: {why}\n\n{USAGE}"));
            ExitCode::from(2)
        }
    }
}
