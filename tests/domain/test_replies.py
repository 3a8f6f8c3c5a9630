"""Replies laid ready: when they are played, and what they become in the history."""

import pytest

from domain.clocks.time_control import DAY
from domain.errors import Code
from domain.match.commands import (
    AnswerOffer,
    FlagPlayer,
    MakeOffer,
    PlayMove,
    RemindPlayer,
    ResignMatch,
)
from domain.match.conditional_moves import NO_CONDITIONAL_MOVES, ConditionalMove, ConditionalMoves
from domain.match.events import (
    SERVER_ACCOUNT,
    Ended,
    Flagged,
    Nagged,
    OfferAnswered,
    Resigned,
    Undone,
)
from tests.domain.clocks_given import FLAG, three, two
from tests.domain.replies_given import (
    AND_BACK,
    BACK,
    DARK,
    FORTH,
    LIGHT,
    OUT,
    SHUT_IN,
    envelopes,
    moved,
    queued,
    waiting,
)
from tests.helpers.given import ALICE, BEGIN, BOB, CAROL, Match, challenge, pow2

# --- played in the same decision


def test_a_reply_is_played_by_the_command_that_makes_it_due() -> None:
    match = Match(pow2())
    match.lay(DARK, ConditionalMove(1, (OUT,), FORTH))
    assert match.do(ALICE, PlayMove(text=OUT)) == (moved(1, 0, OUT, 1), queued(2, 1, FORTH, 0))
    assert waiting(match, DARK) == ()
    match.holds()


def test_its_event_bears_the_senders_command_and_time_and_its_own_seats_account() -> None:
    match = Match(pow2())
    match.lay(DARK, ConditionalMove(1, (OUT,), FORTH))
    match.do(ALICE, PlayMove(text=OUT), BEGIN + 77)
    _, first, second = envelopes(match)
    assert (first.actor, second.actor) == (ALICE, BOB)
    assert first.command == second.command
    assert first.at == second.at == BEGIN + 77


@pytest.mark.parametrize("first", [0, 1])
def test_the_most_particular_of_several_is_played(first: int) -> None:
    unconditional, particular = (
        ConditionalMove(1, None, "a13-a9"),
        ConditionalMove(1, (OUT,), FORTH),
    )
    match = Match(pow2())
    match.lay(DARK, *(unconditional, particular)[:: 1 if first else -1])
    assert match.do(ALICE, PlayMove(text=OUT))[-1] == queued(2, 1, FORTH, 0)
    other = Match(pow2())
    other.lay(DARK, unconditional, particular)
    assert other.do(ALICE, PlayMove(text="m13-m9"))[-1] == queued(2, 1, "a13-a9", 0)


def test_of_two_for_the_same_moves_the_one_that_was_laid_ready_later_is_played() -> None:
    match = Match(pow2())
    match.play(OUT)
    match.lay(
        DARK,
        ConditionalMove(3, (FORTH, BACK), "c11-b10"),
        ConditionalMove(3, (FORTH, "j7-j11"), "c11-a9"),
    )
    match.play(FORTH)
    match.lay(DARK, ConditionalMove(3, (BACK,), AND_BACK))
    assert waiting(match, DARK) == (
        ConditionalMove(3, (FORTH, "j7-j11"), "c11-a9"),
        ConditionalMove(3, (BACK,), AND_BACK),
    )
    assert match.do(ALICE, PlayMove(text=BACK))[-1] == queued(4, 1, AND_BACK, 0)
    match.holds()


def test_a_reply_is_recorded_in_its_canonical_form() -> None:
    match = Match(pow2())
    match.lay(DARK, ConditionalMove(1, None, " A13-C11 "))
    assert match.do(ALICE, PlayMove(text="M13-J7"))[-1] == queued(2, 1, FORTH, 0)
    match.holds()


def test_a_refused_command_plays_nothing() -> None:
    match = two()
    match.lay(DARK, ConditionalMove(1, None, FORTH))
    assert match.refuses(ALICE, PlayMove(text="m13-b4"), BEGIN) == Code.ILLEGAL_MOVE
    assert match.refuses(ALICE, PlayMove(text=OUT), FLAG) == Code.TIME_OVER
    assert match.state.ply == 0
    assert waiting(match, DARK) == (ConditionalMove(1, None, FORTH),)


# --- chains


def test_a_reply_may_end_the_match_and_then_nothing_is_laid_ready_any_more() -> None:
    match = Match(challenge("line"))
    match.play(*SHUT_IN[:19])
    match.lay(LIGHT, ConditionalMove(30, None, "a1"))
    match.lay(
        DARK, ConditionalMove(20, (SHUT_IN[19],), SHUT_IN[20]), ConditionalMove(40, None, "a1")
    )
    assert match.play(SHUT_IN[19]) == [
        moved(20, 1, SHUT_IN[19], 1),
        queued(21, 1, SHUT_IN[20], None),
        Ended(winners=(1,), reason="more-stones"),
    ]
    assert [one.actor for one in envelopes(match)[-2:]] == [BOB, BOB]
    assert match.replies == NO_CONDITIONAL_MOVES
    match.holds()


# --- three players


def test_a_reply_is_played_when_the_seat_to_move_before_it_leaves() -> None:
    match = three()
    match.lay(1, ConditionalMove(0, None, "2"))
    assert match.do(ALICE, ResignMatch()) == (
        Resigned(seat=0, next=1),
        queued(1, 1, "2", 2),
    )
    assert [one.actor for one in envelopes(match)[1:]] == [ALICE, BOB]
    match.holds()


def test_a_reply_is_played_when_the_flag_of_the_seat_before_it_falls() -> None:
    match = three()
    match.lay(1, ConditionalMove(0, None, "2"))
    match.lay(2, ConditionalMove(1, ("2",), "1"))
    assert match.do(SERVER_ACCOUNT, FlagPlayer(), FLAG) == (
        Flagged(seat=0, next=1),
        queued(1, 1, "2", 2),
        queued(2, 2, "1", 1),
    )
    assert [one.actor for one in envelopes(match)[1:]] == [SERVER_ACCOUNT, BOB, CAROL]
    match.holds()


def test_what_a_seat_that_leaves_had_laid_ready_is_dropped() -> None:
    match = three()
    match.lay(1, ConditionalMove(4, None, "1"))
    match.lay(2, ConditionalMove(2, None, "1"))
    match.do(BOB, ResignMatch())
    assert match.replies == {2: ConditionalMoves((ConditionalMove(2, None, "1"),))}
    match.holds()


# --- what does not play them


def test_taking_back_plays_no_reply_but_the_next_move_does() -> None:
    match = Match(pow2())
    match.play(OUT, FORTH)
    match.do(ALICE, MakeOffer(kind="undo"))
    match.lay(LIGHT, ConditionalMove(0, None, "m13-m9"))
    match.lay(DARK, ConditionalMove(1, None, "a13-a9"))
    assert match.do(BOB, AnswerOffer(accept=True)) == (
        OfferAnswered(seat=1, kind="undo", accept=True),
        Undone(ply=0, next=0),
    )
    assert match.play(OUT) == [moved(1, 0, OUT, 1), queued(2, 1, "a13-a9", 0)]
    match.holds()


def test_of_what_was_taken_back_replies_that_were_played_are_not_played_again() -> None:
    match = Match(pow2())
    match.lay(DARK, ConditionalMove(1, None, FORTH))
    match.play(OUT)
    match.do(ALICE, MakeOffer(kind="undo"))
    match.do(BOB, AnswerOffer(accept=True))
    assert match.play(OUT) == [moved(1, 0, OUT, 1)]
    match.holds()


def test_replies_that_build_on_moves_taken_back_are_dropped_with_them() -> None:
    match = Match(pow2())
    match.lay(DARK, ConditionalMove(3, (OUT, FORTH, BACK), AND_BACK))
    match.play(OUT, FORTH)
    match.lay(DARK, ConditionalMove(3, ("j7-j11",), "c11-a9"), ConditionalMove(5, None, "a1-a5"))
    match.do(ALICE, MakeOffer(kind="undo"))
    match.do(BOB, AnswerOffer(accept=True))
    assert waiting(match, DARK) == (
        ConditionalMove(3, (OUT, FORTH, BACK), AND_BACK),
        ConditionalMove(5, None, "a1-a5"),
    )
    match.play(OUT, FORTH)
    assert match.do(ALICE, PlayMove(text=BACK))[-1] == queued(4, 1, AND_BACK, 0)
    match.holds()


def test_offers_answers_and_reminders_play_no_reply() -> None:
    match = two()
    match.lay(LIGHT, ConditionalMove(0, None, OUT))
    match.do(BOB, MakeOffer(kind="draw"))
    assert match.do(ALICE, AnswerOffer(accept=False)) == (
        OfferAnswered(seat=0, kind="draw", accept=False),
    )
    assert match.do(SERVER_ACCOUNT, RemindPlayer(), BEGIN + 2 * DAY) == (Nagged(seat=0),)
    assert match.state.ply == 0
    assert waiting(match, LIGHT) == (ConditionalMove(0, None, OUT),)
    match.holds()


def test_a_reply_lets_an_offer_lapse_as_a_move_does() -> None:
    match = Match(pow2())
    match.lay(DARK, ConditionalMove(1, None, FORTH))
    match.do(ALICE, MakeOffer(kind="draw"))
    match.play(OUT)
    assert match.refuses(BOB, AnswerOffer(accept=True)) == Code.NO_OFFER
    match.holds()
