"""A whole match whose events are trimmed after each move: every front end shows what it showed before."""

import re
from collections.abc import Iterator

import pytest

from infra.audit.stored_match import check
from infra.log.key_files import generate_keys
from infra.log.published_logs import PublishedLogs
from infra.redis import keys
from infra.store.kept_events import read_kept
from tests.app.test_archived_everywhere import reads
from tests.fakes.everywhere import FRONT_ENDS, Action, Everywhere, Result
from tests.fakes.everywhere import everywhere as front_ends
from tests.helpers.api import Api, Player
from workers.log.job import make_publisher
from workers.log.trim_events import EventTrimmer

_RUNNING = re.compile(r'"left_ms":[0-9]+|data-deadline="[0-9]+"')


@pytest.fixture(scope="module")
def everywhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Everywhere]:
    with Api(tmp_path_factory.mktemp("trimmed")) as api, front_ends(api) as found:
        generate_keys(api.settings.data / "keys", "example.org")
        yield found


def trim(api: Api) -> int:
    """Publish all, and trim all; return how many events were removed."""
    data = api.parts.data
    publisher = make_publisher(api.settings, data, data)
    publisher.begin()
    while publisher.round(0):
        pass
    return EventTrimmer(data, PublishedLogs(api.settings).of, bundle=1).trim(4)


def shown(everywhere: Everywhere, one: Player, other: Player, board: int) -> dict[str, str]:
    """What every way of reading a match answers, without the clock that runs."""
    found = reads(everywhere, one, other, board, over=False)
    return {name: _RUNNING.sub("", str(answer)) for name, answer in found.items()}


def legal(player: Player, board: int) -> str:
    """A legal move."""
    return str(player.get(f"/api/matches/{board}").json()["at"]["legal"][0])


def count_trimmed(api: Api, board: int) -> int:
    kept = read_kept(api.parts.data.lrange(keys.events(keys.shard_of(board, 4), board), 0, -1))
    return kept.trimmed if kept else 0


@pytest.mark.long
def test_it_is_played_on_at_every_front_end_and_looks_the_same(everywhere):
    api = everywhere.api
    one, other = everywhere.player(), everywhere.player()
    board = everywhere.start_game("pow2", one, other)
    for ply, where in enumerate(FRONT_ENDS):
        player, move = (other if ply % 2 else one), legal(one, board)
        body = {"do": "move", "move": move}
        assert everywhere.act(where, player, board, Action(move, body, body)) == Result("")
        api.caught_up()
        reads(everywhere, one, other, board, over=False)  # by which what is new is read
        before = shown(everywhere, one, other, board)
        assert bool(trim(api)) == (ply > 0)
        after = shown(everywhere, one, other, board)
        assert [name for name in before if before[name] != after[name]] == []
        assert (count_trimmed(api, board) > 0) == (ply > 0)
        assert "holds" in check(api.parts.store, board)
    assert everywhere.state(board).ply == len(FRONT_ENDS)


def test_a_stream_that_is_open_goes_on_over_what_is_trimmed(everywhere):
    api = everywhere.api
    one, other = everywhere.player(), everywhere.player()
    board = everywhere.start_game("pow2", one, other)
    assert one.move(board, legal(one, board)).is_success
    with api.stream(f"/api/matches/{board}/events") as told:
        seqs = [int(next(told).id) for _ in range(2)]
        for player in (other, one, other):
            trim(api)
            assert player.move(board, legal(one, board)).is_success
            seqs.append(int(next(told).id))
    assert seqs == list(range(1, seqs[-1] + 1))
