"""What goes wrong in a month: who dies where, and since when nothing could come at its time."""

from collections import Counter
from collections.abc import Sequence

from domain.records import CommandId
from infra.store.port import CommitResult, Queued, Submission, SubmitResult, Write
from tests.fakes.dying import Killed
from tests.helpers.timed import TimedStore


class Fate(TimedStore):
    """A store on which whoever uses it may die, and that remembers what came to it."""

    dies = ""

    def __init__(self, *args: object, **more: object) -> None:
        super().__init__(*args, **more)  # type: ignore[arg-type]
        self.came: dict[CommandId, tuple[int, int]] = {}
        """For each command, which one in all it was, and its received time."""

    def commit(self, writes: Sequence[Write]) -> list[CommitResult]:
        self._die("before the commit")
        results = super().commit(writes)
        self._die("after the commit")
        return results

    def submit(self, submissions: Sequence[Submission]) -> list[SubmitResult]:
        answers = super().submit(submissions)
        for new, answer in zip(submissions, answers, strict=True):
            if isinstance(answer, Queued):
                self.came.setdefault(new.id, (len(self.came), answer.received))
        self._die("after the submit")
        return answers

    def _die(self, where: str) -> None:
        if self.dies == where:
            raise Killed


class Darkness:
    """When nothing could come at its time, and why; true while that is so."""

    def __init__(self) -> None:
        self.why: Counter[str] = Counter()
        self._spans: list[list[int]] = []
        """Since and until when."""

    def __bool__(self) -> bool:
        return self.why.total() > 0

    def begin(self, why: str, now: int) -> None:
        if not self:
            self._spans.append([now, now])
        self.why[why] += 1

    def end(self, why: str, now: int) -> None:
        self.why[why] -= 1
        if not self:
            self._spans[-1][1] = now

    def between(self, since: int, now: int) -> int:
        """How long it was so since then, ms."""
        if self:
            self._spans[-1][1] = now
        return sum(max(0, until - max(begin, since)) for begin, until in self._spans)
