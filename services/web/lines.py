"""Lines of moves that nobody plays: what would be if, and boards to try a game on."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Self
from urllib.parse import urlencode

import msgspec

from domain.errors import Code, Refusal
from domain.rules import AnyRules, game_of
from services.app.move_text import read_move
from services.web.boards import Shown, picture, who

LONGEST: Final = 6_000
"""Characters of a line: it stands in the page's address."""

MOST_LINKED: Final = 300
"""Moves of a line that are links."""

LINKED_CHARACTERS: Final = 200_000
"""Characters of all these links together."""


class Line(msgspec.Struct, frozen=True):
    """Moves from a position on, whoever's turn it is."""

    rules: AnyRules
    names: tuple[str, ...]
    positions: tuple[Any, ...]
    """Before each move, and after the last."""
    moves: tuple[str, ...]
    page: str
    """Where its page is."""
    query: Mapping[str, str]
    """What else stands in the page's address."""

    @classmethod
    def of(
        cls,
        rules: AnyRules,
        position: Any,
        names: tuple[str, ...],
        text: str,
        page: str,
        query: Mapping[str, str] | None = None,
    ) -> Self:
        """Follow the moves of a text; the first that is not legal is refused with its number."""
        if len(text) > LONGEST:
            raise Refusal(Code.TOO_LONG, f"a line of moves has at most {LONGEST} characters")
        found, written = [position], []
        for number, word in enumerate(text.split(), 1):
            move = _checked(rules, found[-1], word, number)
            found.append(rules.play(found[-1], move))
            written.append(rules.write(move))
        return cls(rules, names, tuple(found), tuple(written), page, query or {})

    @property
    def position(self) -> Any:
        """The position after the last move."""
        return self.positions[-1]

    @property
    def text(self) -> str:
        """The moves, as they stand in addresses."""
        return " ".join(self.moves)

    @property
    def turn(self) -> str:
        """Who would be to move; empty when it would be over."""
        mover = None if self.ending else self.rules.to_move(self.position)
        return "" if mover is None else who(self.rules, mover, self.names)

    @property
    def ending(self) -> str:
        """How it would end; empty while it goes on."""
        outcome = self.rules.outcome(self.position)
        return outcome.detail if outcome else ""

    def url(self, moves: Sequence[str] | None = None, part: str = "") -> str:
        """Return the address of the line, or of another from the same position on, or of a part."""
        line = self.text if moves is None else " ".join(moves)
        query = {**self.query, **({"line": line} if line else {})}
        return f"{self.page}{part}{'?' + urlencode(query) if query else ''}"

    def links(self) -> list[tuple[str, str]]:
        """Return each move with the address of the line up to it; of a long line the last have one.

        Each address repeats all moves before it, so that all of them would be a very long page.
        """
        left, addresses = LINKED_CHARACTERS, dict[int, str]()
        for count in range(len(self.moves), max(0, len(self.moves) - MOST_LINKED), -1):
            address = self.url(self.moves[:count])
            left -= len(address)
            if left < 0:
                break
            addresses[count] = address
        return [(move, addresses.get(count, "")) for count, move in enumerate(self.moves, 1)]

    def shown(self, last: str = "", before: Any = None) -> Shown:
        """Return its board; `last` and `before` are of the move that led to its beginning."""
        if self.moves:
            last, before = self.moves[-1], self.positions[-2]
        return Shown(
            svg=picture(self.rules, self.position, self.names, last=last, before=before),
            moves=self.url(part="/moves"),
            check=self.url(part="/check"),
            ply=len(self.moves),
            turn=self.turn,
            game=game_of(self.rules.key),
        )

    def then(self, text: str) -> str:
        """Return the address of the line with one more move; refused when it is not legal."""
        move = _checked(self.rules, self.position, text, len(self.moves) + 1)
        return self.url((*self.moves, self.rules.write(move)))


def _checked(rules: AnyRules, position: Any, text: str, number: int) -> Any:
    if outcome := rules.outcome(position):
        raise Refusal(Code.MATCH_OVER, f"move {number}: it would be over: {outcome.detail}")
    try:
        return rules.check(position, read_move(rules, text))
    except Refusal as reason:
        raise Refusal(reason.code, f"move {number}: {reason.sentence}") from None
