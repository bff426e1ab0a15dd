"""Lamport's algorithm by somebody who does not see what the replies are for."""

from lamport import KINDS, Lamport
from member import run


class Impatient(Lamport):
    def all_are_later(self, ours):
        return True  # "my request is the first in my queue, what else could there be?"


run(Impatient(), kinds=KINDS)
