"""The law of replies: what is played is what would have been played by hand, and nothing else.

A match is played at random by hand. Then it is played again, with some of its moves laid ready at
random before they are due, and beside them replies that never come to be.
"""

import random
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from domain.match.commands import PlayMove, ResignMatch
from domain.match.conditional_moves import NO_CONDITIONAL_MOVES, ConditionalMove
from domain.match.events import Event, Moved
from domain.match.history import decode_event
from tests.domain.matches_given import KINDS, called, moves, seeds
from tests.helpers.given import Match, Turn

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
            turns.append((match.state.seats[rng.choice(seats)], ResignMatch()))
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
            if not isinstance(command, PlayMove):
                return
            yield seats.index(actor), command.text


def some_that_come_true(
    script: Script, number: int, match: Match, rng: random.Random
) -> Iterator[Laying]:
    """Yield replies that are moves to come, each after the moves until then or after any."""
    since = match.state.ply
    first = since + isinstance(script.turns[number][1], PlayMove)
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
@settings(max_examples=40)
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
