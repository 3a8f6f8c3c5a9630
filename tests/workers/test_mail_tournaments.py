"""Notices and mails of tournaments: both players hear that a match has begun."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from domain.clocks.time_control import TimeControl
from domain.match.commands import ResignMatch, StartMatch
from domain.records import SERVER_ACCOUNT
from domain.tournament.commands import DraftTournament, EnterTournament, OpenEntry, StartTournament
from infra.projections.notices import MatchNotices, NoticeKind
from tests.fakes.sink import Sink
from tests.helpers.given import ALICE, BOB, CAROL
from tests.helpers.mailing import HOMES, Mailing, recipients, text_of
from tests.helpers.side import catch_up
from tests.helpers.tournaments import terms_of_three

NUMBER = 5


@pytest.fixture
def mailing(redis_client: Redis, tmp_path: Path) -> Iterator[Mailing]:
    with Sink() as sink:
        yield Mailing(redis_client, tmp_path, sink)


def run(mailing: Mailing) -> None:
    """Have three enter a tournament, which starts."""
    draft = DraftTournament(terms=terms_of_three(when_full=False))
    mailing.do(CAROL, draft, NUMBER)
    mailing.do(CAROL, OpenEntry(), NUMBER)
    for player in (ALICE, BOB, CAROL):
        mailing.do(player, EnterTournament(rating=1500), NUMBER)
    mailing.do(CAROL, StartTournament(), NUMBER)


def begin(mailing: Mailing, board: int = 1) -> None:
    """Begin the match of a pairing, as the manager does."""
    start = StartMatch(
        rules="goliath/1", options=(), seats=(ALICE, BOB), terms=TimeControl(), pairing=(NUMBER, 0)
    )
    mailing.do(SERVER_ACCOUNT, start, board)


def test_the_events_of_a_tournament_are_no_mail_of_a_match_and_stop_none(mailing: Mailing) -> None:
    run(mailing)
    assert mailing.mail() == []
    mailing.challenge(board=2)
    assert recipients(mailing.mail()) == ["alice", "bob"]


def test_both_players_are_told_that_a_match_has_begun_and_of_which_tournament(
    mailing: Mailing,
) -> None:
    run(mailing)
    begin(mailing)
    own, other = sorted(mailing.mail(), key=lambda mail: str(mail["To"]))
    assert (own["To"], other["To"]) == (HOMES[ALICE], HOMES[BOB])
    for mail in (own, other):
        assert "David and Goliath has started, " in text_of(mail)
        assert f", in tournament {NUMBER}" in text_of(mail)
        assert "decline" not in text_of(mail)
    assert own["Subject"] == "Your move against bob: David and Goliath, match 1"


def test_both_have_a_notice_of_the_start_and_of_the_end(mailing: Mailing) -> None:
    run(mailing)
    begin(mailing)

    def kinds(player: bytes) -> list[NoticeKind]:
        catch_up(mailing.bench.store, mailing.client)
        return [one.kind for one in MatchNotices(mailing.client).of(player, 0, 9)]

    assert kinds(ALICE) == [NoticeKind.YOUR_TURN, NoticeKind.STARTED]
    assert kinds(BOB) == [NoticeKind.STARTED]
    assert kinds(CAROL) == []
    mailing.do(ALICE, ResignMatch())
    assert kinds(BOB)[0] in (NoticeKind.OVER, NoticeKind.RESIGNED)
