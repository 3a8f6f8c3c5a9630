"""Documents of matches on a real server: every leaf with its proof, of one moment, and nothing that is hidden."""

from hashlib import sha256
from typing import Any

import pytest
from redis.exceptions import ResponseError

from domain.fairness import ChainSeed, Commitment
from domain.match.commands import AnswerOffer
from domain.match.history import RefusedLeaf, decode_event, decode_refusal, is_event
from infra.audit.build_document import Additions, build_document
from infra.audit.match_document import (
    DocumentStatement,
    MatchDocument,
    read_document,
    write_document,
)
from infra.redis import keys
from infra.store.outcomes import parse
from tests.evidence.conftest import Played
from tests.golden.make_events import BEGIN, KEPT, MATCHES, OWN, WORD, called
from tests.helpers.evidence import HistoryStore, golden_document
from tests.helpers.given import BOB, Match


def document_of(played: Played, board: int, **more: Any) -> MatchDocument:
    found = build_document(played.archiving.store, board, played.logs, **more)
    assert found is not None
    return found


@pytest.mark.long
def test_every_match_has_a_document_with_all_its_leaves(played):
    store = played.archiving.store
    refused = tails = 0
    for board in played.boards:
        document = document_of(played, board)
        assert read_document(write_document(document)) == document
        assert [one.index for one in document.leaves] == store.leaf_indexes(board)
        events = [one.leaf for one in document.leaves if is_event(one.leaf)]
        assert events == store.events(board)
        refused += len(document.leaves) - len(events)
        stored = dict(store.outcomes(board))
        for one in document.leaves:
            if isinstance(one.outcome, bytes):
                read = decode_event if is_event(one.leaf) else decode_refusal
                assert stored.pop(read(one.leaf).command) == one.outcome
                assert parse(one.outcome).index == one.index
        assert not stored
        tails += len(document.leaves) > len(document.log.proofs)
    assert refused > 20
    assert tails > 5


def test_a_match_of_the_archive_has_the_document_that_it_had_before(played):
    for board in played.over:
        assert document_of(played, board) == played.before[board]


def test_leaves_that_were_trimmed_are_read_from_the_published_log(played):
    boards = played.boards[:30]
    before = [document_of(played, board) for board in boards]
    client = played.archiving.plain._client
    trimmed = 0
    for shard in range(4):
        published = played.logs.open_log(shard).refresh()
        trimmed += client.xtrim(keys.log(shard), minid=f"{published}-1", approximate=False)
    assert trimmed > 600
    assert [document_of(played, board) for board in boards] == before


def test_a_board_without_a_match_has_none(played):
    assert build_document(played.archiving.store, 9_999, played.logs) is None


def test_a_server_that_publishes_nothing_has_documents_without_proofs(played):
    board = next(one for one in played.boards if one not in played.over)
    document = build_document(played.archiving.store, board, None)
    assert document is not None
    assert (document.server, document.log.origin, document.log.keys) == (None, None, ())
    assert (document.log.checkpoint, document.log.proofs) == (None, ())
    assert [one.leaf for one in document.leaves] == [
        one.leaf for one in document_of(played, board).leaves
    ]


def test_outcomes_of_refusals_are_left_out_where_the_reader_must_not_see_them(played):
    board, actor = next(
        (board, decode_refusal(one.leaf).actor)
        for board in played.boards
        for one in document_of(played, board).leaves
        if not is_event(one.leaf)
    )

    def shows(leaf: RefusedLeaf) -> bool:
        return leaf.actor == actor

    document = document_of(played, board, shows_outcome=shows)
    assert [one.leaf for one in document.leaves] == [
        one.leaf for one in document_of(played, board).leaves
    ]
    for one in document.leaves:
        if not is_event(one.leaf):
            assert isinstance(one.outcome, bytes) == (decode_refusal(one.leaf).actor == actor)
    nobody = document_of(played, board, shows_outcome=lambda _: False)
    assert all(is_event(one.leaf) for one in nobody.leaves if isinstance(one.outcome, bytes))


class Moving:
    """A store of a match that goes on while it is read: the first reads are of an earlier moment."""

    def __init__(self, store: HistoryStore) -> None:
        self._store = store
        self._reads = 0

    def leaf_indexes(self, board: int) -> list[int]:
        self._reads += 1
        return self._store.leaf_indexes(board)[: -2 if self._reads == 1 else None]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def test_a_match_that_goes_on_is_read_as_of_one_moment():
    store = HistoryStore(MATCHES["timed"]())
    moving: Any = Moving(store)
    assert build_document(moving, 1, store.logs()) == store.document()


class Lacking(Moving):
    """A store from which something is missing."""

    def __init__(self, store: HistoryStore, **changes: Any) -> None:
        super().__init__(store)
        self._reads = 1
        vars(self).update(changes)


def raising(*_: object) -> Any:
    raise ResponseError("WRONGTYPE")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"leaves_at": lambda _, indexes: [None] * len(indexes)}, "leaf 2 of shard 1 is missing"),
        ({"outcomes": lambda _: {}}, "the command of leaf 2 has no outcome"),
        ({"outcomes": raising}, "what is stored of match 1 can't be read: WRONGTYPE"),
        ({"leaf_indexes": lambda _: [2]}, "the leaves of match 1 do not lead to its state"),
        ({"leaf_indexes": lambda _: []}, "the leaves of match 1 do not lead to its state"),
        ({"anchor_index": lambda *_: None}, "the anchor of chain 1 of shard 1 is missing"),
    ],
)
def test_a_damaged_match_has_no_document(changes, said):
    store: Any = Lacking(HistoryStore(MATCHES["committed"]()), **changes)
    with pytest.raises(LookupError, match=said):
        build_document(store, 1, store.logs())


def test_a_leaf_that_is_not_the_published_one_is_found():
    store: Any = HistoryStore(MATCHES["plain"]())
    other = HistoryStore(MATCHES["timed"]())
    store.logs = other.logs
    with pytest.raises(LookupError, match="leaf 2 is not the published one: the proof leads to"):
        build_document(store, 1, store.logs())


def test_a_text_that_was_not_revealed_is_nowhere_in_a_document():
    match = Match()
    match.kept, match.seed = {0: KEPT}, ChainSeed(1, 1, b"seed" * 8)
    match.do(*called(Commitment(sha256(KEPT + WORD).digest(), WORD), Commitment()), BEGIN)
    document = HistoryStore(match).document()
    assert (document.setup, document.moves, document.anchor) == (None, (), None)
    assert KEPT not in b"".join(one.leaf for one in document.leaves)
    match.do(BOB, AnswerOffer(accept=True, commitment=Commitment(sha256(OWN[1]).digest())), BEGIN)
    sealed = HistoryStore(match).document()
    assert sealed.anchor is not None
    assert match.seed.seed not in b"".join(one.leaf for one in sealed.leaves)
    assert OWN[1] not in b"".join(one.leaf for one in sealed.leaves)


def test_what_others_add_is_in_its_place():
    store = HistoryStore(MATCHES["timed"](), 6)
    statement = DocumentStatement("0" * 64, "1" * 32, "2" * 16, 5, "I had moved before.")
    asked = []

    def receipts(match: Any, first: int) -> list[str]:
        asked.append(first)
        return [f"{match.board}"]

    document = store.document(
        Additions(
            userids=lambda seats: ["alice", None][: len(seats)],
            receipts=receipts,
            statements=lambda _: [statement],
            imported_from=lambda _: golden_document("plain"),
        )
    )
    assert [seat.userid for seat in document.seats] == ["alice", None]
    assert (document.receipts, document.statements) == (("1",), (statement,))
    assert document.imported_from == golden_document("plain")
    assert asked == [document.leaves[len(document.log.proofs)].index]
    assert read_document(write_document(document)) == document
