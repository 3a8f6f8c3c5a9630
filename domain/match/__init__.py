"""Matches: commands, events, the decision that turns one into the other, and the state.

The sentences of matches come with them, and those of games once one is looked up: a process may read stored
sentences and decide nothing.
"""

import domain.rules  # noqa: F401
from domain.match import sentences as sentences
