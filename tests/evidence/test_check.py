"""Match documents: built from a server or from nothing, all that was recorded holds, and whatever is changed is named."""

import json
import random
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from msgspec.structs import replace
from redis.exceptions import ResponseError

from domain.fairness import ChainSeed, Commitment
from domain.match.commands import AnswerOffer
from domain.match.deals import DealKind
from domain.match.history import (
    AnchorLeaf,
    RefusedLeaf,
    decode_event,
    decode_refusal,
    encode_event,
    is_event,
)
from domain.records import SCHEMA
from infra.audit.build_document import Additions, ServerLogs, build_document
from infra.audit.check_document import LEFT_OUT, EvidenceVerdict, check_document
from infra.audit.draws import DEALS
from infra.audit.faults import NotCheckableError
from infra.audit.match_document import (
    DocumentError,
    DocumentLeaf,
    DocumentLog,
    DocumentStatement,
    MatchDocument,
    read_document,
    write_document,
)
from infra.log.names import LogSecret
from infra.log.receipts import KEY_SUFFIX, Receipt
from infra.redis import keys
from infra.store.outcomes import ANY_DIGEST, encode_stored, parse, tail
from infra.valkey.server import EmbeddedServer
from tests.golden.make_events import BEGIN, KEPT, MATCHES, OWN, WORD, called
from tests.helpers.archiving import SECRET as SERVER_SECRET
from tests.helpers.archiving import Archiving, publish
from tests.helpers.bench import Bench
from tests.helpers.corpus import Corpus
from tests.helpers.evidence import (
    KINDS,
    OTHER_SECRET,
    SECRET,
    HistoryStore,
    golden_document,
    proven_part,
    server_logs,
    tamper,
)
from tests.helpers.given import BOB, Match

TAMPERINGS = 60
"""Changes of each document."""


def fault_of(document: MatchDocument, secret: LogSecret = SECRET) -> str:
    return check_document(document, [secret.public]).fault


# matches of a real server: published, in the archive, trimmed, and with a tail that is not published


class Played(NamedTuple):
    """What was played, and where it is."""

    archiving: Archiving
    boards: list[int]
    over: list[int]
    """Matches that were retired."""
    logs: ServerLogs
    before: dict[int, MatchDocument | None]
    """Their documents before that."""

    def document(self, board: int, **more: Any) -> MatchDocument:
        found = build_document(self.archiving.store, board, self.logs, **more)
        assert found is not None
        return found


@pytest.fixture(scope="module")
def played(valkey: EmbeddedServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """Matches by chance; the last leaves are not published, and those that ended before are retired."""
    with valkey.client() as client:
        client.flushall()
        bench = Bench(client, tmp_path_factory.mktemp("seeds"))
        corpus = Corpus(bench, seed=7, matches=50)
        while corpus.leaves() < 600:
            corpus.step()
        archiving = Archiving(client, bench.store, tmp_path_factory.mktemp("log"))
        over = [one for shard in range(4) for one in bench.store.ended_boards(shard, 1 << 50, 99)]
        publish(bench.store, archiving.objects)
        logs = server_logs(archiving.log_of, SERVER_SECRET)
        before = {board: build_document(bench.store, board, logs) for board in over}
        assert archiving.retire() == len(over) > 10
        for _ in range(8):
            corpus.step()
        yield Played(archiving, list(range(1, max(over) + 1)), over, logs, before)


ABANDONED = "sealed and abandoned"
WORDS = (
    "decided again by", "the outcomes of all commands fit their leaves", "game, players, moves, result and clock",
    "what was dealt follows from seed", ABANDONED, "covers all its leaves", "covers the first",
    "compare example.org/log/s", "no checkpoint and no receipt covers", "imported from a record: unproven",
    "decided again with the same sentence",
)  # fmt: skip


def test_every_match_that_was_played_has_a_document_with_all_its_leaves_that_holds(played):
    store, seen = played.archiving.store, set[str]()
    refused = tails = 0
    for board in played.boards:
        document = read_document(write_document(played.document(board)))
        assert document == played.document(board)
        for trusted in ([], [SERVER_SECRET.public], [SERVER_SECRET.signer(board % 4).key]):
            verdict = check_document(document, trusted)
            assert verdict.fault == ""
            assert ("comes from the file" in " ".join(verdict.limits)) == (not trusted)
            for one in (*verdict.holds, *verdict.limits[:-1]):
                seen.update([word for word in WORDS if word in one] or [one])
        assert [one.index for one in document.leaves] == store.leaf_indexes(board)
        events = [one.leaf for one in document.leaves if is_event(one.leaf)]
        assert events == store.events(board)
        stored = dict(store.outcomes(board))
        for one in document.leaves:
            if isinstance(one.outcome, bytes):
                read = decode_event if is_event(one.leaf) else decode_refusal
                assert stored.pop(read(one.leaf).command) == one.outcome
                assert parse(one.outcome).index == one.index
        assert not stored
        refused += len(document.leaves) - len(events)
        tails += len(document.leaves) > len(document.log.proofs)
    # few draws are abandoned, in some lives none
    assert seen - {ABANDONED} == set(WORDS) - {ABANDONED}
    assert (refused > 20, tails > 5) == (True, True)
    assert {board: played.document(board) for board in played.over} == played.before
    assert build_document(store, 9_999, played.logs) is None


def test_leaves_that_were_trimmed_are_read_from_the_published_log(played):
    before = [played.document(board) for board in played.boards[:30]]
    client, trimmed = played.archiving.plain._client, 0
    for shard in range(4):
        published = played.logs.open_log(shard).refresh()
        trimmed += client.xtrim(keys.log(shard), minid=f"{published}-1", approximate=False)
    assert trimmed > 400
    assert [played.document(board) for board in played.boards[:30]] == before


def test_a_server_that_publishes_nothing_has_documents_without_proofs(played):
    board = next(one for one in played.boards if one not in played.over)
    document = build_document(played.archiving.store, board, None)
    assert document is not None
    assert (document.server, document.log.origin, document.log.keys) == (None, None, ())
    assert (document.log.checkpoint, document.log.proofs) == (None, ())
    assert document.leaves == played.document(board).leaves


def test_outcomes_of_refusals_are_left_out_where_the_reader_must_not_see_them(played):
    board, actor = next(
        (board, decode_refusal(one.leaf).actor)
        for board in played.boards
        for one in played.document(board).leaves
        if not is_event(one.leaf)
    )
    whole = [one.leaf for one in played.document(board).leaves]
    own = played.document(board, shows_outcome=lambda leaf: leaf.actor == actor)
    assert [one.leaf for one in own.leaves] == whole
    for one in own.leaves:
        if not is_event(one.leaf):
            assert isinstance(one.outcome, bytes) == (decode_refusal(one.leaf).actor == actor)
    nobody = played.document(board, shows_outcome=lambda _: False)
    assert all(is_event(one.leaf) for one in nobody.leaves if isinstance(one.outcome, bytes))


def test_whatever_is_changed_in_a_match_with_refusals_is_found_and_named(played):
    documents = [
        document
        for document in map(played.document, played.over)
        if any(not is_event(one.leaf) for one in document.leaves) and len(document.leaves) < 30
    ]
    assert len(documents) > 3
    for document in documents[:4]:
        found = [check_tampered(document, seed) for seed in range(TAMPERINGS)]
        assert sum(map(bool, found)) > TAMPERINGS * 0.7


# documents that are built


class Lacking:
    """A store from which something is missing; its first reads may be of an earlier moment."""

    def __init__(self, store: HistoryStore, *, moving: bool = False, **changes: Any) -> None:
        self._store = store
        self._moving = moving
        vars(self).update(changes)

    def leaf_indexes(self, board: int) -> list[int]:
        found, self._moving = self._store.leaf_indexes(board)[: -2 if self._moving else None], False
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def test_a_match_that_goes_on_is_read_as_of_one_moment():
    store = HistoryStore(MATCHES["timed"]())
    moving: Any = Lacking(store, moving=True)
    assert build_document(moving, 1, store.logs()) == store.document()


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
        ({"logs": HistoryStore(MATCHES["timed"]()).logs}, "leaf 2 is not the published one: the proof leads to"),
    ],
)  # fmt: skip
def test_a_damaged_match_has_no_document(changes, said):
    store: Any = Lacking(HistoryStore(MATCHES["committed"]()), **changes)
    with pytest.raises(LookupError, match=said):
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
    shown = b"".join(one.leaf for one in sealed.leaves)
    assert (match.seed.seed in shown, OWN[1] in shown) == (False, False)


def test_what_others_add_is_in_its_place():
    statement = DocumentStatement("0" * 64, "1" * 32, "2" * 16, 5, "I had moved before.")
    asked = []
    added = Additions(
        userids=lambda seats: ["alice", None][: len(seats)],
        receipts=lambda match, first: asked.append(first) or [f"{match.board}"],
        statements=lambda _: [statement],
        imported_from=lambda _: golden_document("plain"),
    )
    document = HistoryStore(MATCHES["timed"](), 6).document(added)
    assert [seat.userid for seat in document.seats] == ["alice", None]
    assert (document.receipts, document.statements) == (("1",), (statement,))
    assert document.imported_from == golden_document("plain")
    assert asked == [document.leaves[len(document.log.proofs)].index]
    assert read_document(write_document(document)) == document


# what holds, and what is not proven


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_history_holds_and_whatever_is_changed_in_it_is_found_and_named(kind):
    for unpublished, limit in enumerate((
        [], ["no checkpoint and no receipt covers 1 leaf at the end yet"],
        ["no checkpoint and no receipt covers 2 leaves at the end yet"],
    )):  # fmt: skip
        verdict = check_document(golden_document(kind, unpublished), [SECRET.public])
        assert verdict.fault == ""
        *limits, left_out = verdict.limits
        assert left_out == LEFT_OUT
        assert [one for one in limits if "from a record" not in one] == limit
    found = [check_tampered(golden_document(kind), seed) for seed in range(TAMPERINGS)]
    assert sum(map(bool, found)) > TAMPERINGS * 0.8
    assert len(set(found)) > 20


def check_tampered(document: MatchDocument, seed: int) -> str:
    """Change a document at one place; return the sentence by which that is found, empty if it is not."""
    data, path = tamper(document, random.Random(seed))
    try:
        changed = read_document(data)
        if changed == document:
            return "nothing was changed"
        verdict = check_document(changed, [SECRET.public, SERVER_SECRET.public])
    except (DocumentError, NotCheckableError) as error:
        return str(error)
    if not verdict.fault:
        assert proven_part(changed) == proven_part(document), path
        return ""
    assert ": " in verdict.fault, verdict.fault
    return verdict.fault


def test_what_holds_is_said_in_sentences():
    assert check_document(golden_document("plain"), [SECRET.public]) == EvidenceVerdict(
        [
            "7 events in sequence, chained, and decided again by pow2/1 with the same result",
            "the outcomes of all commands fit their leaves",
            "game, players, moves, result and clock are those that the events lead to",
            "the checkpoint of play.example.org/log/s01 at 11 leaves, signed by a key that you named, covers all its leaves",
        ],
        limits=[LEFT_OUT],
    )  # fmt: skip
    (said,) = [one for one in check_document(golden_document("imported")).limits if "record" in one]
    assert "a record: unproven" in said
    assert "nothing shows that they were played" in said


OLD_DEALS = json.loads((Path(__file__).parents[1] / "golden" / "deals-1.json").read_text())
"""Documents with refusals, written by a server before it dealt by itself, by the kind of their deal."""


@pytest.mark.parametrize("kind", OLD_DEALS)
def test_a_match_that_was_dealt_by_an_earlier_version_is_verified_as_before(kind):
    document = read_document(json.dumps(OLD_DEALS[kind], separators=(",", ":")).encode() + b"\n")
    verdict = check_document(document, [SERVER_SECRET.public])
    assert (verdict.fault, verdict.limits) == ("", [LEFT_OUT])
    withheld = "its deal was sealed and abandoned, because seat 2 didn't reveal a text"
    wanted = withheld if kind == "withheld" else f"{DEALS[DealKind(kind)]}; what was dealt follows"
    assert wanted in " ".join(verdict.holds)


@pytest.mark.parametrize("seq", range(1, 8))
def test_a_forged_history_with_new_hashes_is_found_at_its_first_forged_event(seq):
    match = MATCHES["plain"]()
    genuine = HistoryStore(MATCHES["plain"]())
    at = decode_event(match.events[seq - 1]).at + 1
    match.resume(match.forged(seq, at=at))
    document = replace(HistoryStore(match).document(), log=genuine.document().log)
    fault = fault_of(document)
    assert fault.startswith((f"event {seq}", f"event {seq + 1}: it is older"))
    if "proof" in fault:
        place = f"event {seq}, leaf {document.leaves[seq - 1].index}"
        assert fault == f"{place}: its proof does not hold: the proof leads to another root"


def test_a_document_without_proofs_is_no_proof_by_a_key():
    bare = log(checkpoint=None, proofs=())
    assert check_document(bare).fault == ""
    assert "no checkpoint and no receipt covers 7 leaves" in " ".join(check_document(bare).limits)
    assert fault_of(bare) == "log.checkpoint: nothing is signed by a key that you named"
    alone = replace(bare, log=DocumentLog(1, None, (), (), None, ()), server=None)
    assert check_document(alone).fault == ""
    assert "the server publishes no log" in " ".join(check_document(alone).limits)
    assert fault_of(alone) == "log.origin: it names no log, so that no key can prove anything"
    fault = check_document(replace(alone, server="a.example")).fault
    assert fault == "server: it is there, and the document names no log"


def test_receipts_promise_what_no_checkpoint_covers():
    store = HistoryStore(MATCHES["plain"](), 6)
    origin, signer = "play.example.org/log/s01", SECRET.signer(1, KEY_SUFFIX)
    open_leaves = [one for one in store.document().leaves if one.index >= 6]
    notes = [Receipt.of_leaf(origin, one.leaf).sign([signer]) for one in open_leaves]
    some = store.document(Additions(receipts=lambda *_: notes[:1]))
    every = store.document(Additions(receipts=lambda *_: notes))
    for document, said, limits in (
        (some, "1 of the 4", ["no checkpoint and no receipt covers 3 leaves at the end yet"]),
        (every, "each of the 4", []),
    ):
        verdict = check_document(document, [SECRET.public])
        assert f"a receipt promises {said} leaves after it" in verdict.holds[-1]
        assert verdict.limits == [*limits, LEFT_OUT]
    foreign = OTHER_SECRET.signer(1, KEY_SUFFIX)
    forged = Receipt.of_leaf(origin, open_leaves[0].leaf).sign([foreign])
    fault = fault_of(replace(some, receipts=(forged,)))
    assert fault == "receipt 1: the note has no signature by a known key"
    covered = Receipt.of_leaf(origin, some.leaves[0].leaf).sign([signer])
    fault = fault_of(replace(some, receipts=(notes[0], covered)))
    assert fault == "receipt 2: it is of no leaf that the checkpoint leaves open"


# the matrix of changes


PLAIN, DRAWN, DISPUTED = map(golden_document, ("plain", "committed", "disputed"))
LAST = decode_event(PLAIN.leaves[-1].leaf)


def with_leaf(place: int, **changes: Any) -> MatchDocument:
    leaves = list(PLAIN.leaves)
    leaves[place] = replace(leaves[place], **changes)
    return replace(PLAIN, leaves=tuple(leaves))


def seat(number: int, **changes: Any) -> MatchDocument:
    seats = list(PLAIN.seats)
    seats[number] = replace(seats[number], **changes)
    return replace(PLAIN, seats=tuple(seats))


def log(document: MatchDocument = PLAIN, **changes: Any) -> MatchDocument:
    return replace(document, log=replace(document.log, **changes))


def outcome(place: int, **changes: Any) -> MatchDocument:
    """The plain document with another outcome at a leaf."""
    found = parse(PLAIN.leaves[place].outcome)
    said = {"digest": found.digest, "index": found.index, "code": found.code, "seq": found.seq}
    said |= changes
    data = encode_stored(said["digest"], said["index"], tail(said["code"], said["seq"]))
    return with_leaf(place, outcome=data)


def anchored(**changes: Any) -> MatchDocument:
    assert DRAWN.anchor is not None
    return replace(DRAWN, anchor=replace(DRAWN.anchor, **changes))


def anchor_leaf(**changes: Any) -> bytes:
    said = {"schema": SCHEMA, "shard": 1, "chain": 1, "anchor": bytes(32)} | changes
    return encode_event(AnchorLeaf(**said))


def refused(stored: bytes | None = None, *, index: int = 99, **changes: Any) -> MatchDocument:
    """The plain document with a refusal that comes after its end."""
    said: dict[str, Any] = {
        "schema": SCHEMA, "match": 1, "at": LAST.at, "command": b"r" * 16, "actor": LAST.actor, "code": "match-over",
        "move": None, "text": None,
    }  # fmt: skip
    leaf = DocumentLeaf(index, encode_event(RefusedLeaf(**(said | changes))))
    leaf = replace(leaf, outcome=stored) if stored else leaf
    return replace(PLAIN, leaves=(*PLAIN.leaves, leaf))


def refused_as(index: int, code: str, seq: int, digest: bytes = b"12345678") -> MatchDocument:
    return refused(encode_stored(digest, index, tail(code, seq)))


FIRST = decode_event(PLAIN.leaves[0].leaf).command
EARLY = replace(refused(command=FIRST, at=1).leaves[-1], index=PLAIN.leaves[0].index - 1)


def stated(*statements: DocumentStatement) -> MatchDocument:
    return replace(DISPUTED, statements=statements)


def statement(text: str = "the server was away", **changes: Any) -> DocumentStatement:
    """The text of the claim in the disputed match."""
    salt = bytes(16)
    digest = sha256(salt + text.encode()).digest()
    claim = next(
        event
        for one in DISPUTED.leaves
        if getattr((event := decode_event(one.leaf)).body, "text", None) == digest
    )
    made = DocumentStatement(digest.hex(), salt.hex(), claim.actor.hex(), claim.at, text)
    return replace(made, **changes)


FORGED = (
    (replace(PLAIN, rules="torere/1"), 'rules: it is not what the events say: "pow2/1"'),
    (replace(PLAIN, game="torere"), 'game: it is not what the events say: "pow2"'),
    (replace(PLAIN, players=3), "players: it is not what the events say: 2"),
    (replace(PLAIN, options=()), 'options: it is not what the events say: ["-fast"]'),
    (replace(PLAIN, setup={}), "setup: it is not what the events say: null"),
    (replace(PLAIN, result=None), "result: it is not what the events say: {"),
    (replace(DRAWN, setup=None), "setup: it is not what the events say: {"),
    (replace(PLAIN, moves=PLAIN.moves[:1]), "moves: move 2 is not the one that the events"),
    (replace(PLAIN, moves=(*PLAIN.moves, "a1")), "moves: move 3 is not the one that"),
    (seat(0, account="0" * 16), "seats: seat 1 is not the one that the events lead to"),
    (seat(1, side="Green"), "seats: seat 2 is not the one that the events lead to"),
    (replace(DISPUTED, clock=()), "clock: turn 1 is not the one that the events lead to"),
    (replace(PLAIN, board=2), "event 1: it belongs to match 1"),
    (replace(PLAIN, leaves=()), "leaves: there is no event"),
    (replace(PLAIN, imported_from=DISPUTED), "imported_from: no event of the match imports one"),
    (replace(PLAIN, server="a.example"), "log.origin: it is play.example.org/log/s01, and"),
    (log(shard=2), "log.origin: it is play.example.org/log/s01, and server and shard would give"),
    (log(keys=("nonsense",)), "log.keys: "),
    (log(keys=(str(SECRET.public),)), "log.keys: play.example.org/log isn't a key of"),
    (log(receipt_keys=("x+1+2",)), "log.receipt_keys: "),
    (log(checkpoint="no note"), "the checkpoint: a note is a text, an empty line"),
    (log(checkpoint=None), "log.proofs: there are proofs without a checkpoint"),
    (log(DRAWN, checkpoint=None, proofs=()), "anchor.proof: there is a proof without a"),
    (log(proofs=PLAIN.log.proofs[:-1]), "event 7, leaf 10: it has no proof, and the checkpoint"),
    (log(proofs=(*PLAIN.log.proofs, PLAIN.log.proofs[0])), "log.proofs: there are more proofs"),
    (log(proofs=PLAIN.log.proofs[::-1]), "event 1, leaf 2: the proof in its place is one of leaf"),
    (outcome(2, seq=9), "event 3, leaf 5: the outcome of its command is a different one"),
    (outcome(2, code="too-late"), "event 3, leaf 5: the outcome of its command is a different"),
    (outcome(2, index=9), "event 3, leaf 5: the outcome of its command names leaf 9"),
    (outcome(3, digest=b"12345678"), "event 4, leaf 6: the outcome of its command is of another"),
    (with_leaf(2, outcome=b"?"), "event 3, leaf 5: the outcome of its command can't be read"),
    (with_leaf(2, outcome=msgspec.UNSET), "event 3, leaf 5: the outcome of its command is"),
    (with_leaf(6, outcome=PLAIN.leaves[5].outcome), "event 7, leaf 10: its command has an"),
    (with_leaf(6, index=11), "event 7, leaf 11: it does not follow its command's leaf"),
    (with_leaf(3, index=5), "event 4, leaf 5: the log has it before leaf 5"),
    (with_leaf(3, leaf=b""), "leaf 6, number 4 of the document: a leaf has more than 0"),
    (with_leaf(3, leaf=b"\x98\x01"), "event 4, leaf 6: "),
    (with_leaf(3, leaf=b"\x98\xa1"), "the refusal at leaf 6: "),
    (with_leaf(3, leaf=PLAIN.leaves[2].leaf), "event 4: it calls itself number 3"),
    (replace(PLAIN, leaves=PLAIN.leaves[:3] + PLAIN.leaves[4:]), "event 4: it calls itself number 5"),
    (replace(PLAIN, anchor=DRAWN.anchor), "anchor: there is one, and chance decided nothing"),
    (replace(DRAWN, anchor=None), "anchor: it is missing, and the match draws from chain 1"),
    # the anchor of a draw
    (anchored(chain=2), "anchor, leaf 1: it is not that of chain 1 of shard 1"),
    (anchored(leaf=b"no leaf"), "anchor, leaf 1: "),
    (anchored(leaf=anchor_leaf()), "event 7: its seed does not lead back to the chain's anchor"),
    (anchored(leaf=anchor_leaf(shard=2)), "anchor, leaf 1: it is not that of chain 1 of shard 1"),
    (anchored(index=9), "event 7: the chain of its seed was anchored only after it"),
    (anchored(proof=None), "anchor, leaf 1: it has no proof, and the checkpoint covers it"),
    (anchored(proof=(bytes(32),)), "anchor, leaf 1: its proof does not hold: "),
    (anchored(index=0), "anchor, leaf 0: its proof does not hold: the proof leads to another root"),
    # refusals
    (refused(match=2), "the refusal at leaf 99: it belongs to match 2"),
    (refused(schema=2), "the refusal at leaf 99: its schema is 2, not 1"),
    (refused(at=5), "the refusal at leaf 99: it is older than the event before it"),
    (refused(code="stale-ply", move="a1-a5"), "event 7: "),
    (refused_as(98, "match-over", 7), "the outcome of its command names leaf 98"),
    (refused_as(99, "too-late", 7), "and its outcome says another code"),
    (refused_as(99, "match-over", 6), "its outcome names event 6, and it follows event 7"),
    (refused_as(99, "match-over", 7, ANY_DIGEST), "has no digest of its command"),
    (refused(index=11, command=LAST.command), "the refusal at leaf 11: its command has led to events"),
    (refused(command=FIRST), "the refusal at leaf 99: its command was decided before"),
    (replace(PLAIN, leaves=(EARLY, *PLAIN.leaves)), "event 1, leaf 2: its command has an outcome already"),
    # statements
    (stated(statement(), replace(statement(), text="never away")), "statement 2: its digest is that of another text"),
    (stated(replace(statement(), account="0" * 16)), "statement 1: no event of its author has its digest"),
)  # fmt: skip


def test_what_does_not_fit_is_named():
    found = [(said, fault_of(document)) for document, said in FORGED]
    assert [(said, fault) for said, fault in found if said not in fault] == []
    assert (
        fault_of(PLAIN, OTHER_SECRET) == "the checkpoint: the note has no signature by a known key"
    )
    assert fault_of(PLAIN, LogSecret("chess.example.org/log", bytes(32))) == (
        "the checkpoint: none of the keys that you named is one of play.example.org/log/s01"
    )


def test_a_refusal_without_an_outcome_is_no_fault_and_that_is_said():
    verdict = check_document(refused(), [SECRET.public])
    assert verdict.fault == ""
    assert "the outcome of 1 refusal is left out, because only the sender sees it" in verdict.limits
    assert "no checkpoint and no receipt covers 1 leaf at the end yet" in verdict.limits


def test_a_statement_holds_if_an_event_of_its_author_has_its_digest():
    texts = (statement(), statement("it was"), statement("not for me"))
    verdict = check_document(stated(*texts), [SECRET.public])
    assert verdict.fault == ""
    assert "3 statements with the digests in the events" in verdict.holds


@pytest.mark.parametrize("rules", ["pow2/99", "nim/1", "", "/", "\x00"])
def test_rules_that_are_not_here_are_no_fault(rules):
    with pytest.raises(NotCheckableError, match="can't be decided again here"):
        check_document(replace(PLAIN, rules=rules))


def test_every_fault_is_one_sentence_for_a_terminal():
    odd = replace(log(origin="\x1b/log/s01"), server="\x1b[31m")
    assert fault_of(odd) == (
        r"log.origin: it is \x1b/log/s01, and server and shard would give \x1b[31m/log/s01"
    )
    assert len(fault_of(replace(PLAIN, server="x" * 100_000))) < 1_100
