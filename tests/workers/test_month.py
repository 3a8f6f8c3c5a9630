"""A simulated month of matches: every reminder and flag at its time, and none twice."""

from collections.abc import Iterator, Sequence

import msgspec
import pytest
from redis import Redis

from domain.match import commands
from domain.records import SERVER_ACCOUNT
from infra.redis import keys
from infra.store.log_streams import ShardNews
from infra.store.port import InboxEntry, Submission, SubmitResult
from tests.workers.month import HOUR, Fate, Month


@pytest.fixture
def server(redis_client: Redis) -> Iterator[Redis]:
    """The real server, which syncs nothing meanwhile."""
    redis_client.config_set("appendfsync", "no")
    yield redis_client
    redis_client.config_set("appendfsync", "always")


@pytest.mark.parametrize(
    ("matches", "days"), [(40, 12), pytest.param(120, 31, marks=pytest.mark.long)]
)
def test_whatever_goes_wrong_every_reminder_and_flag_comes_once_and_at_its_time(
    server, tmp_path, matches, days
):
    month = Month(server, tmp_path / "seeds", matches)
    month.run(days)
    figures = month.figures
    # how many there are varies with what chance draws for the matches
    assert figures["flagged to the millisecond"] > matches // 5
    assert figures["nagged to the millisecond"] > matches // 5
    assert figures["moves that were in the inbox before"] + figures["replies played"] > 0
    assert sum(count for what, count in figures.items() if "killed" in what) > 2
    assert figures["keepers replaced"] > 9


class Deaf(Fate):
    """A store that tells of no matches due in one shard."""

    def due_boards(self, shard: int, now: int, count: int) -> list[int]:
        return [] if shard == 2 else super().due_boards(shard, now, count)


class Forgetful(Fate):
    """A store that loses what keepers send, now and then."""

    sent = 0

    def submit(self, submissions: Sequence[Submission]) -> list[SubmitResult]:
        answers = super().submit(submissions)
        for new, answer in zip(submissions, answers, strict=True):
            self.sent += new.actor == SERVER_ACCOUNT
            if new.actor == SERVER_ACCOUNT and self.sent % 5 == 0:
                self._client.xdel(keys.inbox(new.board % 4), answer.entry)  # type: ignore[union-attr]
        return answers


class Hasty(Fate):
    """A store that gives what keepers sent before what players did."""

    def read_inbox(self, shards: Sequence[int], count: int) -> list[InboxEntry]:
        found = super().read_inbox(shards, count)
        return sorted(
            found, key=lambda e: commands.decode_command(e.payload).actor != SERVER_ACCOUNT
        )


class Late(Fate):
    """A store whose commands seem to come in when they are taken out."""

    def read_inbox(self, shards: Sequence[int], count: int) -> list[InboxEntry]:
        found = super().read_inbox(shards, count)
        return [msgspec.structs.replace(entry, received=self.now()) for entry in found]


class Fast(Fate):
    """A store that thinks that matches are due an hour before they are."""

    def due_boards(self, shard: int, now: int, count: int) -> list[int]:
        return super().due_boards(shard, now + HOUR, count)

    def news(self, ends: Sequence[int]) -> tuple[int, list[ShardNews]]:
        now, found = super().news(ends)
        return now + HOUR, found

    def now(self) -> int:
        return super().now() + HOUR


class Slow(Fate):
    """A store whose matches are due two seconds after their time."""

    def due_boards(self, shard: int, now: int, count: int) -> list[int]:
        return super().due_boards(shard, now - 2_000, count)


@pytest.mark.parametrize(
    ("store", "words"),
    [
        (Deaf, "has not come"),
        (Late, "received at"),
        *(
            pytest.param(store, words, marks=pytest.mark.long)
            for store, words in (
                (Forgetful, "has not come|received at"),
                (Hasty, "what came before was decided after"),
                (Fast, "has not come"),
                (Slow, "has not come"),
            )
        ),
    ],
)
def test_a_month_tells_a_faulty_server_from_a_good_one(server, tmp_path, store, words):
    class Faulty(Month):
        make_store = store

    def play() -> None:
        # chance may draw a month in which the fault has no occasion
        for attempt in range(10):
            server.flushall()
            Faulty(server, tmp_path / f"seeds-{attempt}", matches=60).run(days=20)

    with pytest.raises(AssertionError, match=words):
        play()


def test_where_nothing_goes_wrong_nothing_is_excused(server, tmp_path):
    month = Month(server, tmp_path / "seeds", matches=12, seed=2, lucky=True)
    month.run(days=12)
    assert month.figures["flagged"] > 1
    assert month.figures["nagged"] > 1
    assert not any("excused" in figure or "killed" in figure for figure in month.figures)
