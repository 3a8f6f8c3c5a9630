"""Importing a match from another server, by a match document, a game text or a move record.

The document is checked before anything is written. It is stored in the object store under its digest
before the command is submitted, so that an export of the match always has it. A document that is stored
and not imported does no harm. Only the operator imports, so that no stranger can fill lists or stores.
"""

from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import count
from typing import Final

import msgspec

from domain.errors import Code, Refusal
from domain.match.commands import CommandEnvelope, ImportMatch
from domain.match.decide import decide
from domain.match.decision import Rejection
from domain.match.disputes import open_case
from domain.match.events import Imported, MatchSource
from domain.match.game_text import read_game_text
from domain.match.history import decode_event, is_event, leaf_hash, replay
from domain.match.imports import DOCUMENT, RECORD, import_command
from domain.match.state import MatchState, Reason
from domain.records import SERVER_ACCOUNT, AccountId, command_id
from domain.rules import AnyRules, Seat, rules_by_id
from infra.audit.build_document import ReadMatch
from infra.audit.check_document import check_document
from infra.audit.match_document import (
    DocumentError,
    MatchDocument,
    document_digest,
    read_document,
    without_private_parts,
    write_document,
)
from infra.audit.move_record import read_record
from infra.log.signed_note import VerifierKey
from infra.objects.port import ObjectNotFoundError
from services.app.context import App
from services.app.matches import read_snapshot

FRONT_END: Final = "import"
"""The front end in the ids of commands that import."""


class CheckedImport(msgspec.Struct, frozen=True):
    """A match from elsewhere that was checked, and can be imported."""

    source: MatchSource
    state: MatchState
    data: bytes
    """The document as it is written, or the record."""
    holds: Sequence[str] = ()
    limits: Sequence[str] = ()
    """Sentences on the parts that nothing proves."""

    @property
    def rules(self) -> AnyRules:
        """The rules it is played by."""
        return rules_by_id(self.state.rules)


class PlannedImport(msgspec.Struct, frozen=True):
    """The command that imports a match."""

    sent: CommandEnvelope
    is_new: bool
    """False if the match was imported before."""


def check_import(
    data: bytes, trusted: Sequence[VerifierKey], *, still_running: bool = False
) -> CheckedImport:
    """Check a document, which begins with a brace, a game text, with a bracket, or a record; needs no server.

    Refused as `bad-request` where it does not hold, and as `not-started` or `too-early` where the match
    can't be moved. `NotCheckableError` if the rules are not installed. A match that still runs at its source is taken only with `still_running`.
    """
    begins = data.removeprefix(BOM_UTF8).lstrip()
    if begins.startswith(b"["):
        return _unproven(data, read_game_text(data).state, 0)
    if not begins.startswith(b"{"):
        record = read_record(data)
        return _unproven(data, record.state, record.board)
    try:
        document = read_document(data)
    except DocumentError as error:
        raise Refusal(Code.BAD_REQUEST, str(error)) from error
    verdict = check_document(document, trusted)
    if verdict.fault:
        raise Refusal(Code.BAD_REQUEST, f"the document does not hold: {verdict.fault}")
    _check_published(document)
    events = [one.leaf for one in document.leaves if is_event(one.leaf)]
    state = replay(events)
    if not state.over and not still_running:
        raise Refusal(
            Code.TOO_EARLY,
            f"the match still runs at {document.server or 'its server'}, and would go on in two places; "
            "its players end it there with `propose transfer`, and you export it again. "
            "--still-running imports it all the same",
        )
    if open_case(state):
        raise Refusal(
            Code.TOO_EARLY,
            "a claim or an appeal in the match waits for a ruling; import it after that",
        )
    # it is stored for good, and exported to anybody
    document = without_private_parts(document)
    source = MatchSource(
        kind=DOCUMENT,
        origin=document.log.origin or "",
        board=document.board,
        head=leaf_hash(events[-1]),
        events=len(events),
        digest=document_digest(document),
    )
    return CheckedImport(source, state, write_document(document), verdict.holds, verdict.limits)


def _check_published(document: MatchDocument) -> None:
    """Refuse a document with leaves that its log does not have yet, because receipts only promise it."""
    missing = len(document.leaves) - len(document.log.proofs)
    if document.log.origin is not None and missing:
        raise Refusal(
            Code.TOO_EARLY,
            f"{missing} of its leaves are not in the published log of {document.server} yet; "
            "export it again in a minute",
        )


def _unproven(data: bytes, state: MatchState, board: int) -> CheckedImport:
    return CheckedImport(
        MatchSource(RECORD, "", board, b"", 0, sha256(data).digest()),
        state,
        data,
        [f"{state.ply} moves are legal by {state.rules}"],
        ["nothing shows that these moves were played, when, or by whom"],
    )


def seats_of(app: App, checked: CheckedImport, players: Mapping[str, str]) -> tuple[AccountId, ...]:
    """Return the accounts by seat; `players` has the userid for each side.

    Refused as `bad-players` if a side is missing or unknown, and as `unknown-user`.
    """
    sides = checked.rules.side_names[: len(checked.state.seats)]
    by_name = {side.lower(): seat for seat, side in enumerate(sides)}
    chosen: dict[Seat, str] = {}
    for side, userid in players.items():
        seat = by_name.get(side.lower())
        if seat is None:
            raise Refusal(
                Code.BAD_PLAYERS, f"there is no side {side[:24]!r}; there are {', '.join(sides)}"
            )
        chosen[seat] = userid
    missing = [side for seat, side in enumerate(sides) if seat not in chosen]
    if missing:
        raise Refusal(
            Code.BAD_PLAYERS,
            f"say who plays {' and '.join(missing)}: --player {missing[0]}=USERID",
        )
    return tuple(app.accounts.id_of(chosen[seat]) for seat in range(len(sides)))


def plan_import(app: App, checked: CheckedImport, seats: tuple[AccountId, ...]) -> PlannedImport:
    """Store what is imported, and return the command that imports it.

    The same document leads to the same board, unless its players have declined it there: then it is
    proposed again. Refused as `already-started` if other accounts were asked before.
    """
    command = import_command(checked.state, seats, checked.source)
    _check_decision(command)
    app.ready()
    for attempt in _attempts(checked.source.digest):
        id_ = command_id(FRONT_END, SERVER_ACCOUNT, attempt)
        (board,) = app.store.board_numbers([id_])
        found = MatchState() if board is None else _state(app, board)
        if _was_declined(found):
            continue
        if found.started and found.seats != seats:
            raise Refusal(
                Code.ALREADY_STARTED,
                f"it is imported as match {board} for other players; any of them can decline it there",
            )
        # crash window: an object that no event names, which does no harm
        app.objects.create(object_name(checked.source.digest), checked.data)
        if board is None:
            board = app.store.allocate(id_)
        sent = CommandEnvelope(board, id_, SERVER_ACCOUNT, command)
        return PlannedImport(sent, is_new=not found.started)
    raise AssertionError("the attempts never end")


def _check_decision(command: ImportMatch) -> None:
    """Refuse what would be refused as a command, before anything is written."""
    decided = decide(CommandEnvelope(0, bytes(16), SERVER_ACCOUNT, command), MatchState())
    if isinstance(decided, Rejection):
        raise Refusal(Code(decided.code), decided.text)


def _attempts(digest: bytes) -> Iterator[str]:
    """Yield the keys of the commands that import a document, one after another declined one."""
    yield digest.hex()
    for number in count(2):
        yield f"{digest.hex()} {number}"


def _was_declined(state: MatchState) -> bool:
    """Return whether an imported match was declined before it went on."""
    declined = state.result is not None and state.result.reason == Reason.DECLINED
    return declined and bool(state.texts)


def _state(app: App, board: int) -> MatchState:
    (data,) = app.store.snapshots([board])
    return read_snapshot(app, board, data).state


def object_name(digest: bytes) -> str:
    """Return the name of an imported document or record in the object store."""
    return f"imports/{digest.hex()}"


def imported_from(app: App, match: ReadMatch) -> MatchDocument | None:
    """Return the document that a match was imported from; None for any other match.

    Refused as `damaged` if the object store does not have it, or has another.
    """
    first = decode_event(match.events[0]).body
    if not isinstance(first, Imported) or first.source.kind != DOCUMENT:
        return None
    name = object_name(first.source.digest)
    try:
        data = app.objects.get(name)
    except ObjectNotFoundError as error:
        raise _lost(name, "is missing") from error
    if sha256(data).digest() != first.source.digest:
        raise _lost(name, "was changed")
    return read_document(data)


def _lost(name: str, how: str) -> Refusal:
    return Refusal(
        Code.DAMAGED,
        f"the document that the match was imported from {how} in the object store; put {name} back "
        "from a backup",
    )
