"""Refusals are decided again: honest ones hold, whatever was asked; forged and changed ones do not."""

from typing import NamedTuple

import pytest
from hypothesis import given
from msgspec.structs import replace

from domain.clocks.time_control import DAY
from domain.errors import Code
from domain.match import history
from domain.match.commands import (
    AnswerOffer,
    Command,
    CommandEnvelope,
    MakeOffer,
    PlayMove,
    ResignMatch,
    command_digest,
    encode_command,
    with_envelope,
    without_envelope,
)
from domain.match.decision import INTERNAL, Decision, Rejection
from domain.match.sentences import SAY
from domain.match.state import MatchState
from domain.refusal_audit import NotDecidedAgain, check_refusal, restored_text
from domain.sentences import Sentence, Text
from tests.domain.given import seeds
from tests.domain.test_match_laws import EVERY, STEPS, Table
from tests.helpers.every_command import EXAMPLES, KINDS, STATES, every_command
from tests.helpers.examples import examples
from tests.helpers.given import ALICE, BEGIN, BOARD, BOB, Match, alternating, pow2


class Refused(NamedTuple):
    """A refusal as it is stored, and the match's state at that moment."""

    leaf: history.RefusedLeaf
    state: MatchState
    digest: bytes
    text: Text
    kept: bytes | None

    def check(self) -> NotDecidedAgain | None:
        """What is missing to decide it again."""
        return check_refusal(self.leaf, self.state, self.digest, self.text, self.kept)

    def fault(self) -> str:
        """Why it does not hold."""
        with pytest.raises(history.BrokenHistory) as caught:
            self.check()
        assert caught.value.seq == self.state.seq
        return caught.value.sentence.partition(" after it ")[2].partition(": ")[2]

    def without_command(self) -> "Refused":
        return self._replace(kept=None)


def refused(
    order: CommandEnvelope, rejected: Rejection, snapshot: history.Snapshot, at: int
) -> Refused:
    leaf = history.decode_refusal(history.encode_refusal(order, rejected, snapshot.state.at, at))
    sent = encode_command(order)
    kept = without_envelope(sent)
    return Refused(leaf, snapshot.state, command_digest(sent), rejected.text, kept)


class RefusalTable(Table):
    """A match at which anything may be asked, with all refusals, and refusals forged for what was accepted."""

    def __init__(self, kind: str, seed: int) -> None:
        super().__init__(kind, seed)
        self.refused: list[Refused] = []
        self.forged: list[Refused] = []
        decided = self.match.decided

        def noted(actor: bytes, command: Command, at: int | None = None) -> Decision | Rejection:
            before = self.match.snapshot
            order = CommandEnvelope(BOARD, self.rng.randbytes(16), actor, command)
            result = decided(actor, command, at)
            assert at is not None
            if isinstance(result, Rejection):
                self.refused.append(refused(order, result, before, at))
            else:
                code, text = self.rng.choice(LIES)
                move = command.text if isinstance(command, PlayMove) else None
                self.forged.append(refused(order, Rejection(code, text, move), before, at))
            return result

        self.match.decided = noted  # type: ignore[method-assign]


LIES: list[tuple[str, Text]] = [
    (Code.NOT_YOUR_TURN, SAY("turn", side="Light", turn="Dark")),
    (Code.STALE_PLY, SAY("stale", meant=3, ply=4)),
    (Code.STALE_PLY, SAY("stale", meant=0, ply=0)),
    (Code.NO_OFFER, SAY("no-offer")),
    (Code.TIME_OVER, SAY("flag", side="Light")),
    (Code.MATCH_OVER, SAY("over")),
    (Code.ILLEGAL_MOVE, "it is not legal"),
]


@pytest.mark.parametrize("kind", EVERY)
@examples(3, 500)
@given(seeds)
def test_every_honest_refusal_holds_and_every_forged_one_is_found(kind: str, seed: int) -> None:
    table = RefusalTable(kind, seed)
    for _ in range(STEPS):
        table.step()
    for one in table.refused:
        assert one.check() is None
        assert one._replace(text=changed(one.text)).fault()
        assert one.without_command().check() in (None, NotDecidedAgain.NOT_KEPT)
        assert check_refusal(one.leaf, one.state) is NotDecidedAgain.NO_OUTCOME
        text = restored_text(one.leaf.code)
        assert check_refusal(one.leaf, one.state, None, text) is NotDecidedAgain.RESTORED
    for one in table.forged:
        assert one.fault() == "the rules accept it"


def changed(text: Text) -> Text:
    """The same sentence with another argument, or another sentence."""
    if isinstance(text, Sentence) and text.args:
        first = text.args[0]
        other = first + 1 if isinstance(first, int) else f"{first}!"
        return replace(text, args=(other, *text.args[1:]))
    return SAY("no-match") if text != SAY("no-match") else SAY("over")


def resumed(given: Match) -> Match:
    """Another match with the same history."""
    match = Match()
    if given.events:
        match.resume(given.events)
    return match


@pytest.mark.parametrize("name", STATES)
def test_whatever_anybody_sends_in_any_state_the_match_verifies(name: str) -> None:
    given = Match(*STATES[name](BEGIN))
    match, count = resumed(given), 0
    for at in (BEGIN + 10, BEGIN + 50 * DAY):
        commands = [pair for kind in KINDS for pair in every_command(given.state, at, kind)]
        for sender, command in commands:
            decided = match.decided(sender, command, at)
            if isinstance(decided, Decision):
                match.holds()
                match = resumed(given)
                continue
            order = CommandEnvelope(BOARD, b"a refused one...", sender, command)
            one = refused(order, decided, given.snapshot, at)
            assert one.check() is None
            assert one.without_command().check() in (None, NotDecidedAgain.NOT_KEPT)
            check_refusal(one.leaf, one.state)
            check_refusal(one.leaf, one.state, None, restored_text(one.leaf.code))
            count += 1
    assert count


@pytest.fixture
def match() -> Match:
    """A match after two moves, in which Alice is to move."""
    return Match(pow2(), *alternating("m13-j7", "a13-d7"))


def refusal(match: Match, command: Command, rejected: Rejection, actor: bytes = ALICE) -> Refused:
    order = CommandEnvelope(BOARD, b"a refused one...", actor, command)
    return refused(order, rejected, match.snapshot, 2_000)


def rejection(match: Match, command: Command) -> Rejection:
    rejected = match.decided(ALICE, command)
    assert isinstance(rejected, Rejection)
    return rejected


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("ply", [None, 2])
@pytest.mark.parametrize(
    ("code", "text"),
    [
        (Code.NO_OFFER, SAY("no-offer")),
        (Code.UNREADABLE_MOVE, "it can't be read"),
        (Code.STALE_PLY, SAY("stale", meant=0, ply=2)),
    ],
)
def test_a_legal_move_can_not_be_hidden_by_leaving_it_out(match, kept, ply, code, text):
    one = refusal(match, PlayMove(text="j7-m13", ply=ply), Rejection(code, text))
    assert one.leaf.move is None
    assert (one if kept else one.without_command()).fault() == "the rules accept it"


@pytest.mark.parametrize(
    "command", [ResignMatch(), AnswerOffer(accept=True), MakeOffer(kind="draw"), PlayMove(text="?")]
)
def test_a_kept_command_in_place_of_another_is_named(match, command):
    code, text, move = Code.ILLEGAL_MOVE, "it is not legal", "a1-a5"
    one = refusal(match, PlayMove(text=move), Rejection(code, text, move))
    other = one._replace(kept=refusal(match, command, Rejection(code, text)).kept)
    assert other.fault() == "the command that is kept of it is not the one of its outcome"
    assert one._replace(digest=b"nothing.").fault() == other.fault()
    leaf = replace(one.leaf, actor=BOB)
    assert one._replace(leaf=leaf).fault() == other.fault(), "it is that of a sender and an id"


def test_a_kept_command_that_can_not_be_read_is_named(match):
    one = refusal(match, PlayMove(text="a1-a5"), rejection(match, PlayMove(text="a1-a5")))
    leaf, kept = one.leaf, b"\xc1"
    digest = command_digest(with_envelope(leaf.match, leaf.command, leaf.actor, kept))
    assert "can't be read" in one._replace(kept=kept, digest=digest).fault()


def test_without_its_command_a_refusal_of_a_move_is_decided_as_far_as_it_is_known(match):
    far = PlayMove(text="m13-j7", ply=999_999)
    one = refusal(match, far, rejection(match, far)).without_command()
    assert one.check() is None, "the sentence names the ply"
    unknown = one._replace(digest=b"nothing.")
    assert unknown.check() is NotDecidedAgain.NOT_KEPT
    over = unknown._replace(leaf=replace(one.leaf, code=Code.MATCH_OVER), text=SAY("over"))
    assert over.fault() == "the rules refuse it as illegal-move, not as match-over"
    said = unknown._replace(text=SAY("over"))
    assert "the rules refuse it as" in said.fault()


def test_a_code_that_nothing_is_refused_as_is_found(match):
    one = refusal(match, ResignMatch(), Rejection("no-such-code", "?"))
    found = one._replace(digest=b"nothing.").without_command().fault()
    assert found == "nothing is refused as 'no-such-code'"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"code": Code.NOT_YOUR_TURN}, "the rules refuse it as illegal-move, not as not-your-turn"),
        ({"move": "j7-m12"}, "its leaf has another move"),
        ({"at": 0}, "it is older than that event"),
        ({"actor": BOB}, "the command that is kept of it is not the one of its outcome"),
        ({"match": 7}, "the command that is kept of it is not the one of its outcome"),
    ],
)
def test_each_part_of_a_leaf_counts(match, change, said):
    command = PlayMove(text="a1-a5")
    one = refusal(match, command, rejection(match, command))
    assert one.check() is None
    assert one._replace(leaf=replace(one.leaf, **change)).fault() == said


def test_a_failure_of_the_server_is_counted_and_reads_as_one(match):
    command = PlayMove(text="j7-m13")
    assert refusal(match, command, INTERNAL).check() is NotDecidedAgain.FAILED
    other = Rejection(Code.INTERNAL, SAY("over"))
    assert "a failure of the server reads" in refusal(match, command, other).fault()


def test_a_match_whose_rules_were_missing_then_is_counted(match):
    lacked = Rejection(Code.UNKNOWN_RULES, "pow2 is not installed")
    for command in (PlayMove(text="j7-m13"), PlayMove(text="?")):
        assert refusal(match, command, lacked).check() is NotDecidedAgain.NO_RULES


def test_every_kind_of_command_has_examples() -> None:
    assert set(EXAMPLES) == set(KINDS)
