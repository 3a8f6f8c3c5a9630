"""A match that was imported, and its source, on the page that checks files."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from infra.audit.match_document import write_document
from tests.evidence.test_imported import document_of, imported
from tests.helpers.checked_files import File, changed, evidence, with_event
from tests.helpers.evidence import SECRET, golden_document
from tests.web.verify_page.checking import document, drop, first_failures
from tests.web.verify_page.file_changes import drop_leaf, of


def imported_file(**changes: Any) -> File:
    source = golden_document("timed")
    return "imported.json", write_document(document_of(imported(source, **changes), source))


def test_an_imported_match_holds_with_the_match_it_comes_from(page):
    key = SECRET.public
    drop(page, imported_file(), keys=f"{key}\n")
    expect(page.locator("#headline")).to_have_text("Everything this page checks is correct.")
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
