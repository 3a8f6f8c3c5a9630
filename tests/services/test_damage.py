"""What can't be read is a sentence and an alarm; `verify BOARD` finds it, and what the published log contradicts."""

from collections.abc import Callable
from pathlib import Path

import pytest
from redis import Redis

from domain.match.commands import CommandEnvelope, PlayMove, ResignMatch
from domain.match.history import decode_event
from infra.log.key_files import generate_keys
from infra.redis import keys
from infra.settings.settings import Settings
from infra.valkey.server import EmbeddedServer
from services.cli import verify
from services.doctor import Level, gather, judge
from services.language import Language
from tests.helpers import forging
from tests.helpers.api import PASSWORD, Api, Player, code_of
from tests.helpers.bench import Bench
from tests.helpers.given import ALICE, BOB
from workers.log.job import make_publisher

MOVES = ("m13-j7", "a13-d7", "m1-i3")
SENTENCE = "can't be read; the server's operator can see why with `matchpost verify"


@pytest.fixture
def pair(api: Api) -> tuple[Player, Player]:
    one, other = api.players()
    return one, other


def damaged(api: Api, pair: tuple[Player, Player]) -> int:
    """A match of four events, the third of which has one wrong letter."""
    board = api.match(*pair)
    for number, move in enumerate(MOVES):
        assert pair[number % 2].move(board, move).is_success
    damage(api, board)
    return board


def damage(api: Api, board: int, old: bytes = b"moved", new: bytes = b"mowed") -> None:
    name = keys.events(keys.shard_of(board, 4), board)
    data = api.parts.data.lindex(name, 2)
    api.parts.data.lset(name, 2, data.replace(old, new))  # type: ignore[union-attr, arg-type]


def events_of(api: Api, board: int, accept: str, **headers: str):
    asked = {"Accept": accept, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return api.http.get(f"/api/matches/{board}/events", headers=asked)


def test_a_damaged_event_is_a_sentence_in_lists_and_a_stream_ends_before_it(api, pair):
    board = damaged(api, pair)
    for accept in ("application/json", "application/x-ndjson"):
        answer = events_of(api, board, accept)
        assert (answer.status_code, code_of(answer)) == (503, "damaged")
        assert SENTENCE in answer.json()["detail"]
        assert board in api.parts.damage.all()
        asked = {"Accept": accept}
        assert api.http.get(f"/api/matches/{board}/events?limit=2", headers=asked).is_success
    with api.stream(f"/api/matches/{board}/events") as told:
        assert [one.id for one in told] == ["1", "2"]
    answer = events_of(api, board, "text/event-stream", Last_Event_ID="2")
    assert (answer.status_code, code_of(answer)) == (503, "damaged")
    with api.stream(f"/api/matches/{board}/events", Last_Event_ID="3") as told:
        assert next(told).id == "4"


def test_the_doctor_tells_what_was_met_until_it_holds_again(api, pair, capsys):
    board = damaged(api, pair)
    api.parts.data.delete(keys.DAMAGED)
    assert events_of(api, board, "application/json").status_code == 503
    (finding,) = [one for one in judge(gather(api.settings)) if one.about == "matches"]
    assert (finding.level, finding.what) == (Level.BAD, f"1 match can't be read: {board}")
    assert verify.run(str(board), api.settings) == 1
    damage(api, board, b"mowed", b"moved")
    assert verify.run(str(board), api.settings) == 0
    assert not [one for one in judge(gather(api.settings)) if one.about == "matches"]
    assert "holds" in capsys.readouterr().out


def test_play_goes_on_and_who_plays_is_told_what_is_true(api, pair):
    board = damaged(api, pair)
    one, other = pair
    assert other.move(board, "a1-e3").is_success
    answer = Language(api.parts).do(f"pow2 move {board} {one.name} {PASSWORD} propose draw")
    assert answer.code == "damaged"
    assert answer.sentence.startswith("the command was accepted, but match")
    assert api.http.get(f"/api/matches/{board}").json()["offer"]["kind"] == "draw"


# `verify BOARD`, and the published log that it compares with


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
            (ALICE, "m13-j7"), (ALICE, "j7-m13"), (BOB, "a13-d7"), (ALICE, "j7-m13"),
        ):  # fmt: skip
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
    assert "; none of its leaves is published yet" in said()[1]
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


def another_last_move(bench: Bench) -> None:
    last = decode_event(bench.store.events(BOARD)[-1])
    move = CommandEnvelope(BOARD, last.command, last.actor, PlayMove(text="m1-m5"))
    forging.last_command_as(bench.client, BOARD, move, last.at)


SIGNED = "which is signed, "


@pytest.mark.parametrize(
    ("forge", "sentence"),
    [
        (lambda bench: forging.without_last_command(bench.client, BOARD), "has one more leaf of the match"),
        (another_last_move, "is another one than that of the match"),
        (lambda bench: forging.forget_match(bench.client, BOARD), "has one more leaf of the match, number 0, that the data lack"),
    ],
    ids=["unmade", "another move", "forgotten"],
)  # fmt: skip
def test_what_is_forged_in_all_of_redis_is_found_by_the_published_log(
    bench, publish, said, forge, sentence
):
    publish()
    forge(bench)
    code, out, err = said()
    assert (code, out) == (1, "")
    assert SIGNED + sentence in err


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
