"""Variations: moves that a visitor tries from a position of a match, or from the start of a game."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Self
from urllib.parse import urlencode

import msgspec

from domain.errors import Code, Refusal
from domain.rules import AnyRules, game_by_key
from domain.sentences import ENGLISH, Translation, text_in
from services.app.move_text import read_move
from services.app.sentences import SAY
from services.http.web.boards.board_view import BoardView, draw_position
from services.words.endings import player_name

MAX_CHARACTERS: Final = 6_000
"""Characters of a variation at most, because it is part of the page's address."""

MAX_LINKS: Final = 300
"""Moves of a variation that are links, at most."""

MAX_LINK_CHARACTERS: Final = 200_000
"""Characters of all these addresses together, at most."""


class Variation(msgspec.Struct, frozen=True):
    """Moves of all seats, from a position on."""

    rules: AnyRules
    names: tuple[str, ...]
    positions: tuple[Any, ...]
    """The positions before each move, and after the last."""
    moves: tuple[str, ...]
    page: str
    """The path of its page."""
    query: Mapping[str, str]
    """The other parameters of the page's address."""
    language: Translation = ENGLISH
    """The visitor's."""

    @classmethod
    def of(
        cls,
        rules: AnyRules,
        position: Any,
        names: tuple[str, ...],
        text: str,
        page: str,
        query: Mapping[str, str] | None = None,
        *,
        language: Translation = ENGLISH,
    ) -> Self:
        """Play the moves of a text; the first illegal move is refused with its number."""
        if len(text) > MAX_CHARACTERS:
            raise Refusal(Code.TOO_LONG, SAY("long-line", most=MAX_CHARACTERS))
        found, written = [position], []
        for number, word in enumerate(text.split(), 1):
            move = _check_move(rules, found[-1], word, number)
            found.append(rules.play(found[-1], move))
            written.append(rules.write(move))
        return cls(rules, names, tuple(found), tuple(written), page, query or {}, language)

    @property
    def position(self) -> Any:
        """The position after the last move."""
        return self.positions[-1]

    @property
    def text(self) -> str:
        """The moves, as they appear in addresses."""
        return " ".join(self.moves)

    @property
    def turn(self) -> str:
        """The player to move; empty when the match would be over."""
        mover = None if self.ending else self.rules.to_move(self.position)
        return "" if mover is None else player_name(self.rules, mover, self.names, self.language)

    @property
    def ending(self) -> str:
        """How the match would end; empty while it goes on."""
        outcome = self.rules.outcome(self.position)
        return text_in(outcome.text, self.language) if outcome else ""

    def url(self, moves: Sequence[str] | None = None, part: str = "") -> str:
        """Return the address of the page, of other moves from the same position, or of a sub-path."""
        line = self.text if moves is None else " ".join(moves)
        query = {**self.query, **({"line": line} if line else {})}
        return f"{self.page}{part}{'?' + urlencode(query) if query else ''}"

    def links(self) -> list[tuple[str, str]]:
        """Return each move with the address of the moves up to it; in a long variation only the last.

        Each address repeats all moves before it, so a page with all of them could be very long.
        """
        left, addresses = MAX_LINK_CHARACTERS, dict[int, str]()
        for count in range(len(self.moves), max(0, len(self.moves) - MAX_LINKS), -1):
            address = self.url(self.moves[:count])
            left -= len(address)
            if left < 0:
                break
            addresses[count] = address
        return [(move, addresses.get(count, "")) for count, move in enumerate(self.moves, 1)]

    def shown(
        self, last: str = "", before: Any = None, *, plates: bool = True, turned: bool = False
    ) -> BoardView:
        """Return its board; `last` is the move before the variation, `before` the position before that move."""
        if self.moves:
            last, before = self.moves[-1], self.positions[-2]
        return BoardView(
            svg=draw_position(
                self.rules,
                self.position,
                self.names,
                last=last,
                before=before,
                plates=plates,
                turned=turned,
                language=self.language,
            ),
            moves=self.url(part="/moves"),
            check=self.url(part="/check"),
            ply=len(self.moves),
            turn=self.turn,
            game=game_by_key(self.rules.key),
        )

    def with_move(self, text: str) -> Self:
        """Return the variation with one more move; an illegal move is refused."""
        move = _check_move(self.rules, self.position, text, len(self.moves) + 1)
        after = self.rules.play(self.position, move)
        return msgspec.structs.replace(
            self,
            positions=(*self.positions, after),
            moves=(*self.moves, self.rules.write(move)),
        )

    def url_with_move(self, text: str) -> str:
        """Return the address with one more move; an illegal move is refused."""
        return self.with_move(text).url()


def _check_move(rules: AnyRules, position: Any, text: str, number: int) -> Any:
    if outcome := rules.outcome(position):
        raise Refusal(Code.MATCH_OVER, SAY("over-before", number=number, detail=outcome.text))
    try:
        return rules.check(position, read_move(rules, text))
    except Refusal as reason:
        raise Refusal(reason.code, SAY("bad-move", number=number, problem=reason.text)) from None
