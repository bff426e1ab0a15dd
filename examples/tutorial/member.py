"""How a member reads and writes lines: the other programs of the tutorial import this."""

import json
import sys

effects = []  # what shall happen, in this order


def do(effect, **what):
    effects.append({effect: what})


def send(to, kind, **more):
    do("send", to=to, message={"kind": kind, **more})


def run(member, **declares):
    for line in sys.stdin:
        [(event, what)] = json.loads(line).items()
        effects.clear()
        if event == "save":
            answer = {"state": vars(member)}
        elif event == "load":
            vars(member).update(what["state"])
            answer = {"do": []}
        elif event == "receive":
            member.receive(what["from"], **what["message"])
            answer = {"do": effects}
        else:
            getattr(member, event)(**what)
            answer = {"do": effects}
        if event == "init":
            answer["declares"] = {"saves": True, **declares}
        print(json.dumps(answer), flush=True)
