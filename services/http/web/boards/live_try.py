"""A board to try a game on, as a part of other pages, and the way from there to a match."""

from hashlib import sha256
from typing import Any, Final
from urllib.parse import urlencode

import msgspec

from domain.fairness import DrawStream
from domain.game.protocol import GamePart, PuzzleScore, game_text
from domain.rules import AnyRules, rules_id
from domain.sentences import Translation, text_in
from services.app.context import App
from services.app.games import guide_of
from services.app.opponents import robots_here
from services.http.web.boards.board_view import BoardView
from services.http.web.replay.variations import Variation
from services.http.web.session import Visitor

_SEED: Final = "0123456789abcdef"
"""The seed of a draw on a page that embeds a board, always the same, so that the page stays the same."""


class LiveTry(msgspec.Struct, frozen=True):
    """The board, with the moves that were tried on it."""

    line: Variation
    shown: BoardView
    score: PuzzleScore | None
    robot: str
    """The userid of the easiest robot; empty where no robots play."""

    @property
    def hint(self) -> str:
        """A sentence on what a player does in this game."""
        return turn_hint(self.rules.key, self.line.language)

    @property
    def rules(self) -> AnyRules:
        """The rules of the game."""
        return self.line.rules

    @property
    def part(self) -> str:
        """The address of this part of the page."""
        return f"{self.line.page}/live"

    def side(self, language: Translation) -> str:
        """Return the name of the visitor's side in a language."""
        return text_in(self.rules.colour_text(0), language)

    @property
    def against_robot(self) -> bool:
        """Whether a robot answers."""
        return "against" in self.line.query

    @property
    def whole_page(self) -> str:
        """The address of the same board on a page of its own."""
        query = {name: value for name, value in self.line.query.items() if name != "live"}
        return msgspec.structs.replace(self.line, query=query).url()

    @property
    def won(self) -> bool:
        """Whether the visitor has won against the robot."""
        return self._winners == (0,)

    @property
    def drawn(self) -> bool:
        """Whether it has ended in a draw."""
        return len(self._winners) > 1

    @property
    def _winners(self) -> tuple[int, ...]:
        outcome = self.rules.outcome(self.line.position)
        return outcome.winners if outcome else ()


def turn_hint(game: str, language: Translation) -> str:
    """Return what a player of a game does, in a sentence; empty for a game without a guide."""
    guide = guide_of(game)
    return game_text(game, GamePart.GUIDE, guide.turn, language) if guide else ""


def start_of_try(rules: AnyRules, options: Any, players: int, seed: str) -> Any:
    """Return a first position; where chance decides it, it is drawn from the seed."""
    chance = DrawStream(sha256(seed.encode()).digest(), rules_id(rules))
    return rules.start(options, players, rules.draw(options, players, chance))


def live_try(rules: AnyRules, language: Translation, robot: str) -> LiveTry:
    """Return a game's board at the start: against a robot, or alone for a puzzle."""
    options, players = rules.read_options(()), rules.players[0]
    query = {"live": "1"} if rules.players == (1,) else {"against": "robot", "live": "1"}
    if rules.needs_draw(options, players):
        query["seed"] = _SEED
    start = start_of_try(rules, options, players, _SEED)
    page = f"/games/{rules.key}/try"
    return live_try_of(Variation.of(rules, start, (), "", page, query, language=language), robot)


def live_try_of(line: Variation, robot: str) -> LiveTry:
    """Return the board after a variation."""
    return LiveTry(line, line.shown(plates=False), line.rules.score(line.position), robot)


def easiest_robot(app: App) -> str:
    """Return the userid of the easiest robot; empty where no robots play."""
    return next((robot.userid for robot in robots_here(app)), "")


def in_earnest(line: Variation, visitor: Visitor, robot: str) -> str:
    """Return the address of a new match with the game and the options of a line; a guest signs up first.

    Nothing of the line is carried into the match, because a match has only moves that its players made in it.
    """
    wanted = {"game": line.rules.key, "opponent": robot, "options": line.query.get("options", "")}
    form = f"/new?{urlencode({name: value for name, value in wanted.items() if value})}"
    return form if visitor.name else f"/signup?{urlencode({'next': form})}"
