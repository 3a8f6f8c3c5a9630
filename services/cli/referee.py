"""`matchpost referee`: the rules as a filter, one JSON object a line in and one a line out.

A line may be a match document, which is judged like the request in it. Its proofs are not looked at. Seats that
left the match, and its result if that is not one of the rules, come from its events. A line may also ask for the table,
the schedule or the bracket of a tournament.

The protocol is stable, because other programs rely on it (`docs/formats.md`). Every line, valid or not,
is answered with one line.
"""

import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, BinaryIO, Final, TypeVar

import msgspec

from domain.errors import Code, Refusal
from domain.match.history import is_event, replay
from infra.audit.match_document import DOCUMENT_LIMIT, HEADER, DocumentError, read_document
from services.app.error_codes import EXIT_OK
from services.app.referee import MoveRefused, RefereeRequest, judge_moves, refused_move
from services.cli.referee_tournaments import TournamentRequest, judge_tournament

LINE_LIMIT: Final = 1 << 20
"""Most bytes of a line, without its end; a match document may be longer."""

_Request = TypeVar("_Request")


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
        return judge_moves(_read(_REQUESTS, line, Code.BAD_REQUEST))
    except MoveRefused as refused:
        return refused_move(refused)
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
            return judge_moves(request, state)
    except (Refusal, MoveRefused):
        raise
    except Exception as error:  # noqa: BLE001 - forged events may fail anywhere
        raise Refusal(
            Code.BAD_REQUEST, f"the events of the document can't be followed: {error!r}"
        ) from None
    raise Refusal(
        Code.NOT_STARTED, f"match {document.board} has no position, because nothing was drawn"
    )
