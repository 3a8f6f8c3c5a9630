"""What can't be read is a sentence for who reads, by every way in, and an alarm for the operator."""

from collections.abc import Iterator

import pytest

from infra.redis import keys
from services.cli import verify
from services.doctor import Level, gather, judge
from services.language import Language
from tests.helpers.api import PASSWORD, Api, Player, code_of
from tests.helpers.web import Guest

MOVES = ("m13-j7", "a13-d7", "m1-i3")
PAGES = ("", "/2", "/match.json", "/match.txt", "/2/board.svg", "/compare")
PLACES = ("", "/events", "/board.svg", "/board.txt", "/board.json", "/plies/0", "/plies/3")
SENTENCE = "can't be read; the server's operator can see why with `matchpost verify"


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("damage")) as api:
        yield api


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


@pytest.mark.parametrize("accept", ["application/json", "application/x-ndjson"])
def test_a_damaged_event_is_a_sentence_in_lists(api, pair, accept):
    board = damaged(api, pair)
    answer = events_of(api, board, accept)
    assert (answer.status_code, code_of(answer)) == (503, "damaged")
    assert SENTENCE in answer.json()["detail"]
    assert board in api.parts.damage.all()
    assert events_of(api, board, accept).status_code == 503
    before = api.http.get(f"/api/matches/{board}/events?limit=2", headers={"Accept": accept})
    assert before.is_success


def test_a_stream_ends_before_a_damaged_event_and_says_why_when_it_is_asked_for(api, pair):
    board = damaged(api, pair)
    with api.stream(f"/api/matches/{board}/events") as told:
        assert [one.id for one in told] == ["1", "2"]
    answer = events_of(api, board, "text/event-stream", Last_Event_ID="2")
    assert (answer.status_code, code_of(answer)) == (503, "damaged")
    with api.stream(f"/api/matches/{board}/events", Last_Event_ID="3") as told:
        assert next(told).id == "4"


def test_play_goes_on_and_who_plays_is_told_what_is_true(api, pair):
    board = damaged(api, pair)
    one, other = pair
    assert other.move(board, "a1-e3").is_success
    say = Language(api.parts).do
    answer = say(f"pow2 move {board} {one.name} {PASSWORD} propose draw")
    assert answer.code == "damaged"
    assert answer.sentence.startswith("the command was accepted, but match")
    assert api.http.get(f"/api/matches/{board}").json()["offer"]["kind"] == "draw"


def test_no_page_and_no_place_of_the_api_fails(api, pair):
    board = damaged(api, pair)
    with Guest(api) as guest:
        for page in PAGES:
            answer = guest.get(f"/m/{board}{page}")
            assert answer.status_code in (200, 503), (page, answer.status_code)
    for place in PLACES:
        answer = api.http.get(f"/api/matches/{board}{place}")
        assert answer.status_code in (200, 503), (place, answer.status_code)


def test_a_damaged_snapshot_is_a_sentence_at_every_way_in(api, pair):
    board = damaged(api, pair)
    api.parts.data.set(keys.snapshot(keys.shard_of(board, 4), board), b"x" * 40)
    with Guest(api) as guest:
        for name in ("", pair[0].name):
            if name:
                guest.log_in(name)
            page = guest.get(f"/m/{board}")
            assert page.status_code == 503
            assert "can&#39;t be read" in page.text or "can't be read" in page.text
    answer = Language(api.parts).do(f"pow2 show {board}")
    assert answer.code == "damaged"
    assert SENTENCE in answer.sentence
    assert code_of(api.http.get(f"/api/matches/{board}")) == "damaged"


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


def test_what_verify_finds_is_told_by_the_doctor(api, pair):
    board = damaged(api, pair)
    assert verify.run(str(board), api.settings) == 1
    assert "its bytes are no event" in api.parts.damage.all()[board]
