"""Ricart and Agrawala's algorithm where messages get lost for good: a member that waits asks again."""

from member import do, run, send

KINDS = ["REQUEST", "REPLY"]
AGAIN_MS = 20  # a request and its reply are on their way for less than that


class Patient:
    def init(self, me, nodes, **_):
        self.me = me
        self.others = [node for node in range(nodes) if node != me]
        self.clock = self.ours = 0
        self.asking = False
        self.missing = []  # those who have not replied to our request

    def request(self, **_):
        self.clock += 1
        self.ours, self.asking = self.clock, True
        self.missing = list(self.others)
        self.ask()

    def timer(self, **_):
        if self.missing:
            self.ask()

    def ask(self):
        for other in self.missing:
            send(other, "REQUEST", number=self.ours)
        do("set_timer", name="again", after_ms=AGAIN_MS)

    def receive(self, sender, kind, number=0, **_):
        if kind == "REQUEST":
            self.clock = max(self.clock, number)
            # Who is not answered now asks again; nothing has to be remembered.
            if not self.asking or (number, sender) < (self.ours, self.me):
                send(sender, "REPLY", number=number)
        elif number == self.ours and sender in self.missing:  # a reply to an earlier request says nothing
            self.missing.remove(sender)
            if not self.missing:
                do("cancel_timer", name="again")
                do("enter")

    def release(self):
        self.asking = False


if __name__ == "__main__":
    run(Patient(), kinds=KINDS, order="any", retries=True, least_nodes=2)
