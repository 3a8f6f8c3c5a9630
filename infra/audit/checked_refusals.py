"""The refusals of a match as its check has found them, and how they are reported."""

from collections import Counter
from collections.abc import Mapping

from domain.match.audit import AuditResult
from domain.match.events import RefusedLeaf
from domain.match.history import BrokenHistory
from domain.match.refusal_audit import UnexplainedRefusal, check_refusal, restored_text
from domain.match.refused_commands import NotDecidedAgain
from infra.evidence.faults import count
from infra.store.outcomes import ANY_DIGEST, CommandOutcome


class CheckedRefusals:
    """The refusals of a match whose events hold."""

    def __init__(self, verdict: AuditResult) -> None:
        self.counts: Counter[NotDecidedAgain | None] = Counter()
        """How many there are, by the reason why they could not be decided again."""
        self.unexplained: UnexplainedRefusal | None = None
        """The first that can't be explained."""
        self._verdict = verdict

    def check(self, leaf: RefusedLeaf, outcome: CommandOutcome | None, seq: int) -> None:
        """Decide a refusal after event `seq` again, by its outcome if that is known; raises `BrokenHistory`."""
        state, envelopes = self._verdict.states.get(seq), self._verdict.envelopes
        if state is None:
            raise BrokenHistory(
                seq, "a refusal came between it and the next event of the same command"
            )
        digest = text = None
        if outcome is not None:
            digest, text = outcome.digest, outcome.text
            if digest == ANY_DIGEST:
                digest = None
                if text != restored_text(outcome.code):
                    raise BrokenHistory(
                        seq, "the outcome of a refusal after it has no digest of its command"
                    )
        try:
            self.counts[check_refusal(leaf, state, envelopes, digest, text)] += 1
        except UnexplainedRefusal as fault:
            self.counts[NotDecidedAgain.UNEXPLAINED] += 1
            self.unexplained = self.unexplained or fault


def describe_refusals(refusals: Mapping[NotDecidedAgain | None, int]) -> str:
    """Return clauses about refusals, for a sentence; empty without any."""
    clauses = []
    if again := refusals.get(None, 0):
        clauses.append(f"; {count(again, 'refusal')} decided again with the same sentence")
    clauses += [
        f"; {count(number, 'refusal')} could not be decided again: {lacking}"
        for lacking, number in sorted(refusals.items(), key=str)
        if lacking is not None
    ]
    return "".join(clauses)


def holds_but(board: int, unexplained: str | UnexplainedRefusal) -> str:
    """Return a sentence that a match holds in all but a refusal."""
    return f"match {board} holds but for a refusal, which no move and no event depends on: {unexplained}"
