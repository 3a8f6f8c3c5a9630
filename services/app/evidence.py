"""The evidence of a case, as its players and arbiters download it."""

import logging
from functools import partial

import msgspec
from msgspec import UNSET

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from domain.match.leaves import decode_refusal, is_event
from infra.audit.frozen import FrozenEvidence
from infra.audit.match_document import (
    DocumentError,
    DocumentLeaf,
    MatchDocument,
    write_document,
)
from infra.log.key_files import LogKeyError
from infra.log.published_log import LogDamagedError
from infra.log.signed_note import NoteError
from infra.objects.port import ObjectStoreError
from infra.store.trimmed_leaves import TrimmedLeavesError
from services.app.cases import case_of
from services.app.context import App
from services.app.damaged_match import refuse_damaged
from services.app.disputes import is_arbiter
from services.app.exports import document_statements, server_logs
from services.app.imports import imported_from
from services.app.receipts import NOT_PUBLISHED

logger = logging.getLogger(__name__)


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
    sees_all = is_arbiter(app, account) and account not in state.seats
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
