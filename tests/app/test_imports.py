"""Importing: what is taken, what is refused, and that nothing is lost where it is interrupted."""

import pytest

from domain.clocks.time_control import DAY
from domain.errors import Code, Refusal
from domain.match.commands import AnswerOffer, MakeClaim, MakeOffer
from infra.audit.faults import NotCheckableError
from infra.audit.match_document import write_document
from infra.objects.port import ObjectStoreError
from services.app.imports import check_import, object_name, plan_import, seats_of
from tests.fakes.app import FakeApp
from tests.helpers.evidence import OTHER_SECRET, SECRET, HistoryStore
from tests.helpers.given import ALICE, BOB, Match, challenge

BEGIN = 1_790_000_000_000
PLAYERS = {"Light": "alice", "Dark": "bob"}


def played(*, transferred: bool = True, claimed: bool = False) -> Match:
    match = Match()
    match.do(*challenge("pow2", "--days=3"), BEGIN)
    match.play("m13-m9", "a13-c11", at=BEGIN + DAY)
    if claimed:
        match.do(BOB, MakeClaim(ply=1, text=bytes(32)), BEGIN + DAY)
    if transferred:
        match.do(ALICE, MakeOffer(kind="transfer"), BEGIN + DAY)
        match.do(BOB, AnswerOffer(accept=True), BEGIN + DAY)
    return match


def document(match: Match, published: int | None = None) -> bytes:
    return write_document(HistoryStore(match, published).document())


@pytest.fixture
def app():
    made = FakeApp()
    for name in ("alice", "bob"):
        made.accounts.signup(name, "mad-hatter")
    yield made
    made.close()


def refusal(data: bytes, trusted=(), **more) -> Refusal:
    with pytest.raises(Refusal) as refused:
        check_import(data, trusted, **more)
    return refused.value


def test_a_transferred_match_with_all_its_leaves_published_is_taken():
    checked = check_import(document(played()), [SECRET.public])
    assert checked.state.ply == 2
    assert checked.source.origin == "play.example.org/log/s01"
    assert any("that you named" in one for one in checked.holds)
    assert check_import(checked.data, [SECRET.public]) == checked


@pytest.mark.parametrize(
    ("data", "code", "said"),
    [
        (document(played(transferred=False)), Code.TOO_EARLY, "still runs at play.example.org"),
        (document(played(claimed=True)), Code.TOO_EARLY, "waits for a ruling"),
        (document(played(), 7), Code.TOO_EARLY, "export it again in a minute"),
        (document(played()).replace(b"m13-m9", b"m13-m5", 1), Code.BAD_REQUEST, "moves: move 1"),
        (b"{}", Code.BAD_REQUEST, "not of its form"),
        (b"{", Code.BAD_REQUEST, "is JSON"),
    ],
    ids=range(6),
)
def test_what_can_not_be_moved_is_refused(data: bytes, code: Code, said: str):
    found = refusal(data)
    assert found.code is code
    assert said in found.sentence


def test_a_document_that_other_keys_signed_is_refused():
    assert (
        "no signature by a known key" in refusal(document(played()), [OTHER_SECRET.public]).sentence
    )


def test_one_that_runs_is_taken_if_the_operator_says_so():
    checked = check_import(document(played(transferred=False)), (), still_running=True)
    assert not checked.state.over


def test_a_match_of_rules_that_are_missing_here_can_not_be_checked():
    data = document(played()).replace(b'"rules":"pow2/1"', b'"rules":"pow2/9"')
    with pytest.raises((NotCheckableError, Refusal)):
        check_import(data, ())


def test_the_document_is_stored_before_a_board_is_taken(app: FakeApp, monkeypatch):
    checked = check_import(document(played()), ())
    seats = seats_of(app, checked, PLAYERS)

    def fails(*_: object) -> None:
        raise ObjectStoreError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(app.objects, "create", fails)
        with pytest.raises(ObjectStoreError):
            plan_import(app, checked, seats)
    planned = plan_import(app, checked, seats)
    assert planned.sent.match == 1  # none was taken before
    assert app.objects.get(object_name(checked.source.digest)) == checked.data
    # killed before the command was submitted: the next attempt is the same command
    assert plan_import(app, checked, seats) == planned
    assert app.gateway.send(planned.sent, 0, 1).accepted
    again = plan_import(app, checked, seats)
    assert (again.sent, again.is_new) == (planned.sent, False)
    assert app.gateway.send(again.sent, 0, 1).accepted
    assert len(app.store.events(1)) == 1


def test_nothing_is_stored_of_a_match_that_would_be_refused(app: FakeApp):
    checked = check_import(document(played()), ())
    (alice, _) = seats_of(app, checked, PLAYERS)
    with pytest.raises(Refusal) as refused:
        plan_import(app, checked, (alice, alice))
    assert refused.value.code is Code.BAD_PLAYERS
    assert not app.objects.found
