"""One member decides: the others ask it, and it lets one in at a time."""

from member import do, run, send


class Coordinator:
    def init(self, me, holder, **_):
        self.me, self.boss = me, holder
        self.waiting = []  # at the boss: who is inside, and after it who waits

    def request(self, **_):
        send(self.boss, "REQUEST")

    def release(self):
        send(self.boss, "RELEASE")

    def receive(self, sender, kind, **_):
        if kind == "GRANT":
            do("enter")
        elif kind == "REQUEST":
            self.waiting.append(sender)
            if len(self.waiting) == 1:
                send(sender, "GRANT")
        elif kind == "RELEASE":
            self.waiting.pop(0)
            if self.waiting:
                send(self.waiting[0], "GRANT")


if __name__ == "__main__":
    run(Coordinator(), kinds=["REQUEST", "GRANT", "RELEASE"], messages_per_entry={"at_most": "3"})
