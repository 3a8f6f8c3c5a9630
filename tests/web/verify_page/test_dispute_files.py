"""The files of a dispute on the page that checks files."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from infra.audit.match_document import read_document
from tests.helpers.checked_files import File, changed, with_event, with_leaf
from tests.web.verify_page.checking import drop, first_failures
from tests.web.verify_page.file_changes import drop_leaf

DISPUTE = Path(__file__).parents[2] / "golden" / "dispute"


def disputed(*names: str) -> list[File]:
    return [(name, (DISPUTE / name).read_bytes()) for name in names]


@pytest.mark.parametrize("name", ["evidence.json", "match.json", "rewritten.json", "proof.txt"])
def test_each_file_of_the_worked_dispute_holds_alone(page, name):
    drop(page, *disputed(name), keys=(DISPUTE / "keys").read_text())
    expect(page.locator("#headline")).to_have_text("Everything this page checks is correct.")
    statements = {"match.json": 2, "rewritten.json": 2, "evidence.json": 1, "proof.txt": 0}
    expect(page.locator("[data-step=statement]")).to_have_count(statements[name])


def test_the_receipt_of_the_worked_dispute_is_in_the_evidence(page):
    drop(page, *disputed("receipt.txt", "evidence.json", "keys"))
    expect(page.locator("#headline")).to_have_text("Everything this page checks is correct.")
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
    expect(page.locator("#headline")).to_have_text("This check failed.")
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
