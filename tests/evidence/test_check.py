"""The check of match documents: all that was recorded holds, and whatever is changed is found and named."""

import json
import random
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from domain.match.deals import DealKind
from domain.match.history import AnchorLeaf, RefusedLeaf, decode_event, encode_event, is_event
from domain.records import SCHEMA
from infra.audit.build_document import Additions, build_document
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
from infra.store.outcomes import ANY_DIGEST, encode_stored, parse, tail
from tests.golden.make_events import MATCHES
from tests.helpers import archiving, evidence

TAMPERINGS = 60
"""Changes of each document."""


def test_every_match_that_was_played_holds(played):
    seen: set[str] = set()
    for board in played.boards:
        document = build_document(played.archiving.store, board, played.logs)
        assert document is not None
        read = read_document(write_document(document))
        for trusted in ([], [archiving.SECRET.public], [archiving.SECRET.signer(board % 4).key]):
            verdict = check_document(read, trusted)
            assert verdict.fault == ""
            assert ("comes from the file" in " ".join(verdict.limits)) == (not trusted)
            for one in (*verdict.holds, *verdict.limits[:-1]):
                kinds = [word for word in WORDS if word in one] or [one]
                seen.update(kinds)
    # few draws are abandoned, in some lives none
    assert seen - {ABANDONED} == set(WORDS) - {ABANDONED}


ABANDONED = "sealed and abandoned"
WORDS = (
    "decided again by", "the outcomes of all commands fit their leaves", "game, players, moves, result and clock",
    "what was dealt follows from seed", ABANDONED, "covers all its leaves", "covers the first",
    "compare example.org/log/s", "no checkpoint and no receipt covers", "imported from a record: unproven",
    "decided again with the same sentence",
)  # fmt: skip


@pytest.mark.parametrize("unpublished", [0, 1, 2])
@pytest.mark.parametrize("kind", evidence.KINDS)
def test_every_kind_of_history_holds(kind, unpublished):
    verdict = check_document(evidence.golden_document(kind, unpublished), [evidence.SECRET.public])
    assert verdict.fault == ""
    *limits, left_out = verdict.limits
    assert left_out == LEFT_OUT
    limits = [one for one in limits if "from a record" not in one]
    assert (
        limits
        == (
            {
                0: [],
                1: ["no checkpoint and no receipt covers 1 leaf at the end yet"],
                2: ["no checkpoint and no receipt covers 2 leaves at the end yet"],
            }[unpublished]
        )
    )


def test_what_holds_is_said_in_sentences():
    assert check_document(evidence.golden_document("plain"), [evidence.SECRET.public]) == EvidenceVerdict(
        [
            "7 events in sequence, chained, and decided again by pow2/1 with the same result",
            "the outcomes of all commands fit their leaves",
            "game, players, moves, result and clock are those that the events lead to",
            "the checkpoint of play.example.org/log/s01 at 11 leaves, signed by a key that you named, covers all its leaves",
        ],
        limits=[LEFT_OUT],
    )  # fmt: skip


OLD_DEALS = json.loads((Path(__file__).parents[1] / "golden" / "deals-1.json").read_text())
"""Documents with refusals, written by a server before it dealt by itself, by the kind of their deal."""


@pytest.mark.parametrize("kind", OLD_DEALS)
def test_a_match_that_was_dealt_by_an_earlier_version_is_verified_as_before(kind):
    document = read_document(json.dumps(OLD_DEALS[kind], separators=(",", ":")).encode() + b"\n")
    verdict = check_document(document, [archiving.SECRET.public])
    assert verdict.fault == ""
    assert verdict.limits == [LEFT_OUT]
    withheld = "its deal was sealed and abandoned, because seat 2 didn't reveal a text"
    wanted = withheld if kind == "withheld" else f"{DEALS[DealKind(kind)]}; what was dealt follows"
    assert wanted in " ".join(verdict.holds)


def check_tampered(document: MatchDocument, seed: int) -> str:
    """Change a document at one place; return the sentence by which that is found, empty if it is not."""
    data, path = evidence.tamper(document, random.Random(seed))
    try:
        changed = read_document(data)
        if changed == document:
            return "nothing was changed"
        verdict = check_document(changed, [evidence.SECRET.public, archiving.SECRET.public])
    except (DocumentError, NotCheckableError) as error:
        return str(error)
    if not verdict.fault:
        assert evidence.proven_part(changed) == evidence.proven_part(document), path
        return ""
    assert ": " in verdict.fault, verdict.fault
    return verdict.fault


@pytest.mark.parametrize("kind", evidence.KINDS)
def test_whatever_is_changed_in_a_published_document_is_found_and_named(kind):
    document = evidence.golden_document(kind)
    found = [check_tampered(document, seed) for seed in range(TAMPERINGS)]
    assert sum(map(bool, found)) > TAMPERINGS * 0.8
    assert len(set(found)) > 20


def test_whatever_is_changed_in_a_match_with_refusals_is_found_and_named(played):
    documents = []
    for board in played.over:
        document = build_document(played.archiving.store, board, played.logs)
        assert document is not None
        if any(not is_event(one.leaf) for one in document.leaves) and len(document.leaves) < 30:
            documents.append(document)
    assert len(documents) > 3
    for document in documents[:4]:
        found = [check_tampered(document, seed) for seed in range(TAMPERINGS)]
        assert sum(map(bool, found)) > TAMPERINGS * 0.7


def fault_of(document: MatchDocument, secret: LogSecret = evidence.SECRET) -> str:
    return check_document(document, [secret.public]).fault


@pytest.mark.parametrize("seq", range(1, 8))
def test_a_forged_history_with_new_hashes_is_found_at_its_first_forged_event(seq):
    match = MATCHES["plain"]()
    genuine = evidence.HistoryStore(MATCHES["plain"]())
    at = decode_event(match.events[seq - 1]).at + 1
    match.resume(match.forged(seq, at=at))
    forged = evidence.HistoryStore(match)
    document = replace(forged.document(), log=genuine.document().log)
    fault = fault_of(document)
    assert fault.startswith((f"event {seq}", f"event {seq + 1}: it is older"))
    if "proof" in fault:
        assert fault == (
            f"event {seq}, leaf {document.leaves[seq - 1].index}: its proof does not hold: "
            "the proof leads to another root"
        )


def test_a_server_that_signs_another_history_is_found_by_its_key_from_elsewhere():
    document = evidence.golden_document("plain")
    assert fault_of(document, evidence.OTHER_SECRET) == (
        "the checkpoint: the note has no signature by a known key"
    )
    elsewhere = LogSecret("chess.example.org/log", bytes(32))
    assert fault_of(document, elsewhere) == (
        "the checkpoint: none of the keys that you named is one of play.example.org/log/s01"
    )


def test_a_document_without_proofs_is_no_proof_by_a_key():
    document = evidence.golden_document("plain")
    bare = replace(document, log=replace(document.log, checkpoint=None, proofs=()))
    assert check_document(bare).fault == ""
    assert "no checkpoint and no receipt covers 7 leaves" in " ".join(check_document(bare).limits)
    assert fault_of(bare) == "log.checkpoint: nothing is signed by a key that you named"
    nowhere = DocumentLog(1, None, (), (), None, ())
    alone = replace(document, log=nowhere, server=None)
    assert check_document(alone).fault == ""
    assert "the server publishes no log" in " ".join(check_document(alone).limits)
    assert fault_of(alone) == "log.origin: it names no log, so that no key can prove anything"
    assert check_document(replace(alone, server="a.example")).fault == (
        "server: it is there, and the document names no log"
    )


def test_receipts_promise_what_no_checkpoint_covers():
    store = evidence.HistoryStore(MATCHES["plain"](), 6)
    signer = evidence.SECRET.signer(1, KEY_SUFFIX)
    open_leaves = [one for one in store.document().leaves if one.index >= 6]
    notes = [
        Receipt.of_leaf(f"{signer.key.name[:-9]}", one.leaf).sign([signer]) for one in open_leaves
    ]
    some = store.document(Additions(receipts=lambda *_: notes[:1]))
    verdict = check_document(some, [evidence.SECRET.public])
    assert "a receipt promises 1 of the 4 leaves after it" in verdict.holds[-1]
    assert verdict.limits[0] == "no checkpoint and no receipt covers 3 leaves at the end yet"
    every = store.document(Additions(receipts=lambda *_: notes))
    verdict = check_document(every, [evidence.SECRET.public])
    assert "a receipt promises each of the 4 leaves after it" in verdict.holds[-1]
    assert verdict.limits == [LEFT_OUT]
    foreign = evidence.OTHER_SECRET.signer(1, KEY_SUFFIX)
    forged = Receipt.of_leaf("play.example.org/log/s01", open_leaves[0].leaf).sign([foreign])
    assert fault_of(replace(some, receipts=(forged,))) == (
        "receipt 1: the note has no signature by a known key"
    )
    covered = Receipt.of_leaf("play.example.org/log/s01", some.leaves[0].leaf).sign([signer])
    assert fault_of(replace(some, receipts=(notes[0], covered))) == (
        "receipt 2: it is of no leaf that the checkpoint leaves open"
    )


PLAIN = evidence.golden_document("plain")
DRAWN = evidence.golden_document("committed")
DISPUTED = evidence.golden_document("disputed")


def with_leaf(document: MatchDocument, place: int, **changes: Any) -> MatchDocument:
    leaves = list(document.leaves)
    leaves[place] = replace(leaves[place], **changes)
    return replace(document, leaves=tuple(leaves))


def without(document: MatchDocument, place: int) -> MatchDocument:
    leaves = document.leaves[:place] + document.leaves[place + 1 :]
    return replace(document, leaves=leaves)


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
    return with_leaf(PLAIN, place, outcome=data)


@pytest.mark.parametrize(
    ("document", "said"),
    [
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
        (replace(PLAIN, imported_from=PLAIN), "imported_from: "),
        (replace(PLAIN, server="a.example"), "log.origin: it is play.example.org/log/s01, and"),
        (log(shard=2), "log.origin: it is play.example.org/log/s01, and server and shard would give"),
        (log(keys=("nonsense",)), "log.keys: "),
        (log(keys=(str(evidence.SECRET.public),)), "log.keys: play.example.org/log isn't a key of"),
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
        (with_leaf(PLAIN, 2, outcome=b"?"), "event 3, leaf 5: the outcome of its command can't be read"),
        (with_leaf(PLAIN, 2, outcome=msgspec.UNSET), "event 3, leaf 5: the outcome of its command is"),
        (with_leaf(PLAIN, 6, outcome=PLAIN.leaves[5].outcome), "event 7, leaf 10: its command has an"),
        (with_leaf(PLAIN, 6, index=11), "event 7, leaf 11: it does not follow its command's leaf"),
        (with_leaf(PLAIN, 3, index=5), "event 4, leaf 5: the log has it before leaf 5"),
        (with_leaf(PLAIN, 3, leaf=b""), "leaf 6, number 4 of the document: a leaf has more than 0"),
        (with_leaf(PLAIN, 3, leaf=b"\x98\x01"), "event 4, leaf 6: "),
        (with_leaf(PLAIN, 3, leaf=b"\x98\xa1"), "the refusal at leaf 6: "),
        (with_leaf(PLAIN, 3, leaf=PLAIN.leaves[2].leaf), "event 4: it calls itself number 3"),
        (without(PLAIN, 3), "event 4: it calls itself number 5"),
        (replace(PLAIN, anchor=DRAWN.anchor), "anchor: there is one, and chance decided nothing"),
        (replace(DRAWN, anchor=None), "anchor: it is missing, and the match draws from chain 1"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(document, said):
    assert fault_of(document).startswith(said)


def anchored(**changes: Any) -> MatchDocument:
    assert DRAWN.anchor is not None
    return replace(DRAWN, anchor=replace(DRAWN.anchor, **changes))


def anchor_leaf(**changes: Any) -> bytes:
    said = {"schema": SCHEMA, "shard": 1, "chain": 1, "anchor": bytes(32)} | changes
    return encode_event(AnchorLeaf(**said))


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (anchored(chain=2), "anchor, leaf 1: it is not that of chain 1 of shard 1"),
        (anchored(leaf=b"no leaf"), "anchor, leaf 1: "),
        (anchored(leaf=anchor_leaf()), "event 7: its seed does not lead back to the chain's anchor"),
        (anchored(leaf=anchor_leaf(shard=2)), "anchor, leaf 1: it is not that of chain 1 of shard 1"),
        (anchored(index=9), "event 7: the chain of its seed was anchored only after it"),
        (anchored(proof=None), "anchor, leaf 1: it has no proof, and the checkpoint covers it"),
        (anchored(proof=(bytes(32),)), "anchor, leaf 1: its proof does not hold: "),
        (anchored(index=0), "anchor, leaf 0: its proof does not hold: the proof leads to another root"),
    ],
)  # fmt: skip
def test_a_draw_that_is_not_anchored_is_found(document, said):
    assert fault_of(document).startswith(said)


def a_refusal(**changes: Any) -> tuple[DocumentLeaf, RefusedLeaf]:
    """A refusal of the plain match that comes after its end, with its outcome."""
    last = decode_event(PLAIN.leaves[-1].leaf)
    said: dict[str, Any] = {
        "schema": SCHEMA, "match": 1, "at": last.at, "command": b"r" * 16, "actor": last.actor, "code": "match-over",
        "move": None, "text": None,
    }  # fmt: skip
    leaf = RefusedLeaf(**(said | changes))
    return DocumentLeaf(99, encode_event(leaf)), leaf


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"match": 2}, "the refusal at leaf 99: it belongs to match 2"),
        ({"schema": 2}, "the refusal at leaf 99: its schema is 2, not 1"),
        ({"at": 5}, "the refusal at leaf 99: it is older than the event before it"),
        ({"code": "stale-ply", "move": "a1-a5"}, "event 7: "),
    ],
)
def test_a_refusal_that_can_not_be_one_is_named(changes, said):
    leaf, _ = a_refusal(**changes)
    fault = fault_of(replace(PLAIN, leaves=(*PLAIN.leaves, leaf)))
    assert fault.startswith(said)


def test_a_refusal_without_an_outcome_is_no_fault_and_that_is_said():
    leaf, _ = a_refusal()
    verdict = check_document(replace(PLAIN, leaves=(*PLAIN.leaves, leaf)), [evidence.SECRET.public])
    assert verdict.fault == ""
    assert "the outcome of 1 refusal is left out, because only the sender sees it" in verdict.limits
    assert "no checkpoint and no receipt covers 1 leaf at the end yet" in verdict.limits


@pytest.mark.parametrize(
    ("index", "code", "seq", "digest", "said"),
    [
        (98, "match-over", 7, b"12345678", "the outcome of its command names leaf 98"),
        (99, "too-late", 7, b"12345678", "and its outcome says another code"),
        (99, "match-over", 6, b"12345678", "its outcome names event 6, and it follows event 7"),
        (99, "match-over", 7, ANY_DIGEST, "has no digest of its command"),
    ],
)
def test_an_outcome_that_does_not_fit_its_refusal_is_named(index, code, seq, digest, said):
    leaf, _ = a_refusal()
    stored = encode_stored(digest, index, tail(code, seq))
    fault = fault_of(replace(PLAIN, leaves=(*PLAIN.leaves, replace(leaf, outcome=stored))))
    assert said in fault


def test_a_refusal_with_the_command_of_the_event_before_it_is_named():
    leaf, _ = a_refusal(command=decode_event(PLAIN.leaves[-1].leaf).command)
    fault = fault_of(replace(PLAIN, leaves=(*PLAIN.leaves, replace(leaf, index=11))))
    assert fault == "the refusal at leaf 11: its command has led to events"


def test_a_command_is_decided_once():
    first = decode_event(PLAIN.leaves[0].leaf)
    leaf, _ = a_refusal(command=first.command)
    fault = fault_of(replace(PLAIN, leaves=(*PLAIN.leaves, leaf)))
    assert fault == "the refusal at leaf 99: its command was decided before"
    start, *rest = PLAIN.leaves
    before = replace(
        leaf, index=start.index - 1, leaf=a_refusal(command=first.command, at=1)[0].leaf
    )
    fault = fault_of(replace(PLAIN, leaves=(before, start, *rest)))
    assert fault.startswith("event 1, leaf 2: its command has an outcome already")


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


def test_a_statement_holds_if_an_event_of_its_author_has_its_digest():
    texts = (statement(), statement("it was"), statement("not for me"))
    verdict = check_document(replace(DISPUTED, statements=texts), [evidence.SECRET.public])
    assert verdict.fault == ""
    assert "3 statements with the digests in the events" in verdict.holds
    other = replace(statement(), text="the server was never away")
    assert fault_of(replace(DISPUTED, statements=(statement(), other))) == (
        "statement 2: its digest is that of another text"
    )
    forged = replace(statement(), account="0" * 16)
    assert fault_of(replace(DISPUTED, statements=(forged,))) == (
        "statement 1: no event of its author has its digest"
    )


@pytest.mark.parametrize("rules", ["pow2/99", "nim/1", "", "/", "\x00"])
def test_rules_that_are_not_here_are_no_fault(rules):
    with pytest.raises(NotCheckableError, match="can't be decided again here"):
        check_document(replace(PLAIN, rules=rules))


def test_every_fault_is_one_sentence_for_a_terminal():
    store = evidence.HistoryStore(MATCHES["plain"]())
    odd = replace(
        store.document(), server="\x1b[31m", log=replace(PLAIN.log, origin="\x1b/log/s01")
    )
    assert fault_of(odd) == (
        r"log.origin: it is \x1b/log/s01, and server and shard would give \x1b[31m/log/s01"
    )
    long = replace(store.document(), server="x" * 100_000)
    assert len(fault_of(long)) < 1_100
