"""Replies laid ready: what is dropped, what is stored, and what an audit finds."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from domain.match.audit import verify
from domain.match.commands import PlayMove, ResignMatch
from domain.match.conditional_moves import (
    CONDITIONAL_MOVES_LIMIT,
    ConditionalMove,
    ConditionalMoves,
    drop,
    find_due,
    merge,
    pack,
    still_possible,
    turn_taken,
    unpack,
)
from domain.match.history import BrokenHistory
from domain.sentences import text_in
from infra.languages.wording import wording
from tests.domain.clocks_given import three
from tests.domain.replies_given import (
    AND_BACK,
    BACK,
    DARK,
    FORTH,
    LIGHT,
    OUT,
    moved,
    waiting,
)
from tests.helpers.given import ALICE, BOB, Match, pow2

# --- what is dropped


def test_an_illegal_reply_is_dropped_with_a_note_and_the_match_stands() -> None:
    match = Match(pow2())
    match.lay(DARK, ConditionalMove(1, None, "a13-b4"), ConditionalMove(3, None, FORTH))
    assert match.do(ALICE, PlayMove(text=OUT)) == (moved(1, 0, OUT, 1),)
    assert match.state.next == DARK
    (note,) = match.replies[DARK].notes
    assert str(note).startswith("a13-b4 at #1 was dropped: a13-b4: ")
    (note,) = unpack(pack(match.replies))[DARK].notes
    assert text_in(note, wording("de")).startswith("a13-b4 bei #1 ist weggefallen: a13-b4: ")
    assert waiting(match, DARK) == (ConditionalMove(3, None, FORTH),)
    assert match.play(FORTH) == [moved(2, 1, FORTH, 0)]
    match.holds()


def test_an_unreadable_reply_is_dropped_with_a_note() -> None:
    match = Match(pow2())
    match.lay(DARK, ConditionalMove(1, None, "hello"))
    assert match.play(OUT) == [moved(1, 0, OUT, 1)]
    assert str(match.replies[DARK].notes[0]).startswith("hello at #1 was dropped: ")


def test_an_illegal_reply_is_tried_once() -> None:
    match = three()
    match.play("1")
    match.lay(2, ConditionalMove(2, None, "99"))
    match.play("1")
    before = match.replies[2]
    assert len(before.notes) == 1
    match.do(ALICE, ResignMatch())
    assert match.replies[2] == before
    assert match.state.next == 2
    match.holds()


def test_the_ten_newest_notes_are_kept() -> None:
    replies = {DARK: ConditionalMoves((), ("old",))}
    for number in range(10):
        replies = drop(replies, DARK, ConditionalMove(1, None, "x"), str(number))
    assert replies[DARK].notes == tuple("0123456789")


MOVES = ["a", "b", "c"]
CAN_BE = [
    ConditionalMove(3, None, "x"),
    ConditionalMove(4, None, "x"),
    ConditionalMove(3, ("c",), "x"),
    ConditionalMove(3, ("a", "b", "c"), "x"),
    ConditionalMove(5, ("c", "d", "e"), "x"),
    ConditionalMove(5, ("d", "e"), "x"),
]
CAN_NOT_BE = [
    ConditionalMove(2, None, "x"),
    ConditionalMove(2, ("b",), "x"),
    ConditionalMove(3, ("d",), "x"),
    ConditionalMove(4, ("b", "b", "d"), "x"),
    ConditionalMove(6, ("d", "e"), "x"),
]


def test_what_can_come_to_be_is_kept_and_nothing_else() -> None:
    replies = {DARK: ConditionalMoves((*CAN_BE, *CAN_NOT_BE), ("note",))}
    assert still_possible(replies, MOVES, (0, 1)) == {
        DARK: ConditionalMoves(tuple(CAN_BE), ("note",))
    }
    assert still_possible(replies, MOVES, (0,)) == {}


def test_the_reply_for_now_is_found_by_seat_ply_and_moves() -> None:
    replies = {DARK: ConditionalMoves((*CAN_NOT_BE, *CAN_BE))}
    assert find_due(replies, DARK, MOVES) == ConditionalMove(3, ("a", "b", "c"), "x")
    assert find_due(replies, DARK, ["b", "b", "c"]) == ConditionalMove(3, ("c",), "x")
    assert find_due(replies, DARK, ["b", "b", "b"]) == ConditionalMove(3, None, "x")
    assert find_due(replies, LIGHT, MOVES) is None
    assert find_due(replies, DARK, []) is None


OLD = [ConditionalMove(4, ("c", "d"), "x"), ConditionalMove(4, None, "x")]


@pytest.mark.parametrize(
    ("new", "left"),
    [
        (ConditionalMove(4, ("c", "d"), "y"), OLD[1:]),
        (ConditionalMove(4, ("d",), "y"), OLD[1:]),
        (ConditionalMove(4, None, "y"), OLD[:1]),
        (ConditionalMove(4, ("e",), "y"), OLD),
        (ConditionalMove(4, ("e", "d"), "y"), OLD),
        (ConditionalMove(4, ("b", "c", "d"), "y"), OLD),
        (ConditionalMove(5, ("d",), "y"), OLD),
        (ConditionalMove(5, ("c", "d"), "y"), OLD),
        (ConditionalMove(5, None, "y"), OLD),
    ],
)
def test_a_new_reply_takes_the_place_of_one_for_the_same_moves(
    new: ConditionalMove, left: list[ConditionalMove]
) -> None:
    assert merge(ConditionalMoves(tuple(OLD), ("note",)), [new]) == ConditionalMoves(
        (*left, new), ("note",)
    )


# --- the history


@pytest.mark.parametrize(
    ("seq", "changes", "sentence"),
    [
        (2, {"queued": True}, "event 2: the rules give"),
        (3, {"queued": False}, "event 3: the rules give 1 events here, not 2"),
        (3, {"move": "a13-b4"}, "event 3: the rules give 1 events here, not 2"),
        (3, {"seat": 0}, "event 3: the rules give 1 events here, not 2"),
    ],
)
def test_a_forged_reply_is_found_though_the_chain_is_whole(
    seq: int, changes: dict[str, object], sentence: str
) -> None:
    match = replied()
    body = replace(match.bodies[seq - 1], **changes)
    with pytest.raises(BrokenHistory, match=sentence):
        verify(1, match.forged(seq, body=body))


@pytest.mark.parametrize(
    ("seq", "actor", "sentence"),
    [
        (3, ALICE, "event 3: deciding it again gives another time or actor"),
        (2, BOB, "event 2: the rules refuse it: you play Dark"),
    ],
)
def test_a_reply_and_what_it_answers_have_their_own_seats_accounts_for_actors(
    seq: int, actor: bytes, sentence: str
) -> None:
    with pytest.raises(BrokenHistory, match=sentence):
        verify(1, replied().forged(seq, actor=actor))


def replied() -> Match:
    """A match of one move and its reply, which was laid ready."""
    match = Match(pow2())
    match.lay(DARK, ConditionalMove(1, None, FORTH))
    match.play(OUT)
    return match


# --- as they are stored

replies = st.builds(
    ConditionalMove,
    ply=st.integers(0, 300),
    path=st.none() | st.lists(st.text(max_size=9), max_size=4).map(tuple),
    move=st.text(max_size=9),
)
seats = st.dictionaries(
    st.integers(0, 2),
    st.builds(
        ConditionalMoves,
        st.lists(replies, max_size=4).map(tuple),
        st.lists(st.text(max_size=9), max_size=2).map(tuple),
    ),
)


@given(seats)
def test_replies_come_back_as_they_were_stored_but_for_seats_without_any(laid: dict) -> None:
    assert unpack(pack(laid)) == {
        seat: one for seat, one in laid.items() if one != ConditionalMoves()
    }


def test_the_stored_form_of_replies_is_final() -> None:
    laid = {
        DARK: ConditionalMoves(
            (ConditionalMove(3, ("c",), "x"), ConditionalMove(4, None, "y")), ("n",)
        )
    }
    assert pack(laid) == bytes.fromhex("81 01 92 92 93 03 91 a1 63 a1 78 93 04 c0 a1 79 91 a1 6e")


@pytest.mark.parametrize("data", [b"\xc1", b"\x90", b"\x81\x01\x03", b"\x81\x01"])
def test_bytes_that_are_no_replies_are_refused(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        unpack(data)


def test_a_seat_that_lays_all_it_may_plays_them_all_in_one_decision() -> None:
    match = Match(pow2())
    lines = OUT, FORTH, BACK, AND_BACK
    for seat in (LIGHT, DARK):
        plies = range(seat or 2, 2 * CONDITIONAL_MOVES_LIMIT + 2, 2)
        match.lay(seat, *(ConditionalMove(ply, None, lines[ply % 4]) for ply in plies))
    assert len(match.do(ALICE, PlayMove(text=OUT))) > 2 * CONDITIONAL_MOVES_LIMIT - 2
    match.holds()


def test_a_move_for_the_next_turn_waits_for_it_however_many_others_move_before() -> None:
    waits = ConditionalMove(1, (), "x")
    replies = {DARK: ConditionalMoves((waits, ConditionalMove(9, None, "y")))}
    assert find_due(replies, DARK, MOVES) == waits
    assert find_due(replies, DARK, []) is None
    assert unpack(pack(still_possible(replies, MOVES, (DARK,)))) == replies
    after = turn_taken(replies, DARK)
    assert find_due(after, DARK, MOVES) is None
    assert turn_taken(after, DARK) is after
    assert merge(replies[DARK], [ConditionalMove(4, (), "z")]).moves[1:] == (
        ConditionalMove(4, (), "z"),
    )
