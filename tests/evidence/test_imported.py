"""Documents of imported matches: they contain the source's document, and all of it is checked."""

from typing import Any

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
SOURCE = golden_document("timed")


def events_of(document: MatchDocument) -> list[bytes]:
    return [one.leaf for one in document.leaves if is_event(one.leaf)]


def imported(
    source: MatchDocument,
    number: int = 2,
    moves_of: MatchDocument | None = None,
    shown: MatchDocument | None = SOURCE,
    **changes: Any,
) -> MatchDocument:
    """The document of a match that goes on from another; it shows a source, with one field of it changed."""
    events = events_of(source)
    named = MatchSource(
        kind="document",
        origin=source.log.origin or "",
        board=source.board,
        head=leaf_hash(events[-1]),
        events=len(events),
        digest=document_digest(source),
    )
    match = Match(board=number)
    state = replay(events_of(moves_of or source))
    match.do(SERVER_ACCOUNT, import_command(state, HERE, replace(named, **changes)), BEGIN)
    if moves_of is None:
        for account in HERE:
            match.do(account, AnswerOffer(accept=True), BEGIN + 1)
    return HistoryStore(match).document(Additions(imported_from=lambda _: shown))


def test_an_imported_match_holds_with_all_that_holds_at_its_source():
    again = read_document(write_document(imported(SOURCE)))
    verdict = check_document(again, [SECRET.public])
    assert verdict.fault == ""
    said, events = "\n".join(verdict.holds), len(events_of(SOURCE))
    assert f"at the source: {events} events in sequence" in said
    assert "at the source: the checkpoint of play.example.org/log/s01" in said
    assert f"the match goes on from {events} events of board 1 of play.example.org" in said
    assert f"{HERE[0].hex()} here" in said
    assert any("said by accepting" in one for one in verdict.limits)
    second = imported(SOURCE, 2)
    third = check_document(imported(second, 3, shown=second))
    assert third.fault == ""
    assert any(one.startswith("at the source: at the source: ") for one in third.holds)


def test_keys_of_the_new_server_alone_leave_those_of_the_source_open():
    verdict = check_document(imported(SOURCE), [SECRET.signer(2).key])
    assert verdict.fault == ""
    open_ = "at the source: its key comes from the file itself"
    assert any(one.startswith(open_) for one in verdict.limits)
    assert check_document(imported(SOURCE), [OTHER_SECRET.public]).fault


OTHER = "imported_from: it is not the document that event 1 names: "
UNPLAYED = replace(SOURCE, moves=())


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (imported(SOURCE, digest=bytes(32)), OTHER + "its digest is another one"),
        (imported(SOURCE, origin="elsewhere/log/s01"), OTHER + "it has another origin"),
        (imported(SOURCE, board=5), OTHER + "it has another board"),
        (imported(SOURCE, events=3), OTHER + "it has another number of events"),
        (imported(SOURCE, head=bytes(32)), OTHER + "its last event is another one"),
        (imported(SOURCE, moves_of=golden_document("plain")), "event 1: it goes on with other "),
        (imported(SOURCE, shown=None), "imported_from: it is missing, and event 1 names it"),
        (replace(golden_document("imported"), imported_from=SOURCE), "imported_from: the match was imported from a record"),
        (imported(UNPLAYED, shown=UNPLAYED), "imported_from: moves: move 1"),
    ],
)  # fmt: skip
def test_a_source_that_does_not_fit_is_named(document, said):
    assert check_document(document).fault.startswith(said)
