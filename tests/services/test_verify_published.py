"""`verify BOARD` compares a match with the published log, and finds what was forged in all of Redis."""

from collections.abc import Callable
from pathlib import Path

import pytest
from redis import Redis

from domain.errors import Refusal
from domain.match.commands import CommandEnvelope, PlayMove, ResignMatch
from domain.match.history import decode_event
from infra.log.key_files import generate_keys
from infra.settings.settings import Settings
from infra.valkey.server import EmbeddedServer
from services.cli import verify
from tests.helpers import forging
from tests.helpers.bench import Bench
from tests.helpers.given import ALICE, BOB
from workers.log.job import make_publisher

BOARD = 1


@pytest.fixture
def settings(valkey: EmbeddedServer, tmp_path: Path) -> Settings:
    return Settings(data=tmp_path, redis_url=valkey.url, queue_url=valkey.url)


@pytest.fixture
def bench(redis_client: Redis, tmp_path: Path) -> Bench:
    """Two matches of a shard: a start, three moves and a refusal each."""
    made = Bench(redis_client, tmp_path / "seeds")
    made.start(BOARD, 5)
    for board in (BOARD, 5):
        for actor, move in (
            (ALICE, "m13-j7"),
            (ALICE, "j7-m13"),
            (BOB, "a13-d7"),
            (ALICE, "j7-m13"),
        ):
            made.send(actor, PlayMove(text=move), board)
    made.drain()
    return made


@pytest.fixture
def publish(settings: Settings, bench: Bench) -> Callable[[], None]:
    generate_keys(settings.data / "keys", "example.org")
    publisher = make_publisher(settings, bench.client, bench.client)
    publisher.begin()

    def publish() -> None:
        while publisher.round():
            pass

    return publish


Said = Callable[[], tuple[int, str, str]]


@pytest.fixture
def said(settings: Settings, capsys: pytest.CaptureFixture[str]) -> Said:
    def run() -> tuple[int, str, str]:
        code = verify.run(str(BOARD), settings)
        out, err = capsys.readouterr()
        return code, out.strip(), err.strip()

    return run


HOLDS = (
    "match 1 holds: 4 events in sequence, chained, and decided again by pow2/1 with the same result; "
    "snapshot, outcomes and log agree; 1 refusal decided again with the same sentence"
)


@pytest.mark.usefixtures("bench")
def test_without_a_published_log_it_is_said_why_nothing_was_compared(said):
    code, out, err = said()
    assert (code, out) == (0, HOLDS)
    assert err.startswith("its leaves were not compared with the published log: ")
    assert "there are no public keys" in err


def test_the_sentence_says_how_many_leaves_are_proven(bench, publish, said):
    publish()
    assert said() == (
        0,
        f"{HOLDS}; all 5 leaves are proven by the signed checkpoint of example.org/log/s01 at 10 leaves",
        "",
    )
    bench.send(BOB, ResignMatch())
    bench.drain()
    told = said()[1]
    assert "; 5 of its 7 leaves are proven by the signed checkpoint" in told
    assert told.endswith(
        "; the newest 2 are not published yet, which takes seconds while a publisher runs"
    )


def another(bench: Bench, command: PlayMove | ResignMatch) -> CommandEnvelope:
    last = decode_event(bench.store.events(BOARD)[-1])
    return CommandEnvelope(BOARD, last.command, last.actor, command)


def last_at(bench: Bench) -> int:
    return decode_event(bench.store.events(BOARD)[-1]).at


FORGERIES = {
    "unmade": (
        lambda bench: forging.without_last_command(bench.client, BOARD),
        "which is signed, has one more leaf of the match",
    ),
    "an hour later": (
        lambda bench: forging.last_command_as(
            bench.client,
            BOARD,
            another(bench, PlayMove(text="j7-m13")),
            last_at(bench) + 3_600_000,
        ),
        "which is signed, is another one than that of the match",
    ),
    "another move": (
        lambda bench: forging.last_command_as(
            bench.client, BOARD, another(bench, PlayMove(text="m1-m5")), last_at(bench)
        ),
        "which is signed, is another one than that of the match",
    ),
    "a move in place of none": (
        lambda bench: forging.forget_match(bench.client, BOARD),
        "which is signed, has one more leaf of the match, number 0, that the data lack",
    ),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_what_is_forged_in_all_of_redis_is_found_by_the_published_log(
    bench, publish, said, forgery
):
    forge, sentence = FORGERIES[forgery]
    publish()
    forge(bench)
    code, out, err = said()
    assert (code, out) == (1, "")
    assert sentence in err


@pytest.mark.parametrize("forgery", ["unmade", "an hour later", "another move"])
def test_the_same_holds_where_nothing_is_published(bench, said, forgery):
    """The forger has made everything fit: only what others hold can show it."""
    FORGERIES[forgery][0](bench)
    assert said()[0] == 0


def test_a_match_that_never_was_is_unknown(settings, publish):
    publish()
    with pytest.raises(Refusal, match="there is no match 9"):
        verify.run("9", settings)


def test_a_lost_store_and_a_lost_key_are_said(settings, publish, said):
    publish()
    checkpoint = settings.data / "log" / "s01" / "checkpoint"
    note = checkpoint.read_bytes()
    checkpoint.unlink()
    code, out, err = said()
    assert (code, out) == (2, HOLDS)
    assert "has 0 leaves, though the data say that 10 were published" in err
    checkpoint.write_bytes(note.replace(b"\n10\n", b"\n11\n"))
    assert said()[0] == 2
    checkpoint.write_bytes(note)
    public = settings.data / "keys" / "log-key.pub"
    public.unlink()
    code, _, err = said()
    assert code == 2
    assert "there are no public keys" in err


def test_a_damaged_tile_is_said(settings, publish, said):
    publish()
    tile = next((settings.data / "log" / "s01" / "tile" / "0").rglob("10"))
    tile.chmod(0o600)
    tile.write_bytes(bytes(len(tile.read_bytes())))
    code, out, err = said()
    assert (code, out) == (2, HOLDS)
    assert "do not fit the checkpoint" in err
