"""Raymond's algorithm by somebody who sends the token away and forgets to ask for it again."""

from member import run
from raymond import KINDS, Raymond


class Forgetful(Raymond):
    def go_on(self):
        had_it = self.towards == self.me
        self.pass_on()
        if not had_it:
            self.ask()


run(Forgetful(), kinds=KINDS, graph="tree", token="TOKEN")
