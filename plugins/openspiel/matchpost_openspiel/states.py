"""Positions as OpenSpiel has them. It is imported when the first game of it is needed, and not before.

OpenSpiel's states change in place. Those kept here never do: a move is made in a copy.
"""

from collections.abc import Mapping
from functools import cache, cached_property
from threading import Lock
from typing import TYPE_CHECKING, Final

from cachetools import LRUCache

from matchpost_openspiel.spiel import Spiel

if TYPE_CHECKING:
    import pyspiel

_KEPT: Final[LRUCache[tuple[str, bytes], "Reached"]] = LRUCache(256)
"""The positions that were asked for last, so that a move continues the one before and replays nothing."""
_LOCK: Final = Lock()


class Reached:
    """A position that was reached by actions from the start."""

    def __init__(self, spiel: Spiel, state: "pyspiel.State") -> None:
        self._spiel: Final = spiel
        self.state: Final = state

    @cached_property
    def moves(self) -> Mapping[str, int]:
        """The action of each legal move, by its text."""
        if self.state.is_terminal():
            return {}
        player = self.state.current_player()
        return {
            self._spiel.notation(
                action, self.state.action_to_string(player, action), player
            ): action
            for action in self.state.legal_actions()
        }

    @property
    def first(self) -> str:
        """OpenSpiel's text of the first legal action; empty after the end."""
        actions = [] if self.state.is_terminal() else self.state.legal_actions()
        return self.state.action_to_string(actions[0]) if actions else ""

    @cached_property
    def seat(self) -> int:
        """The seat to move: 0 is the one that begins; -1 after the end."""
        player = self.state.current_player()
        return -1 if self.state.is_terminal() else player ^ self._spiel.begins

    @cached_property
    def winners(self) -> tuple[int, ...]:
        """The seats that won, after the end; both in a draw."""
        returns = self.state.returns()
        return tuple(
            seat for seat in range(2) if returns[seat ^ self._spiel.begins] == max(returns)
        )

    @cached_property
    def text(self) -> str:
        """The board as OpenSpiel writes it, but for boards of which it writes a code only."""
        return self._spiel.board.text(f"{self.state}")


@cache
def _game(spiel: Spiel) -> "pyspiel.Game":
    import pyspiel  # noqa: PLC0415 - it takes memory, and most processes of a server need no game of it

    return pyspiel.load_game(spiel.name, dict(spiel.parameters))


def reached(spiel: Spiel, actions: bytes) -> Reached:
    """Return the position after some actions, of one or two bytes each."""
    key, width = (spiel.name, actions), 2 if spiel.wide else 1
    with _LOCK:
        found = _KEPT.get(key)
        before = None if found else _KEPT.get((spiel.name, actions[:-width]))
    if found:
        return found
    state = before.state.clone() if before and actions else _game(spiel).new_initial_state()
    for at in range(len(actions) - width if before and actions else 0, len(actions), width):
        state.apply_action(int.from_bytes(actions[at : at + width]))
    made = Reached(spiel, state)
    with _LOCK:
        _KEPT[key] = made
    return made
