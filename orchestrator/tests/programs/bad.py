"""A program that does one thing wrong: the one that its argument names. Otherwise it lets everybody in when
all the others have agreed, and the others always agree at once if they are outside."""

import json
import os
import signal
import subprocess
import sys
import time

WRONG = sys.argv[1]
me, nodes, inside, waiting, awaited, deferred = 0, 0, False, False, 0, []


# What is written instead of an answer to a request.
INSTEAD = {
    "prints garbage on request": "lock acquired :-)\n",
    "answers with an empty line": "\n",
    "answers with bytes that are no text": b'{"do":[],"state":"\xff\xfe"}\n',
    "colours the terminal": "\x1b[31mred\n",
    "answers the wrong question": '{"state":{}}\n',
    "answers with a list": "[]\n",
    "answers with 100,000 nested lists": "[" * 100_000 + "\n",
    "enters with a list": '{"do":[{"enter":[]}]}\n',
    "wants an effect without braces": '{"do":["enter"]}\n',
    "wants two effects in one": '{"do":[{"enter":{},"error":{"why":"?"}}]}\n',
}


def write(text):
    os.write(1, text if isinstance(text, bytes) else text.encode())


def answer(*effects, **more):
    write(json.dumps({"do": list(effects), **more}) + "\n")


def send(to, kind):
    return {"send": {"to": to, "message": {"kind": kind}}}


def sleep():
    time.sleep(3600)


def on_init(what):
    global me, nodes, write
    me, nodes = what["me"], what["nodes"]
    declares = {"kinds": ["REQUEST", "REPLY"]}
    if WRONG == "prints a banner first":
        write("Welcome!\n")
    if WRONG == "dies at once":
        sys.exit(3)
    if WRONG == "raises at once":
        raise ValueError("no idea")
    if WRONG == "hangs at once":
        sleep()
    if WRONG == "prints garbage at once":
        return write("hello\n")
    if WRONG == "lets somebody in at once":
        return answer({"enter": {}})
    if WRONG == "declares what nobody knows":
        declares["colour"] = "red"
    if WRONG == "declares a token that is no kind":
        declares["token"] = "TOKEN"
    if WRONG == "declares a kind twice":
        declares["kinds"] = ["A", "A"]
    if WRONG == "declares that nobody may be inside":
        declares["k"] = 0
    if WRONG == "declares a kind that colours the terminal":
        declares["kinds"] = ["\x1b[31m"]
    if WRONG == "forgets to save" or "saves" in sys.argv[2:]:
        declares["saves"] = True
    if WRONG == "forks":
        subprocess.Popen(["sleep", "3600"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if WRONG == "forks a daemon":
        subprocess.Popen(["sleep", "3600"], start_new_session=True)
    if WRONG == "forks a daemon without environment":
        # The mark is in its command, so that a test can find it.
        daemon = f"(sleep 3600; : {os.environ['TURNSTILE_TEST']}) & exit 0"
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(["env", "-i", "setsid", "sh", "-c", daemon], check=True, **quiet)
    if WRONG == "ignores SIGTERM and hangs":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if WRONG == "floods stderr":
        os.write(2, b"x" * 5_000_000)
    answer(declares=declares)
    if WRONG == "does not flush":
        write = open(1, "w", buffering=1 << 16, closefd=False).write  # as stdout is in most languages


def on_request(what):
    global waiting, awaited
    waiting, awaited = True, nodes - 1
    others = [node for node in range(nodes) if node != me]
    if WRONG in INSTEAD:
        return write(INSTEAD[WRONG])
    if WRONG == "dies on request":
        sys.exit(7)
    if WRONG == "forgets to save":
        deferred.append(me)
        return answer({"note": {"name": "requests", "value": len(deferred)}})
    if WRONG == "multiplies":
        for _ in range(10):
            subprocess.Popen(["sleep", "3600"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        sleep()
    if WRONG == "devours":
        b"x" * 500_000_000  # not all of it zeros, which take no memory
        sleep()
    if WRONG == "segfaults":
        os.kill(os.getpid(), signal.SIGSEGV)
    if WRONG in ("hangs on request", "ignores SIGTERM and hangs"):
        sleep()
    if WRONG == "stops itself":
        os.kill(os.getpid(), signal.SIGSTOP)
    if WRONG == "sends to a name":
        return answer(send("one", "REQUEST"))
    if WRONG == "prints megabytes without a newline":
        while True:
            write(b"x" * 1_000_000)
    if WRONG == "prints half a line and hangs":
        write('{"do":')
        sleep()
    if WRONG == "answers twice":
        write('{"do":[]}\n{"do":[]}\n')
        return None
    if WRONG == "enters twice":
        return answer({"enter": {}}, {"enter": {}})
    if WRONG == "lets everybody in":
        return answer({"enter": {}})
    if WRONG == "lets nobody in":
        return answer()
    if WRONG == "sends to nobody":
        return answer(send(99, "REQUEST"))
    if WRONG == "sends to member -1":
        return answer(send(-1, "REQUEST"))
    if WRONG == "sends a kind that it did not declare":
        return answer(send(others[0], "REQEUST"))
    if WRONG == "sends a message without a kind":
        return answer({"send": {"to": others[0], "message": 5}})
    if WRONG == "wants an effect that does not exist":
        return answer({"sned": {"to": 0}})
    if WRONG == "misspells a field":
        return answer({"send": {"to": others[0], "massage": {"kind": "REQUEST"}}})
    if WRONG == "declares late":
        return answer(declares={})
    if WRONG == "sets a timer in the past":
        return answer({"set_timer": {"name": "t", "after_ms": -1}})
    if WRONG == "gives a thousand notes a name each":
        return answer(*({"note": {"name": f"n{i}", "value": i}} for i in range(1000)))
    if WRONG == "charges a member that does not exist":
        return answer({"note": {"name": "n", "value": 1, "for": 17}})
    if WRONG == "talks to itself without end":
        return answer(send(me, "REQUEST"))
    if WRONG == "reports an error of the algorithm":
        return answer({"error": {"why": "I do not like it"}}, *(send(to, "REQUEST") for to in others))
    if WRONG == "closes stdout":
        os.close(1)
        sleep()
    answer(*(send(to, "REQUEST") for to in others))


def on_receive(what):
    global awaited, inside, waiting
    if WRONG == "talks to itself without end" and what["from"] == me:
        return answer(send(me, "REQUEST"))
    if what["message"]["kind"] == "REPLY":
        awaited -= 1
        if awaited == 0:
            inside = True
            return answer({"enter": {}})
        return answer()
    # The smaller number goes first: good enough for a test in which everybody asks at once.
    if inside or (waiting and me < what["from"]):
        deferred.append(what["from"])
        return answer()
    answer(send(what["from"], "REPLY"))


def on_release(what):
    global inside, waiting
    if WRONG == "dies inside":
        sys.exit(9)
    if WRONG == "hangs inside":
        sleep()
    if WRONG == "enters uninvited":
        return answer({"enter": {}})
    inside = waiting = False
    replies = [send(to, "REPLY") for to in deferred]
    deferred.clear()
    answer(*replies)


def on_save(what):
    write('{"state":{}}\n')


def on_load(what):
    answer()


def read():
    yield from sys.stdin
    if WRONG == "stays when its stdin ends":
        sleep()


for line in read():
    ((event, what),) = json.loads(line).items()
    globals()[f"on_{event}"](what)
