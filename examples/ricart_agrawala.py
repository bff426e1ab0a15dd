"""Ricart and Agrawala's algorithm: ask everybody, and answer later those who come after you.

Run it with: orchestrator run external -n 5 -- python3 examples/ricart_agrawala.py
"""

import json
import sys


class RicartAgrawala:
    DECLARES = {"kinds": ["REQUEST", "REPLY"], "order": "any", "saves": True,
                "messages_per_entry": {"exactly": "2*(nodes-1)"}}

    def init(self, me, nodes, **_):
        self.me = me
        self.others = [node for node in range(nodes) if node != me]
        self.clock = 0  # the largest number in any request, ours or theirs
        self.ours = 0  # the number of our latest request
        self.asking = False  # we wait, or are inside
        self.awaited = 0  # replies we still wait for
        self.deferred = []  # those whose reply we put off until we leave

    def request(self, **_):
        self.asking = True
        self.clock += 1
        self.ours = self.clock
        self.awaited = len(self.others)
        for other in self.others:
            send(other, kind="REQUEST", number=self.ours)
        if not self.others:
            effects.append({"enter": {}})

    def receive(self, sender, message):
        if message["kind"] == "REPLY":
            self.awaited -= 1
            if self.awaited == 0:
                effects.append({"enter": {}})
        else:
            self.clock = max(self.clock, message["number"])
            if self.asking and self.is_first(message["number"], sender):
                self.deferred = sorted(self.deferred + [sender])
            else:
                send(sender, kind="REPLY")

    def is_first(self, number, sender):
        return (self.ours, self.me) < (number, sender)

    def release(self):
        self.asking = False
        for other in self.deferred:
            send(other, kind="REPLY")
        self.deferred = []


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
    run(RicartAgrawala())
