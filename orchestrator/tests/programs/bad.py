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
    "garbage on request": "lock acquired :-)\n",
    "empty line": "\n",
    "not text": b'{"do":[],"state":"\xff\xfe"}\n',
    "terminal": "\x1b[31mred\n",
    "other answer": '{"state":{}}\n',
    "list": "[]\n",
    "deep": "[" * 100_000 + "\n",
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
    global me, nodes
    me, nodes = what["me"], what["nodes"]
    declares = {"kinds": ["REQUEST", "REPLY"]}
    if WRONG == "banner":
        write("Welcome!\n")
    if WRONG == "dies at once":
        sys.exit(3)
    if WRONG == "raises at once":
        raise ValueError("no idea")
    if WRONG == "hangs at once":
        sleep()
    if WRONG == "garbage at once":
        return write("hello\n")
    if WRONG == "effect at once":
        return answer({"enter": {}})
    if WRONG == "unknown declaration":
        declares["colour"] = "red"
    if WRONG == "token is no kind":
        declares["token"] = "TOKEN"
    if WRONG == "kind twice":
        declares["kinds"] = ["A", "A"]
    if WRONG == "nobody admitted":
        declares["k"] = 0
    if WRONG == "terminal kind":
        declares["kinds"] = ["\x1b[31m"]
    if WRONG == "forgets to save":
        declares["saves"] = True
    if WRONG == "forks":
        subprocess.Popen(["sleep", "3600"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if WRONG == "forks a daemon":
        subprocess.Popen(["sleep", "3600"], start_new_session=True)
    if WRONG == "ignores SIGTERM":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if WRONG == "floods stderr":
        os.write(2, b"x" * 5_000_000)
    answer(declares=declares)


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
        bytearray(500_000_000)
    if WRONG == "segfaults":
        os.kill(os.getpid(), signal.SIGSEGV)
    if WRONG in ("hangs on request", "ignores SIGTERM"):
        sleep()
    if WRONG == "no end of line":
        while True:
            write(b"x" * 1_000_000)
    if WRONG == "half a line":
        write('{"do":')
        sleep()
    if WRONG == "twice":
        write('{"do":[]}\n{"do":[]}\n')
        return None
    if WRONG == "enters twice":
        return answer({"enter": {}}, {"enter": {}})
    if WRONG == "everybody enters":
        return answer({"enter": {}})
    if WRONG == "nobody enters":
        return answer()
    if WRONG == "to nobody":
        return answer(send(99, "REQUEST"))
    if WRONG == "to less than nobody":
        return answer(send(-1, "REQUEST"))
    if WRONG == "undeclared kind":
        return answer(send(others[0], "REQEUST"))
    if WRONG == "no kind":
        return answer({"send": {"to": others[0], "message": 5}})
    if WRONG == "unknown effect":
        return answer({"sned": {"to": 0}})
    if WRONG == "unknown field":
        return answer({"send": {"to": others[0], "massage": {"kind": "REQUEST"}}})
    if WRONG == "declares late":
        return answer(declares={})
    if WRONG == "timer in the past":
        return answer({"set_timer": {"name": "t", "after_ms": -1}})
    if WRONG == "many names":
        return answer(*({"note": {"name": f"n{i}", "value": i}} for i in range(1000)))
    if WRONG == "charges nobody":
        return answer({"note": {"name": "n", "value": 1, "for": 17}})
    if WRONG == "talks to itself":
        return answer(send(me, "REQUEST"))
    if WRONG == "complains":
        return answer({"error": {"why": "I do not like it"}}, *(send(to, "REQUEST") for to in others))
    if WRONG == "closes stdout":
        os.close(1)
        sleep()
    answer(*(send(to, "REQUEST") for to in others))


def on_receive(what):
    global awaited, inside, waiting
    if WRONG == "talks to itself" and what["from"] == me:
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
    if WRONG == "uninvited":
        return answer({"enter": {}})
    inside = waiting = False
    replies = [send(to, "REPLY") for to in deferred]
    deferred.clear()
    answer(*replies)


def on_save(what):
    write('{"state":{}}\n')


def on_load(what):
    answer()


for line in sys.stdin:
    ((event, what),) = json.loads(line).items()
    globals()[f"on_{event}"](what)
