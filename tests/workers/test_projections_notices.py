"""What players are told: given events, when they are read, then these notices."""

import pytest
from redis import Redis

from domain.match.events import (
    SERVER_ACCOUNT,
    Absent,
    Declined,
    Event,
    Flagged,
    Gathered,
    Nagged,
    OfferAnswered,
    Paused,
    Resumed,
)
from domain.match.state import Reason
from infra.projections.notices import (
    MOST_NOTICES,
    MatchNotices,
    NoticeDetail,
    NoticeKind,
    PlayerNotice,
)
from infra.redis.reads import read_one
from tests.fakes.logs import Logs
from tests.helpers.given import (
    ALICE,
    BOB,
    CAROL,
    accepted,
    challenged,
    ended,
    moved,
    offered,
    proposed,
    resigned,
    started,
    three,
    undone,
)
from tests.helpers.side import catch_up

TURN, OVER = NoticeKind.YOUR_TURN, NoticeKind.OVER


@pytest.fixture
def logs() -> Logs:
    return Logs()


def kinds(logs: Logs, client: Redis, account: bytes) -> list[NoticeKind]:
    """What an account was told, the oldest first."""
    catch_up(logs.store, client)
    return [
        notice.kind
        for notice in read_one(client, MatchNotices(client).since(account, (0, 0, 0, ""))).notices
    ]


def new(logs: Logs, client: Redis, actor: bytes, *bodies: Event) -> dict[str, list[NoticeKind]]:
    """What everybody is told of these events and was not told before."""
    before = {who: kinds(logs, client, who) for who in (ALICE, BOB, CAROL)}
    logs.add(1, 1_000, actor, *bodies)
    return {
        who.decode().strip("."): told
        for who, known in before.items()
        if (told := kinds(logs, client, who)[len(known) :])
    }


def test_a_start_is_told_to_the_others_and_the_turn_to_who_has_it(
    logs: Logs, shelf_client: Redis
) -> None:
    assert new(logs, shelf_client, ALICE, started(turn=1)) == {"bob": [NoticeKind.STARTED, TURN]}


def test_nobody_is_told_of_what_they_did(logs: Logs, shelf_client: Redis) -> None:
    assert new(logs, shelf_client, ALICE, started()) == {"bob": [NoticeKind.STARTED]}
    assert new(logs, shelf_client, ALICE, moved(1, 0, 0)) == {}


def test_a_notice_says_which_event_of_which_match_and_when(logs: Logs, shelf_client: Redis) -> None:
    logs.add(17, 100, ALICE, started())
    logs.add(17, 200, ALICE, moved(1, 0, 1))
    catch_up(logs.store, shelf_client)
    assert MatchNotices(shelf_client).of(BOB) == [
        PlayerNotice(at=200, board=17, seq=2, kind=TURN),
        PlayerNotice(at=100, board=17, seq=1, kind=NoticeKind.STARTED),
    ]


def test_a_move_tells_who_is_next(logs: Logs, shelf_client: Redis) -> None:
    new(logs, shelf_client, ALICE, started())
    assert new(logs, shelf_client, ALICE, moved(1, 0, 1)) == {"bob": [TURN]}
    assert new(logs, shelf_client, BOB, moved(2, 1, 0)) == {"alice": [TURN]}


def test_a_reply_laid_ready_is_told_to_who_laid_it(logs: Logs, shelf_client: Redis) -> None:
    new(logs, shelf_client, ALICE, started())
    told = new(logs, shelf_client, ALICE, moved(1, 0, 1), moved(2, 1, 0, queued=True))
    assert told == {"bob": [TURN, NoticeKind.REPLIED]}


def test_offers_and_answers_are_told_to_the_others(logs: Logs, shelf_client: Redis) -> None:
    new(logs, shelf_client, ALICE, started())
    assert new(logs, shelf_client, ALICE, offered(0)) == {"bob": [NoticeKind.OFFER]}
    answered = OfferAnswered(seat=1, kind="draw", accept=False)
    assert new(logs, shelf_client, BOB, answered) == {"alice": [NoticeKind.ANSWERED]}
    (to_bob, *_), (to_alice,) = (MatchNotices(shelf_client).of(who) for who in (BOB, ALICE))
    assert to_bob.detail == NoticeDetail(0, "draw")
    assert to_alice.detail == NoticeDetail(1, "draw", accepted=False)


def test_what_is_taken_back_may_give_the_turn(logs: Logs, shelf_client: Redis) -> None:
    new(logs, shelf_client, ALICE, started(), moved(1, 0, 1), offered(0, "undo"))
    told = new(
        logs, shelf_client, BOB, OfferAnswered(seat=1, kind="undo", accept=True), undone(0, 0)
    )
    assert told == {"alice": [NoticeKind.ANSWERED, TURN]}


def test_the_end_is_told_once(logs: Logs, shelf_client: Redis) -> None:
    new(logs, shelf_client, ALICE, started())
    assert new(logs, shelf_client, ALICE, resigned(0), ended(1)) == {"bob": [OVER]}


def test_both_are_told_when_time_ends_a_match(logs: Logs, shelf_client: Redis) -> None:
    new(logs, shelf_client, ALICE, started())
    told = new(logs, shelf_client, SERVER_ACCOUNT, Flagged(seat=0), ended(1, reason=Reason.TIME))
    assert told == {"alice": [OVER], "bob": [OVER]}


def test_a_reminder_is_for_one(logs: Logs, shelf_client: Redis) -> None:
    new(logs, shelf_client, ALICE, started())
    assert new(logs, shelf_client, SERVER_ACCOUNT, Nagged(seat=0)) == {
        "alice": [NoticeKind.REMINDER]
    }


def test_an_invitation_is_told_to_the_invited_and_its_acceptance_to_the_others(
    logs: Logs, shelf_client: Redis
) -> None:
    assert new(logs, shelf_client, ALICE, proposed(turn=1)) == {"bob": [NoticeKind.CHALLENGED]}
    assert new(logs, shelf_client, BOB, accepted(1, 1)) == {"alice": [NoticeKind.STARTED]}


def test_the_turn_is_told_with_the_acceptance(logs: Logs, shelf_client: Redis) -> None:
    new(logs, shelf_client, ALICE, proposed())
    assert new(logs, shelf_client, BOB, accepted(1)) == {"alice": [NoticeKind.STARTED, TURN]}


def test_of_three_only_the_last_acceptance_is_told_as_the_start(
    logs: Logs, shelf_client: Redis
) -> None:
    invited = new(logs, shelf_client, ALICE, proposed(ALICE, BOB, CAROL, invited=(1, 2)))
    assert invited == {"bob": [NoticeKind.CHALLENGED], "carol": [NoticeKind.CHALLENGED]}
    assert new(logs, shelf_client, CAROL, accepted(2, None)) == {}
    told = new(logs, shelf_client, BOB, accepted(1))
    assert told == {"alice": [NoticeKind.STARTED, TURN], "carol": [NoticeKind.STARTED]}


def test_a_lapsed_invitation_is_told_to_both(logs: Logs, shelf_client: Redis) -> None:
    new(logs, shelf_client, ALICE, proposed())
    lapsed = Declined(seat=1), ended(reason=Reason.DECLINED)
    told = new(logs, shelf_client, SERVER_ACCOUNT, *lapsed)
    assert told == {"alice": [NoticeKind.DECLINED], "bob": [OVER]}


def test_a_challenge_that_waits_and_its_end_are_told(logs: Logs, shelf_client: Redis) -> None:
    asked = new(logs, shelf_client, ALICE, challenged(ALICE, BOB, CAROL))
    assert asked == {"bob": [NoticeKind.CHALLENGED], "carol": [NoticeKind.CHALLENGED]}
    assert new(logs, shelf_client, BOB, Gathered(seat=1, text=b"")) == {}
    said = new(logs, shelf_client, CAROL, Declined(seat=2), ended(reason=Reason.DECLINED))
    assert said == {"alice": [NoticeKind.DECLINED], "bob": [NoticeKind.DECLINED]}


def test_the_end_of_a_pause_is_told_and_vacations_are_not(logs: Logs, shelf_client: Redis) -> None:
    new(logs, shelf_client, ALICE, started())
    assert new(logs, shelf_client, BOB, Paused()) == {}
    assert new(logs, shelf_client, BOB, Resumed(seat=1)) == {"alice": [NoticeKind.RESUMED]}
    assert new(logs, shelf_client, BOB, Absent(seat=1, until=9)) == {}


def test_of_three_who_has_left_is_told_no_more_until_the_end(
    logs: Logs, shelf_client: Redis
) -> None:
    new(logs, shelf_client, ALICE, three(), moved(1, 0, 1))
    told = new(logs, shelf_client, BOB, resigned(1, turn=2))
    assert told == {"alice": [NoticeKind.RESIGNED], "carol": [NoticeKind.RESIGNED, TURN]}
    assert new(logs, shelf_client, ALICE, offered(0)) == {"carol": [NoticeKind.OFFER]}
    assert new(logs, shelf_client, CAROL, moved(2, 2, 0)) == {"alice": [TURN]}
    told = new(logs, shelf_client, ALICE, resigned(0), ended(2))
    assert told == {"bob": [OVER], "carol": [OVER]}
    assert shelf_client.keys("{p:notifications}:*:tables") == []


def test_who_was_to_move_before_another_left_is_not_told_again(
    logs: Logs, shelf_client: Redis
) -> None:
    new(logs, shelf_client, ALICE, three(), moved(1, 0, 1))
    told = new(logs, shelf_client, SERVER_ACCOUNT, Flagged(seat=2, next=1))
    assert told == {who: [NoticeKind.FLAGGED] for who in ("alice", "bob", "carol")}


def test_only_the_newest_are_kept(logs: Logs, shelf_client: Redis) -> None:
    for board in range(1, MOST_NOTICES + 51):
        logs.add(board, board, ALICE, started())
        if board % 40 == 0:
            catch_up(logs.store, shelf_client)
    catch_up(logs.store, shelf_client)
    found = MatchNotices(shelf_client).of(BOB, count=1_000)
    assert [notice.board for notice in found] == list(range(MOST_NOTICES + 50, 50, -1))
    assert [n.board for n in MatchNotices(shelf_client).of(BOB, start=2, count=2)] == [248, 247]
    assert [
        n.board
        for n in read_one(
            shelf_client, MatchNotices(shelf_client).since(BOB, (249, 0, 0, ""))
        ).notices
    ] == [
        249,
        250,
    ]
