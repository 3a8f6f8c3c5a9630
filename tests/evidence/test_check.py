"""The check of match documents: all that was recorded holds, and whatever is changed is found and named."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from domain.match.deals import DealKind
from domain.match.history import decode_event, is_event
from infra.audit.build_document import Additions, build_document
from infra.audit.check_document import LEFT_OUT, EvidenceVerdict, check_document
from infra.audit.draws import DEALS
from infra.audit.faults import NotCheckableError
from infra.audit.match_document import (
    DocumentError,
    DocumentLog,
    MatchDocument,
    read_document,
    write_document,
)
from infra.log.names import LogSecret
from infra.log.receipts import KEY_SUFFIX, Receipt
from tests.golden.make_events import MATCHES
from tests.helpers import archiving
from tests.helpers.evidence import (
    KINDS,
    OTHER_SECRET,
    SECRET,
    HistoryStore,
    golden_document,
    proven_part,
    tamper,
)

TAMPERINGS = 60
"""Changes of each document."""


@pytest.mark.long
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
    assert seen == set(WORDS)


WORDS = (
    "decided again by",
    "the outcomes of all commands fit their leaves",
    "game, players, moves, result and clock",
    "what was dealt follows from seed",
    "sealed and abandoned",
    "covers all its leaves",
    "covers the first",
    "compare example.org/log/s",
    "no checkpoint and no receipt covers",
    "imported from a record: unproven",
    "decided again with the same sentence",
)


@pytest.mark.parametrize("unpublished", [0, 1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_history_holds(kind, unpublished):
    verdict = check_document(golden_document(kind, unpublished), [SECRET.public])
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
    assert check_document(golden_document("plain"), [SECRET.public]) == EvidenceVerdict(
        [
            "7 events in sequence, chained, and decided again by pow2/1 with the same result",
            "the outcomes of all commands fit their leaves",
            "game, players, moves, result and clock are those that the events lead to",
            (
                "the checkpoint of play.example.org/log/s01 at 11 leaves, signed by a key that you "
                "named, covers all its leaves"
            ),
        ],
        limits=[LEFT_OUT],
    )


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
    data, path = tamper(document, random.Random(seed))
    try:
        changed = read_document(data)
        if changed == document:
            return "nothing was changed"
        verdict = check_document(changed, [SECRET.public, archiving.SECRET.public])
    except (DocumentError, NotCheckableError) as error:
        return str(error)
    if not verdict.fault:
        assert proven_part(changed) == proven_part(document), path
        return ""
    assert ": " in verdict.fault, verdict.fault
    return verdict.fault


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_is_changed_in_a_published_document_is_found_and_named(kind):
    document = golden_document(kind)
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


def fault_of(document: MatchDocument, secret: LogSecret = SECRET) -> str:
    return check_document(document, [secret.public]).fault


def with_leaf(document: MatchDocument, number: int, **changes: Any) -> MatchDocument:
    """A document with one leaf changed."""
    leaves = list(document.leaves)
    leaves[number] = replace(leaves[number], **changes)
    return replace(document, leaves=tuple(leaves))


@pytest.mark.parametrize("seq", range(1, 8))
def test_a_forged_history_with_new_hashes_is_found_at_its_first_forged_event(seq):
    match = MATCHES["plain"]()
    genuine = HistoryStore(MATCHES["plain"]())
    at = decode_event(match.events[seq - 1]).at + 1
    match.resume(match.forged(seq, at=at))
    forged = HistoryStore(match)
    document = replace(forged.document(), log=genuine.document().log)
    fault = fault_of(document)
    assert fault.startswith((f"event {seq}", f"event {seq + 1}: it is older"))
    if "proof" in fault:
        assert fault == (
            f"event {seq}, leaf {document.leaves[seq - 1].index}: its proof does not hold: "
            "the proof leads to another root"
        )


def test_a_server_that_signs_another_history_is_found_by_its_key_from_elsewhere():
    document = golden_document("plain")
    assert fault_of(document, OTHER_SECRET) == (
        "the checkpoint: the note has no signature by a known key"
    )
    elsewhere = LogSecret("chess.example.org/log", bytes(32))
    assert fault_of(document, elsewhere) == (
        "the checkpoint: none of the keys that you named is one of play.example.org/log/s01"
    )


def test_a_document_without_proofs_is_no_proof_by_a_key():
    document = golden_document("plain")
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
    store = HistoryStore(MATCHES["plain"](), 6)
    signer = SECRET.signer(1, KEY_SUFFIX)
    open_leaves = [one for one in store.document().leaves if one.index >= 6]
    notes = [
        Receipt.of_leaf(f"{signer.key.name[:-9]}", one.leaf).sign([signer]) for one in open_leaves
    ]
    some = store.document(Additions(receipts=lambda *_: notes[:1]))
    verdict = check_document(some, [SECRET.public])
    assert "a receipt promises 1 of the 4 leaves after it" in verdict.holds[-1]
    assert verdict.limits[0] == "no checkpoint and no receipt covers 3 leaves at the end yet"
    every = store.document(Additions(receipts=lambda *_: notes))
    verdict = check_document(every, [SECRET.public])
    assert "a receipt promises each of the 4 leaves after it" in verdict.holds[-1]
    assert verdict.limits == [LEFT_OUT]
    foreign = OTHER_SECRET.signer(1, KEY_SUFFIX)
    forged = Receipt.of_leaf("play.example.org/log/s01", open_leaves[0].leaf).sign([foreign])
    assert fault_of(replace(some, receipts=(forged,))) == (
        "receipt 1: the note has no signature by a known key"
    )
    covered = Receipt.of_leaf("play.example.org/log/s01", some.leaves[0].leaf).sign([signer])
    assert fault_of(replace(some, receipts=(notes[0], covered))) == (
        "receipt 2: it is of no leaf that the checkpoint leaves open"
    )
