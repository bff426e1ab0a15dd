"""Ricart and Agrawala's algorithm where members die: nobody waits for the dead."""

from member import do, run, send


class Survivor:
    def init(self, me, nodes, **_):
        self.me = me
        self.alive = [node for node in range(nodes) if node != me]
        self.clock = self.ours = 0
        self.asking = False
        self.missing = []  # those who have not replied
        self.later = []  # those to whom we reply when we leave

    def request(self, **_):
        self.clock += 1
        self.ours, self.asking = self.clock, True
        self.missing = list(self.alive)
        for other in self.alive:
            send(other, "REQUEST", number=self.ours)
        self.enter_if_all_agree()

    def receive(self, sender, kind, number=0, **_):
        if kind == "REPLY":
            self.agrees(sender)
            return
        self.clock = max(self.clock, number)
        if self.asking and (self.ours, self.me) < (number, sender):
            self.later = sorted(self.later + [sender])
        else:
            send(sender, "REPLY")

    def peer(self, node, change):
        if change == "down":
            self.alive.remove(node)
            self.later = [other for other in self.later if other != node]
            self.agrees(node)

    def agrees(self, node):
        if node in self.missing:
            self.missing.remove(node)
            self.enter_if_all_agree()

    def enter_if_all_agree(self):
        if not self.missing:
            do("enter")

    def release(self):
        self.asking = False
        for other in self.later:
            send(other, "REPLY")
        self.later = []


if __name__ == "__main__":
    run(Survivor(), kinds=["REQUEST", "REPLY"], order="any", wants=["peer"], crashes=100)
