"""Suzuki and Kasami that asks again after a while, in case something was lost. So it is: who had the token, asked
again, sends the token again.

Found with: orchestrator explore external -n 2 -- python3 examples/broken/token_twice.py
"""

import sys

sys.path.insert(0, sys.path[0] + "/..")
from suzuki_kasami import SuzukiKasami, effects, run, send  # the right one


class TokenTwice(SuzukiKasami):
    DECLARES = SuzukiKasami.DECLARES | {"retries": True}

    def init(self, **who):
        super().init(**who)
        self.sent = None  # to whom we sent the token last, and the token

    def ask(self):
        super().ask()
        effects.append({"set_timer": {"name": "retry", "after_ms": 20}})

    def timer(self, **_):
        if not self.token:
            super().ask()

    def receive(self, sender, message):
        had_it = self.token is not None
        super().receive(sender, message)
        if message["kind"] == "REQUEST" and not had_it and self.sent and self.sent[0] == sender:
            send(sender, kind="TOKEN", token=self.sent[1])  # it may have been lost

    def pass_on(self):
        token = self.token
        super().pass_on()
        if not self.token:
            self.sent = (effects[-1]["send"]["to"], token)


run(TokenTwice())
