"""Halves: a group of hexagonal tiles grows, then shrinks, and a player without tiles wins.

1. Each player begins with one tile. Chance (with `-manual_start` the players) adds tiles until all
   have 12, each on a cell that touches a tile of another colour.
2. A keeps the colours or swaps them with B, who begins to remove; without a contract A begins.
3. In turn each player removes one tile of the own colour. If the others fall apart, the largest
   group survives (`-keep_*`: another) and the rest goes too; of several the mover chooses.
4. A player without tiles wins; several at once share. With `-invert_win` the last with tiles wins.
5. A player is passed who has no tile with enough `-free_edges`; if nobody has one, the fewest
   tiles win.

Notation: `3` (the cell or tile of this number), `4,2` (remove 4, keep the group of 2; written
with the group's lowest number, and only where there is a choice), `keep`, `swap`.
"""

import re
from typing import Any, Final

from domain.errors import Code, Refusal
from domain.game.protocol import Chance, Rules, Seat, illegal_move, unreadable_move
from domain.games.halves.illegal import FORM, why_illegal
from domain.games.halves.json import KEY, position_of_setup, setup_json, to_json
from domain.games.halves.outcome import outcome
from domain.games.halves.position import (
    FIRST_CELLS,
    KEEP,
    OVER,
    SIDES,
    SWAP,
    HalvesMove,
    HalvesOptions,
    HalvesPhase,
    HalvesPosition,
    canonical,
    first_position,
    leave,
    moves,
    place_tile,
    placeable_cells,
    play,
)
from domain.games.halves.sentences import SAY
from domain.sentences import Text

_WORDS: Final = {"keep": KEEP, "swap": SWAP}
_NUMBERS: Final = re.compile("([1-9][0-9]{0,3})(?:,([1-9][0-9]{0,3}))?")
_STUCK_FROM: Final = 4
"""From this number of free edges on, all tiles may lack them; an outermost tile always has three."""


class HalvesRules(Rules[HalvesPosition, HalvesMove, HalvesOptions]):
    """Halves, version 1."""

    key = KEY
    title = "Halves"
    players: tuple[int, ...] = (2, 3)
    sides: tuple[str, ...] = SIDES
    displays: tuple[str, ...] = ("numbered", "plain")
    has_one_spelling: bool = False
    position_type = HalvesPosition
    options_type = HalvesOptions
    moves = staticmethod(moves)
    play = staticmethod(play)
    remove_seat = staticmethod(leave)
    outcome = staticmethod(outcome)
    to_json = staticmethod(to_json)

    def option_warning(self, options: HalvesOptions) -> Text:
        """Return a warning if all tiles may lack the free edges."""
        if options.free_edges < _STUCK_FROM:
            return ""
        return SAY("may-be-stuck", edges=options.free_edges, winner=int(options.invert_win))

    def colour_text(self, seat: Seat, position: HalvesPosition | None = None) -> Text:
        """Return the colour of a side's tiles, because A, B and C say nothing; before a board, of its first ones."""
        return SAY("colour", colour=seat if position is None else position.colours[seat])

    def needs_draw(self, options: HalvesOptions, players: int) -> bool:
        """Return whether chance places the tiles."""
        del players
        return not options.manual_start

    def draw(self, options: HalvesOptions, players: int, chance: Chance) -> object | None:
        """Place the tiles in turn, each on one of the possible cells, all equally likely."""
        if options.manual_start:
            return None
        position = first_position(options, players)
        placed = list(zip(FIRST_CELLS, range(players), strict=False))
        while position.phase is HalvesPhase.GROW:
            free = placeable_cells(position)
            at = free[chance.below("halves/placement", len(free))]
            placed.append((at, position.turn))
            position = place_tile(position, at)
        return setup_json(placed)

    def start(self, options: HalvesOptions, players: int, setup: object | None) -> HalvesPosition:
        """Return the first position: one tile of each with `-manual_start`, or that of the setup."""
        self.check_players(players)
        if not options.manual_start:
            return position_of_setup(setup, options, players)
        if setup is not None:
            raise Refusal(Code.BAD_SETUP, "with -manual_start chance draws no setup for halves")
        return first_position(options, players)

    def to_move(self, position: HalvesPosition) -> Seat | None:
        """Return the seat to move; None when the match is over."""
        return None if position.turn == OVER else position.turn

    def read(self, text: str) -> HalvesMove:
        """Read one or two numbers, or a word of the contract."""
        plain = "".join(text.split()).lower()
        if text.isascii() and plain in _WORDS:
            return _WORDS[plain]
        found = _NUMBERS.fullmatch(plain)
        if not found:
            raise unreadable_move(text, FORM)
        return HalvesMove(int(found[1]), int(found[2] or 0))

    def write(self, move: HalvesMove) -> str:
        """Return the canonical text of a move."""
        if not move.number:
            return "swap" if move.kept else "keep"
        return f"{move.number},{move.kept}" if move.kept else f"{move.number}"

    def check(self, position: HalvesPosition, move: HalvesMove) -> HalvesMove:
        """Return the canonical legal move, or raise `IllegalMove`."""
        meant = canonical(position, move)
        if meant is None:
            raise illegal_move(self.write(move), why_illegal(position, move))
        return meant

    def public_json(self, position: HalvesPosition) -> dict[str, Any]:
        """Return phase, colours by seat and tiles."""
        form = to_json(position)
        return {key: form[key] for key in ("phase", "colours", "tiles")}
