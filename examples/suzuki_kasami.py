"""Suzuki and Kasami's algorithm: one token; who wants it tells everybody, and the holder passes it on.

Run it with: orchestrator run external -n 5 -- python3 examples/suzuki_kasami.py
"""

import json
import sys


class SuzukiKasami:
    DECLARES = {"kinds": ["REQUEST", "TOKEN"], "token": "TOKEN", "order": "any", "saves": True}

    def init(self, me, nodes, holder, **_):
        self.me = me
        self.asked = [0] * nodes  # the number of everybody's latest request that we heard of
        self.token = {"queue": [], "served": [0] * nodes} if me == holder else None
        self.inside = False

    def request(self, **_):
        self.asked[self.me] += 1
        self.enter() if self.token else self.ask()

    def ask(self):
        for other in set(range(len(self.asked))) - {self.me}:
            send(other, kind="REQUEST", number=self.asked[self.me])

    def receive(self, sender, message):
        if message["kind"] == "TOKEN":
            self.token = message["token"]
            self.enter()
        else:
            self.asked[sender] = max(self.asked[sender], message["number"])
            if self.token and not self.inside:
                self.pass_on()

    def enter(self):
        self.inside = True
        effects.append({"enter": {}})

    def release(self):
        self.inside = False
        self.token["served"][self.me] = self.asked[self.me]
        self.pass_on()

    def pass_on(self):
        token = self.token
        for node, served in enumerate(token["served"]):
            if self.asked[node] == served + 1 and node not in token["queue"]:
                token["queue"].append(node)
        if token["queue"]:
            send(token["queue"].pop(0), kind="TOKEN", token=token)
            self.token = None


effects = []  # what shall happen, in this order


def send(to, **message):
    effects.append({"send": {"to": to, "message": message}})


def run(node):
    """Each line is a question; each gets one line of answer."""
    for line in sys.stdin:
        [(event, what)] = json.loads(line).items()
        effects.clear()
        if event == "load":
            vars(node).update(what["state"])
        elif event == "receive":
            node.receive(what["from"], what["message"])
        elif event != "save":
            getattr(node, event)(**what)
        done = {} if event == "save" else {"do": effects}
        declared = {"declares": node.DECLARES} if event == "init" else {}
        print(json.dumps({"state": vars(node), **done, **declared}), flush=True)


if __name__ == "__main__":
    run(SuzukiKasami())
