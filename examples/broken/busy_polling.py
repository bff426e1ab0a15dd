"""Asks everybody "are you inside?" again and again, and goes in when all say no. Much can happen between the answer and
the entry; and the network is full of questions.

Found with: orchestrator explore external -n 2 -- python3 examples/broken/busy_polling.py
"""

import sys

sys.path.insert(0, sys.path[0] + "/..")
from ricart_agrawala import effects, run, send  # how lines are read and written


class BusyPolling:
    DECLARES = {"kinds": ["INSIDE", "YES", "NO"], "retries": True, "saves": True}

    def init(self, me, nodes, **_):
        self.others = [node for node in range(nodes) if node != me]
        self.waiting = self.inside = False
        self.said_no = []

    def request(self, **_):
        self.waiting = True
        self.poll()

    def poll(self):
        self.said_no = []
        for other in self.others:
            send(other, kind="INSIDE")

    def timer(self, **_):
        if self.waiting:
            self.poll()

    def receive(self, sender, message):
        kind = message["kind"]
        if kind == "INSIDE":
            send(sender, kind="YES" if self.inside else "NO")
        elif kind == "YES" and self.waiting:
            effects.append({"set_timer": {"name": "poll", "after_ms": 1}})
        elif kind == "NO" and self.waiting:
            self.said_no = sorted(set(self.said_no + [sender]))
            if self.said_no == self.others:
                self.waiting, self.inside = False, True
                effects.append({"enter": {}})

    def release(self):
        self.inside = False


run(BusyPolling())
