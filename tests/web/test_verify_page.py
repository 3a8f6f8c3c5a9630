"""The page that checks files in the browser: good files of each kind, tampered ones, offline, for everybody."""

import json
from base64 import b64decode
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
from playwright.sync_api import Browser, Page, expect

from domain.fairness import Commitment
from domain.match.events import decode_event, is_event
from infra.evidence.match_document import read_document, write_document
from infra.log.key_files import generate_keys
from infra.log.names import LogSecret
from infra.log.receipts import KEY_SUFFIX, Receipt
from infra.log.signed_note import SignatureType, Signer
from services.http.web.verify_page import PAGE
from tests.evidence.test_imported import document_of, imported
from tests.helpers.api import Api
from tests.helpers.browser import PHONE, faults_of
from tests.helpers.checked_files import (
    Evidence,
    File,
    changed,
    encode,
    evidence,
    flip64,
    flipped,
    with_event,
    with_leaf,
)
from tests.helpers.evidence import KINDS, OTHER_SECRET, SECRET, golden_document
from tests.helpers.publishing import publish

DISPUTE = Path(__file__).parents[1] / "golden" / "dispute"
VECTORS = Path(__file__).parents[1] / "vectors" / "merkle" / "inclusion"

FIRST_FAILURES = """async (cases) => {
  const found = [];
  for (const { files, keys } of cases) {
    const read = files.map(([name, text]) => ({ name, bytes: matchpost.fromBase64(text, name) }));
    const report = await matchpost.checkFiles(read, keys.map(matchpost.readKey));
    found.push([report.failure?.name ?? "", report.failure?.sentence ?? "",
                report.open.map((step) => step.name)]);
  }
  return found;
}"""


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The page, saved as a file and opened without a network."""
    file = tmp_path_factory.mktemp("saved") / "matchpost-verify.html"
    file.write_text(PAGE, "utf-8")
    context = browser.new_context(offline=True, reduced_motion="reduce")
    page = context.new_page()
    complaints: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    yield page
    assert complaints == []
    assert set(asked) == {file.as_uri()}
    context.close()


def first_failures(page: Page, cases: list[list[File]], keys: str = "") -> list[list[Any]]:
    """Of each case, the name and the sentence of the first step that fails, and the names of the open ones."""
    packed = [
        {"files": [[name, encode(data)] for name, data in files], "keys": keys.split()}
        for files in cases
    ]
    return page.evaluate(FIRST_FAILURES, packed)


def drop(page: Page, *files: File, keys: str = "") -> None:
    """Choose files on a page that begins again, with these keys in its field."""
    if page.locator("#again").is_visible():
        page.locator("#again").click()
    page.locator("body[data-state=ready]").wait_for()
    page.evaluate("(keys) => (document.getElementById('keys').value = keys)", keys)
    chosen = [{"name": name, "mimeType": "text/plain", "buffer": data} for name, data in files]
    page.locator("#files").set_input_files(chosen)
    page.locator("body[data-state=done]").wait_for()


def document(kind: str = "timed", unpublished: int = 3) -> File:
    return "match.json", write_document(evidence(kind, unpublished).whole())


# good files


@pytest.mark.parametrize("kind", sorted({*KINDS} - {"imported"}))
def test_an_exported_match_holds(page, kind):
    whole = evidence(kind, 0)
    drop(page, document(kind, 0), keys=whole.keys)
    expect(page.locator("#headline")).to_have_text("All that this page checks holds.")
    assert page.locator(".steps [data-mark=holds]").count() >= 13
    assert page.locator(".steps :is([data-mark=fails], [data-mark=open])").count() == 0
    drawn = page.locator("[data-step=seed]").count()
    assert drawn == (kind in ("committed", "gathered"))


def test_keys_that_came_with_the_file_prove_nothing(page):
    drop(page, document(unpublished=0))
    expect(page.locator("#headline")).to_have_text("Nothing here is wrong, but not all is proven.")
    expect(page.locator("#because")).to_contain_text("The keys came with the files")
    expect(page.locator(".steps [data-mark=open]")).to_have_count(1)


def test_keys_that_are_entered_take_their_place(page):
    drop(page, document(unpublished=0))
    page.locator(".box > summary").first.click()
    field = page.get_by_label("One key a line")
    field.fill("this is no key")
    expect(page.locator("#wrong-keys")).to_contain_text("is no key")
    field.fill(evidence(unpublished=0).keys)
    expect(page.locator("#headline")).to_have_text("All that this page checks holds.")
    expect(page.locator("#wrong-keys")).to_be_empty()
    field.fill(str(OTHER_SECRET.signer(1).key))
    expect(page.locator("#headline")).to_have_text("This does not hold.")
    expect(page.locator("#because")).to_contain_text("signed by none of the keys that you entered")
    field.fill("")
    page.locator(".box > summary").first.click()


def test_a_proof_holds_and_says_what_is_proven(page):
    whole = evidence()
    index = whole.indexes[1]
    drop(page, ("proof.txt", whole.proof(index).encode()), keys=whole.keys)
    expect(page.locator("#headline")).to_have_text("All that this page checks holds.")
    expect(page.locator("[data-step=leaf] p").first).to_contain_text(
        "event 2 of match 1: seat 1 played m13-m9 as move 1, at 2026-09-22 14:13:20.000 UTC"
    )


def test_a_receipt_alone_is_a_promise(page):
    whole = evidence()
    receipt = ("receipt.txt", whole.receipt(whole.indexes[2]).encode())
    drop(page, receipt, keys=whole.keys)
    expect(page.locator("#headline")).to_have_text("Nothing here is wrong, but not all is proven.")
    expect(page.locator("#because")).to_contain_text("A receipt is a promise and no proof")
    drop(page, receipt)
    expect(page.locator("[data-step=signature]")).to_have_attribute("data-mark", "open")


def test_a_receipt_is_checked_against_the_match_and_the_proof(page):
    whole = evidence()
    for index in (whole.indexes[2], whole.indexes[-1]):
        receipt = ("receipt.txt", whole.receipt(index).encode())
        drop(page, receipt, document(), keys=whole.keys)
        together = page.locator(
            "section", has=page.get_by_role("heading", name="The files together")
        )
        expect(together.locator("[data-step=receipt]")).to_have_attribute("data-mark", "holds")
    receipt = ("receipt.txt", whole.receipt(whole.indexes[2]).encode())
    proof = ("proof.txt", whole.proof(whole.indexes[2]).encode())
    drop(page, receipt, proof, keys=whole.keys)
    expect(page.locator("#headline")).to_have_text("All that this page checks holds.")
    expect(page.locator(".steps > li > p", has_text="The promise was kept")).to_be_visible()


def test_leaves_that_no_checkpoint_covers_are_not_proven(page):
    drop(page, document(), keys=evidence().keys)
    expect(page.locator("#because")).to_contain_text("3 leaves are newer than the checkpoint")
    expect(page.locator("[data-step=receipt][data-mark=holds]")).to_have_count(3)


def test_a_receipt_of_a_later_event_is_no_contradiction(page):
    whole = evidence()
    early = changed(whole.whole(), cut_after(4))
    receipt = whole.receipt(whole.indexes[8]).encode()
    [(step, _, open_)] = first_failures(page, [[("a", early), ("r", receipt)]])
    assert step == "result", "only what the file says beside the events is wrong"
    assert "receipt" in open_


def cut_after(events: int) -> Callable[[Any], object]:
    def cut(found: Any) -> None:
        found["leaves"] = found["leaves"][:events]
        found["log"]["proofs"] = found["log"]["proofs"][:events]
        found["receipts"] = []
        found["moves"] = [
            decode_event(b64decode(one["leaf"])).body.move for one in found["leaves"][1:3]
        ]

    return cut


def test_checkpoints_of_two_sizes_are_not_compared_and_the_page_says_so(page):
    old, new = evidence(unpublished=5), evidence(unpublished=0)
    proof = ("proof.txt", old.proof(old.indexes[1]).encode())
    drop(page, proof, document(unpublished=0), keys=new.keys)
    expect(page.locator("#because")).to_contain_text("needs a consistency proof")
    expect(page.locator("[data-step=leaves][data-mark=holds]")).to_have_count(2)


def test_two_checkpoints_of_one_size_with_different_roots_are_a_fork(page):
    whole = evidence("timed", 0)
    other = Evidence("timed", 0)
    other.log[-1] = other.log[-1].replace(b"a13-c11", b"a13-c12")
    other.publish(other.log)
    proof = ("proof.txt", other.proof(other.indexes[-1]).encode())
    drop(page, document("timed", 0), proof, keys=whole.keys)
    expect(page.locator("#headline")).to_have_text("This does not hold.")
    found = first_failures(page, [[document("timed", 0), proof]])
    assert found[0][0] == "leaves"
    alone = ("other.txt", whole.proof(whole.indexes[1]).encode())
    assert "two histories" in first_failures(page, [[alone, proof]])[0][1]


def test_a_refused_command_is_shown_with_its_code(page):
    whole = evidence("timed", 0)
    proof = ("proof.txt", whole.proof(whole.indexes[-1]).encode())
    drop(page, proof, keys=whole.keys)
    expect(page.locator("[data-step=leaf] > p")).to_contain_text(
        "the move a13-c11 was refused as match-over"
    )


def test_a_pasted_receipt_is_read(page):
    drop(page, document())
    page.locator("#again").click()
    page.locator("summary", has_text="Paste a receipt").click()
    page.get_by_label("The whole text").fill(evidence().receipt(evidence().indexes[1]))
    page.get_by_role("button", name="Check the text").click()
    expect(page.get_by_text("The file is a receipt")).to_be_visible()
    page.locator("summary", has_text="Paste a receipt").click()


def test_a_file_with_keys_counts_as_keys(page):
    drop(page, document("timed", 0), ("keys", evidence().keys.encode()))
    expect(page.locator("#headline")).to_have_text("All that this page checks holds.")


def test_the_seed_of_a_late_draw_is_hashed_back_while_the_page_goes_on(page):
    found = page.evaluate(
        """async () => {
          const label = new TextEncoder().encode("matchpost-seed-v1\\0chain\\0");
          let seed = new Uint8Array(32);
          for (let n = 0; n < 65536; n++) {
            seed = matchpost.sha256(new Uint8Array([...label, ...seed]));
          }
          return [...seed];
        }"""
    )
    seed = bytes(32)
    for _ in range(65_536):
        seed = sha256(b"matchpost-seed-v1\0chain\0" + seed).digest()
    assert bytes(found) == seed


def test_a_cosignature_counts_if_the_witness_is_known(page):
    whole = evidence("timed", 0)
    witness = Signer("witness.example", bytes(range(32)), SignatureType.COSIGNATURE)
    proof = whole.proof(whole.indexes[1])
    text = proof.partition("\n\n")[2].partition("\n\n")[0] + "\n"
    good = f"{proof}{witness.signature(text, 1_795_300_000)}"
    bad = f"{proof}{witness.signature(text + 'more', 1_795_300_000)}"
    drop(page, ("proof.txt", good.encode()), keys=f"{whole.keys}{witness.key}\n")
    expect(page.locator("[data-step=signature] > p")).to_contain_text(
        "It is cosigned by witness.example at 2026-11-21 22:26:40.000 UTC."
    )
    drop(page, ("proof.txt", bad.encode()), keys=f"{whole.keys}{witness.key}\n")
    expect(page.locator("#failure > p")).to_contain_text("is not by the key witness.example")
    drop(page, ("proof.txt", bad.encode()), keys=whole.keys)
    expect(page.locator("#headline")).to_have_text("All that this page checks holds.")


@pytest.fixture(scope="module")
def publishing(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A server with keys."""
    del browser  # it has to run before a server
    with Api(tmp_path_factory.mktemp("publishing")) as api:
        generate_keys(api.settings.data / "keys", "play.example.org")
        yield api


@pytest.mark.parametrize("game", ["pow2", "powerdrain"])
def test_what_a_server_exports_holds(page, publishing, game):
    one, other = publishing.players()
    board = publishing.match(one, other, game=game)
    other.give(board, {"do": "offer", "kind": "draw"})
    receipt = one.give(board, {"do": "reject"}).json()["receipt"]
    refused = other.give(board, {"do": "accept"})
    assert refused.status_code >= 400
    late = b64decode(refused.headers["Matchpost-Receipt"])
    publish(publishing)
    files = [
        ("match.json", publishing.http.get(f"/m/{board}/document.json").content),
        ("proof.txt", publishing.http.get(f"/api/matches/{board}/events/3/proof").content),
        ("receipt.txt", receipt.encode()),
        ("refused.txt", late),
        ("log-keys", publishing.http.get("/log/keys").content),
        ("receipts-keys", publishing.http.get("/log/receipts-keys").content),
    ]
    drop(page, *files)
    assert page.locator("#failure").all_inner_texts() == []
    expect(page.locator("#headline")).to_have_text("All that this page checks holds.")
    expect(page.locator(".steps > li > p", has_text="The promise was kept")).to_have_count(1)
    expect(page.locator("[data-step=seed]")).to_have_count(int(game == "powerdrain"))


def test_the_evidence_of_a_case_holds_and_so_does_the_match_after_the_ruling(page, publishing):
    alice, bob, arbiter = publishing.players(3)
    publishing.parts.accounts.set_arbiter(arbiter.name, True)
    board = publishing.match(alice, bob)
    alice.move(board, "m13-j7")
    bob.move(board, "a13-a1")
    alice.post(f"/api/matches/{board}/claim", {"ply": 1, "text": "“He” tried:\n<b>to cheat</b> 🙂"})
    bob.move(board, "a13-d7")
    ruling = {"verdict": "back", "ply": 0, "text": "again"}
    assert arbiter.post(f"/api/matches/{board}/rule", ruling).status_code == 200
    publish(publishing)
    keys = publishing.http.get("/log/keys").text
    frozen = bob.get(f"/api/matches/{board}/cases/3/evidence").content
    after = bob.get(f"/api/matches/{board}/export").content
    assert len(json.loads(frozen)["statements"]) == 1
    for data in (frozen, after):
        drop(page, ("match.json", data), keys=keys)
        assert page.locator("#failure").all_inner_texts() == []
        expect(page.locator("#headline")).to_have_text("All that this page checks holds.")
        found = page.locator(".steps [data-step=statement][data-mark=holds]")
        expect(found).to_have_count(len(json.loads(data)["statements"]))


# tampered files


def of_log(**fields: Any) -> Callable[[Any], object]:
    return lambda found: found["log"].update(fields)


def of(**fields: Any) -> Callable[[Any], object]:
    return lambda found: found.update(fields)


def note_with(line: int, text: str) -> Callable[[Any], object]:
    """Change a line of the checkpoint."""

    def tamper(found: Any) -> None:
        lines = found["log"]["checkpoint"].split("\n")
        lines[line] = text or flip64(lines[line], 5)
        found["log"]["checkpoint"] = "\n".join(lines)

    return tamper


def signature_with(change: Callable[[str], str]) -> Callable[[Any], object]:
    def tamper(found: Any) -> None:
        note = found["log"]["checkpoint"]
        head, _, signed = note.removesuffix("\n").rpartition(" ")
        found["log"]["checkpoint"] = f"{head} {change(signed)}\n"

    return tamper


def receipt_with(line: int, text: str) -> Callable[[Any], object]:
    """Change a line of the first receipt."""

    def tamper(found: Any) -> None:
        lines = found["receipts"][0].split("\n")
        lines[line] = text or flip64(lines[line], 5)
        found["receipts"][0] = "\n".join(lines)

    return tamper


def signed_by(secret: LogSecret) -> Callable[[Any], object]:
    """Sign the checkpoint with another key, and put that key into the file."""

    def tamper(found: Any) -> None:
        signer = secret.signer(1)
        text = found["log"]["checkpoint"].partition("\n\n")[0] + "\n"
        found["log"]["checkpoint"] = f"{text}\n{signer.signature(text)}"
        found["log"]["keys"] = [str(signer.key)]

    return tamper


def swap(found: Any) -> None:
    leaves = found["leaves"]
    leaves[3], leaves[4] = leaves[4], leaves[3]


def both(*changes: Callable[[Any], object]) -> Callable[[Any], object]:
    def tamper(found: Any) -> None:
        for change in changes:
            change(found)

    return tamper


def drop_leaf(place: int) -> Callable[[Any], object]:
    def tamper(found: Any) -> None:
        index = found["leaves"].pop(place)["index"]
        proofs = found["log"]["proofs"]
        proofs[:] = [proof for proof in proofs if proof["index"] != index]

    return tamper


def of_proof(change: Callable[[list[str]], object]) -> Callable[[Any], object]:
    return lambda found: change(found["log"]["proofs"][4]["hashes"])


def of_leaf(place: int, **fields: Any) -> Callable[[Any], object]:
    return lambda found: found["leaves"][place].update(fields)


def of_anchor(**fields: Any) -> Callable[[Any], object]:
    return lambda found: found["anchor"].update(fields)


def set_hash(at: int) -> Callable[[list[str]], object]:
    def tamper(hashes: list[str]) -> None:
        hashes[at] = flip64(hashes[at], 31)

    return tamper


TAMPERED: dict[str, tuple[Callable[[Any], object], str]] = {
    "another format": (of(format="matchpost-match/2"), "file"),
    "a field that nobody knows": (of(note="trust me"), "file"),
    "a field is missing": (lambda found: found.pop("moves"), "file"),
    "a board that is no number": (of(board="1"), "file"),
    "a leaf with a field more": (of_leaf(2, at=5), "file"),
    "another board": (of(board=2), "leaves"),
    "another game": (of(game="torere"), "rules"),
    "other rules": (of(rules="pow2/2"), "rules"),
    "another number of players": (of(players=3), "rules"),
    "other options": (of(options=["-fast"]), "rules"),
    "options left out": (of(options=[]), "rules"),
    "a setup": (of(setup={"a": 1}), "setup"),
    "another move": (of(moves=["m13-m8"]), "moves"),
    "a move more": (of(moves=["m13-m9", "a13-c11"]), "moves"),
    "a move less": (of(moves=[]), "moves"),
    "another winner": (of(result={"winners": [1], "reason": "time"}), "result"),
    "another reason": (of(result={"winners": [0], "reason": "resignation"}), "result"),
    "no result": (of(result=None), "result"),
    "another account": (lambda found: found["seats"][0].update(account="00" * 8), "seats"),
    "seats the other way round": (lambda found: found["seats"].reverse(), "seats"),
    "a seat less": (lambda found: found["seats"].pop(), "seats"),
    "a leaf that is no base64": (of_leaf(2, leaf="%%%"), "leaves"),
    "a leaf with a stray byte": (with_leaf(2, lambda data: data + b"\0"), "leaves"),
    "a leaf cut short": (with_leaf(2, lambda data: data[:-1]), "leaves"),
    "an empty leaf": (of_leaf(2, leaf=""), "leaves"),
    "a leaf of another match": (with_event(2, match=7), "leaves"),
    "an event of another version": (with_event(2, schema=2), "leaves"),
    "leaves in another order": (swap, "leaves"),
    "an event left out": (drop_leaf(4), "seq"),
    "the first event left out": (drop_leaf(0), "seq"),
    "an event twice": (lambda found: found["leaves"].append({**found["leaves"][3], "index": 999}), "seq"),
    "an event with another number": (with_event(4, seq=9), "seq"),
    "the last event with another number": (with_event(14, seq=16), "seq"),
    "another predecessor": (with_event(4, prev=bytes(32)), "prev"),
    "a first event with a predecessor": (with_event(0, prev=b"\1" * 32), "prev"),
    "another move in the event": (with_event(1, body_move="m13-m8"), "prev"),
    "another ply in the event": (with_event(1, body_ply=2), "prev"),
    "another seat in the event": (with_event(1, body_seat=1), "prev"),
    "another actor": (with_event(1, actor=b"bob....."), "prev"),
    "another command": (with_event(1, command=b"x" * 16), "prev"),
    "a move some ms earlier": (with_event(1, at=1_790_000_000_001), "prev"),
    "other times agreed on": (with_event(0, body_terms=None), "prev"),
    "other rules in the event": (with_event(0, body_rules="pow2/2"), "prev"),
    "the last event earlier than the one before": (with_event(14, at=1), "time"),
    "the last event with another winner": (with_event(14, body_winners=(1,)), "receipt"),
    "another index": (of_leaf(4, index=7), "inclusion"),
    "a path for another leaf": (lambda found: found["log"]["proofs"][4].update(index=6), "inclusion"),
    "a hash of a path": (of_proof(set_hash(0)), "inclusion"),
    "the last hash of a path": (of_proof(set_hash(-1)), "inclusion"),
    "a path too short": (of_proof(lambda hashes: hashes.pop()), "inclusion"),
    "a path too long": (of_proof(lambda hashes: hashes.append(hashes[0])), "inclusion"),
    "an empty path": (of_proof(lambda hashes: hashes.clear()), "inclusion"),
    "hashes the other way round": (of_proof(lambda hashes: hashes.reverse()), "inclusion"),
    "a hash of 31 bytes": (of_proof(lambda hashes: hashes.__setitem__(0, encode(bytes(31)))), "inclusion"),
    "a hash that is no base64": (of_proof(lambda hashes: hashes.__setitem__(0, "??")), "inclusion"),
    "a path left out": (lambda found: found["log"]["proofs"].pop(2), "inclusion"),
    "a path twice": (lambda found: found["log"]["proofs"].append(found["log"]["proofs"][2]), "inclusion"),
    "all paths left out": (of_log(proofs=[]), "inclusion"),
    "another root": (note_with(2, ""), "signature"),
    "another size": (note_with(1, "99"), "signature"),
    "a smaller size": (note_with(1, "3"), "signature"),
    "a size with a zero before it": (note_with(1, "019"), "checkpoint"),
    "another origin in the checkpoint": (note_with(0, "other.example/log/s01"), "checkpoint"),
    "another origin in the file": (of_log(origin="other.example/log/s01"), "checkpoint"),
    "another shard": (of_log(shard=2), "checkpoint"),
    "a line more in the checkpoint": (note_with(2, encode(bytes(32)) + "\nmore"), "signature"),
    "no empty line before the signature": (lambda found: found["log"].update(checkpoint=found["log"]["checkpoint"].replace("\n\n", "\n")), "checkpoint"),
    "a bit of the signature": (signature_with(lambda text: flip64(text, 40)), "signature"),
    "the last byte of the signature": (signature_with(lambda text: flip64(text, 67)), "signature"),
    "the key id of the signature": (signature_with(lambda text: flip64(text, 0)), "signature"),
    "a signature cut short": (signature_with(lambda text: text[:-4]), "signature"),
    "the signature of nobody": (signature_with(lambda text: text[:8]), "signature"),
    "the name of the signature": (lambda found: found["log"].update(checkpoint=found["log"]["checkpoint"].replace("— play", "— clay")), "signature"),
    "a key whose id does not fit": (lambda found: found["log"]["keys"].__setitem__(0, str(SECRET.signer(1).key).replace("+AQ", "+AR")), "file"),
    "another key": (of_log(keys=[str(OTHER_SECRET.signer(1).key)]), "signature"),
    "another receipt key": (of_log(receipt_keys=[str(OTHER_SECRET.signer(1, KEY_SUFFIX).key)]), "signature"),
    "a receipt of another match": (receipt_with(1, "2"), "receipt"),
    "a receipt with another number": (receipt_with(2, "13"), "receipt"),
    "a receipt of another leaf": (receipt_with(3, ""), "receipt"),
    "a receipt with another predecessor": (receipt_with(4, ""), "receipt"),
    "a receipt with another time": (receipt_with(5, "1790000000000"), "receipt"),
    "a receipt of another log": (receipt_with(0, "other.example/log/s01/receipt"), "receipt"),
    "a receipt with a line more": (receipt_with(5, "1790000000000\n1"), "receipt"),
    "a receipt with a bad signature": (lambda found: found["receipts"].__setitem__(0, _flip_signature(found["receipts"][0])), "signature"),
}  # fmt: skip


def _flip_signature(note: str) -> str:
    head, _, signed = note.removesuffix("\n").rpartition(" ")
    return f"{head} {flip64(signed, 30)}\n"


DRAWN: dict[str, tuple[Callable[[Any], object], str]] = {
    "another anchor": (lambda found: found["anchor"].update(leaf=flip64(found["anchor"]["leaf"], 40)), "seed"),
    "no leaf at the anchor": (of_anchor(leaf=encode(b"\x91\x01")), "seed"),
    "the anchor of another chain": (of_anchor(chain=2), "seed"),
    "an anchor that is an event": (lambda found: found["anchor"].update(leaf=found["leaves"][0]["leaf"]), "seed"),
    "an anchor after the draw": (of_anchor(index=10), "seed"),
    "an anchor at another index": (of_anchor(index=0), "anchor"),
    "a path of the anchor": (lambda found: set_hash(0)(found["anchor"]["proof"]), "anchor"),
    "an empty path of the anchor": (of_anchor(proof=[]), "anchor"),
    "another setup": (of(setup={"other": True}), "setup"),
    "another text of a player": (with_event(4, body_text=b"another text that suits me"), "prev"),
    "another commitment": (with_event(2, body_commitment=Commitment(bytes(32))), "prev"),
    "another seed that was fixed": (with_event(3, body_k=2), "prev"),
}  # fmt: skip


@pytest.mark.parametrize("name", TAMPERED)
def test_a_tampered_match_names_the_first_step_that_fails(page, name):
    change, wanted = TAMPERED[name]
    drop(page, ("match.json", changed(evidence().whole(), change)))
    expect(page.locator("#headline")).to_have_text("This does not hold.")
    failure = page.locator("#failure")
    expect(failure).to_have_attribute("data-step", wanted)
    sentence = failure.locator("> p").inner_text()
    expect(page.locator("#because")).to_contain_text(sentence)
    assert sentence[0].isupper()
    assert sentence.endswith(".")


@pytest.mark.parametrize("name", DRAWN)
def test_a_tampered_draw_names_the_first_step_that_fails(page, name):
    change, wanted = DRAWN[name]
    drop(page, ("match.json", changed(evidence("committed", 0).whole(), change)))
    expect(page.locator("#failure")).to_have_attribute("data-step", wanted)


def test_every_byte_of_a_leaf_is_guarded(page):
    whole = evidence("timed", 0)
    cases, wanted = [], []
    for place in (0, 1, 15):
        index = whole.indexes[place]
        data = whole.log[index]
        for at in range(len(data)):
            cases.append(
                [
                    (
                        "a",
                        changed(
                            whole.whole(), with_leaf(place, lambda one, at=at: flipped(one, at))
                        ),
                    )
                ]
            )
            wanted.append(_step_of(data, flipped(data, at)))
    found = first_failures(page, cases, whole.keys)
    wrong = [
        (case, step, sentence, right)
        for case, ((step, sentence, _), right) in enumerate(zip(found, wanted, strict=True))
        if step not in right
    ]
    assert wrong == []
    assert len(cases) > 250


MOST_EXACT = 2**53 - 1
"""The largest number that JavaScript has exactly; the page refuses larger ones."""


def _step_of(before: bytes, after: bytes) -> set[str]:
    """The steps that may find a change of a leaf, by what the server's own reader makes of it."""
    if not is_event(before):
        return {"leaves", "inclusion"}
    try:
        event = decode_event(after)
    except (msgspec.MsgspecError, ValueError):
        return {"leaves"}
    was = decode_event(before)
    if (event.match, event.schema) != (was.match, was.schema):
        return {"leaves"}
    if event.seq != was.seq:
        return {"seq"}
    return {"leaves"} if event.at > MOST_EXACT else {"prev"}


def test_every_byte_of_a_signature_and_of_a_root_is_guarded(page):
    whole = evidence("timed", 0)
    proof = whole.proof(whole.indexes[3])
    head, _, signed = proof.removesuffix("\n").rpartition(" ")
    cases = [[("p", f"{head} {flip64(signed, at)}\n".encode())] for at in range(4, 68)]
    found = first_failures(page, cases, whole.keys)
    assert {step for step, _, _ in found} == {"signature"}
    lines = proof.split("\n")
    root = lines.index("") + 3
    cases = [
        [("p", "\n".join([*lines[:root], flip64(lines[root], at), *lines[root + 1 :]]).encode())]
        for at in range(32)
    ]
    found = first_failures(page, cases, whole.keys)
    assert {step for step, _, _ in found} == {"signature"}


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


@pytest.mark.parametrize(
    "data",
    [b"", b"hello", b"{", b"{}", b"[1]", b"\xff\xfe", b"c2sp.org/tlog-proof@v1", b"a/receipt\n1\n",
     b'{"format": "matchpost-match/1"}', b"<script>alert(1)</script>", b"PK\3\4" + bytes(40)],
)  # fmt: skip
def test_what_is_no_such_file_is_named_as_none(page, data):
    drop(page, ("<b>odd</b>.txt", data))
    expect(page.locator("#failure")).to_have_attribute("data-step", "file")
    expect(page.get_by_role("heading", name="<b>odd</b>.txt")).to_be_visible()


# a dispute


def disputed(*names: str) -> list[File]:
    return [(name, (DISPUTE / name).read_bytes()) for name in names]


@pytest.mark.parametrize("name", ["evidence.json", "match.json", "rewritten.json", "proof.txt"])
def test_each_file_of_the_worked_dispute_holds_alone(page, name):
    drop(page, *disputed(name), keys=(DISPUTE / "keys").read_text())
    expect(page.locator("#headline")).to_have_text("All that this page checks holds.")
    statements = {"match.json": 2, "rewritten.json": 2, "evidence.json": 1, "proof.txt": 0}
    expect(page.locator("[data-step=statement]")).to_have_count(statements[name])


def test_the_receipt_of_the_worked_dispute_is_in_the_evidence(page):
    drop(page, *disputed("receipt.txt", "evidence.json", "keys"))
    expect(page.locator("#headline")).to_have_text("All that this page checks holds.")
    expect(page.locator(".steps [data-step=receipt] > p")).to_contain_text(
        "a refusal in match 17: the move a1-e5 was refused as match-over"
    )


def test_what_was_rewritten_breaks_the_promise_of_the_receipt(page):
    drop(page, *disputed("receipt.txt", "rewritten.json", "keys"))
    expect(page.locator("#failure > p")).to_have_text(
        "The document lacks the leaf for which the server gave the receipt: it has another history."
    )


def test_what_was_rewritten_has_another_root_than_the_proof(page):
    drop(page, *disputed("checkpoint", "proof.txt", "rewritten.json", "keys"))
    expect(page.locator("#headline")).to_have_text("This does not hold.")
    failed = page.locator(".steps [data-mark=fails][data-step=checkpoints] > p")
    expect(failed).to_contain_text("with 37 leaves and different roots")


STATED: dict[str, tuple[Callable[[Any], object], str]] = {
    "another text": (lambda found: found["statements"][0].update(text="I moved in time."), "statement"),
    "a blank more": (lambda found: found["statements"][1].update(text=found["statements"][1]["text"] + " "), "statement"),
    "another salt": (lambda found: found["statements"][0].update(salt="00" * 16), "statement"),
    "a salt in no hex": (lambda found: found["statements"][0].update(salt="xy"), "statement"),
    "another digest": (lambda found: found["statements"][0].update(digest="00" * 32), "statement"),
    "another author": (lambda found: found["statements"][0].update(account="5d1f0c6a7b3e9284"), "statement"),
    "a statement that was never made": (lambda found: found["statements"][0].update(salt="", text="x", digest=sha256(b"x").hexdigest()), "statement"),
    "the result before the ruling": (lambda found: found.update(result={"winners": [0], "reason": "time"}), "result"),
    "the moves before the ruling": (lambda found: found["moves"].pop(), "moves"),
    "a ruling that dismisses": (with_event(8, body_upheld=False), "prev"),
    "a ruling on another claim": (with_event(8, body_claim=None), "prev"),
    "back to another move": (with_event(9, body_ply=2), "prev"),
    "more time": (with_event(10, body_ms=999), "prev"),
    "the refusal left out, and its path": (drop_leaf(6), ""),
    "the refusal with another move": (with_leaf(6, lambda data: data.replace(b"a1-e5", b"a1-e3")), "inclusion"),
    "the refusal with another code": (with_leaf(6, lambda data: data.replace(b"match-over", b"stale-plys")), "inclusion"),
}  # fmt: skip


@pytest.mark.parametrize("name", STATED)
def test_a_tampered_dispute_names_the_first_step_that_fails(page, name):
    change, wanted = STATED[name]
    whole = read_document((DISPUTE / "match.json").read_bytes())
    [(step, _, _)] = first_failures(page, [[("match.json", changed(whole, change))]])
    assert step == wanted


def test_a_refusal_that_was_left_out_is_found_by_its_receipt(page):
    whole = read_document((DISPUTE / "match.json").read_bytes())
    left_out = ("match.json", changed(whole, drop_leaf(6)))
    [(step, sentence, _)] = first_failures(page, [[left_out, *disputed("receipt.txt", "keys")]])
    assert step == "receipt"
    assert "lacks the leaf" in sentence


# a match that was imported


def imported_file(**changes: Any) -> File:
    source = golden_document("timed")
    return "imported.json", write_document(document_of(imported(source, **changes), source))


def test_an_imported_match_holds_with_the_match_it_comes_from(page):
    key = SECRET.public
    drop(page, imported_file(), keys=f"{key}\n")
    expect(page.locator("#headline")).to_have_text("All that this page checks holds.")
    expect(page.locator("[data-step=source]")).to_have_attribute("data-mark", "holds")
    expect(page.get_by_text("The match from which it was imported: match 1")).to_be_visible()
    expect(page.locator("[data-step=signature]")).to_have_count(2)


def test_moves_that_were_imported_from_a_bare_list_are_not_proven(page):
    drop(page, document("imported", 0), keys=evidence("imported", 0).keys)
    expect(page.locator("#because")).to_contain_text("nothing proves that these moves were played")
    expect(page.locator(".steps [data-mark=open]")).to_have_count(1)


def test_keys_of_the_new_server_alone_leave_those_of_the_source_open(page):
    drop(page, imported_file(), keys=str(SECRET.signer(2).key))
    expect(page.locator(".steps [data-step=signature][data-mark=open] > p")).to_contain_text(
        "none of the keys that you entered is one of play.example.org/log/s01"
    )


SOURCES: dict[str, tuple[Callable[[Any], object], str]] = {
    "no source": (of(imported_from=None), "source"),
    "another move in it": (lambda found: found["imported_from"].update(moves=["m13-m8"]), "source"),
    "another name in it": (lambda found: found["imported_from"]["seats"][0].update(userid="eve"), "source"),
    "an event of it": (lambda found: with_event(1, body_ply=2)(found["imported_from"]), "source"),
    "its last event": (lambda found: drop_leaf(14)(found["imported_from"]), "source"),
    "it is no document": (of(imported_from={"format": "matchpost-match/1"}), "file"),
    "other moves that go on": (of(moves=[]), "moves"),
}  # fmt: skip


@pytest.mark.parametrize("name", SOURCES)
def test_a_tampered_source_names_the_first_step_that_fails(page, name):
    change, wanted = SOURCES[name]
    source = golden_document("timed")
    whole = document_of(imported(source), source)
    [(step, sentence, _)] = first_failures(page, [[("a.json", changed(whole, change))]])
    assert (step, sentence[-1:]) == (wanted, ".")


@pytest.mark.parametrize(
    "changes", [{"digest": bytes(32)}, {"head": bytes(32)}, {"events": 3}, {"board": 5}]
)
def test_an_event_that_names_another_source_is_found(page, changes):
    [(step, _, _)] = first_failures(page, [[imported_file(**changes)]])
    assert step == "source"


# the parts, against public vectors


def test_inclusion_proofs_are_judged_like_the_public_vectors(page):
    cases = [json.loads(file.read_text()) for file in sorted(VECTORS.rglob("*.json"))]
    found = page.evaluate(
        """(cases) => cases.map((one) => {
          const read = (text) => matchpost.fromBase64(text ?? "", "a hash");
          try {
            matchpost.checkInclusion(read(one.leafHash), one.leafIdx, one.treeSize,
                                     (one.proof ?? []).map(read), read(one.root));
            return "";
          } catch (problem) {
            return problem.message;
          }
        })""",
        cases,
    )
    assert len(cases) > 40
    wrong = [
        (one["desc"], text)
        for one, text in zip(cases, found, strict=True)
        if bool(text) != one["wantErr"] and "32 bytes" not in text
    ]
    assert wrong == []


def test_signed_notes_of_the_specification_hold(page):
    key = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
    note = (
        "If you think cryptography is the answer to your problem,\n"
        "then you don't know what your problem is.\n\n"
        "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
    )
    judge = """async ([key, note]) => {
      const known = matchpost.readKey(key);
      const { text, signatures } = matchpost.readNote(note);
      return matchpost.signatureHolds(known, text, signatures[0].bytes);
    }"""
    assert page.evaluate(judge, [key, note]) is True
    assert page.evaluate(judge, [key, note.replace("answer", "problem")]) is False


def test_sha256_is_that_of_the_standard_at_every_length(page):
    texts = [bytes(at % 251 for at in range(length)) for length in (*range(140), 1_000, 70_001)]
    found = page.evaluate(
        "(texts) => texts.map((text) => [...matchpost.sha256(matchpost.fromBase64(text, ''))])",
        [encode(text) for text in texts],
    )
    assert [bytes(one) for one in found] == [sha256(text).digest() for text in texts]


# without Ed25519, and for everybody


def test_a_browser_without_ed25519_checks_the_rest_and_says_so(browser, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(PAGE, "utf-8")
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.add_init_script("Object.defineProperty(globalThis, 'crypto', { value: {} })")
    page.goto(file.as_uri())
    drop(page, document("timed", 0), keys=evidence().keys)
    expect(page.locator("#because")).to_contain_text("This browser can't check Ed25519 signatures")
    expect(page.locator(".steps [data-mark=open]")).to_have_count(1)
    expect(page.locator("[data-step=inclusion]")).to_have_attribute("data-mark", "holds")
    bad = changed(evidence("timed", 0).whole(), of_proof(set_hash(0)))
    drop(page, ("match.json", bad))
    expect(page.locator("#failure")).to_have_attribute("data-step", "inclusion")
    context.close()


def test_the_server_serves_it_with_a_policy_that_allows_no_connection(person):
    one = person()
    page = one.goes_to("/verify")
    drop(page, document("timed", 0), keys=evidence().keys)
    expect(page.locator("#headline")).to_have_text("All that this page checks holds.")
    expect(page.get_by_role("link", name="Save this page")).to_be_visible()
    one.expected.append("Content Security Policy")
    refused = page.evaluate("fetch('/healthz').then(() => 'came', () => 'refused')")
    assert refused == "refused"
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save this page").click()
    assert Path(saved.value.path()).read_text("utf-8") == PAGE
    assert saved.value.suggested_filename == "matchpost-verify.html"


def test_axe_finds_nothing_serious_in_any_state(page):
    faults = {}
    states = {
        "empty": (),
        "good": (document("timed", 0),),
        "bad": (("match.json", changed(evidence().whole(), of(moves=[]))),),
        "open": (document(),),
    }
    for name, files in states.items():
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            if files:
                drop(page, *files)
                for summary in page.locator(".steps > li > details > summary").all():
                    if not summary.evaluate("(one) => one.parentElement.open"):
                        summary.click()
            faults[name, scheme] = faults_of(page)
    page.emulate_media(color_scheme="light")
    assert {key: found for key, found in faults.items() if found} == {}


def test_on_a_phone_nothing_sticks_out(browser, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(PAGE, "utf-8")
    context = browser.new_context(offline=True, **PHONE)
    page = context.new_page()
    page.goto(file.as_uri())
    drop(page, document(), ("receipt.txt", evidence().receipt(evidence().indexes[1]).encode()))
    for summary in page.locator(".steps > li > details > summary").all():
        summary.click()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    context.close()


def test_it_is_used_with_the_keyboard_alone(page):
    drop(page, ("match.json", changed(evidence().whole(), of(moves=[]))))
    page.get_by_role("link", name="Show the step").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    focused = "document.activeElement.closest('li')?.id + document.activeElement.tagName"
    assert page.evaluate(focused) == "failureSUMMARY"
    tree = page.get_by_role("status").aria_snapshot()
    assert "status" in tree
    assert "This does not hold." in tree
    assert "Does not hold:" in page.locator("#failure").inner_text()
