"""An operator who plays, with all seeds in hand, tries to get better hands than chance deals.

Whatever is visible before the own commitment is used: seeds to come, the other's commitment, all that
was revealed in earlier matches. The operator chooses the own text, the order, which seed is sealed
(by draws of other matches in between), and whether to play at all.
"""

from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import product
from statistics import mean

import msgspec
import pytest

from domain.fairness import ChainSeed, Commitment, DrawStream, SetupDraw, draw_key
from domain.match.commands import AnswerOffer, DeclineMatch, RevealText, StartMatch
from domain.match.events import MatchStarted, Withheld
from domain.rules import rules_by_id
from tests.helpers.examples import FULL
from tests.helpers.given import ALICE, BOB, Match

DRAWS = 1_000 if FULL else 250
TEXTS = 4
"""Texts that the operator tries for each draw, with each of so many seeds."""
SEEDS = 3

HONEST, OPERATOR = ALICE, BOB
RULES = "powerdrain/1"
EXPECTED = 80
"""Sum of the digits of a hand, on average: half of that of all plugs."""
ERROR = (8 * 10 * 8 / 15 / DRAWS) ** 0.5
"""Of the average over all draws: a hand is eight of sixteen plugs, whose variance is 10."""


def seed(k: int) -> ChainSeed:
    return ChainSeed(1, k, sha256(b"seed %d" % k).digest())


def honest_text(number: int) -> bytes:
    return sha256(b"nobody can know this before it is revealed %d" % number).digest()


def own_texts(number: int) -> Iterator[bytes]:
    return (sha256(b"operator's %d %d" % (number, one)).digest() for one in range(TEXTS))


def hand(setup: str | None, seat: int) -> int:
    assert setup is not None
    dealt = msgspec.json.decode(setup)["hands"][seat]
    return sum(int(digit) for plug in dealt for digit in plug)


def foreseen(board: int, k: int, texts: tuple[bytes, bytes], seat: int) -> int:
    """The hand that a draw would give the operator, who computes it as the server does."""
    draw = SetupDraw(1, k, seed(k).seed, texts)
    key = draw_key(draw, (HONEST, OPERATOR), board, RULES, ())
    rules = rules_by_id(RULES)
    setup = rules.draw(rules.read_options(()), 2, DrawStream(key, RULES))
    return hand(msgspec.json.encode(setup).decode(), seat)


class Attack:
    """Matches of the operator with somebody honest, on boards with rising numbers."""

    def __init__(self) -> None:
        self.k = 0
        self.known = b"nothing yet"
        """The last text that was revealed: who guesses begins with it."""

    def choose(self, board: int, guess: bytes) -> tuple[int, bytes, int]:
        """The seed and the text that seem best if the other's text is as guessed."""
        ks = range(self.k + 1, self.k + 1 + SEEDS)
        tried = product(ks, own_texts(board))
        return max(
            ((foreseen(board, k, (guess, own), 1), own, k) for k, own in tried),
            key=lambda one: one[0],
        )

    def start(self, board: int, *, words: tuple[Commitment, ...] = (), text: bytes = b"") -> Match:
        match = Match(board=board)
        more = {"commitments": words} if words else {}
        start = StartMatch(
            rules=RULES, options=(), seats=(HONEST, OPERATOR), text=text, gather=True, **more
        )
        match.do(HONEST, start)
        return match

    def sealed(self, board: int, k: int, own: bytes, *, first: bool) -> Match:
        """A match whose players commit, in either order, and whose draw uses that seed."""
        mine, other = (Commitment(sha256(one).digest()) for one in (own, honest_text(board)))
        if first:
            match = self.start(board, words=(Commitment(), mine))
            match.seed = seed(k)
            match.do(HONEST, AnswerOffer(accept=True, commitment=other))
        else:
            match = self.start(board, words=(other, Commitment()))
            match.seed = seed(k)
            match.do(OPERATOR, AnswerOffer(accept=True, commitment=mine))
        self.k = k
        return match

    def committed(self, board: int) -> int | None:
        """The operator's hand in a match whose players commit first; None where none was played."""
        digest = sha256(honest_text(board)).digest()
        # the other's commitment where it is known, else what was revealed last, in place of the text
        guess = digest if board % 2 else self.known
        promised, own, k = self.choose(board, guess)
        if promised < EXPECTED + 5:
            return None
        match = self.sealed(board, k, own, first=board % 2 == 0)
        match.do(HONEST, RevealText(text=honest_text(board)))
        self.known = honest_text(board)
        match.do(OPERATOR, RevealText(text=own))
        return hand(match.state.setup, 1)

    def at_once(self, board: int) -> int:
        """The same where texts are given at once: the operator has seen the other's."""
        match = self.start(board, text=honest_text(board))
        _, own, k = self.choose(board, honest_text(board))
        match.seed, self.k = seed(k), k
        match.do(OPERATOR, AnswerOffer(accept=True, text=own))
        return hand(match.state.setup, 1)

    def by_name(self, board: int) -> int:
        """The same where nothing is gathered: the operator challenges, and is the only one to add."""
        match = Match(board=board)
        tried = [(foreseen(board, self.k + 1, (own, b""), 0), own) for own in own_texts(board)]
        self.k += 1
        match.seed = seed(self.k)
        match.do(
            HONEST,
            StartMatch(rules=RULES, options=(), seats=(HONEST, OPERATOR), text=max(tried)[1]),
        )
        return hand(match.state.setup, 0)


def hands(attack: Callable[[int], int | None]) -> list[int]:
    """The operator's hands of so many matches that were played."""
    found: list[int] = []
    board = 0
    while len(found) < DRAWS:
        board += 1
        value = attack(board)
        if value is not None:
            found.append(value)
    return found


def gain(found: list[int]) -> float:
    """By how much hands are better than chance has them, in standard errors."""
    return (mean(found) - EXPECTED) / ERROR


def test_who_commits_as_all_do_gains_nothing_by_knowing_the_seeds() -> None:
    assert abs(gain(hands(Attack().committed))) < 3


def test_the_same_attack_gains_where_texts_are_given_at_once_and_where_nothing_is_gathered() -> (
    None
):
    assert gain(hands(Attack().at_once)) > 10
    assert gain(hands(Attack().by_name)) > 10


def test_who_is_last_to_reveal_can_only_refuse_and_every_refusal_is_on_record() -> None:
    attack, refused, played = Attack(), 0, []
    for board in range(1, 41):
        own = next(own_texts(board))
        match = attack.sealed(board, attack.k + 1, own, first=False)
        match.do(HONEST, RevealText(text=honest_text(board)))
        value = foreseen(board, attack.k, (honest_text(board), own), 1)
        # another text than the one committed to is not taken, and another seed is not used
        assert match.refuses(OPERATOR, RevealText(text=sha256(own).digest())) == "wrong-text"
        if value < EXPECTED:
            match.do(OPERATOR, DeclineMatch())
            refused += any(isinstance(body, Withheld) for body in match.bodies)
            assert match.state.result is not None
            assert match.state.result.winners == ()
        else:
            match.do(OPERATOR, RevealText(text=own))
            played.append(hand(match.state.setup, 1))
            assert played[-1] == value
        match.holds()
    assert refused == 40 - len(played) > 0


def test_a_start_with_another_seed_than_the_sealed_one_is_not_made() -> None:
    attack = Attack()
    match = attack.sealed(1, 1, b"own", first=False)
    match.do(HONEST, RevealText(text=honest_text(1)))
    match.seed = seed(2)
    with pytest.raises(ValueError, match="not the one that was sealed"):
        match.decided(OPERATOR, RevealText(text=b"own"))
    match.seed = seed(1)
    events = match.do(OPERATOR, RevealText(text=b"own"))
    assert isinstance(events[-1], MatchStarted)
