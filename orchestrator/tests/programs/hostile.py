"""A submission that attacks the grader, within bounds, in the way that its argument names. Where it gets
through it says so in a file, `got-through`, in the current directory."""

import json
import os
import signal
import subprocess
import sys
import time

ATTACK = sys.argv[1]
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def got_through(how):
    with open("got-through", "a", encoding="utf-8") as file:
        file.write(f"{how}\n")


def multiply():
    """Forty processes with nothing in their environment, each in a session of its own."""
    marked = f"(sleep 3600; : {os.environ.get('TURNSTILE_TEST')}) & exit 0"
    for _ in range(40):
        subprocess.run(["env", "-i", "setsid", "sh", "-c", marked], check=True, **QUIET)
    time.sleep(5)
    got_through("forty processes")


def devour():
    """Half a gigabyte, in pieces."""
    held = []
    for _ in range(50):
        held.append(b"x" * 10_000_000)
        time.sleep(0.01)
    time.sleep(1)
    got_through(f"{len(held)} times ten megabytes")


def find_seeds():
    """The file of seeds, by way of the command line of the grader, or what is left of it in its stdin."""
    command = open(f"/proc/{os.getppid()}/cmdline", "rb").read().decode().split("\0")
    path = command[command.index("--seeds") + 1]
    path = f"/proc/{os.getppid()}/fd/0" if path == "-" else path
    text = os.read(os.open(path, os.O_RDONLY | os.O_NONBLOCK), 100)
    if b"424242" in text:
        got_through("the seeds")


def kill_grader():
    os.kill(os.getppid() or -1, signal.SIGKILL)
    time.sleep(1)


def write_to_terminal():
    with open("/dev/tty", "w", encoding="utf-8") as terminal:
        terminal.write("10 of 10 points, says the submission\n")
    got_through("the terminal")


def flood():
    """Fifteen megabytes with every answer, and no end of it."""
    message = {"kind": "FLOOD", "text": "x" * 15_000_000}
    return [{"send": {"to": 1, "message": message}}, {"set_timer": {"name": "more", "after_ms": 0}}]


def dawdle():
    time.sleep(0.5)


ATTACKS = {
    "multiplies": multiply, "devours": devour, "finds the seeds": find_seeds, "kills the grader": kill_grader,
    "writes to the terminal": write_to_terminal, "floods": flood, "dawdles": dawdle,
}
for line in sys.stdin:
    ((event, what),) = json.loads(line).items()
    effects = []
    if event in ("request", "timer"):
        try:
            effects = ATTACKS[ATTACK]() or [{"enter": {}}]
        except OSError as error:
            print(error, file=sys.stderr)
    print(json.dumps({"do": effects}), flush=True)
