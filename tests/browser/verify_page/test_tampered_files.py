"""The page that checks files names the first step of a tampered file that fails."""

from hashlib import sha256

import msgspec
import pytest
from playwright.sync_api import expect

from domain.fairness import Commitment
from domain.match.history import decode_event
from infra.audit.check_document import check_document
from infra.audit.match_document import MatchDocument, read_document, write_document
from infra.log.receipts import KEY_SUFFIX, Receipt
from tests.browser.verify_page.checking import (
    DISPUTE,
    disputed,
    document,
    drop,
    first_failures,
    imported_file,
)
from tests.browser.verify_page.file_changes import (
    Table,
    drop_leaf,
    note_with,
    of,
    of_anchor,
    of_leaf,
    of_log,
    of_proof,
    receipt_with,
    set_hash,
    signature_with,
    signed_by,
    swap,
)
from tests.evidence.test_imported import imported
from tests.golden.make_events import MATCHES
from tests.helpers.checked_files import (
    File,
    changed,
    encode,
    evidence,
    flip64,
    flipped,
    with_event,
    with_leaf,
)
from tests.helpers.evidence import OTHER_SECRET, SECRET, HistoryStore, golden_document

TAMPERED: Table = {
    "another format": (of(format="matchpost-match/2"), "file"),
    "a field that nobody knows": (of(note="trust me"), "file"),
    "a leaf with a field more": (of_leaf(2, at=5), "file"),
    "another board": (of(board=2), "leaves"),
    "another number of players": (of(players=3), "rules"),
    "a setup": (of(setup={"a": 1}), "setup"),
    "another move": (of(moves=["m13-m8"]), "moves"),
    "another winner": (of(result={"winners": [1], "reason": "time"}), "result"),
    "seats the other way round": (lambda found: found["seats"].reverse(), "seats"),
    "a leaf that is no base64": (of_leaf(2, leaf="%%%"), "leaves"),
    "a leaf cut short": (with_leaf(2, lambda data: data[:-1]), "leaves"),
    "a leaf of another match": (with_event(2, match=7), "leaves"),
    "leaves in another order": (swap, "leaves"),
    "an event left out": (drop_leaf(4), "seq"),
    "an event twice": (lambda found: found["leaves"].append({**found["leaves"][3], "index": 999}), "seq"),
    "another predecessor": (with_event(4, prev=bytes(32)), "prev"),
    "another actor": (with_event(1, actor=b"bob....."), "prev"),
    "the last event earlier than the one before": (with_event(14, at=1), "time"),
    "the last event with another winner": (with_event(14, body_winners=(1,)), "receipt"),
    "another index": (of_leaf(4, index=7), "inclusion"),
    "a path for another leaf": (lambda found: found["log"]["proofs"][4].update(index=6), "inclusion"),
    "a hash of a path": (of_proof(set_hash(0)), "inclusion"),
    "a path too long": (of_proof(lambda hashes: hashes.append(hashes[0])), "inclusion"),
    "a path left out": (lambda found: found["log"]["proofs"].pop(2), "inclusion"),
    "another size": (note_with(1, "99"), "signature"),
    "another origin in the checkpoint": (note_with(0, "other.example/log/s01"), "checkpoint"),
    "no empty line before the signature": (lambda found: found["log"].update(checkpoint=found["log"]["checkpoint"].replace("\n\n", "\n")), "checkpoint"),
    "the key id of the signature": (signature_with(lambda text: flip64(text, 0)), "signature"),
    "the name of the signature": (lambda found: found["log"].update(checkpoint=found["log"]["checkpoint"].replace("— play", "— clay")), "signature"),
    "a key whose id does not fit": (lambda found: found["log"]["keys"].__setitem__(0, str(SECRET.signer(1).key).replace("+AQ", "+AR")), "file"),
    "another key": (of_log(keys=[str(OTHER_SECRET.signer(1).key)]), "signature"),
    "a receipt of another match": (receipt_with(1, "2"), "receipt"),
    "a receipt of another leaf": (receipt_with(3, ""), "receipt"),
    "a receipt of another log": (receipt_with(0, "other.example/log/s01/receipt"), "receipt"),
    "a receipt with a bad signature": (lambda found: found["receipts"].__setitem__(0, _flip_signature(found["receipts"][0])), "signature"),
}  # fmt: skip


def _flip_signature(note: str) -> str:
    head, _, signed = note.removesuffix("\n").rpartition(" ")
    return f"{head} {flip64(signed, 30)}\n"


DRAWN: Table = {
    "another anchor": (lambda found: found["anchor"].update(leaf=flip64(found["anchor"]["leaf"], 40)), "seed"),
    "the anchor of another chain": (of_anchor(chain=2), "seed"),
    "an anchor after the draw": (of_anchor(index=10), "seed"),
    "a path of the anchor": (lambda found: set_hash(0)(found["anchor"]["proof"]), "anchor"),
    "another setup": (of(setup={"other": True}), "setup"),
    "another text of a player": (with_event(4, body_text=b"another text that suits me"), "prev"),
    "another commitment": (with_event(2, body_commitment=Commitment(bytes(32))), "prev"),
}  # fmt: skip


def documents() -> dict[str, tuple[MatchDocument, Table]]:
    """The documents that are tampered with, and what is done to them."""
    source = golden_document("timed")
    return {
        "match": (evidence().whole(), TAMPERED),
        "draw": (evidence("committed", 0).whole(), DRAWN),
        "dispute": (read_document((DISPUTE / "match.json").read_bytes()), STATED),
        "import": (imported(source, shown=source), SOURCES),
    }


def test_a_tampered_file_names_the_first_step_that_fails(page):
    wrong = {}
    for kind, (whole, table) in documents().items():
        cases = [[("match.json", changed(whole, change))] for change, _ in table.values()]
        found = dict(zip(table, first_failures(page, cases), strict=True))
        wrong |= {
            (kind, name): found[name] for name, (_, step) in table.items() if found[name][0] != step
        }
        sentences = [sentence for step, sentence, _ in found.values() if step]
        assert all(one[0].isupper() and one.endswith(".") for one in sentences)
    assert wrong == {}


def test_a_failure_is_shown_with_its_step_and_its_sentence(page):
    drop(page, ("match.json", changed(evidence().whole(), of(board=2))))
    expect(page.locator("#headline")).to_have_text("This check failed.")
    failure = page.locator("#failure")
    expect(failure).to_have_attribute("data-step", "leaves")
    expect(page.locator("#because")).to_contain_text(failure.locator("> p").inner_text())


@pytest.mark.parametrize("kind", ["agreed", "dealt"])
def test_a_deal_with_another_text_is_found_though_all_was_chained_and_published_so(page, kind):
    match = MATCHES[kind]()
    body = match.bodies[-1]
    texts = (body.draw.texts[0], b"a text that suits the operator")
    other = msgspec.structs.replace(body, draw=msgspec.structs.replace(body.draw, texts=texts))
    match.resume(match.forged(len(match.events), body=other))
    whole = HistoryStore(match).document()
    assert "the rules give" in check_document(whole, [SECRET.public]).fault
    drop(page, ("match.json", write_document(whole)))
    expect(page.locator("#failure")).to_have_attribute("data-step", "commitments")
    expect(page.locator("#failure")).to_contain_text("other texts than the players revealed")


def test_a_receipt_for_another_move_than_the_recorded_one_is_a_contradiction(page):
    whole = evidence("timed", 0)
    index = whole.indexes[1]
    event = decode_event(whole.log[index])
    moved = msgspec.structs.replace(event.body, move="m13-m8")
    other = msgspec.msgpack.encode(msgspec.structs.replace(event, body=moved))
    origin = SECRET.signer(whole.shard).key.name
    signer = SECRET.signer(whole.shard, KEY_SUFFIX)
    promised = ("receipt.txt", Receipt.of_leaf(origin, other).sign([signer]).encode())
    drop(page, promised, document("timed", 0), keys=whole.keys)
    expect(page.locator("#failure > p")).to_have_text(
        "The document has another event 2 than the one that the server gave a receipt for."
    )
    proof = ("proof.txt", whole.proof(index).encode())
    drop(page, promised, proof, keys=whole.keys)
    expect(page.locator("#failure")).to_contain_text("The log has another event 2")


def test_who_signs_all_with_another_key_is_found_by_the_key_that_was_known_before(page):
    forged = changed(evidence("timed", 0).whole(), signed_by(OTHER_SECRET))
    drop(page, ("match.json", forged))
    expect(page.locator("#failure")).to_have_count(0)
    expect(page.locator("#because")).to_contain_text("The keys came with the files")
    drop(page, ("match.json", forged), keys=evidence().keys)
    expect(page.locator("#failure")).to_have_attribute("data-step", "signature")


def test_what_is_no_such_file_is_named_as_none(page):
    odd = [
        b"", b"hello", b"{", b"{}", b"[1]", b"\xff\xfe", b"c2sp.org/tlog-proof@v1", b"a/receipt\n1\n",
        b'{"format": "matchpost-match/1"}', b"PK\3\4" + bytes(40),
    ]  # fmt: skip
    found = first_failures(page, [[("odd.txt", data)] for data in odd])
    assert [step for step, _, _ in found] == ["file"] * len(odd)
    drop(page, ("<b>odd</b>.txt", b"<script>alert(1)</script>"))
    expect(page.locator("#failure")).to_have_attribute("data-step", "file")
    expect(page.get_by_role("heading", name="<b>odd</b>.txt")).to_be_visible()


STATED: Table = {
    "another text": (lambda found: found["statements"][0].update(text="I moved in time."), "statement"),
    "another salt": (lambda found: found["statements"][0].update(salt="00" * 16), "statement"),
    "another author": (lambda found: found["statements"][0].update(account="5d1f0c6a7b3e9284"), "statement"),
    "a statement that was never made": (lambda found: found["statements"][0].update(salt="", text="x", digest=sha256(b"x").hexdigest()), "statement"),
    "the result before the ruling": (lambda found: found.update(result={"winners": [0], "reason": "time"}), "result"),
    "the moves before the ruling": (lambda found: found["moves"].pop(), "moves"),
    "a ruling on another claim": (with_event(8, body_claim=None), "prev"),
    "the refusal left out, and its path": (drop_leaf(6), ""),
    "the refusal with another move": (with_leaf(6, lambda data: data.replace(b"a1-e5", b"a1-e3")), "inclusion"),
}  # fmt: skip


def test_a_refusal_that_was_left_out_is_found_by_its_receipt(page):
    whole = read_document((DISPUTE / "match.json").read_bytes())
    left_out = ("match.json", changed(whole, drop_leaf(6)))
    [(step, sentence, _)] = first_failures(page, [[left_out, *disputed("receipt.txt", "keys")]])
    assert step == "receipt"
    assert "lacks the leaf" in sentence


SOURCES: Table = {
    "no source": (of(imported_from=None), "source"),
    "another move in it": (lambda found: found["imported_from"].update(moves=["m13-m8"]), "source"),
    "an event of it": (lambda found: with_event(1, body_ply=2)(found["imported_from"]), "source"),
    "it is no document": (of(imported_from={"format": "matchpost-match/1"}), "file"),
    "other moves that go on": (of(moves=[]), "moves"),
}  # fmt: skip


def test_an_event_that_names_another_source_is_found(page):
    changes = ({"digest": bytes(32)}, {"head": bytes(32)}, {"events": 3}, {"board": 5})
    found = first_failures(page, [[imported_file(**one)] for one in changes])
    assert [step for step, _, _ in found] == ["source"] * len(changes)


def test_the_bytes_of_leaves_signatures_and_roots_are_guarded(page):
    whole = evidence("timed", 0)
    cases = [
        [("a", changed(whole.whole(), with_leaf(place, lambda one, at=at: flipped(one, at))))]
        for place in (0, 15)
        for at in range(0, len(whole.log[whole.indexes[place]]), 2)
    ]
    found = {step for step, _, _ in first_failures(page, cases, whole.keys)}
    assert found <= {"leaves", "seq", "prev", "inclusion"}
    assert len(cases) > 80
    proof = whole.proof(whole.indexes[3])
    head, _, signed = proof.removesuffix("\n").rpartition(" ")
    lines = proof.split("\n")
    root = lines.index("") + 3
    cases = [[("p", f"{head} {flip64(signed, at)}\n".encode())] for at in range(4, 68)]
    cases += [
        [("p", "\n".join([*lines[:root], flip64(lines[root], at), *lines[root + 1 :]]).encode())]
        for at in range(32)
    ]
    found = {step for step, _, _ in first_failures(page, cases, whole.keys)}
    assert found == {"signature"}


def test_every_line_of_a_proof_is_guarded(page):
    whole = evidence("timed", 0)
    lines = whole.proof(whole.indexes[3]).split("\n")
    gap = lines.index("")
    wanted: list[str] = []
    cases: list[list[File]] = []

    def tampered(step: str, *changed_lines: str) -> None:
        cases.append([("p", "\n".join(changed_lines).encode())])
        wanted.append(step)

    tampered("file", "c2sp.org/tlog-proof@v2", *lines[1:])
    tampered("file", lines[0], "extra ", *lines[2:])
    tampered("file", *lines[:2], "index 007", *lines[3:])
    tampered("file", *lines[:2], *lines[3:])
    tampered("inclusion", *lines[:2], "index 7", *lines[3:])
    tampered("inclusion", *lines[:2], "index 99", *lines[3:])
    other = encode(whole.log[whole.indexes[4]])
    tampered("inclusion", lines[0], f"extra {other}", *lines[2:])
    for at in range(3, gap):
        tampered("inclusion", *lines[:at], flip64(lines[at], 9), *lines[at + 1 :])
        tampered("inclusion", *lines[:at], *lines[at + 1 :])
        tampered("inclusion", *lines[:at], lines[at], lines[at], *lines[at + 1 :])
    tampered("signature", *lines[: gap + 1], "other.example/log/s01", *lines[gap + 2 :])
    tampered("signature", *lines[: gap + 2], "21", *lines[gap + 3 :])
    found = first_failures(page, cases, whole.keys)
    assert [step for step, _, _ in found] == wanted
