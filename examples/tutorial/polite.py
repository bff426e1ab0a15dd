"""A first lock: tell everybody, and go in when all the others have said that they are not inside."""

from member import do, run, send


class Polite:
    def init(self, me, nodes, **_):
        self.others = [node for node in range(nodes) if node != me]
        self.inside = False
        self.awaited = 0  # answers we still wait for
        self.later = []  # those whom we answer when we leave

    def request(self, **_):
        self.awaited = len(self.others)
        for other in self.others:
            send(other, "MAY-I")

    def receive(self, sender, kind, **_):
        if kind == "YOU-MAY":
            self.awaited -= 1
            if self.awaited == 0:
                self.inside = True
                do("enter")
        elif self.inside:
            self.later.append(sender)
        else:
            send(sender, "YOU-MAY")

    def release(self):
        self.inside = False
        for other in self.later:
            send(other, "YOU-MAY")
        self.later = []


run(Polite(), kinds=["MAY-I", "YOU-MAY"])
