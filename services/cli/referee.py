"""`matchpost referee`: the rules as a filter, one JSON object a line in and one a line out.

A line may be a match document, which is judged like the request in it. Its proofs are not looked at. Seats that
left the match, and its result if that is not one of the rules, come from its events. A line may also ask for the table,
the schedule or the bracket of a tournament.

The protocol is stable, because other programs rely on it (`docs/formats.md`). Every line, valid or not,
is answered with one line.
"""

import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated, Any, BinaryIO, Final, TypeVar

import msgspec

from domain.errors import Code, Refusal
from domain.fairness import DrawStream
from domain.match.decision import read_move
from domain.match.history import is_event, replay
from domain.match.state import MatchState, without_leavers
from domain.rules import AnyRules, latest_rules, rules_by_id, rules_id
from infra.audit.match_document import DOCUMENT_LIMIT, HEADER, DocumentError, read_document
from services.app.error_codes import EXIT_OK
from services.cli.referee_tournaments import TournamentRequest, judge_tournament

LINE_LIMIT: Final = 1 << 20
"""Most bytes of a line, without its end; a match document may be longer."""

_DEFAULT_PLAYERS: Final = 2
"""Players of a match unless the request says otherwise."""

_Request = TypeVar("_Request")

_SEED: Final = re.compile(r"[0-9A-Fa-f]{64}")
_VERSION: Final = re.compile(r"[1-9][0-9]{0,5}")


_Number = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]
"""A number that JSON readers of every language read exactly, and that fits in a sentence."""


class RefereeRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of input."""

    game: str
    players: _Number | None = None
    """2 unless the game is never played by two."""
    options: list[str] = []
    rules: str | _Number | None = None
    """Such as `pow2/1`, or the version alone; the newest if None."""
    setup: Any = None
    """The random setup, as recorded."""
    seed: str | None = None
    """64 hex digits from which the random setup is drawn."""
    moves: list[str] = []
    trace: bool = False


class MoveRefused(Exception):  # noqa: N818 - an answer, no failure
    """A refused move, with its index."""

    def __init__(self, ply: int, reason: Refusal) -> None:
        super().__init__(f"move {ply}: {reason}")
        self.ply = ply
        self.reason = reason


class _RequestKind(msgspec.Struct, frozen=True):
    """The fields by which match documents and tournaments are recognised."""

    format: Any = msgspec.UNSET
    tournament: Any = msgspec.UNSET


_KINDS: Final = msgspec.json.Decoder(_RequestKind)
_REQUESTS: Final = msgspec.json.Decoder(RefereeRequest)
_TOURNAMENTS: Final = msgspec.json.Decoder(TournamentRequest)
_ANSWERS: Final = msgspec.json.Encoder()


def run() -> int:
    """Answer standard input on standard output, line by line, and return the exit code."""
    serve(sys.stdin.buffer, sys.stdout.buffer)
    return EXIT_OK


def serve(lines: BinaryIO, answers: BinaryIO) -> None:
    """Answer each line as soon as it is read; skip blank lines."""
    for line in _lines(lines):
        answer = _error(_too_long()) if line is None else judge(line)
        answers.write(_ANSWERS.encode(answer) + b"\n")
        answers.flush()


def _lines(lines: BinaryIO) -> Iterator[bytes | None]:
    """Yield the lines that are not blank; None stands for a line that is too long."""
    while line := lines.readline(LINE_LIMIT + 1):
        if len(line) > LINE_LIMIT and not line.endswith(b"\n") and line.startswith(HEADER):
            line += lines.readline(DOCUMENT_LIMIT - len(line))
        if len(line) > LINE_LIMIT and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = lines.readline(LINE_LIMIT)
            yield None
        elif line.strip():
            yield line


def _too_long() -> Refusal:
    return Refusal(Code.TOO_LONG, f"the line is longer than {LINE_LIMIT} bytes")


def judge(line: bytes) -> dict[str, Any]:
    """Return the answer to one line."""
    try:
        kind = _kind_of(line)
        if kind.format is not msgspec.UNSET:
            return _judge_match(line)
        if kind.tournament is not msgspec.UNSET:
            return judge_tournament(_read(_TOURNAMENTS, line, Code.BAD_TOURNAMENT))
        return _answer(_read(_REQUESTS, line, Code.BAD_REQUEST))
    except MoveRefused as refused:
        reason = refused.reason
        return {
            "ok": False,
            "ply": refused.ply,
            "error": reason.code,
            "message": reason.sentence,
        }
    except Refusal as reason:
        return _error(reason)


def _error(reason: Refusal) -> dict[str, Any]:
    return {"ok": False, "error": reason.code, "message": reason.sentence}


def _kind_of(line: bytes) -> _RequestKind:
    """Return the fields that say what a line is; none if it is no JSON."""
    with suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _KINDS.decode(line)
    return _RequestKind()


def _read(decoder: msgspec.json.Decoder[_Request], line: bytes, misfit: Code) -> _Request:
    """Return the request in a line; refused with `misfit` if it is JSON of another form."""
    try:
        return decoder.decode(line)
    except msgspec.ValidationError as error:
        sentence = str(error)
        raise Refusal(misfit, sentence[:1].lower() + sentence[1:]) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Refusal(Code.BAD_REQUEST, f"the line isn't JSON: {error}") from None
    except RecursionError:
        raise Refusal(Code.BAD_REQUEST, "the line is nested too deeply") from None


def _judge_match(line: bytes) -> dict[str, Any]:
    """Return the answer to a match document; its proofs are not looked at."""
    try:
        document = read_document(line)
    except DocumentError as error:
        raise Refusal(Code.BAD_REQUEST, str(error)) from None
    request = RefereeRequest(
        game=document.game,
        players=document.players,
        options=list(document.options),
        rules=document.rules,
        setup=document.setup,
        moves=list(document.moves),
    )
    try:
        state = replay(one.leaf for one in document.leaves if is_event(one.leaf))
        if not state.has_no_position:
            return _answer(request, state)
    except (Refusal, MoveRefused):
        raise
    except Exception as error:  # noqa: BLE001 - forged events may fail anywhere
        raise Refusal(
            Code.BAD_REQUEST, f"the events of the document can't be followed: {error!r}"
        ) from None
    raise Refusal(
        Code.NOT_STARTED, f"match {document.board} has no position, because nothing was drawn"
    )


def _answer(request: RefereeRequest, match: MatchState | None = None) -> dict[str, Any]:
    """Return the answer to a request; `match` is the state of a match document."""
    rules = _rules(request)
    options = rules.read_options(request.options)
    players = _players(rules, request.players)
    setup = _setup(rules, options, players, request)
    positions = [_without_leavers(match, rules, rules.start(options, players, setup), 0)]
    for ply, text in enumerate(request.moves):
        position = _play_move(rules, positions[-1], ply, text)
        positions.append(_without_leavers(match, rules, position, ply + 1))
    answer = {
        "ok": True,
        "rules": rules_id(rules),
        "setup": setup,
        "ply": len(request.moves),
        **_position_fields(rules, positions[-1]),
        "result": _result(rules, positions[-1]),
    }
    if match is not None and match.result is not None:
        ended = {"winners": list(match.result.winners), "reason": match.result.reason}
        answer |= {"to_move": None, "legal": [], "result": ended}
    if request.trace:
        answer["trace"] = [_position_fields(rules, position) for position in positions]
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


def _position_fields(rules: AnyRules, position: Any) -> dict[str, Any]:
    over = rules.outcome(position) is not None
    return {
        "to_move": None if over else rules.to_move(position),
        "legal": [] if over else list(rules.legal_moves(position)),
        "position": rules.public_json(position),
    }


def _result(rules: AnyRules, position: Any) -> dict[str, Any] | None:
    outcome = rules.outcome(position)
    if outcome is None:
        return None
    return {"winners": list(outcome.winners), "reason": outcome.reason}
