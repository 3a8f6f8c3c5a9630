"""Command lines for a table of players, by the million: valid, mutated, shuffled, odd, long.

    python trials/fuzz/commands.py [COUNT] [SEED]

Each line is carried out by the language at a desk where a dozen matches are played. Every one has to
be answered, with a code that is known and is not the server's own failure, without the password that
stands in it, and soon: a line, and each of several in one, takes the processor no longer than 50 ms.
What a worker takes to decide is timed apart, and garbage is collected between lines. Prints what the
answers were, and what took longest. The first failure ends it.
"""

import gc
import random
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from domain.errors import Code
from domain.match.history import unpack_snapshot
from domain.match.state import MatchState, position_of
from domain.rules import rules_by_id
from infra.people.accounts import AccountRole, Accounts
from infra.people.rate_limits import LoginRateLimit
from infra.projections.finished_matches import FinishedMatches
from infra.projections.head_to_head import HeadToHeadQuery
from infra.projections.match_lists import MatchLists
from infra.projections.ratings import RatingsQuery
from infra.projections.standings import StandingsQuery
from infra.redis.rq_jobs import ANALYSIS
from services.language import LOCAL, Answer, Language
from tests.fakes.app import CHEAP, FakeApp
from tests.helpers.side import catch_up
from trials.fuzz.lines import MATCHES, NEW, PASSWORDS, SECRETS, lines, read_line
from workers.rq_worker import ListedWorker

sys.path.insert(0, str(Path(__file__).parents[2]))

COUNT: Final = 1_000_000

LIMIT: Final = 0.050
"""Seconds of the processor that a line may take."""

AGE: Final = 4_000
"""Lines after which everybody moves to a new table: nothing grows without bound."""

_PROGRESS: Final = 50_000
_SLOWEST: Final = 5

KINDS: Final = frozenset(
    {"long", "mutated", "noise", "played", "reworded", "several", "shuffled", "valid"}
)
"""What the lines are."""

_KEYS: Final = (None, None, None, "key-1", "key-2", "k" * 512)

_PLAYED: Final = (
    *("move {} {} {}", "move {} {} {}", "submit {} {} {}", "queue {} {} {}"),
    *("preview {0} {2}", "confirm {0} {1}"),
)
"""What is done with a board, a player with password, and a move."""

_STILL: Final = (
    *("show {0}", "showas alice {1} {0}", "preview {0} 24-57", "previewas {0} alice {1} 24-57"),
    *("submit {0} alice {1} 24-57", "confirm {0} alice {1}", "chat {0} alice {1}"),
)
"""What is done where no move can be played: in a match that is over, or waits to begin."""


class Table(FakeApp):
    """A desk at which three play all games; deciding is timed, and lists are brought up to date apart."""

    def __init__(self, number: int) -> None:
        super().__init__()
        # at every tenth table wrong passwords are limited as they should be
        limit = LoginRateLimit(self.client, *(() if number % 10 == 0 else (1_000_000,)))
        self.accounts = Accounts(self.client, CHEAP, limit=limit)
        self.deciding = 0.0
        self.language = Language(self, origin=LOCAL)
        ListedWorker(self.queue, ANALYSIS, {}).register_birth()
        for name, password in PASSWORDS.items():
            self.accounts.signup(name, password)
        self.accounts.set_role("carol", AccountRole.ARBITER, held=True)
        for line in MATCHES:
            assert self.language.do(line).code == "", line
        self.settle()

    def settle(self) -> None:
        catch_up(self.store, self.client)

    def _drain(self, lane: int) -> None:
        began = time.thread_time()
        super()._drain(lane)
        self.deciding += time.thread_time() - began

    @property
    def lists(self) -> MatchLists:
        return MatchLists(self.client)

    @property
    def history(self) -> FinishedMatches:
        return FinishedMatches(self.client)

    @property
    def standings(self) -> StandingsQuery:
        return StandingsQuery(self.client)

    @property
    def ratings(self) -> RatingsQuery:
        return RatingsQuery(self.client)

    @property
    def head_to_head(self) -> HeadToHeadQuery:
        return HeadToHeadQuery(self.client)

    def played(self, chance: random.Random) -> str:
        """A line with a move that is legal in one of the first matches, or nearly."""
        board = chance.randint(1, len(MATCHES))
        (data,) = self.store.snapshots([board])
        state = unpack_snapshot(data).state
        game = state.rules.partition("/")[0]
        if state.next is None:
            return f"{game} {chance.choice(_STILL).format(board, PASSWORDS['alice'])}"
        (name,) = self.accounts.name_of([state.seats[state.next]])
        who = f"{name} {PASSWORDS.get(name or '', NEW)}"
        move = _nearly_legal(chance, state)
        form = chance.choice(_PLAYED)
        return f"{game} {form.format(board, who, move)}"


def _nearly_legal(chance: random.Random, state: MatchState) -> str:
    legal = rules_by_id(state.rules).legal_moves(position_of(state))
    move = [*islice(legal, chance.randint(1, 12))][-1]
    if chance.random() < 0.8:
        return move
    at = chance.randrange(len(move))
    return move[:at] + chance.choice("am19-:,# ") + move[at + 1 :]


class Taken(msgspec.Struct, frozen=True, order=True):
    """What a line took, in seconds."""

    at_the_door: float
    deciding: float
    waiting: float
    """By the clock on the wall, beside other work."""


def carry_out(table: Table, line: str, key: str | None) -> tuple[Answer, Taken]:
    """Carry a line out; what several in one took is given for one of them."""
    table.deciding = 0.0
    wall, began = time.perf_counter(), time.thread_time()
    answer = table.language.do(line, key, seconds=1.0)
    took, waited = time.thread_time() - began, time.perf_counter() - wall
    each = line.count("\n") if line.lower().startswith("multiple") and answer.page else 1
    return answer, Taken((took - table.deciding) / each, table.deciding / each, waited / each)


def check(line: str, answer: Answer) -> None:
    """Assert what holds of every answer."""
    assert answer.text, line
    assert answer.code == "" or answer.code in set(Code), (line, answer)
    assert answer.code not in (Code.INTERNAL, Code.UNAVAILABLE, Code.PENDING), (line, answer)
    told = answer.text.lower()
    if any(secret in told for secret in SECRETS):
        for part, said in _apart(line, answer):
            assert not _betrayed(part, said.lower()), (part, said)


def _apart(line: str, answer: Answer) -> Iterator[tuple[str, str]]:
    """Return each command with what was said to it."""
    parts = [part for part in line.replace("\r\n", "\n").strip().split("\n")[1:] if part.strip()]
    if not line.strip().lower().startswith("multiple") or not answer.page:
        yield line, answer.text
        return
    rest = answer.page.removeprefix("1: ")
    for number, part in enumerate(parts, 2):
        said, _, rest = rest.partition(f"\n\n{number}: ")
        yield part, said


def _betrayed(line: str, said: str) -> list[str]:
    """Return the passwords that the answer to a line must not have and has.

    What is no password in that line may be repeated: a misspelt userid in `pow2 history`.
    """
    read = read_line(line)
    secret = SECRETS if read is None else (read.get("password"), read.get("new"))
    return [word for word in secret if word in SECRETS and word in said]


def run(count: int, seed: int) -> Iterator[tuple[str, str, Answer, Taken]]:
    """Carry so many lines out at one table after another, each with its kind."""
    chance = random.Random(f"table {seed}")
    gc.disable()  # what is collected would be timed with whatever line comes then
    try:
        for start in range(0, count, AGE):
            table = Table(start // AGE)
            made = lines(chance.randrange(2**32), table.played)
            yield from _at(table, islice(made, min(AGE, count - start)), chance)
            table.close()
    finally:
        gc.unfreeze()
        gc.enable()


def _at(
    table: Table, made: Iterable[tuple[str, str]], chance: random.Random
) -> Iterator[tuple[str, str, Answer, Taken]]:
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    for number, (kind, line) in enumerate(made):
        answer, taken = carry_out(table, line, chance.choice(_KEYS))
        check(line, answer)
        yield kind, line, answer, taken
        if number % 100 == 0:
            table.settle()
            gc.collect()


def main(count: int = COUNT, seed: int = 1) -> None:
    """Carry so many lines out, and print the figures; fails where one took too long."""
    kinds: Counter[str] = Counter()
    codes: Counter[str] = Counter()
    slow: list[tuple[Taken, str, str]] = []
    decided: list[tuple[float, str]] = []
    began = time.perf_counter()
    for number, (kind, line, answer, taken) in enumerate(run(count, seed), 1):
        kinds[kind] += 1
        codes[answer.code or "accepted or answered"] += 1
        slow = sorted([*slow, (taken, kind, line)], reverse=True)[:_SLOWEST]
        decided = sorted([*decided, (taken.deciding, line)], reverse=True)[:_SLOWEST]
        if number % _PROGRESS == 0:
            print(f"{number} lines after {time.perf_counter() - began:.0f} s", flush=True)
    for counted in (kinds, codes):
        for what, many in counted.most_common():
            print(f"{many:>9}  {what}")
    for taken, kind, line in slow:
        took = f"{taken.at_the_door * 1000:.1f} ms ({taken.waiting * 1000:.1f} ms on the wall)"
        print(f"{took} for {len(line)} characters, {kind}: {line[:70]!r}")
    for took, line in decided:
        print(f"{took * 1000:.1f} ms to decide {line[:70]!r}")
    print(f"{count} lines in {time.perf_counter() - began:.0f} s")
    assert slow[0][0].at_the_door <= LIMIT, "a line took too long"


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
