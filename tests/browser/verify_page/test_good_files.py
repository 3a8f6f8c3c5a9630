"""Good files of each kind hold on the page that checks files, and everybody can use it."""

import json
from base64 import b64decode
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import expect

from domain.match.deals import DealKind
from infra.audit.draws import DEALS as CLAUSES
from infra.log.signed_note import SignatureType, Signer
from tests.browser.verify_page.checking import (
    DISPUTE,
    disputed,
    document,
    drop,
    first_failures,
    imported_file,
)
from tests.browser.verify_page.file_changes import of_proof, set_hash
from tests.helpers.checked_files import Evidence, File, changed, evidence
from tests.helpers.evidence import KINDS, OTHER_SECRET, SECRET
from tests.helpers.publishing import publish
from tests.helpers.web import verify_page
from tests.services.test_api_tournaments import started

GOOD = "Everything this page checks is correct."
UNPROVEN = "Nothing is wrong here, but not everything is proven."
FAILED = "This check failed."
TOGETHER = "section:has-text('The files together') [data-step=receipt][data-mark=holds]"
KEPT = ".steps > li > p:has-text('The promise was kept')"
DEALS = {
    "paired": DealKind.ALONE,
    "proposed": DealKind.ALONE,
    "gathered": DealKind.IN_TURN,
    "dealt": DealKind.BY_SERVER,
    "committed": DealKind.SEALED,
    "agreed": DealKind.AGREED,
}


def test_an_exported_match_holds(page):
    for kind in sorted({*KINDS} - {"imported"}):
        drop(page, document(kind, 0), keys=evidence(kind, 0).keys)
        expect(page.locator("#headline")).to_have_text(GOOD)
        assert page.locator(".steps [data-mark=holds]").count() >= 13, kind
        assert page.locator(".steps :is([data-mark=fails], [data-mark=open])").count() == 0, kind
        assert page.locator("[data-step=seed]").count() == (kind in DEALS), kind
        said = page.locator("[data-step=deal]").all_inner_texts()
        wanted = [CLAUSES[DEALS[kind]]] if kind in DEALS else []
        assert len(said) == len(wanted), kind
        assert all(clause in text for clause, text in zip(wanted, said, strict=True)), kind


class Shown(NamedTuple):
    """Files that are chosen, keys that are entered, and what the page shows: a headline, texts, numbers of steps."""

    files: list[File]
    keys: str = ""
    headline: str = GOOD
    texts: Mapping[str, str] = {}
    counts: Mapping[str, int] = {}


WHOLE, PUBLISHED = evidence(), evidence(unpublished=0)


def receipt(place: int) -> File:
    return "receipt.txt", WHOLE.receipt(WHOLE.indexes[place]).encode()


def proof(place: int, whole: Evidence = WHOLE, more: str = "") -> File:
    return "proof.txt", (whole.proof(whole.indexes[place]) + more).encode()


WITNESS = Signer("witness.example", bytes(range(32)), SignatureType.COSIGNATURE)
KNOWN = f"{WHOLE.keys}{WITNESS.key}\n"


def cosigned(more: str = "") -> File:
    note = WHOLE.proof(WHOLE.indexes[1]).partition("\n\n")[2].partition("\n\n")[0] + "\n"
    return proof(1, more=str(WITNESS.signature(note + more, 1_795_300_000)))


OPEN, CHECKED = ".steps [data-mark=open]", ".steps [data-step=receipt][data-mark=holds]"
DISPUTE_KEYS = (DISPUTE / "keys").read_text()
SHOWN = {
    "keys of the file alone": Shown([document(unpublished=0)], "", UNPROVEN, {"#because": "The keys came with the files"}, {OPEN: 1}),
    "a proof": Shown([proof(1)], WHOLE.keys, GOOD, {"[data-step=leaf] p >> nth=0": "event 2 of match 1: seat 1 played m13-m9 as move 1, at 2026-09-22 14:13:20.000 UTC"}),
    "a receipt": Shown([receipt(2)], WHOLE.keys, UNPROVEN, {"#because": "A receipt is a promise and no proof"}),
    "a receipt and its match": Shown([receipt(2), document()], WHOLE.keys, UNPROVEN, {}, {TOGETHER: 1}),
    "a receipt and its proof": Shown([receipt(2), proof(2)], WHOLE.keys, GOOD, {}, {KEPT: 1}),
    "leaves after the checkpoint": Shown([document()], WHOLE.keys, UNPROVEN, {"#because": "3 leaves are newer than the checkpoint"}, {CHECKED: 3}),
    "checkpoints of two sizes": Shown([proof(1, evidence(unpublished=5)), document(unpublished=0)], WHOLE.keys, UNPROVEN, {"#because": "needs a consistency proof"}, {"[data-step=leaves][data-mark=holds]": 2}),
    "a refused command": Shown([proof(-1, evidence("timed", 0))], WHOLE.keys, GOOD, {"[data-step=leaf] > p": "the move a13-c11 was refused as match-over"}),
    "a known witness": Shown([cosigned()], KNOWN, GOOD, {"[data-step=signature] > p": "It is cosigned by witness.example at 2026-11-21 22:26:40.000 UTC."}),
    **{
        f"{name} of the dispute": Shown(disputed(name), DISPUTE_KEYS, GOOD, {}, {"[data-step=statement]": count})
        for name, count in (("evidence.json", 1), ("match.json", 2), ("rewritten.json", 2), ("proof.txt", 0))
    },
    "a receipt that was rewritten": Shown(disputed("receipt.txt", "rewritten.json", "keys"), "", FAILED, {"#failure > p": "The document lacks the leaf for which the server gave the receipt: it has another history."}),
    "a rewritten root": Shown(disputed("checkpoint", "proof.txt", "rewritten.json", "keys"), "", FAILED, {".steps [data-mark=fails][data-step=checkpoints] > p": "with 37 leaves and different roots"}),
    "an import and its source": Shown([imported_file()], f"{SECRET.public}\n", GOOD, {"body": "The match from which it was imported: match 1"}, {"[data-step=source][data-mark=holds]": 1, "[data-step=signature]": 2}),
    "an import of a bare list": Shown([document("imported", 0)], evidence("imported", 0).keys, UNPROVEN, {"#because": "nothing proves that these moves were played"}, {OPEN: 1}),
}  # fmt: skip


def test_what_is_proven_and_what_is_not_is_said(page):
    for name, shown in SHOWN.items():
        drop(page, *shown.files, keys=shown.keys)
        assert page.locator("#headline").inner_text() == shown.headline, name
        for where, text in shown.texts.items():
            assert text in page.locator(where).first.inner_text(), name
        for where, count in shown.counts.items():
            assert page.locator(where).count() == count, name


def test_keys_that_are_entered_take_their_place(page):
    drop(page, document(unpublished=0))
    page.locator(".box > summary").first.click()
    field = page.get_by_label("One key per line,")
    field.fill("this is no key")
    expect(page.locator("#wrong-keys")).to_contain_text("is no key")
    field.fill(evidence(unpublished=0).keys)
    expect(page.locator("#headline")).to_have_text(GOOD)
    expect(page.locator("#wrong-keys")).to_be_empty()
    field.fill(str(OTHER_SECRET.signer(1).key))
    expect(page.locator("#headline")).to_have_text("This check failed.")
    expect(page.locator("#because")).to_contain_text("signed by none of the keys that you entered")
    field.fill("")
    page.locator(".box > summary").first.click()


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


@pytest.mark.parametrize("game", [pytest.param("pow2", marks=pytest.mark.long), "powerdrain"])
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
    expect(page.locator("#headline")).to_have_text(GOOD)
    expect(page.locator(".steps > li > p", has_text="The promise was kept")).to_have_count(1)
    expect(page.locator("[data-step=seed]")).to_have_count(int(game == "powerdrain"))


VECTORS = Path(__file__).parents[2] / "vectors" / "merkle" / "inclusion"


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


def test_all_of_a_tournament_holds_but_its_tables_which_the_page_does_not_compute(page, publishing):
    organiser, *players = publishing.players(4)
    number = started(publishing, organiser, players)
    left = {"userid": players[0].name, "kind": "silent", "text": "gone for a month"}
    assert organiser.post(f"/api/tournaments/{number}/withdrawals", left).is_success
    publish(publishing)
    document = publishing.http.get(f"/api/tournaments/{number}/export", headers=organiser.headers)
    keys = publishing.http.get("/log/keys").text
    drop(page, ("cup.json", document.content), keys=keys)
    expect(page.locator("#headline")).to_have_text(UNPROVEN)
    expect(page.locator(OPEN)).to_have_count(1)
    expect(page.locator(f"{OPEN} > p")).to_contain_text("`matchpost verify` does")
    expect(page.locator("[data-step=leaves] > p")).to_contain_text(f"of tournament {number}, and")
    expect(page.locator("[data-step=statement][data-mark=holds]")).to_have_count(1)


def test_a_browser_without_ed25519_checks_the_rest_and_says_so(browser, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(verify_page(), "utf-8")
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
    expect(page.locator("#headline")).to_have_text(GOOD)
    expect(page.get_by_role("link", name="Save this page")).to_be_visible()
    one.expected.append("Content Security Policy")
    refused = page.evaluate("fetch('/healthz').then(() => 'came', () => 'refused')")
    assert refused == "refused"
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save this page").click()
    assert Path(saved.value.path()).read_text("utf-8") == verify_page()
    assert saved.value.suggested_filename == "matchpost-verify.html"
