"""Claims, rulings and appeals as players read them, and a match that goes on while somebody watches."""

from collections.abc import Iterator

import pytest

from domain.match.commands import Command, CommandEnvelope, GiveRuling, MakeAppeal, MakeClaim
from domain.match.events import Absent, Claimed, SetBack, command_id
from domain.match.history import EventEnvelope, decode_event, unpack_snapshot
from domain.match.state import MatchState, next_due
from infra.mail.addresses import ServerAddresses
from infra.mail.composer import MatchUpdate
from infra.mail.progress import DigestItem
from infra.projections.notices import NoticeKind
from infra.redis import keys
from services.mail.notification_texts import NotificationTexts
from services.words.matches import describe_events
from services.words.named_match import NamedMatch
from tests.helpers.api import Api, Player
from tests.helpers.web import Guest

ARBITER = b"arbiter1"
TEXT = bytes(32)


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("disputes")) as api:
        yield api


class Dispute:
    """A match of two with clocks that the second has resigned after a move."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.players = api.players()
        self.board = api.begun(*self.players, terms=["--days=3"])
        assert self.players[0].move(self.board, "m13-j7").is_success
        assert self.players[1].give(self.board, {"do": "resign"}).is_success
        self.sent = 0

    @property
    def state(self) -> MatchState:
        (packed,) = self.api.parts.store.snapshots([self.board])
        return unpack_snapshot(packed).state

    def do(self, actor: bytes, command: Command) -> str:
        """Have a command decided; return the sentence on its events."""
        self.sent += 1
        id_ = command_id("test", actor, f"{self.board}.{self.sent}")
        sent = CommandEnvelope(self.board, id_, actor, command)
        outcome = self.api.parts.gateway.send(sent, 0)
        assert outcome.accepted, outcome
        scene = NamedMatch.of(self.api.parts, self.board, self.state)
        return describe_events(scene, self.last)

    @property
    def last(self) -> list[EventEnvelope]:
        """The events of the last command."""
        events = [decode_event(data) for data in self.api.parts.store.events(self.board)]
        return [one for one in events if one.command == events[-1].command]


@pytest.fixture
def dispute(api: Api) -> Dispute:
    return Dispute(api)


def rule(claim: int | None, **changes: object) -> GiveRuling:
    return GiveRuling(claim=claim, upheld=bool(changes), text=TEXT, **changes)  # type: ignore[arg-type]


def test_each_event_is_a_sentence(dispute: Dispute) -> None:
    one, other = dispute.players
    place = f"match {dispute.board}, #1"
    assert dispute.do(other.account, MakeClaim(ply=1, text=TEXT)) == (
        f"{place}: Dark ({other.name}) made a claim about move 1"
    )
    claim = dispute.state.seq
    ruling = rule(claim, back_to=1, time=((1, 3_600_000),))
    assert dispute.do(ARBITER, ruling) == (
        f"{place}: an arbiter upheld claim {claim}; the match goes back to the position after 1 move and continues from there; "
        f"Dark ({other.name}) gets 1 hour more; it is Dark's turn ({other.name})"
    )
    assert dispute.do(one.account, MakeAppeal(claim=claim, text=TEXT)) == (
        f"{place}: Light ({one.name}) appealed against the ruling on claim {claim}"
    )
    assert dispute.do(b"arbiter2", rule(claim)) == f"{place}: an arbiter dismissed claim {claim}"
    assert dispute.do(ARBITER, rule(None, winners=(0,))) == (
        f"{place}: an arbiter ruled; the match is over: Light ({one.name}) won by a ruling"
    )
    assert dispute.do(ARBITER, rule(None, annul=True)) == (
        f"{place}: an arbiter ruled; the match is over: annulled by an arbiter; the match doesn’t count"
    )


def test_a_stream_goes_on_with_a_match_that_was_over(api: Api, dispute: Dispute) -> None:
    other = dispute.players[1]
    dispute.do(ARBITER, rule(None, back_to=1))
    with api.stream(f"/api/matches/{dispute.board}/events") as told:
        kinds = [next(told).event for _ in range(7)]
        assert kinds == [
            "match-proposed",
            "accepted",
            "moved",
            "resigned",
            "ended",
            "ruled",
            "set-back",
        ]
        assert other.move(dispute.board, "a13-d7").is_success
        dispute.do(ARBITER, rule(None, annul=True))
        rest = [one.event for one in told if not one.comment]
    assert rest == ["moved", "ruled", "result-changed"]
    dispute.do(other.account, MakeClaim(ply=1, text=TEXT))
    with api.stream(f"/api/matches/{dispute.board}/events", Last_Event_ID="10") as told:
        assert [one.event for one in told if not one.comment] == ["claimed"]


def test_the_api_shows_the_fields_of_a_claim(api: Api, dispute: Dispute) -> None:
    dispute.do(dispute.players[1].account, MakeClaim(ply=1, text=TEXT))
    shown = api.http.get(f"/api/matches/{dispute.board}/events").json()[-1]
    assert (shown["type"], shown["body"]) == ("claimed", {"seat": 1, "ply": 1, "text": "00" * 32})
    assert isinstance(dispute.last[0].body, Claimed)


def test_a_match_that_goes_on_is_due_again_and_its_pages_show_it(
    api: Api, dispute: Dispute
) -> None:
    shard = dispute.board % 4
    assert api.parts.data.zscore(keys.due(shard), dispute.board) is None
    dispute.do(ARBITER, rule(None, back_to=0))
    due = next_due(dispute.state)
    assert due > 0
    assert api.parts.data.zscore(keys.due(shard), dispute.board) == due
    assert api.parts.data.zscore(keys.ended(shard), dispute.board) is None
    with Guest(api) as guest:
        page = guest.get(f"/m/{dispute.board}")
        assert page.status_code == 200
        assert "is over" not in page.text
        assert guest.get(f"/m/{dispute.board}/0").status_code == 200
    assert dispute.players[0].move(dispute.board, "m13-j7").is_success


def test_a_vacation_that_began_after_the_end_stops_the_clock(api: Api) -> None:
    dispute = Dispute(api)
    other: Player = dispute.players[1]
    api.caught_up()  # its matches in progress hear of a vacation, and this one is over
    asked = other.post("/api/account/vacation", {"days": 5})
    assert asked.is_success, asked.text
    dispute.do(ARBITER, rule(None, back_to=1))
    kinds = [type(one.body) for one in dispute.last]
    assert kinds[1:] == [SetBack, Absent]


def test_mails_say_what_was_ruled(api: Api, dispute: Dispute) -> None:
    one, other = dispute.players
    texts = NotificationTexts(api.parts, ServerAddresses(bytes(32), "play.example.org"))
    dispute.do(other.account, MakeClaim(ply=1, text=TEXT))
    history = tuple(api.parts.store.events(dispute.board))
    update = MatchUpdate(
        one.account, dispute.board, 0, len(history), (NoticeKind.CLAIMED,), history
    )
    assert "made a claim about move 1" in texts.match_update(update).body
    kinds = (NoticeKind.CLAIMED, NoticeKind.RULED, NoticeKind.APPEALED)
    items = [DigestItem(dispute.board, 5, kind, 1) for kind in kinds]
    body = texts.digest(one.account, items).body
    for words in ("a player made a claim;", "an arbiter ruled", "appealed against the ruling"):
        assert words in body
