"""Maekawa's algorithm: the votes of a few are enough, if any two few have somebody in common."""

from math import isqrt

from member import do, run, send

KINDS = ["REQUEST", "VOTE", "RELEASE", "INQUIRE", "RETURN", "FAILED"]


def committee(me, nodes):
    """The row and the column of a square in which the members stand, row by row."""
    width = isqrt(nodes - 1) + 1
    return [node for node in range(nodes) if node // width == me // width or node % width == me % width]


class Maekawa:
    def init(self, me, nodes, **_):
        self.me, self.committee = me, committee(me, nodes)
        self.clock = 0
        # The one who asks.
        self.votes, self.failed, self.asked_back = [], False, []
        self.inside, self.request_number = False, 0
        # The one who votes: for whom, and who else asks, as [number, member]; the smallest goes first.
        self.voted, self.waiting, self.inquired = None, [], False

    def request(self, **_):
        self.clock += 1
        self.request_number, self.failed = self.clock, False
        self.votes, self.asked_back = [], []
        for voter in self.committee:
            send(voter, "REQUEST", number=self.request_number)

    def release(self):
        self.inside, self.votes = False, []
        for voter in self.committee:
            send(voter, "RELEASE")

    def receive(self, sender, kind, number=0, **_):
        self.clock = max(self.clock, number)
        getattr(self, "on_" + kind.lower())(sender, number)

    def on_request(self, sender, number):
        ours = [number, sender]
        if self.voted is None:
            self.vote_for(ours)
            return
        first = min([self.voted] + self.waiting)
        self.waiting = sorted(self.waiting + [ours])
        if ours > first:
            send(sender, "FAILED")
            return
        # The member that was in front is not any more, and has to know.
        if len(self.waiting) > 1 and self.waiting[1] < self.voted:
            send(self.waiting[1][1], "FAILED")
        if not self.inquired:
            self.inquired = True
            send(self.voted[1], "INQUIRE")

    def vote_for(self, request):
        self.voted, self.inquired = request, False
        send(request[1], "VOTE")

    def vote_again(self):
        self.voted, self.inquired = None, False
        if self.waiting:
            self.vote_for(self.waiting.pop(0))

    def on_release(self, *_):
        self.vote_again()

    def on_return(self, *_):
        self.waiting = sorted(self.waiting + [self.voted])
        self.vote_again()

    def on_vote(self, voter, _):
        self.votes = sorted(self.votes + [voter])
        if len(self.votes) == len(self.committee):
            self.inside = True
            do("enter")

    def on_inquire(self, voter, _):
        self.asked_back = sorted({*self.asked_back, voter})
        self.give_back()

    def on_failed(self, *_):
        self.failed = True
        self.give_back()

    def give_back(self):
        if self.failed and not self.inside:
            for voter in [voter for voter in self.asked_back if voter in self.votes]:
                self.asked_back.remove(voter)
                self.votes.remove(voter)
                send(voter, "RETURN")


if __name__ == "__main__":
    run(Maekawa(), kinds=KINDS)
