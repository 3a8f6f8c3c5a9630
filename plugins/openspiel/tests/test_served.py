"""The games of the plugin on a real server: whole matches by the API, and another version of OpenSpiel."""

import os
from contextlib import contextmanager
from pathlib import Path
from random import Random

import httpx
import pytest

from matchpost_openspiel import GAMES
from tests.helpers.machines import WebPlayer
from tests.helpers.sample_game import install
from tests.helpers.served import Served

PLUGIN = Path(__file__).parents[1]
QUICK = {"osnim", "osconnectfour", "osdotsandboxes", "osamazons"}
OF_ANOTHER_VERSION = (
    "there are no rules 'oschess/20002' on this server, which has another version of the game; "
    "matches by them are kept, and continue once that version is installed"
)


@contextmanager
def served(data, *packages):
    path = [*map(str, packages), os.environ.get("PYTHONPATH", "")]
    rates = {f"MATCHPOST_{kind}_RATE": "1000000" for kind in ("COMMAND", "ADDRESS", "PASSWORD")}
    env = {"MATCHPOST_HTTP": "127.0.0.1:0", "PYTHONPATH": ":".join(filter(None, path)), **rates}
    with Served(data, env) as one:
        yield one


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    return install(tmp_path_factory.mktemp("packages"), source=PLUGIN)


@pytest.fixture(scope="module")
def url(tmp_path_factory, packages):
    with served(tmp_path_factory.mktemp("served") / "data", packages) as one:
        yield one.url


@pytest.fixture(scope="module")
def players(url):
    found = [WebPlayer([url], name) for name in ("alice", "bob")]
    for player in found:
        player.sign_up()
    yield found
    for player in found:
        player.close()


@pytest.mark.parametrize(
    "key",
    [pytest.param(key, marks=() if key in QUICK else pytest.mark.long) for key in vars(GAMES)],
)
def test_a_whole_match_is_played_by_the_api(players, key):
    rules, chance = getattr(GAMES, key).latest, Random(key)
    board = players[0].start(key, "alice", "bob")
    players[1].accept(board)
    position, ply = rules.start(rules.read_options([]), 2, None), 0
    while (seat := rules.to_move(position)) is not None:
        move = chance.choice(rules.moves(position))
        players[seat].move(board, move.upper(), ply)
        position, ply = rules.play(position, rules.read(move)), ply + 1
    match = players[0].match(board)
    outcome = rules.outcome(position)
    assert match["result"]["winners"] == list(outcome.winners)
    assert len(match["moves"]) == ply
    assert match["at"]["position"] == rules.to_json(position)


def test_pages_show_a_board_with_places_to_touch(url, players):
    board = players[0].start("osxiangqi", "alice", "bob")
    players[1].accept(board)
    invited = httpx.get(f"{url}/api/matches/{board}/board.svg", timeout=20)
    assert 'data-place="a4"' in invited.text
    for path in ("/games/osxiangqi", "/games/osxiangqi/try", "/games", f"/m/{board}"):
        assert httpx.get(url + path, timeout=20).status_code == 200, path


@pytest.mark.long  # tests/domain/test_versions.py holds the rule
def test_a_match_of_another_version_of_openspiel_waits_for_it(tmp_path, packages):
    other = tmp_path / "newer" / "open_spiel-9.9.9.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: open_spiel\nVersion: 9.9.9\n")
    data = tmp_path / "data"
    with served(data, packages) as one:
        one.do(
            "signup alice mad-hatter", "signup bob yes-we-can", "oschess challenge alice bob",
            "oschess move 1 bob yes-we-can accept", "oschess move 1 alice mad-hatter e2-e4",
        )  # fmt: skip
    with served(data, other.parent, packages) as one:
        refused = one.run("do", "oschess move 1 bob yes-we-can e7-e5")
        assert (refused.returncode, OF_ANOTHER_VERSION in refused.stderr) == (1, True)
        answer = httpx.get(f"{one.url}/api/matches/1", timeout=20)
        assert (answer.status_code, answer.json()["code"]) == (422, "unknown-rules")
        assert answer.json()["detail"] == OF_ANOTHER_VERSION
        for path in ("/", "/players/alice", "/games"):
            shown = httpx.get(one.url + path, timeout=20)
            assert (path, shown.status_code) == (path, 200), shown.text
        assert OF_ANOTHER_VERSION in one.run("do", "all show alice").stdout
    with served(data, packages) as one:
        one.do("oschess move 1 bob yes-we-can e7-e5")
