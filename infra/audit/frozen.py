"""Frozen evidence: the document of a match as it was at a claim, in the object store, and never changed.

An object has neither texts nor userids, because both can be erased; a reader gets those that are there.
It is written once the published log has the claim, so that the document proves each of its leaves.
"""

from collections.abc import Callable
from typing import Final

from infra.audit.build_document import Additions, ReadMatch, ServerLogs, build_document
from infra.audit.match_document import MatchDocument, read_document, write_document
from infra.objects.port import ObjectDiffersError, ObjectNotFoundError, ObjectStore
from infra.store.port import Store

FOLDER: Final = "evidence"


def evidence_name(board: int, claim: int) -> str:
    """Return the name of the object with the evidence of a case."""
    return f"{FOLDER}/{board}-{claim}.json"


class FrozenEvidence:
    """The evidence of cases. Errors of the store, the log and the object store pass through."""

    def __init__(
        self,
        store: Store,
        objects: Callable[[], ObjectStore],
        logs: Callable[[], ServerLogs | None],
        imported_from: Callable[[ReadMatch], MatchDocument | None] = lambda _: None,
    ) -> None:
        """`imported_from` returns the document that a match was imported from."""
        self._store = store
        self._objects = objects
        self._logs = logs
        self._additions = Additions(imported_from=imported_from)

    def read(self, board: int, claim: int) -> MatchDocument | None:
        """Return the evidence of a case; None if it is not frozen."""
        try:
            return read_document(self._objects().get(evidence_name(board, claim)))
        except ObjectNotFoundError:
            return None

    def is_frozen(self, board: int, claim: int) -> bool:
        """Return whether the evidence of a case is frozen."""
        try:
            self._objects().get_range(evidence_name(board, claim), 0, 1)
        except ObjectNotFoundError:
            return False
        return True

    def freeze(self, board: int, claim: int) -> bool:
        """Freeze the evidence of a case; False if the published log does not have the claim yet.

        It may be repeated, and several processes may do it at once: the first document stays.
        """
        if self.is_frozen(board, claim):
            return True
        document = build_document(self._store, board, self._logs(), self._additions, until=claim)
        if document is None:
            raise LookupError(f"match {board} is missing")
        if document.log.origin is not None and len(document.log.proofs) < len(document.leaves):
            return False
        try:
            self._objects().create(evidence_name(board, claim), write_document(document))
        except ObjectDiffersError:
            # another process was faster, and had an earlier or a later checkpoint
            return True
        return True
