"""Maekawa's algorithm as one would first write it: who has a vote keeps it."""

from maekawa import KINDS, Maekawa
from member import run


class Stubborn(Maekawa):
    def give_back(self):
        pass


run(Stubborn(), kinds=KINDS)
