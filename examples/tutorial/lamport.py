"""Lamport's algorithm: everybody keeps the same queue, in the order of logical clocks."""

from member import do, run, send


class Lamport:
    def init(self, me, nodes, **_):
        self.me = me
        self.others = [node for node in range(nodes) if node != me]
        self.clock = 0
        self.queue = []  # [clock, member] of each request that we know, the first one first
        self.heard = {}  # the clock of the latest message of each other member
        self.waiting = False

    def tell(self, others, kind):
        for other in others:
            send(other, kind, clock=self.clock)

    def request(self, **_):
        self.clock += 1
        self.queue = sorted(self.queue + [[self.clock, self.me]])
        self.waiting = True
        self.tell(self.others, "REQUEST")
        self.enter_if_first()

    def receive(self, sender, kind, clock=0, **_):
        self.clock = max(self.clock, clock) + 1
        self.heard[str(sender)] = clock
        if kind == "REQUEST":
            self.queue = sorted(self.queue + [[clock, sender]])
            self.tell([sender], "REPLY")
        elif kind == "RELEASE":
            self.queue = [request for request in self.queue if request[1] != sender]
        self.enter_if_first()

    def enter_if_first(self):
        if self.waiting and self.queue[0][1] == self.me and self.all_are_later(self.queue[0][0]):
            self.waiting = False
            do("enter")

    def all_are_later(self, ours):
        return all(self.heard.get(str(other), 0) > ours for other in self.others)

    def release(self):
        self.queue.pop(0)
        self.clock += 1
        self.tell(self.others, "RELEASE")


KINDS = ["REQUEST", "REPLY", "RELEASE"]
if __name__ == "__main__":
    run(Lamport(), kinds=KINDS, messages_per_entry={"exactly": "3*(nodes-1)"})
