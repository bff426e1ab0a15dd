"""Raymond's algorithm: the members are a tree, and each knows only in which direction the token is."""

from member import do, run, send

KINDS = ["REQUEST", "TOKEN"]


class Raymond:
    def init(self, me, towards_holder, **_):
        self.me, self.towards = me, towards_holder  # ourselves, where we have the token
        self.queue = []  # neighbours, or ourselves, who want the token from us
        self.asked = self.inside = False

    def request(self, **_):
        self.queue.append(self.me)
        self.go_on()

    def receive(self, sender, kind, **_):
        if kind == "REQUEST":
            self.queue.append(sender)
        else:
            self.towards = self.me
        self.go_on()

    def release(self):
        self.inside = False
        self.go_on()

    def go_on(self):
        self.pass_on()
        self.ask()

    def pass_on(self):
        if self.towards != self.me or self.inside or not self.queue:
            return
        first = self.queue.pop(0)
        self.asked = False
        if first == self.me:
            self.inside = True
            do("enter")
        else:
            self.towards = first
            send(first, "TOKEN")

    def ask(self):
        if self.towards != self.me and self.queue and not self.asked:
            self.asked = True
            send(self.towards, "REQUEST")


if __name__ == "__main__":
    run(Raymond(), kinds=KINDS, graph="tree", token="TOKEN")
