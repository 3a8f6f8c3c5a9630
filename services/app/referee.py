"""The referee: moves of a game, judged by its rules alone, without a match.

A request names a game, its options and moves; the answer has the position, whose turn it is, the legal moves and the
result, or which move is refused and why. `matchpost referee` and the API ask it, and the protocol is stable, because
other programs rely on it (`docs/formats.md`).
"""

import re
from time import thread_time
from typing import Annotated, Any, Final, NamedTuple

import msgspec

from domain.errors import Code, Refusal
from domain.fairness import DrawStream
from domain.match.decision import read_move
from domain.match.state import MatchState, without_leavers
from domain.rules import AnyRules, latest_rules, rules_by_id, rules_id

_DEFAULT_PLAYERS: Final = 2
"""Players of a match unless the request says otherwise."""

_SEED: Final = re.compile(r"[0-9A-Fa-f]{64}")
_VERSION: Final = re.compile(r"[1-9][0-9]{0,5}")

_Number = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]
"""A number that JSON readers of every language read exactly, and that fits in a sentence."""


class MovesToJudge(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Moves of some game, from its start."""

    players: _Number | None = None
    """2 unless the game is never played by two."""
    options: list[str] = []
    """The game's options, such as `-fast`."""
    rules: str | _Number | None = None
    """Such as `pow2/1`, or the version alone; the newest if None."""
    setup: Any = None
    """The random setup, as recorded."""
    seed: str | None = None
    """64 hex digits from which the random setup is drawn."""
    moves: list[str] = []
    """In any form in which the game reads them."""
    trace: bool = False
    """Whether the answer has each position on the way."""


class RefereeRequest(MovesToJudge, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request to the referee."""

    game: str


class MoveRefused(Exception):  # noqa: N818 - an answer, no failure
    """A refused move, with its index."""

    def __init__(self, ply: int, reason: Refusal) -> None:
        super().__init__(f"move {ply}: {reason}")
        self.ply = ply
        self.reason = reason


class Effort:
    """The most that an answer may cost: processor time of its thread, and positions and legal moves in it."""

    def __init__(self, seconds: float, words: int) -> None:
        self._seconds, self._words = seconds, words
        self._end = thread_time() + seconds

    def spend(self) -> None:
        """Count a position or a legal move; `too-long` once they are used up."""
        self._words -= 1
        if self._words < 0 or thread_time() > self._end:
            raise Refusal(
                Code.TOO_LONG,
                f"these moves take the referee more than {self._seconds:g} s of processor time, or have too many "
                "legal moves; send fewer, or leave out `trace`",
            )


def refused_move(refused: MoveRefused) -> dict[str, Any]:
    """Return the answer about moves of which one is refused."""
    reason = refused.reason
    return {
        "ok": False,
        "ply": refused.ply,
        "error": reason.code,
        "message": reason.sentence,
    }


class JudgedMoves(NamedTuple):
    """Moves that were followed."""

    rules: AnyRules
    setup: Any
    positions: list[Any]
    """The position before the first move, and after each."""


def follow_moves(
    request: RefereeRequest, match: MatchState | None = None, effort: Effort | None = None
) -> JudgedMoves:
    """Return all positions of a request; `match` is the state of a match document.

    Raises `MoveRefused` at the first move that is refused, and `Refusal` if there is nothing to judge.
    """
    rules = _rules(request)
    options = rules.read_options(request.options)
    players = _players(rules, request.players)
    setup = _setup(rules, options, players, request)
    positions = [_without_leavers(match, rules, rules.start(options, players, setup), 0)]
    for ply, text in enumerate(request.moves):
        if effort:
            effort.spend()
        position = _play_move(rules, positions[-1], ply, text)
        positions.append(_without_leavers(match, rules, position, ply + 1))
    return JudgedMoves(rules, setup, positions)


def judge_moves(
    request: RefereeRequest, match: MatchState | None = None, effort: Effort | None = None
) -> dict[str, Any]:
    """Return the answer to a request, otherwise as `follow_moves`."""
    return answer_of(request, follow_moves(request, match, effort), match, effort)


def answer_of(
    request: RefereeRequest,
    judged: JudgedMoves,
    match: MatchState | None = None,
    effort: Effort | None = None,
) -> dict[str, Any]:
    """Return the answer about moves that were followed."""
    rules, setup, positions = judged
    answer = {
        "ok": True,
        "rules": rules_id(rules),
        "setup": setup,
        "ply": len(request.moves),
        **_position_fields(rules, positions[-1], effort),
        "result": _result(rules, positions[-1]),
    }
    if match is not None and match.result is not None:
        ended = {"winners": list(match.result.winners), "reason": match.result.reason}
        answer |= {"to_move": None, "legal": [], "result": ended}
    if request.trace:
        answer["trace"] = [_position_fields(rules, position, effort) for position in positions]
    return answer


def _without_leavers(match: MatchState | None, rules: AnyRules, position: Any, ply: int) -> Any:
    """Return the position without the seats that left the match at that ply."""
    return position if match is None else without_leavers(match, rules, position, ply)


def _rules(request: RefereeRequest) -> AnyRules:
    newest = latest_rules(request.game)
    if request.rules is None:
        return newest
    name = str(request.rules)
    rules = rules_by_id(f"{newest.key}/{name}" if _VERSION.fullmatch(name) else name)
    if rules.key != newest.key:
        raise Refusal(Code.UNKNOWN_RULES, f"{name!r} are rules of {rules.key}, not {newest.key}")
    return rules


def _players(rules: AnyRules, asked: int | None) -> int:
    if asked is not None:
        return asked
    return _DEFAULT_PLAYERS if _DEFAULT_PLAYERS in rules.players else rules.players[0]


def _setup(rules: AnyRules, options: Any, players: int, request: RefereeRequest) -> Any:
    """Return the setup, recorded or drawn from the seed; None if the game has no random setup."""
    seed, setup = request.seed, request.setup
    if players not in rules.players:
        return setup  # the rules refuse the number of players at the start
    if not rules.needs_draw(options, players):
        if seed is not None:
            raise Refusal(Code.BAD_SETUP, "chance decides nothing here; leave the field seed out")
        return setup
    if (seed is None) == (setup is None):
        raise Refusal(Code.BAD_SETUP, f"chance sets up {rules.key}; give either a setup or a seed")
    if seed is None:
        return setup
    if not _SEED.fullmatch(seed):
        raise Refusal(Code.BAD_SETUP, "a seed is written as 64 hex digits")
    return rules.draw(options, players, DrawStream(bytes.fromhex(seed), rules_id(rules)))


def _play_move(rules: AnyRules, position: Any, ply: int, text: str) -> Any:
    """Return the position after a move; raise `MoveRefused` if it is illegal or the match is over."""
    if outcome := rules.outcome(position):
        over = Refusal(Code.MATCH_OVER, f"the match is over: {outcome.detail}")
        raise MoveRefused(ply, over)
    try:
        move = rules.check(position, read_move(rules, text))
    except Refusal as reason:
        raise MoveRefused(ply, reason) from None
    return rules.play(position, move)


def _position_fields(rules: AnyRules, position: Any, effort: Effort | None) -> dict[str, Any]:
    over = rules.outcome(position) is not None
    legal: list[str] = []
    for move in () if over else rules.legal_moves(position):
        if effort:
            effort.spend()
        legal.append(move)
    return {
        "to_move": None if over else rules.to_move(position),
        "legal": legal,
        "position": rules.public_json(position),
    }


def _result(rules: AnyRules, position: Any) -> dict[str, Any] | None:
    outcome = rules.outcome(position)
    if outcome is None:
        return None
    return {"winners": list(outcome.winners), "reason": outcome.reason}
