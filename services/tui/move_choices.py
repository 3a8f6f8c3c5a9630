"""Moves as sequences of places, one chosen after the other.

No rule of a game is known here, only how moves are written: the server sends the legal moves. The
script of the web pages (`notation.js`) does the same.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

_NAME: Final = re.compile(r"[a-z]*\d+|[a-z]+")
"""The name of a place, such as `m13` or `57`, or a word, such as `swap`."""


class ListedMove(NamedTuple):
    """A legal move, and the places in it."""

    text: str
    """The move in canonical form."""
    places: tuple[str, ...]
    free: int
    """Index of the first place from which the order is free."""

    def begins(self, chosen: Sequence[str]) -> bool:
        """Return whether the move begins with these places."""
        first, rest = chosen[: self.free], chosen[self.free :]
        return (
            len(chosen) <= len(self.places)
            and list(self.places[: len(first)]) == list(first)
            and set(rest) <= set(self.places[self.free :])
        )


def list_move(text: str) -> ListedMove:
    """Read a move in canonical form."""
    places = tuple(_NAME.findall(text))
    head, colon, tail = text.partition(":")
    is_listed = bool(colon) and "," in tail
    return ListedMove(text, places, len(_NAME.findall(head)) if is_listed else len(places))


class Choices(NamedTuple):
    """The continuations of some chosen places."""

    fitting: tuple[ListedMove, ...]
    """The legal moves that begin with them."""
    next: tuple[str, ...]
    """The places that can be chosen next."""
    whole: ListedMove | None
    """The move that they are, if they are one."""


def find_choices(moves: Iterable[ListedMove], chosen: Sequence[str]) -> Choices:
    """Return how a move can go on after some chosen places."""
    fitting = tuple(move for move in moves if move.begins(chosen))
    following: dict[str, None] = {}
    whole = None
    for move in fitting:
        if len(move.places) == len(chosen):
            whole = move
        elif len(chosen) < move.free:
            following[move.places[len(chosen)]] = None
        else:
            rest = set(chosen[move.free :])
            following |= dict.fromkeys(
                name for name in move.places[move.free :] if name not in rest
            )
    return Choices(fitting, tuple(following), whole)


def choose(
    moves: Sequence[ListedMove], chosen: Sequence[str], place: str
) -> tuple[str, ...] | None:
    """Return the chosen places once this one is chosen, too; None if it can't be.

    Places without an alternative follow by themselves. A place that is chosen already is dropped
    with all after it; the first place of another move begins that one.
    """
    if place in find_choices(moves, chosen).next:
        chosen = [*chosen, place]
        while True:
            found = find_choices(moves, chosen)
            if found.whole or len(found.next) != 1:
                return tuple(chosen)
            chosen = [*chosen, found.next[0]]
    if place in chosen:
        return tuple(chosen[: list(chosen).index(place)])
    return choose(moves, (), place) if chosen and place in find_choices(moves, ()).next else None


def move_with(moves: Sequence[ListedMove], chosen: Sequence[str], place: str) -> str:
    """Write a move with a place that can't be chosen, so that the server can say what is wrong."""
    longer = [one for one in find_choices(moves, chosen).fitting if len(one.places) > len(chosen)]
    if not longer:
        return place
    sample = min(longer, key=lambda move: len(move.text))
    changed = [*sample.places]
    if len(chosen) < sample.free:
        changed[len(chosen)] = place
    else:
        taken = [*chosen[sample.free :]]
        others = [name for name in sample.places[sample.free :] if name not in taken]
        changed = [*sample.places[: sample.free], *taken, place, *others[1:]]
    names = iter(changed)
    return _NAME.sub(lambda _: next(names), sample.text)
