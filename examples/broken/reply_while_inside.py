"""Ricart and Agrawala that puts replies off while it waits, and forgets to do so while it is inside.

Found with: orchestrator explore external -n 2 -- python3 examples/broken/reply_while_inside.py
"""

import sys

sys.path.insert(0, sys.path[0] + "/..")
from ricart_agrawala import RicartAgrawala, run  # the right one


class ReplyWhileInside(RicartAgrawala):
    def receive(self, sender, message):
        super().receive(sender, message)
        if message["kind"] == "REPLY" and self.awaited == 0:
            self.asking = False  # too early: we have just gone in


run(ReplyWhileInside())
