"""Exporting a match as a match document, and a tournament as a tournament document.

Anybody may export a match, because anybody may read it; a tournament those who see it. The outcome of a refused command has the sentence
that its sender was answered, which may quote a mistyped text. So only the sender gets it, and the operator.
The texts of claims and rulings go to players of the match, arbiters and the operator, as elsewhere; those of a
tournament to its organiser and its directors in place of players.

The evidence of a case, as its players and arbiters download it.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
from msgspec import UNSET

from domain.aggregates import fold
from domain.errors import Code, Refusal
from domain.match.game_text import NO_DATE, UNKNOWN, GameHeaders, write_game_text
from domain.match.history import (
    NO_HASH,
    RefusedLeaf,
    decode_event,
    decode_refusal,
    is_event,
    is_tournament,
    leaf_hash,
)
from domain.match.state import MatchState
from domain.records import AccountId
from infra.audit.build_document import (
    Additions,
    ReadMatch,
    ServerLogs,
    build_document,
    build_tournament_document,
)
from infra.audit.match_document import (
    Document,
    DocumentError,
    DocumentLeaf,
    DocumentStatement,
    MatchDocument,
    write_document,
)
from infra.audit.move_record import write_record
from infra.audit.stored_match import FrozenEvidence
from infra.audit.tournament_document import AnyDocument
from infra.log.key_files import (
    LOG_KEY,
    RECEIPTS_KEY,
    LogKeyError,
    keys_folder,
    read_public_keys,
)
from infra.log.published_log import LogDamagedError, PublishedLogs, TileCache
from infra.log.signed_note import NoteError, VerifierKey
from infra.objects.port import ObjectStoreError
from infra.settings.settings import Settings
from infra.store.trimmed_leaves import TrimmedLeavesError
from services.app.cases import case_of
from services.app.context import App
from services.app.damaged_match import refuse_damaged
from services.app.imports import imported_from
from services.app.matches import load_state, statements_of
from services.app.receipts import NOT_PUBLISHED
from services.app.sentences import SAY
from services.app.tournaments import shown_name, visible_state

logger = logging.getLogger(__name__)

_CACHE: Final = TileCache()
"""Tiles of the logs, which all documents of a process share."""


class DocumentReader(msgspec.Struct, frozen=True):
    """The reader of an exported match, for whom it has more than what everybody may know."""

    account: AccountId | None = None
    """None for a stranger, and for the operator."""
    operator: bool = False

    def sees_outcome(self, refused: RefusedLeaf) -> bool:
        """Return whether the reader sees the outcome of a refusal: of the own ones, or as the operator."""
        return self.operator or refused.actor == self.account

    def sees_statements(self, app: App, seats: Sequence[AccountId]) -> bool:
        """Return whether the reader sees the texts of claims and rulings, as at the match itself."""
        if self.operator:
            return True
        return self.account is not None and (self.account in seats or app.is_arbiter(self.account))


OPERATOR: Final = DocumentReader(operator=True)


def export_match(app: App, board: int, reader: DocumentReader) -> bytes:
    """Return the document of a match as one line; refused as `match_document` does, or as `too-long`."""
    return _line(match_document(app, board, reader))


def export_tournament(app: App, number: int, reader: DocumentReader) -> bytes:
    """Return the document of a tournament as one line, refused as that of a match; `unknown-tournament`."""
    if not reader.operator:
        visible_state(app, reader.account, number)
    found = _document(app, number, reader, build_tournament_document)
    if found is None:
        raise Refusal(Code.UNKNOWN_TOURNAMENT, SAY("no-tournament", number=number))
    return _line(found)


def export_number(app: App, number: int) -> bytes:
    """Return the document of a match or a tournament for the operator; refused as `export_match` does."""
    (data,) = app.store.snapshots([number])
    kept = data is not None and is_tournament(data)
    return (export_tournament if kept else export_match)(app, number, OPERATOR)


def _line(document: AnyDocument) -> bytes:
    try:
        return write_document(document)
    except DocumentError as error:
        raise Refusal(Code.TOO_LONG, str(error)) from error


def export_record(app: App, board: int) -> bytes:
    """Return the move record of a match; refused as `unknown-board`, `damaged` and `not-started`."""
    state = load_state(app, board)
    return write_record(state, _userids(app, state), board).encode()


def export_game_text(app: App, board: int, viewer: AccountId | None = None) -> str:
    """Return a match as a game text, with the name of a tournament that the viewer may see.

    Refused as `unknown-board`, `damaged` and `not-started`.
    """
    state = load_state(app, board)
    (first,) = app.store.first_events([board])
    begun = datetime.fromtimestamp(decode_event(first).at / 1000, UTC) if first else None
    event = shown_name(app, viewer, state.pairing[0]) if state.pairing else ""
    names = app.accounts.name_of(state.seats)
    headers = GameHeaders(
        players=tuple(name or UNKNOWN for name in names),
        event=event or UNKNOWN,
        site=f"{app.settings.site}/m/{board}" if app.settings.site else f"match {board}",
        date=f"{begun:%Y.%m.%d}" if begun else NO_DATE,
    )
    return write_game_text(state, headers)


def _userids(app: App, state: MatchState) -> list[str]:
    """Return the userids by seat, each one word; a number stands for an erased account."""
    found = app.accounts.name_of(state.seats)
    return [name or f"player{seat}" for seat, name in enumerate(found, 1)]


def match_document(app: App, board: int, reader: DocumentReader) -> MatchDocument:
    """Return the document of a match.

    Refused as `unknown-board`, as `damaged` if match or log can't be read, and as `unavailable` if the
    published log can't be read now.
    """
    found = _document(app, board, reader, build_document)
    if found is None:
        raise Refusal(Code.UNKNOWN_BOARD, SAY("no-board", board=board))
    return found


def _document(
    app: App, board: int, reader: DocumentReader, build: Callable[..., Document | None]
) -> Document | None:
    """Return what `build` makes, which is `build_document` or its sister; None if there is nothing of that kind."""
    additions = Additions(
        userids=app.accounts.name_of,
        receipts=partial(_receipts, app),
        imported_from=partial(imported_from, app),
        statements=partial(_statements, app, reader),
    )
    try:
        with refuse_damaged(app.damage, board):
            return _build(app, board, additions, reader, build)
    except (LogKeyError, ObjectStoreError, TrimmedLeavesError) as error:
        logger.warning("match %d can't be exported now: %s", board, error)
        raise Refusal(
            Code.UNAVAILABLE,
            SAY("log-away"),
        ) from error
    except LogDamagedError as error:
        logger.error("ALARM: match %d can't be exported: %s", board, error)  # noqa: TRY400
        raise Refusal(Code.DAMAGED, SAY("log-damaged")) from error


def document_statements(app: App, board: int, leaves: Iterable[bytes]) -> list[DocumentStatement]:
    """Return the texts that are not erased of those whose digest one of these leaves has."""
    data = b"".join(leaves)
    return [
        DocumentStatement(one.digest.hex(), one.salt.hex(), one.account.hex(), one.at, one.text)
        for one in statements_of(app, board)
        if one.salt and one.digest in data  # a reason without one is stored nowhere
    ]


def _build(
    app: App,
    board: int,
    additions: Additions,
    reader: DocumentReader,
    build: Callable[..., Document | None],
) -> Document | None:
    try:
        return build(
            app.store,
            board,
            server_logs(app.settings),
            additions,
            shows_outcome=reader.sees_outcome,
        )
    except NoteError as error:
        # by a key that is not here, or the store is another; no fault of the match
        raise ObjectStoreError(f"a checkpoint can't be used: {error}") from error


def _receipts(app: App, match: ReadMatch, first: int) -> list[str]:
    """Return the receipts of a match's leaves from an index on; none where they are not durable."""
    if match.indexes[-1] < first or not app.gives_receipts or not app.durability_watch().confirm():
        return []
    found, seq, head = [], 0, NO_HASH
    for index, leaf in zip(match.indexes, match.leaves, strict=True):
        if index >= first:
            found.append(app.receipt_signer.sign(match.shard, leaf, seq, head))
        if is_event(leaf):
            seq, head = seq + 1, leaf_hash(leaf)
    return [one for one in found if one is not None]


def _statements(app: App, reader: DocumentReader, match: ReadMatch) -> list[DocumentStatement]:
    """Return the texts whose digest an event has, if the reader may read them."""
    state = fold(map(decode_event, match.events))
    seats = state.seats if isinstance(state, MatchState) else (state.organiser, *state.directors)
    if not reader.sees_statements(app, seats):
        return []
    return document_statements(app, match.board, match.events)


def server_logs(settings: Settings) -> ServerLogs | None:
    """Return the published logs of a server; None if it has no keys. `LogKeyError` if they can't be used."""
    folder = keys_folder(settings)
    keys = _public_keys(folder, LOG_KEY)
    if not keys:
        return None
    # logs of their own, because those that others use are refreshed at any time
    return ServerLogs(PublishedLogs(settings, _CACHE).of, keys, _public_keys(folder, RECEIPTS_KEY))


def _public_keys(folder: Path, name: str) -> list[VerifierKey]:
    """Return public keys; none if there are none."""
    exists = (folder / f"{name}.pub").exists()
    return read_public_keys(folder, name) if exists else []


def frozen_evidence(app: App) -> FrozenEvidence:
    """Return the evidence of cases in a server's object store."""
    return FrozenEvidence(
        app.store,
        lambda: app.objects,
        lambda: server_logs(app.settings),
        partial(imported_from, app),
    )


def evidence_of(app: App, account: AccountId, board: int, number: int) -> bytes:
    """Return the evidence of a case as one line, with the texts and names that are not erased.

    Refused as `case_of` does; as `not-published` until the published log has the claim; as `damaged`, and as
    `unavailable` if the log or the object store can't be used now.
    """
    state, case = case_of(app, account, board, number)
    try:
        with refuse_damaged(app.damage, board):
            document = _read(frozen_evidence(app), board, case.number)
    except (LogKeyError, NoteError, ObjectStoreError, TrimmedLeavesError, LogDamagedError) as error:
        logger.warning("the evidence of match %d can't be read now: %s", board, error)
        raise Refusal(
            Code.UNAVAILABLE, "the evidence can't be read right now; try again in a minute"
        ) from error
    sees_all = app.is_arbiter(account) and account not in state.seats
    return write_document(
        msgspec.structs.replace(
            document,
            seats=tuple(
                msgspec.structs.replace(seat, userid=name)
                for seat, name in zip(
                    document.seats, app.accounts.name_of(state.seats), strict=True
                )
            ),
            leaves=tuple(
                leaf if sees_all else _as_seen_by(account, leaf) for leaf in document.leaves
            ),
            statements=tuple(
                document_statements(app, board, (leaf.leaf for leaf in document.leaves))
            ),
        )
    )


def _read(evidence: FrozenEvidence, board: int, claim: int) -> MatchDocument:
    """Return the evidence, which is frozen now if no job has done it yet."""
    try:
        if not evidence.freeze(board, claim):
            raise NOT_PUBLISHED
        found = evidence.read(board, claim)
    except DocumentError as error:
        raise LookupError(f"the evidence is damaged: {error}") from error
    if found is None:
        raise ObjectStoreError("the evidence was there and is gone")
    return found


def _as_seen_by(account: AccountId, leaf: DocumentLeaf) -> DocumentLeaf:
    """Return a leaf without the outcome of another's refusal, which may quote a mistyped text."""
    if is_event(leaf.leaf) or decode_refusal(leaf.leaf).actor == account:
        return leaf
    return msgspec.structs.replace(leaf, outcome=UNSET)
