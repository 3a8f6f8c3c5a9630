"""Documents of imported matches: they contain the source's document, and all of it is checked."""

import pytest
from msgspec.structs import replace

from domain.match.commands import AnswerOffer
from domain.match.events import MatchSource
from domain.match.history import is_event, leaf_hash, replay
from domain.match.imports import import_command
from domain.records import SERVER_ACCOUNT
from infra.audit.build_document import Additions
from infra.audit.check_document import check_document
from infra.audit.match_document import MatchDocument, document_digest, read_document, write_document
from tests.golden.make_events import BEGIN
from tests.helpers.evidence import OTHER_SECRET, SECRET, HistoryStore, golden_document
from tests.helpers.given import Match

HERE = (b"a-here..", b"b-here..")


def imported(source: MatchDocument, number: int = 2, **changes) -> Match:
    """A match that goes on from a document, with one field of its source changed."""
    events = [one.leaf for one in source.leaves if is_event(one.leaf)]
    named = MatchSource(
        kind="document",
        origin=source.log.origin or "",
        board=source.board,
        head=leaf_hash(events[-1]),
        events=len(events),
        digest=document_digest(source),
    )
    match = Match(board=number)
    command = import_command(replay(events), HERE, replace(named, **changes))
    match.do(SERVER_ACCOUNT, command, BEGIN)
    for account in HERE:
        match.do(account, AnswerOffer(accept=True), BEGIN + 1)
    return match


def document_of(match: Match, source: MatchDocument | None) -> MatchDocument:
    return HistoryStore(match).document(Additions(imported_from=lambda _: source))


def test_it_holds_with_all_that_holds_at_the_source():
    source = golden_document("timed")
    document = document_of(imported(source), source)
    again = read_document(write_document(document))
    verdict = check_document(again, [SECRET.public])
    assert verdict.fault == ""
    said = "\n".join(verdict.holds)
    events = sum(is_event(one.leaf) for one in source.leaves)
    assert f"at the source: {events} events in sequence" in said
    assert "at the source: the checkpoint of play.example.org/log/s01" in said
    assert f"the match goes on from {events} events of board 1 of play.example.org" in said
    assert f"{HERE[0].hex()} here" in said
    assert any("said by accepting" in one for one in verdict.limits)


def test_it_holds_over_several_moves_from_server_to_server():
    first = golden_document("timed")
    second = document_of(imported(first, 2), first)
    third = document_of(imported(second, 3), second)
    verdict = check_document(third)
    assert verdict.fault == ""
    assert any(one.startswith("at the source: at the source: ") for one in verdict.holds)


def test_keys_of_the_new_server_alone_leave_those_of_the_source_open():
    source = replace(golden_document("timed"))
    document = document_of(imported(source), source)
    assert check_document(document, [SECRET.signer(2).key]).fault == ""
    limits = check_document(document, [SECRET.signer(2).key]).limits
    assert any(
        one.startswith("at the source: its key comes from the file itself") for one in limits
    )
    assert check_document(document, [OTHER_SECRET.public]).fault


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"digest": bytes(32)}, "its digest is another one"),
        ({"origin": "elsewhere/log/s01"}, "it has another origin"),
        ({"board": 5}, "it has another board"),
        ({"events": 3}, "it has another number of events"),
        ({"head": bytes(32)}, "its last event is another one"),
    ],
)
def test_an_event_that_names_another_source_is_found(changes, said):
    source = golden_document("timed")
    fault = check_document(document_of(imported(source, **changes), source)).fault
    assert fault.startswith("imported_from: it is not the document that event 1 names")
    assert said in fault


def test_an_event_that_goes_on_from_another_state_is_found():
    source, other = golden_document("timed"), golden_document("plain")
    match = imported(source)
    body = match.bodies[0]
    wrong = import_command(replay_of(other), HERE, body.source)
    forged = Match(board=2)
    forged.do(SERVER_ACCOUNT, wrong, BEGIN)
    fault = check_document(document_of(forged, source)).fault
    assert fault.startswith("event 1: it goes on with other ")


def replay_of(document):
    return replay([one.leaf for one in document.leaves if is_event(one.leaf)])


def test_a_document_without_its_source_or_with_one_too_many_is_found():
    source = golden_document("timed")
    missing = check_document(document_of(imported(source), None))
    assert missing.fault == "imported_from: it is missing, and event 1 names it"
    much = replace(golden_document("plain"), imported_from=source)
    assert check_document(much).fault == "imported_from: no event of the match imports one"
    record = replace(golden_document("imported"), imported_from=source)
    assert "imported from a record" in check_document(record).fault


def test_a_fault_at_the_source_is_named_with_its_place():
    source = golden_document("timed")
    forged = replace(source, moves=())
    document = document_of(imported(forged), forged)
    assert check_document(document).fault.startswith("imported_from: moves: move 1")


def test_a_match_from_a_record_says_that_nothing_proves_its_moves():
    verdict = check_document(golden_document("imported"))
    assert verdict.fault == ""
    (said,) = [one for one in verdict.limits if "a record: unproven" in one]
    assert "nothing shows that they were played" in said
