"""Conditional moves: what is played is what would have been played by hand; what is dropped, stored and audited.

A match is played at random by hand. Then it is played again, with some of its moves laid ready at
random before they are due, and beside them replies that never come to be.
"""

import random
from collections.abc import Iterator, Sequence

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from domain.match import commands
from domain.match.audit import verify
from domain.match.conditional_moves import (
    NO_CONDITIONAL_MOVES,
    ConditionalMove,
    ConditionalMoves,
    find_due,
    merge,
    pack,
    still_possible,
    turn_taken,
    unpack,
)
from domain.match.events import (
    Event,
    Flagged,
    Moved,
)
from domain.match.history import BrokenHistory, decode_event
from domain.records import SERVER_ACCOUNT
from domain.sentences import text_in
from infra.languages.wording import wording
from tests.domain.given import (
    AND_BACK,
    BACK,
    DARK,
    FLAG,
    FORTH,
    KINDS,
    OUT,
    called,
    envelopes,
    moved,
    moves,
    queued,
    seeds,
    three,
    waiting,
)
from tests.helpers.given import ALICE, BOB, CAROL, Match, Turn, pow2

# --- played in the same decision


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
    assert match.do(ALICE, commands.PlayMove(text=BACK))[-1] == queued(4, 1, AND_BACK, 0)
    match.holds()


# --- three players


def test_a_reply_is_played_when_the_flag_of_the_seat_before_it_falls() -> None:
    match = three()
    match.lay(1, ConditionalMove(0, None, "2"))
    match.lay(2, ConditionalMove(1, ("2",), "1"))
    assert match.do(SERVER_ACCOUNT, commands.FlagPlayer(), FLAG) == (
        Flagged(seat=0, next=1),
        queued(1, 1, "2", 2),
        queued(2, 2, "1", 1),
    )
    assert [one.actor for one in envelopes(match)[1:]] == [SERVER_ACCOUNT, BOB, CAROL]
    match.holds()


# --- what is dropped


def test_an_illegal_reply_is_dropped_with_a_note_and_the_match_stands() -> None:
    match = Match(pow2())
    match.lay(DARK, ConditionalMove(1, None, "a13-b4"), ConditionalMove(3, None, FORTH))
    assert match.do(ALICE, commands.PlayMove(text=OUT)) == (moved(1, 0, OUT, 1),)
    assert match.state.next == DARK
    (note,) = match.replies[DARK].notes
    assert str(note).startswith("a13-b4 at #1 was dropped: a13-b4: ")
    (note,) = unpack(pack(match.replies))[DARK].notes
    assert text_in(note, wording("de")).startswith("a13-b4 bei #1 ist weggefallen: a13-b4: ")
    assert waiting(match, DARK) == (ConditionalMove(3, None, FORTH),)
    assert match.play(FORTH) == [moved(2, 1, FORTH, 0)]
    match.holds()


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
        (3, ALICE, "event 3: deciding it again gives another time or actor"),
        (2, BOB, "event 2: the rules refuse it: you play Dark"),
    ],
)
def test_a_forged_reply_or_actor_is_found_though_the_chain_is_whole(
    seq: int, changes: dict[str, object] | bytes, sentence: str
) -> None:
    match = replied()
    forged: dict[str, object] = {"actor": changes}
    if isinstance(changes, dict):
        forged = {"body": replace(match.bodies[seq - 1], **changes)}
    with pytest.raises(BrokenHistory, match=sentence):
        verify(1, match.forged(seq, **forged))


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


@settings(max_examples=30)
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


LONGEST = 40
Laying = tuple[int, ConditionalMove]
"""A reply, and the seat that lays it ready."""


def by_hand(kind: str, rng: random.Random) -> list[Turn]:
    """Give the commands of a match of which sometimes a seat of three leaves."""
    turns = [called(kind)]
    match = Match(*turns)
    while not match.state.over and len(turns) < LONGEST:
        seats = match.state.active_seats
        if len(seats) == 3 and rng.random() < 0.1:
            turns.append((match.state.seats[rng.choice(seats)], commands.ResignMatch()))
        else:
            turns.append(moves(match, rng))
        match.do(*turns[-1])
    return turns


class Script:
    """A match by hand, move by move: who is to move when, and what was played."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = turns
        self.match = Match(turns[0])
        self.movers = [{self.match.state.next}]
        """For each ply, the seats that were to move then, one after another."""
        for turn in turns[1:]:
            self.match.do(*turn)
            del self.movers[self.match.state.ply + 1 :]
            self.movers += [set() for _ in range(self.match.state.ply + 1 - len(self.movers))]
            self.movers[self.match.state.ply].add(self.match.state.next)
        self.moves = self.match.state.first_moves(self.match.state.ply)

    def following(self, number: int) -> Iterator[tuple[int, str]]:
        """Yield seat and text of the moves that follow a command without another between."""
        seats = self.match.state.seats
        for actor, command in self.turns[number + 1 :]:
            if not isinstance(command, commands.PlayMove):
                return
            yield seats.index(actor), command.text


def some_that_come_true(
    script: Script, number: int, match: Match, rng: random.Random
) -> Iterator[Laying]:
    """Yield replies that are moves to come, each after the moves until then or after any."""
    since = match.state.ply
    first = since + isinstance(script.turns[number][1], commands.PlayMove)
    for ply, (seat, text) in enumerate(script.following(number), first):
        if rng.random() < 0.3:
            path = tuple(script.moves[since:ply])
            yield seat, ConditionalMove(ply, rng.choice([path, None]), text)


def some_that_do_not(
    script: Script, laid: Sequence[Laying], match: Match, rng: random.Random
) -> Iterator[Laying]:
    """Yield replies that wait for other moves or for another's turn, or that a better one beats."""
    since = match.state.ply
    for _ in range(rng.randrange(4)):
        ply = rng.randint(since + 1, since + 6)
        path = [*script.moves, *["?"] * 9][since:ply]
        path[rng.randrange(len(path))] = "other"
        yield rng.choice(match.state.active_seats), ConditionalMove(ply, tuple(path), "nonsense")
    for ply in range(since, min(since + 6, len(script.movers))):
        for seat in set(match.state.active_seats) - script.movers[ply]:
            if rng.random() < 0.3:
                yield seat, ConditionalMove(ply, None, "nonsense")
    for seat, reply in laid:
        if reply.path:
            yield seat, ConditionalMove(reply.ply, None, "nonsense")


def replayed(script: Script, seed: int, *, others: bool) -> Match:
    """Play the match again with replies; `others` lays ready what never comes to be, too."""
    rng, other_rng = random.Random(seed), random.Random(seed + 1)
    match = Match(script.turns[0])
    number = 1
    while number < len(script.turns):
        laid = list(some_that_come_true(script, number, match, rng))
        beside = some_that_do_not(script, laid, match, other_rng) if others else ()
        for seat, reply in [*beside, *laid]:
            match.lay(seat, reply)
        events = match.do(*script.turns[number])
        number += 1 + sum(isinstance(event, Moved) and event.queued for event in events)
    return match


def plain(match: Match) -> list[Event]:
    """The events as if all had been played by hand."""
    return [replace(one, queued=False) if isinstance(one, Moved) else one for one in match.bodies]


def movers(match: Match) -> list[bytes]:
    """The actors of all moves and resignations."""
    envelopes = map(decode_event, match.events)
    return [one.actor for one in envelopes if hasattr(one.body, "seat")]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=10)
@given(seeds)
def test_a_match_with_replies_is_the_match_played_by_hand(kind: str, seed: int) -> None:
    script = Script(by_hand(kind, random.Random(seed)))
    match = replayed(script, seed, others=True)
    assert plain(match) == script.match.bodies
    assert movers(match) == movers(script.match)
    match.holds()
    if match.state.over:
        assert match.replies == NO_CONDITIONAL_MOVES
    # the very bytes don't depend on what else was laid ready
    assert match.events == replayed(script, seed, others=False).events
