"""Ricart and Agrawala that wakes up only one of those who wait when it leaves, and forgets the rest.

Found with: orchestrator explore external -n 3 -- python3 examples/broken/lost_wake_up.py
"""

import sys

sys.path.insert(0, sys.path[0] + "/..")
from ricart_agrawala import RicartAgrawala, run  # the right one


class LostWakeUp(RicartAgrawala):
    def release(self):
        self.deferred = self.deferred[:1]  # right: all of them
        super().release()


run(LostWakeUp())
