"""Good files of each kind hold on the page that checks files."""

import json
from base64 import b64decode
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest
from playwright.sync_api import expect

from domain.match.deals import DealKind
from domain.match.history import decode_event
from infra.audit.draws import DEALS as CLAUSES
from infra.log.signed_note import SignatureType, Signer
from tests.helpers.checked_files import Evidence, changed, evidence
from tests.helpers.evidence import KINDS, OTHER_SECRET
from tests.helpers.publishing import publish
from tests.web.verify_page.checking import document, drop, first_failures

DEALS = {
    "proposed": DealKind.ALONE,
    "gathered": DealKind.IN_TURN,
    "dealt": DealKind.BY_SERVER,
    "committed": DealKind.SEALED,
    "agreed": DealKind.AGREED,
}


@pytest.mark.parametrize("kind", sorted({*KINDS} - {"imported"}))
def test_an_exported_match_holds(page, kind):
    whole = evidence(kind, 0)
    drop(page, document(kind, 0), keys=whole.keys)
    expect(page.locator("#headline")).to_have_text("Everything this page checks is correct.")
    assert page.locator(".steps [data-mark=holds]").count() >= 13
    assert page.locator(".steps :is([data-mark=fails], [data-mark=open])").count() == 0
    drawn = page.locator("[data-step=seed]").count()
    assert drawn == (kind in DEALS)
    said = page.locator("[data-step=deal]").all_inner_texts()
    wanted = [CLAUSES[DEALS[kind]]] if kind in DEALS else []
    assert len(said) == len(wanted)
    assert all(clause in text for clause, text in zip(wanted, said, strict=True))


def test_keys_that_came_with_the_file_prove_nothing(page):
    drop(page, document(unpublished=0))
    expect(page.locator("#headline")).to_have_text(
        "Nothing is wrong here, but not everything is proven."
    )
    expect(page.locator("#because")).to_contain_text("The keys came with the files")
    expect(page.locator(".steps [data-mark=open]")).to_have_count(1)


def test_keys_that_are_entered_take_their_place(page):
    drop(page, document(unpublished=0))
    page.locator(".box > summary").first.click()
    field = page.get_by_label("One key per line,")
    field.fill("this is no key")
    expect(page.locator("#wrong-keys")).to_contain_text("is no key")
    field.fill(evidence(unpublished=0).keys)
    expect(page.locator("#headline")).to_have_text("Everything this page checks is correct.")
    expect(page.locator("#wrong-keys")).to_be_empty()
    field.fill(str(OTHER_SECRET.signer(1).key))
    expect(page.locator("#headline")).to_have_text("This check failed.")
    expect(page.locator("#because")).to_contain_text("signed by none of the keys that you entered")
    field.fill("")
    page.locator(".box > summary").first.click()


def test_a_proof_holds_and_says_what_is_proven(page):
    whole = evidence()
    index = whole.indexes[1]
    drop(page, ("proof.txt", whole.proof(index).encode()), keys=whole.keys)
    expect(page.locator("#headline")).to_have_text("Everything this page checks is correct.")
    expect(page.locator("[data-step=leaf] p").first).to_contain_text(
        "event 2 of match 1: seat 1 played m13-m9 as move 1, at 2026-09-22 14:13:20.000 UTC"
    )


def test_a_receipt_alone_is_a_promise(page):
    whole = evidence()
    receipt = ("receipt.txt", whole.receipt(whole.indexes[2]).encode())
    drop(page, receipt, keys=whole.keys)
    expect(page.locator("#headline")).to_have_text(
        "Nothing is wrong here, but not everything is proven."
    )
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
    expect(page.locator("#headline")).to_have_text("Everything this page checks is correct.")
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
    expect(page.locator("#headline")).to_have_text("This check failed.")
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
    page.get_by_label("The entire text,").fill(evidence().receipt(evidence().indexes[1]))
    page.get_by_role("button", name="Check the text").click()
    expect(page.get_by_text("The file is a receipt")).to_be_visible()
    page.locator("summary", has_text="Paste a receipt").click()


def test_a_file_with_keys_counts_as_keys(page):
    drop(page, document("timed", 0), ("keys", evidence().keys.encode()))
    expect(page.locator("#headline")).to_have_text("Everything this page checks is correct.")


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
    expect(page.locator("#headline")).to_have_text("Everything this page checks is correct.")


@pytest.mark.parametrize("game", ["pow2", "powerdrain"])
def test_what_a_server_exports_holds(page, publishing, game):
    one, other = publishing.players()
    board = publishing.begun(one, other, game=game)
    other.give(board, {"do": "offer", "kind": "draw"})
    answered = one.give(board, {"do": "reject"}).json()
    receipt, seq = answered["receipt"], answered["seq"]
    refused = other.give(board, {"do": "accept"})
    assert refused.status_code >= 400
    late = b64decode(refused.headers["Matchpost-Receipt"])
    publish(publishing)
    files = [
        ("match.json", publishing.http.get(f"/m/{board}/document.json").content),
        ("proof.txt", publishing.http.get(f"/api/matches/{board}/events/{seq}/proof").content),
        ("receipt.txt", receipt.encode()),
        ("refused.txt", late),
        ("log-keys", publishing.http.get("/log/keys").content),
        ("receipts-keys", publishing.http.get("/log/receipts-keys").content),
    ]
    drop(page, *files)
    assert page.locator("#failure").all_inner_texts() == []
    expect(page.locator("#headline")).to_have_text("Everything this page checks is correct.")
    expect(page.locator(".steps > li > p", has_text="The promise was kept")).to_have_count(1)
    expect(page.locator("[data-step=seed]")).to_have_count(int(game == "powerdrain"))


def test_the_evidence_of_a_case_holds_and_so_does_the_match_after_the_ruling(page, publishing):
    alice, bob, arbiter = publishing.players(3)
    publishing.parts.accounts.set_arbiter(arbiter.name, True)
    board = publishing.begun(alice, bob)
    alice.move(board, "m13-j7")
    bob.move(board, "a13-a1")
    alice.post(f"/api/matches/{board}/claim", {"ply": 1, "text": "“He” tried:\n<b>to cheat</b> 🙂"})
    bob.move(board, "a13-d7")
    ruling = {"verdict": "back", "ply": 0, "text": "again"}
    assert arbiter.post(f"/api/matches/{board}/rule", ruling).status_code == 200
    publish(publishing)
    keys = publishing.http.get("/log/keys").text
    frozen = bob.get(f"/api/matches/{board}/cases/4/evidence").content
    after = bob.get(f"/api/matches/{board}/export").content
    assert len(json.loads(frozen)["statements"]) == 1
    for data in (frozen, after):
        drop(page, ("match.json", data), keys=keys)
        assert page.locator("#failure").all_inner_texts() == []
        expect(page.locator("#headline")).to_have_text("Everything this page checks is correct.")
        found = page.locator(".steps [data-step=statement][data-mark=holds]")
        expect(found).to_have_count(len(json.loads(data)["statements"]))
