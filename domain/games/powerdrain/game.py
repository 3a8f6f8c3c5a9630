"""Powerdrain: put plugs into a grid, where opposing neighbours drain each other.

1. The edges of a grid of 25 sections read 1 3 5 7 9 in some order; a section is named by the
   digit to its left and the digit above it. There are 16 plugs, 22 to 88 by even digits.
2. Positive and Negative in turn plug one of their 8 (with `-p`: of a common pool) into any empty
   section. Its value is |first digit - left| + |second digit - top|.
3. After the last plug each plug loses the values of the opposing plugs at its four sides, all at
   once, but never falls below zero. Plugs above zero are active.
4. More active plugs win; then the greater sum of their voltages; otherwise it is a draw.
5. Chance draws the edges (not with `-o1`, `-o2`) and deals the hands (not with `-p`).

Notation: `24-57`, the plug and the section; `2457`, `57-24` and `5724` are read alike.
"""

import re
from typing import Any, Final

from domain.game.protocol import Chance, GameOutcome, Rules, Seat, bad_setup, unreadable_move
from domain.games.powerdrain.illegal import why_illegal
from domain.games.powerdrain.json import KEY, first_position, to_json
from domain.games.powerdrain.outcome import final_outcome
from domain.games.powerdrain.position import (
    DIGITS,
    EDGES,
    HAND,
    PLUG,
    PLUGS,
    SECTION,
    SECTIONS,
    SIDES,
    EdgeOrder,
    PowerdrainMove,
    PowerdrainOptions,
    PowerdrainPosition,
    moves,
    play,
)
from domain.games.powerdrain.sentences import SAY
from domain.sentences import Text

FORM: Final = SAY("form")

_READ: Final = re.compile("([2468]{2})-?([13579]{2})|([13579]{2})-?([2468]{2})")


class PowerdrainRules(Rules[PowerdrainPosition, PowerdrainMove, PowerdrainOptions]):
    """Powerdrain, version 1."""

    key = KEY
    title = "Powerdrain"
    sides: tuple[str, ...] = SIDES
    displays: tuple[str, ...] = ("grid",)
    position_type = PowerdrainPosition
    options_type = PowerdrainOptions
    moves = staticmethod(moves)
    play = staticmethod(play)
    why_illegal = staticmethod(why_illegal)
    to_json = staticmethod(to_json)

    def needs_draw(self, options: PowerdrainOptions, players: int) -> bool:
        """Return whether chance draws edges or hands."""
        del players
        return options.order is EdgeOrder.RANDOM or not options.p

    def draw(self, options: PowerdrainOptions, players: int, chance: Chance) -> object | None:
        """Draw the edges, left then top, and deal the plugs, unless the options fix them."""
        if not self.needs_draw(options, players):
            return None
        edges = EDGES.get(options.order)
        left = edges or chance.shuffled("powerdrain/potentials", DIGITS)
        top = edges or chance.shuffled("powerdrain/potentials", DIGITS)
        setup: dict[str, object] = {"left": list(left), "top": list(top)}
        if options.p:
            return {**setup, "pool": list(PLUGS)}
        plugs = chance.shuffled("powerdrain/plugs", PLUGS)
        return {**setup, "hands": [sorted(plugs[:HAND]), sorted(plugs[HAND:])]}

    def side_text(self, seat: Seat) -> Text:
        """Return the name of a side, in the language of the reader."""
        return SAY("side", seat=seat)

    def start(
        self, options: PowerdrainOptions, players: int, setup: object | None
    ) -> PowerdrainPosition:
        """Return the first position, an empty grid."""
        self.check_players(players)
        if self.needs_draw(options, players):
            return first_position(setup, options)
        if setup is not None:
            raise bad_setup(KEY, f"with -{options.order} and -p chance draws no setup")
        edge = EDGES[options.order]
        return PowerdrainPosition(edge, edge, bytes(len(SECTIONS)), ((1 << len(PLUGS)) - 1,))

    def to_move(self, position: PowerdrainPosition) -> Seat | None:
        """Return the seat to move; None when all plugs are in the grid."""
        return None if position.over else position.turn

    def count_moves(self, position: PowerdrainPosition) -> int:
        """Count the legal moves: each plug of the hand into each empty section."""
        return position.hand.bit_count() * position.grid.count(0)

    def read(self, text: str) -> PowerdrainMove:
        """Read a plug and a section in any order, with or without a hyphen between."""
        found = _READ.fullmatch("".join(text.split()))
        if not found:
            raise unreadable_move(text, FORM)
        plug, section = found[1] or found[4], found[2] or found[3]
        return PowerdrainMove(PLUG[plug], SECTION[section])

    def write(self, move: PowerdrainMove) -> str:
        """Return the canonical text of a move."""
        return f"{PLUGS[move.plug]}-{SECTIONS[move.section]}"

    def outcome(self, position: PowerdrainPosition) -> GameOutcome | None:
        """Return the ending, once the last plug is in the grid."""
        return final_outcome(position) if position.over else None

    def public_json(self, position: PowerdrainPosition) -> dict[str, Any]:
        """Return the grid and the plugs left, without the edges, because the setup has them."""
        form = to_json(position)
        return {key: value for key, value in form.items() if key not in ("left", "top")}
