"""A lock that says everything which can be said, and wants to be told everything: the holder lets one in at a time."""

import json
import sys

DECLARES = {
    "title": "A lock that says everything", "kinds": ["ASK", "GO", "DONE"], "order": "fifo", "graph": "complete",
    "links": "sessions", "k": 1, "token": None, "crashes": 0, "wants": ["peer", "link"], "retries": True,
    "least_nodes": 2, "notes": {"asked": "how often it asked"}, "messages_per_entry": None, "saves": True,
}
know = {}
effects = []


def do(effect, **what):
    effects.append({effect: what})


def send(kind, to, turn=0, **more):
    do("send", to=to, message={"kind": kind, "turn": turn}, **more)


def init(me, holder, **_):
    know.update(me=me, holder=holder, waiting=[], turn=1, asked=0, waits=False)


def request(**_):
    know["waits"] = True
    know["asked"] += 1
    do("note", name="asked", value=know["asked"], **{"for": know["me"]})
    ask()


def ask():
    send("ASK", know["holder"], **{"for": know["me"]})
    do("set_timer", name="again", tag=know["me"], after_ms=40.5)


def timer(name, tag):
    if know["waits"]:
        ask()


def link(node, change):
    if change == "up" and know["waits"]:
        ask()


def peer(node, change):
    pass


def receive(**what):
    sender, kind = what["from"], what["message"]["kind"]
    if kind == "ASK" and sender not in know["waiting"]:
        know["waiting"].append(sender)
    if kind == "DONE" and know["waiting"][:1] == [sender]:
        know["waiting"].pop(0)
        know["turn"] += 1
    # The member that is first may have missed that it is its turn.
    if kind in ("ASK", "DONE") and know["waiting"]:
        send("GO", know["waiting"][0], know["turn"])
    if kind == "GO" and know["waits"]:
        know["waits"] = False
        do("cancel_timer", name="again", tag=know["me"])
        do("enter", fence=what["message"]["turn"])


def release():
    send("DONE", know["holder"])


for line in sys.stdin:
    ((event, what),) = json.loads(line).items()
    effects.clear()
    if event == "load":
        know.update(what["state"])
    elif event != "save":
        globals()[event](**what)
    done = {} if event == "save" else {"do": effects, "state": know}
    declares = {"declares": DECLARES} if event == "init" else {}
    print(json.dumps({"state": know, **done, **declares}), flush=True)
