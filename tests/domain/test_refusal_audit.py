"""Refusals are decided again: honest ones hold, whatever was asked; forged and changed ones do not."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from msgspec.structs import replace

from domain.clocks.calendar import DAY
from domain.errors import Code
from domain.match.commands import (
    AnswerOffer,
    Command,
    CommandEnvelope,
    EndVacation,
    PlayMove,
    ResignMatch,
    RevealText,
    StartVacation,
    command_digest,
    encode_command,
)
from domain.match.decide import Decision, Rejection
from domain.match.decision import INTERNAL
from domain.match.events import RefusedLeaf, decode_event, decode_refusal
from domain.match.history import BrokenHistory, encode_refusal
from domain.match.refusal_audit import check_refusal, restored_text
from domain.match.refused_commands import NotDecidedAgain
from domain.match.sentences import SAY
from domain.match.state import MatchState
from domain.sentences import Sentence, Text
from tests.domain.matches_given import seeds
from tests.domain.test_match_laws import DISPUTES, EVERY, STEPS, Table
from tests.helpers.every_command import EXAMPLES, KINDS, STATES, every_command
from tests.helpers.examples import examples
from tests.helpers.given import ALICE, BEGIN, BOARD, BOB, Match, alternating, pow2

Refused = tuple[RefusedLeaf, MatchState, bytes, Text]


class RefusalTable(Table):
    """A match at which anything may be asked, with all refusals, and refusals forged for what was accepted."""

    def __init__(self, kind: str, seed: int) -> None:
        super().__init__(kind, seed)
        self.refused: list[Refused] = []
        self.forged: list[tuple[Refused, Command, int]] = []
        decided = self.match.decided

        def noted(actor: bytes, command: Command, at: int | None = None) -> Decision | Rejection:
            before, events = self.match.snapshot, len(self.match.events)
            order = CommandEnvelope(BOARD, self.rng.randbytes(16), actor, command)
            result = decided(actor, command, at)
            digest = command_digest(encode_command(order))
            assert at is not None
            if isinstance(result, Rejection):
                leaf = decode_refusal(encode_refusal(order, result, before, at))
                self.refused.append((leaf, before.state, digest, result.text))
            else:
                code, text = self.rng.choice(LIES)
                move = command.text if isinstance(command, PlayMove) else None
                lie = Rejection(code, text, move)
                leaf = decode_refusal(encode_refusal(order, lie, before, at))
                self.forged.append(((leaf, before.state, digest, text), command, events))
            return result

        self.match.decided = noted  # type: ignore[method-assign]


UNKNOWN_PARTS = StartVacation | EndVacation | AnswerOffer | RevealText | DISPUTES
"""Commands with parts that the match may not know."""

LIES: list[tuple[str, Text]] = [
    (Code.NOT_YOUR_TURN, SAY("turn", side="Light", turn="Dark")),
    (Code.STALE_PLY, SAY("stale", meant=3, ply=4)),
    (Code.STALE_PLY, SAY("stale", meant=0, ply=0)),
    (Code.NO_OFFER, SAY("no-offer")),
    (Code.TIME_OVER, SAY("flag", side="Light")),
    (Code.MATCH_OVER, SAY("over")),
    (Code.ILLEGAL_MOVE, "it is not legal"),
]


def table_of(kind: str, seed: int) -> RefusalTable:
    table = RefusalTable(kind, seed)
    for _ in range(STEPS):
        table.step()
    return table


@pytest.mark.parametrize("kind", EVERY)
@examples(15, 500)
@given(seeds)
def test_every_honest_refusal_holds_and_every_forged_one_is_found(kind: str, seed: int) -> None:
    table = table_of(kind, seed)
    events = [decode_event(data) for data in table.match.events]
    for leaf, state, digest, text in table.refused:
        lacking = check_refusal(leaf, state, events, digest, text)
        assert check_refusal(leaf, state, events) is NotDecidedAgain.NO_OUTCOME
        restored = check_refusal(leaf, state, events, None, restored_text(leaf.code))
        assert restored is NotDecidedAgain.RESTORED
        if lacking is None:
            assert is_found(leaf, state, events, digest, changed(text)), (leaf, text)
    for (leaf, state, digest, text), command, count in table.forged:
        if not isinstance(command, UNKNOWN_PARTS):
            is_found(leaf, state, events[:count], digest, text)


def is_found(leaf: RefusedLeaf, state: MatchState, *more: Any) -> str:
    with pytest.raises(BrokenHistory) as caught:
        check_refusal(leaf, state, *more)
    assert caught.value.seq == state.seq
    return caught.value.sentence.partition(" after it ")[2].partition(": ")[2]


def changed(text: Text) -> Text:
    """The same sentence with another argument, or another sentence."""
    if isinstance(text, Sentence) and text.args:
        first = text.args[0]
        other = first + 1 if isinstance(first, int) else f"{first}!"
        return replace(text, args=(other, *text.args[1:]))
    return SAY("no-match") if text != SAY("no-match") else SAY("over")


def test_every_kind_of_command_has_examples() -> None:
    assert set(EXAMPLES) == set(KINDS)


def resumed(given: Match) -> Match:
    """Another match with the same history."""
    match = Match()
    if given.events:
        match.resume(given.events)
    return match


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", STATES)
def test_whatever_anybody_sends_in_any_state_the_match_verifies(name: str, kind: type) -> None:
    given = Match(*STATES[name](BEGIN))
    events = [decode_event(data) for data in given.events]
    match = resumed(given)
    leaves: set[RefusedLeaf] = set()
    for at in (BEGIN + 10, BEGIN + 50 * DAY):
        for sender, command in every_command(given.state, at, kind):
            decided = match.decided(sender, command, at)
            if isinstance(decided, Decision):
                match.holds()
                match = resumed(given)
                continue
            order = CommandEnvelope(BOARD, b"a refused one...", sender, command)
            leaf = decode_refusal(encode_refusal(order, decided, given.snapshot, at))
            digest = command_digest(encode_command(order))
            check_refusal(leaf, given.state, events, digest, decided.text)
            if leaf not in leaves:  # without the command, equal leaves are one question
                leaves.add(leaf)
                check_refusal(leaf, given.state, events)
                check_refusal(leaf, given.state, events, None, restored_text(leaf.code))
    assert leaves


def test_nearly_all_refusals_are_decided_again() -> None:
    counts: Counter[str] = Counter()
    for seed in range(20):
        for kind in EVERY:
            table = table_of(kind, seed)
            events = [decode_event(data) for data in table.match.events]
            for leaf, state, digest, text in table.refused:
                counts[str(check_refusal(leaf, state, events, digest, text))] += 1
    wholly = counts.pop("None")
    # their texts are kept apart
    assert counts.pop(NotDecidedAgain.STATEMENT)
    # a fifth of all are moves that the table asks for and nobody can read
    assert wholly > 3 * counts.total()
    assert set(counts) <= {
        NotDecidedAgain.DRAW,
        NotDecidedAgain.VACATION,
        NotDecidedAgain.MOVE,
        # an offer of another game, before all have accepted
        NotDecidedAgain.OFFER,
        NotDecidedAgain.PLY,
    }


@pytest.fixture
def match() -> Match:
    """A match after two moves, in which Alice is to move."""
    return Match(pow2(), *alternating("m13-j7", "a13-d7"))


def refusal(match: Match, command: Command, rejected: Rejection, actor: bytes = ALICE) -> Refused:
    order = CommandEnvelope(BOARD, b"a refused one...", actor, command)
    leaf = decode_refusal(encode_refusal(order, rejected, match.snapshot, 2_000))
    return leaf, match.state, command_digest(encode_command(order)), rejected.text


def checked(match: Match, refused: Refused) -> NotDecidedAgain | None:
    leaf, state, digest, text = refused
    return check_refusal(leaf, state, [decode_event(data) for data in match.events], digest, text)


def fault(match: Match, refused: Refused) -> str:
    leaf, state, digest, text = refused
    return is_found(leaf, state, [decode_event(data) for data in match.events], digest, text)


def test_a_move_that_was_played_already_may_have_the_sentence_of_earlier_versions(match):
    def sent(text: Text) -> Refused:
        rejected = Rejection(Code.STALE_PLY, text, "m13-j7")
        return refusal(match, PlayMove(text="m13-j7", ply=0), rejected)

    for text in (SAY("played-already"), SAY("stale", meant=0, ply=2)):
        assert checked(match, sent(text)) is None
    assert "its stored sentence is" in fault(match, sent(SAY("stale", meant=1, ply=2)))


@pytest.mark.parametrize("ply", [None, 2])
@pytest.mark.parametrize(("code", "text"), LIES)
def test_the_refusal_of_a_legal_move_is_found(match, ply, code, text):
    lie = Rejection(code, text, "j7-m13")
    assert fault(match, refusal(match, PlayMove(text="j7-m13", ply=ply), lie)) == (
        "the rules accept it"
    )


@pytest.mark.parametrize(("code", "text"), LIES)
def test_a_digest_of_nothing_hides_no_legal_move(match, code, text):
    leaf, state, _, _ = refusal(match, PlayMove(text="j7-m13"), Rejection(code, text, "j7-m13"))
    said = fault(match, (leaf, state, b"nothing.", text))
    assert said in (
        "the rules accept it",
        "its outcome is of another command",
        f"its stored sentence is {str(text)!r}, not 'the match has moved on meanwhile; `#3` was meant, and it stands at `#2`'",
        f"its stored sentence is {str(text)!r}, not 'the match has moved on meanwhile; `#0` was meant, and it stands at `#2`'",
    )


@pytest.mark.parametrize("ply", [None, 2])
@pytest.mark.parametrize(
    ("code", "text"),
    [
        (Code.NO_OFFER, SAY("no-offer")),
        (Code.UNREADABLE_MOVE, "it can't be read"),
        (Code.UNREADABLE_MOVE, SAY("over")),
        (Code.STALE_PLY, SAY("stale", meant=0, ply=2)),
    ],
)
def test_a_legal_move_can_not_be_hidden_by_leaving_it_out(match, ply, code, text):
    leaf, *more = refusal(match, PlayMove(text="j7-m13", ply=ply), Rejection(code, text))
    assert leaf.move is None
    assert fault(match, (leaf, *more)) == "the rules accept it"


def test_another_command_can_not_be_hidden_by_a_digest_of_nothing(match):
    lie = Rejection(Code.NOT_PAUSED, SAY("not-paused"))  # all of a `ResumeMatch` is known
    leaf, state, _, text = refusal(match, ResignMatch(), lie)
    assert fault(match, (leaf, state, b"nothing.", text)) == (
        "no command that the match knows can be refused so at that moment"
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"code": Code.NOT_YOUR_TURN}, "the rules refuse it as illegal-move, not as not-your-turn"),
        ({"move": "j7-m12"}, "its outcome is of another command"),
        ({"at": 0}, "it is older than that event"),
        ({"actor": BOB}, "its outcome is of another command"),
    ],
)
def test_each_part_of_a_leaf_counts(match, change, said):
    command = PlayMove(text="a1-a5")
    rejected = match.decided(ALICE, command)
    assert isinstance(rejected, Rejection)
    leaf, state, digest, text = refusal(match, command, rejected)
    assert checked(match, (leaf, state, digest, text)) is None
    found = fault(match, (replace(leaf, **change), state, digest, text))
    assert found == said or "stored sentence" in found or "refuse it as" in found


def test_a_failure_of_the_server_is_counted_and_reads_as_one(match):
    command = PlayMove(text="j7-m13")
    assert checked(match, refusal(match, command, INTERNAL)) is NotDecidedAgain.FAILED
    other = Rejection(Code.INTERNAL, SAY("over"))
    assert "a failure of the server reads" in fault(match, refusal(match, command, other))


def test_a_match_whose_rules_were_missing_then_is_counted(match):
    lacked = Rejection(Code.UNKNOWN_RULES, "pow2 is not installed")
    for command in (PlayMove(text="j7-m13"), PlayMove(text="?")):
        found = checked(match, refusal(match, command, lacked))
        assert found is NotDecidedAgain.NO_RULES


def test_a_ply_far_away_is_counted_where_it_does_not_matter(match):
    match.do(BOB, ResignMatch())
    far = PlayMove(text="j7-m13", ply=999_999)
    rejected = match.decided(ALICE, far)
    assert isinstance(rejected, Rejection)
    assert checked(match, refusal(match, far, rejected)) is NotDecidedAgain.PLY
