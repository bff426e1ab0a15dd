"""Ricart and Agrawala without the tie-break: of two requests with the same number neither goes first.

Found with: orchestrator explore external -n 2 -- python3 examples/broken/no_tie_break.py
"""

import sys

sys.path.insert(0, sys.path[0] + "/..")
from ricart_agrawala import RicartAgrawala, run  # the right one


class NoTieBreak(RicartAgrawala):
    def is_first(self, number, sender):
        return self.ours < number  # right: (self.ours, self.me) < (number, sender)


run(NoTieBreak())
