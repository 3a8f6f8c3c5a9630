"""Making documents of matches and tournaments from the store and the published log.

A document is of one moment, also while its match goes on: what is published meanwhile is in it or is not,
and its leaves, proofs and checkpoint fit each other.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Final

import msgspec
from redis.exceptions import ResponseError

from domain.aggregates import begins_tournament, fold
from domain.match.clocks import clock_turns
from domain.match.events import Sealed, draw_of
from domain.match.history import (
    EventEnvelope,
    PackedSnapshot,
    RefusedLeaf,
    decode_event,
    decode_refusal,
    is_event,
    leaf_hash,
    replay,
)
from domain.match.state import MatchState
from domain.records import AccountId, CommandId
from domain.rules import rules_by_id
from domain.tournament.state import TournamentState
from infra.audit.match_document import (
    FORMAT,
    DocumentAnchor,
    DocumentLeaf,
    DocumentLog,
    DocumentResult,
    DocumentSeat,
    DocumentStatement,
    LeafProof,
    MatchDocument,
)
from infra.audit.tournament_document import (
    TOURNAMENT_FORMAT,
    TournamentDocument,
    accounts_in,
    pairings_of,
    players_of,
    tables_of,
)
from infra.log import merkle
from infra.log.names import shard_key
from infra.log.published_log import PublishedLog
from infra.log.signed_note import VerifierKey
from infra.store.port import Store

_CHUNK: Final = 500
"""Leaves that are read in one round trip."""


class ServerLogs(msgspec.Struct, frozen=True):
    """The published logs of a server."""

    open_log: Callable[[int], PublishedLog]
    """Returns the log of a shard, which no other caller refreshes meanwhile."""
    keys: Sequence[VerifierKey]
    """The public keys of checkpoints under their common name, the newest first; at least one."""
    receipt_keys: Sequence[VerifierKey] = ()
    """Those of receipts."""

    @property
    def host(self) -> str:
        """Return the server's name, which the names of its keys begin with."""
        return self.keys[0].name.removesuffix("/log")


class ReadMatch(msgspec.Struct, frozen=True):
    """All leaves of a match, as the store has them."""

    board: int
    shard: int
    indexes: Sequence[int]
    leaves: Sequence[bytes]
    outcomes: Mapping[CommandId, bytes]

    @property
    def events(self) -> list[bytes]:
        """Return the events, without refusals."""
        return [leaf for leaf in self.leaves if is_event(leaf)]

    def cut(self, seq: int) -> "ReadMatch":
        """Return the match as it was after the event of that number."""
        places = [place for place, leaf in enumerate(self.leaves) if is_event(leaf)]
        end = places[seq - 1] + 1
        return msgspec.structs.replace(self, indexes=self.indexes[:end], leaves=self.leaves[:end])


class Additions(msgspec.Struct, frozen=True):
    """Parts of documents that neither store nor log have; each function returns those of one match."""

    userids: Callable[[Sequence[AccountId]], Sequence[str | None]] = lambda seats: (
        [None] * len(seats)
    )
    receipts: Callable[[ReadMatch, int], Sequence[str]] = lambda *_: ()
    """Returns the receipts of the leaves from an index on."""
    statements: Callable[[ReadMatch], Sequence[DocumentStatement]] = lambda _: ()
    imported_from: Callable[[ReadMatch], MatchDocument | None] = lambda _: None


def build_document(
    store: Store,
    board: int,
    logs: ServerLogs | None,
    additions: Additions | None = None,
    *,
    shows_outcome: Callable[[RefusedLeaf], bool] = lambda _: True,
    until: int | None = None,
) -> MatchDocument | None:
    """Return the document of a match; None if there is no such match.

    With `until` it is the document of the match as it was after the event of that number.
    `logs` is None for a server that publishes none. `shows_outcome` returns whether the outcome of a
    refusal is in the document. What is damaged raises `LookupError` or `ValueError`; errors of the published log and of the object
    store pass through.
    """
    match = read_match(store, board)
    if match is None or begins_tournament(match.events):
        return None
    if until is not None:
        match = match.cut(until)
    more = additions or Additions()
    envelopes = list(map(decode_event, match.events))
    state = replay(match.events)
    log, anchor = _log_of(match, logs, _anchor_of(store, match, envelopes))
    return MatchDocument(
        format=FORMAT,
        game=state.rules.partition("/")[0],
        rules=state.rules,
        players=len(state.seats),
        options=state.options,
        setup=None if state.setup is None else msgspec.json.decode(state.setup),
        moves=tuple(state.first_moves(state.ply)),
        board=board,
        server=logs.host if logs else None,
        seats=_seats(state, more.userids(state.seats)),
        result=_result(state),
        leaves=tuple(_leaves(match, shows_outcome)),
        log=log,
        anchor=anchor,
        receipts=tuple(more.receipts(match, _first_left(match, log))) if logs else (),
        statements=tuple(more.statements(match)),
        clock=tuple(clock_turns(envelopes)),
        imported_from=more.imported_from(match),
    )


def build_tournament_document(
    store: Store,
    number: int,
    logs: ServerLogs | None,
    additions: Additions | None = None,
    *,
    shows_outcome: Callable[[RefusedLeaf], bool] = lambda _: True,
) -> TournamentDocument | None:
    """Return the document of a tournament; None if there is no such tournament. Otherwise as `build_document`."""
    read = read_match(store, number)
    if read is None or not begins_tournament(read.events):
        return None
    more = additions or Additions()
    state = fold(map(decode_event, read.events))
    assert isinstance(state, TournamentState)
    assert state.terms is not None
    log, _ = _log_of(read, logs, None)
    organiser, players = players_of(state, more.userids(accounts_in(state)))
    return TournamentDocument(
        format=TOURNAMENT_FORMAT,
        form=state.terms.form,
        rules=state.terms.rules,
        phase=state.phase,
        board=number,
        server=logs.host if logs else None,
        organiser=organiser,
        players=players,
        matches=tuple(pairings_of(state)),
        tables=tuple(tables_of(state)),
        leaves=tuple(_leaves(read, shows_outcome)),
        log=log,
        receipts=tuple(more.receipts(read, _first_left(read, log))) if logs else (),
        statements=tuple(more.statements(read)),
    )


def _first_left(match: ReadMatch, log: DocumentLog) -> int:
    """Return the index of the first leaf that has no proof, or one beyond the last."""
    covered = len(log.proofs)
    return match.indexes[covered] if covered < len(match.indexes) else match.indexes[-1] + 1


def read_match(store: Store, board: int) -> ReadMatch | None:
    """Return the leaves of a match or a tournament, all of one moment; None if there is none. Raises `LookupError`."""
    try:
        snapshot, indexes, outcomes = _read_steady(store, board)
    except ResponseError as error:
        raise LookupError(f"what is stored of match {board} can't be read: {error}") from error
    if snapshot is None:
        return None
    shard = store.shard_of(board)
    leaves: list[bytes] = []
    for start in range(0, len(indexes), _CHUNK):
        some = indexes[start : start + _CHUNK]
        for index, leaf in zip(some, store.leaves_at(shard, some), strict=True):
            if leaf is None:
                raise LookupError(f"leaf {index} of shard {shard} is missing")
            leaves.append(leaf)
    found = ReadMatch(board, shard, indexes, leaves, outcomes)
    if not found.events or leaf_hash(found.events[-1]) != snapshot.state[:32]:
        raise LookupError(f"the leaves of match {board} do not lead to its state")
    return found


def _read_steady(
    store: Store, board: int
) -> tuple[PackedSnapshot | None, list[int], Mapping[CommandId, bytes]]:
    """Return state, leaves' places and outcomes of one moment: each commit adds a leaf."""
    while True:
        indexes = store.leaf_indexes(board)
        (snapshot,) = store.snapshots([board])
        outcomes = store.outcomes(board)
        if store.leaf_indexes(board) == indexes:
            return snapshot, indexes, outcomes


def _leaves(match: ReadMatch, shows_outcome: Callable[[RefusedLeaf], bool]) -> list[DocumentLeaf]:
    """Return the leaves, each command's first one with the outcome."""
    found = []
    last = None
    for index, leaf in zip(match.indexes, match.leaves, strict=True):
        envelope = decode_event(leaf) if is_event(leaf) else decode_refusal(leaf)
        outcome = None
        if envelope.command != last:
            outcome = match.outcomes.get(envelope.command)
            if outcome is None:
                raise LookupError(f"the command of leaf {index} has no outcome")
        if isinstance(envelope, RefusedLeaf) and not shows_outcome(envelope):
            outcome = None
        last = envelope.command
        found.append(DocumentLeaf(index, leaf, msgspec.UNSET if outcome is None else outcome))
    return found


def _seats(state: MatchState, userids: Sequence[str | None]) -> tuple[DocumentSeat, ...]:
    sides = rules_by_id(state.rules).side_names
    return tuple(
        DocumentSeat(account.hex(), userid, sides[seat])
        for seat, (account, userid) in enumerate(zip(state.seats, userids, strict=True))
    )


def _result(state: MatchState) -> DocumentResult | None:
    return DocumentResult(state.result.winners, state.result.reason) if state.result else None


def _anchor_of(
    store: Store, match: ReadMatch, events: Sequence[EventEnvelope]
) -> DocumentAnchor | None:
    """Return the anchor of the seeds that the draw used, without a proof; None without a draw."""
    chain = drawn_chain(events)
    if chain is None:
        return None
    index = store.anchor_index(match.shard, chain)
    leaf = None if index is None else store.leaves_at(match.shard, [index])[0]
    if index is None or leaf is None:
        raise LookupError(f"the anchor of chain {chain} of shard {match.shard} is missing")
    return DocumentAnchor(chain, index, leaf, None)


def drawn_chain(events: Sequence[EventEnvelope]) -> int | None:
    """Return the chain of seeds that a match's draw used, or was sealed to use; None without a draw."""
    for envelope in events:
        match envelope.body:
            case Sealed(chain=chain):
                return chain
            case body if draw := draw_of(body):
                return draw.chain
    return None


def _log_of(
    match: ReadMatch, logs: ServerLogs | None, anchor: DocumentAnchor | None
) -> tuple[DocumentLog, DocumentAnchor | None]:
    """Return the part about the published log, and the anchor with its proof."""
    if logs is None:
        return DocumentLog(match.shard, None, (), (), None, ()), anchor
    log = logs.open_log(match.shard)
    log.refresh()
    prove = _prover(log)
    if anchor is not None:
        anchor = msgspec.structs.replace(anchor, proof=prove(anchor.index, anchor.leaf))
    paths = [
        LeafProof(index, path)
        for index, leaf in zip(match.indexes, match.leaves, strict=True)
        if (path := prove(index, leaf)) is not None
    ]
    keys = [shard_key(key, match.shard) for key in logs.keys]
    part = DocumentLog(
        shard=match.shard,
        origin=keys[0].name,
        keys=tuple(map(str, keys)),
        receipt_keys=tuple(
            str(shard_key(key, match.shard, "/receipts")) for key in logs.receipt_keys
        ),
        checkpoint=log.note.decode() or None,
        proofs=tuple(paths),
    )
    return part, anchor


def _prover(log: PublishedLog) -> Callable[[int, bytes], tuple[bytes, ...] | None]:
    """Return a function that returns the verified path of a leaf; None if the checkpoint does not cover it.

    It raises `LookupError` for a leaf that the published log has not at its place.
    """
    head = log.checkpoint
    node = cache(log.node)  # neighbours share most of their paths

    def prove(index: int, leaf: bytes) -> tuple[bytes, ...] | None:
        if head is None or index >= head.size:
            return None
        path = merkle.inclusion_proof(index, head.size, node)
        try:
            merkle.verify_inclusion(leaf_hash(leaf), index, head.size, path, head.root)
        except ValueError as error:
            raise LookupError(f"leaf {index} is not the published one: {error}") from error
        return tuple(path)

    return prove
