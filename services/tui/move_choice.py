"""The move that a player is choosing: its places so far, the cursor, and the preview.

Moves as sequences of places, one chosen after the other.

No rule of a game is known here, only how moves are written: the server sends the legal moves. The
script of the web pages (`notation.js`) does the same.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from infra.languages.wording import Wording
from services.tui.drawn_board import DrawnBoard

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


class MoveChoice:
    """A choice among the legal moves of one position; empty if the player can't move."""

    def __init__(self, moves: Sequence[ListedMove] = ()) -> None:
        self.moves = tuple(moves)
        self.chosen: tuple[str, ...] = ()
        self.found: Choices = find_choices(self.moves, ())
        """How the move can go on."""
        self.cursor: str | None = None
        self.preview: DrawnBoard | None = None
        """The board after the chosen or typed move."""

    @property
    def targets(self) -> tuple[str, ...]:
        """The places that can be chosen next."""
        return self.found.next

    @property
    def is_begun(self) -> bool:
        """Whether there is something to go back from."""
        return bool(self.chosen or self.preview)

    def choose(self, place: str) -> bool:
        """Choose a place; return False if no legal move has it next."""
        chosen = choose(self.moves, self.chosen, place)
        if chosen is None:
            return False
        self._begin(chosen)
        return True

    def show(self, preview: DrawnBoard) -> None:
        """Show a whole move, in the spelling of the server."""
        places = list_move(preview.move or "").places
        # a legal move that was typed may be missing in a list that is not up to date
        self._begin(places if find_choices(self.moves, places).whole else ())
        self.cursor, self.preview = None, preview

    def back(self) -> None:
        """Drop the last place that had alternatives, and the preview."""
        chosen = self.chosen[:-1]
        while chosen and self._is_forced(chosen):
            chosen = chosen[:-1]
        self._begin(chosen)

    def restart(self) -> None:
        """Drop all that was chosen."""
        self._begin(())

    def _is_forced(self, chosen: tuple[str, ...]) -> bool:
        found = find_choices(self.moves, chosen)
        return found.whole is None and len(found.next) == 1

    def _begin(self, chosen: tuple[str, ...]) -> None:
        dropped = self.chosen[len(chosen) : len(chosen) + 1]
        self.chosen, self.preview, self.cursor = chosen, None, None
        self.found = find_choices(self.moves, chosen)
        if not self.found.whole:
            first = [name for name in dropped if name in self.targets] or self.targets
            self.cursor = first[0] if first else None

    def step(self, board: DrawnBoard, direction: str) -> str | None:
        """Move the cursor to the nearest target on a board, and return it; None without targets."""
        targets = self.targets
        if not targets:
            return None
        if self.cursor not in targets:
            self.cursor = targets[0]
        else:
            self.cursor = board.nearest(self.cursor, direction, targets) or self.cursor
        return self.cursor

    def sentence(self, words: Wording) -> str:
        """Return a sentence on the choice so far; empty before it begins."""
        if not self.chosen:
            return ""
        places = self.targets
        return words.ngettext(
            "Chosen: %(chosen)s. Next, one place: %(places)s",
            "Chosen: %(chosen)s. Next, %(count)s places: %(places)s",
            len(places),
            chosen=", ".join(self.chosen),
            places=" ".join(places),
        )
