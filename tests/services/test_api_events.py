import hashlib
import json
from base64 import b64decode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from domain.match.audit import verify
from domain.match.history import decode_event
from services.http.context import TaskIntervals
from tests.helpers.api import Api, Player, Told, code_of, until

HEARTBEAT = 0.3

MOVES = ["m13-j7", "a13-d7", "m1-i3"]


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api"), intervals=TaskIntervals(heartbeat=HEARTBEAT)) as api:
        yield api


@pytest.fixture
def pair(api: Api) -> tuple[Player, Player, int]:
    one, other = api.players()
    return one, other, api.match(one, other)


def play(pair: tuple[Player, Player, int], moves: list[str] = MOVES) -> None:
    one, other, board = pair
    for number, move in enumerate(moves):
        assert (one, other)[number % 2].move(board, move).is_success


def events_of(api: Api, board: int, query: str = "", **headers: str):
    return api.http.get(f"/api/matches/{board}/events{query}", headers=headers)


def news(told: Iterator[Told]) -> Told:
    """The next event, past comments."""
    return next(one for one in told if not one.comment)


def test_events_are_the_stored_bytes_with_what_they_say(api, pair):
    one, _, board = pair
    play(pair)
    shown = events_of(api, board).json()
    stored = api.parts.store.events(board)
    assert [b64decode(event["data"]) for event in shown] == stored
    assert [event["type"] for event in shown] == ["match-proposed", *["moved"] * 3]
    assert [event["seq"] for event in shown] == [1, 2, 3, 4]
    assert [event["body"]["move"] for event in shown[1:]] == MOVES
    assert shown[1]["actor"] == one.account.hex()
    assert shown[1]["at"] == decode_event(stored[1]).at


def test_the_bytes_hash_to_the_hash_and_the_hashes_are_a_chain(api, pair):
    play(pair)
    board = pair[2]
    head = "0" * 64
    for event in events_of(api, board).json():
        leaf = hashlib.sha256(b"\0" + b64decode(event["data"])).hexdigest()
        assert (event["hash"], event["prev"]) == (leaf, head)
        head = event["hash"]
    assert api.http.get(f"/api/matches/{board}").json()["head"] == head


def test_what_is_shown_is_enough_to_verify_a_match(api, pair):
    play(pair)
    board = pair[2]
    data = [b64decode(event["data"]) for event in events_of(api, board).json()]
    verdict = verify(board, data)
    assert verdict.head.hex() == api.http.get(f"/api/matches/{board}").json()["head"]


def test_lines_say_the_same_as_the_list(api, pair):
    play(pair)
    board = pair[2]
    lines = events_of(api, board, Accept="application/x-ndjson")
    assert lines.headers["content-type"] == "application/x-ndjson"
    assert lines.text.endswith("\n")
    assert [json.loads(line) for line in lines.text.splitlines()] == events_of(api, board).json()


def test_events_can_be_read_in_pages(api, pair):
    play(pair)
    board = pair[2]
    whole = events_of(api, board).json()
    first = events_of(api, board, "?limit=3")
    assert first.json() == whole[:3]
    rest = api.http.get(first.links["next"]["url"])
    assert rest.json() == whole[3:]
    assert "next" not in rest.links
    assert events_of(api, board, "?from=99").json() == []
    assert code_of(events_of(api, board, "?from=0")) == "bad-request"
    assert code_of(events_of(api, board, "?limit=1001")) == "bad-request"


@pytest.mark.parametrize("accept", ["application/json", "application/x-ndjson", "*/*"])
def test_events_that_are_known_are_not_sent_again_until_there_are_more(api, pair, accept):
    one, _, board = pair
    first = events_of(api, board, Accept=accept)
    tag = first.headers["ETag"]
    again = events_of(api, board, Accept=accept, **{"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    assert one.move(board, MOVES[0]).is_success
    assert events_of(api, board, Accept=accept, **{"If-None-Match": tag}).status_code == 200


def test_a_form_that_is_not_there_is_refused(api, pair):
    refused = events_of(api, pair[2], Accept="text/html")
    assert (refused.status_code, code_of(refused)) == (406, "not-acceptable")
    assert code_of(events_of(api, 10**9)) == "unknown-board"


def test_events_come_in_their_order_as_they_happen_until_the_match_ends(api, pair):
    one, _, board = pair
    with api.stream(f"/api/matches/{board}/events") as told:
        assert news(told).event == "match-proposed"
        play(pair)
        assert one.give(board, {"do": "offer", "kind": "draw"}).is_success
        assert pair[1].give(board, {"do": "accept"}).is_success
        rest = [one for one in told if not one.comment]  # it ends by itself
    assert [one.event for one in rest] == [*["moved"] * 3, "offered", "answered", "ended"]
    whole = events_of(api, board).json()
    assert [one.data for one in rest] == whole[1:]
    assert [one.id for one in rest] == [str(event["seq"]) for event in whole[1:]]


def test_a_stream_goes_on_after_the_last_event_without_gap_or_repetition(api, pair):
    one, other, board = pair
    path = f"/api/matches/{board}/events"
    with api.stream(path) as told:
        seen = [news(told)]
    assert one.move(board, MOVES[0]).is_success  # while nobody listens
    with api.stream(path, Last_Event_ID=seen[-1].id) as told:
        seen.append(news(told))
        assert other.move(board, MOVES[1]).is_success
        seen.append(news(told))
    with api.stream(f"{path}?from=4") as told:
        assert one.move(board, MOVES[2]).is_success
        seen.append(news(told))
    assert [one.data for one in seen] == events_of(api, board).json()


def test_who_comes_back_when_all_is_over_is_told_not_to_come_again(api, pair):
    board = pair[2]
    assert pair[0].give(board, {"do": "resign"}).is_success
    last = str(api.http.get(f"/api/matches/{board}").json()["seq"])
    accept = {"Accept": "text/event-stream"}
    assert events_of(api, board, **accept, **{"Last-Event-ID": last}).status_code == 204
    with api.stream(f"/api/matches/{board}/events", Last_Event_ID=str(int(last) - 1)) as told:
        assert [one.event for one in told] == ["ended"]


@pytest.mark.parametrize("last", ["x", "-1", "1.5", "9" * 10, "1-2"])
def test_an_id_that_is_none_is_refused(api, pair, last):
    accept = {"Accept": "text/event-stream"}
    refused = events_of(api, pair[2], **accept, **{"Last-Event-ID": last})
    assert code_of(refused) == "bad-request"


def test_a_silent_stream_says_that_it_is_still_there(api, pair):
    with api.stream(f"/api/matches/{pair[2]}/events") as told:
        news(told)
        assert [next(told).comment for _ in range(2)] == ["still here"] * 2


def test_many_watchers_share_one_subscription(api, pair):
    one, _, board = pair
    begun = []

    def watch(number: int) -> list[str]:
        with api.stream(f"/api/matches/{board}/events") as told:
            first = news(told).event
            begun.append(number)
            return [first, news(told).event]

    with ThreadPoolExecutor(12) as pool:
        watching = [pool.submit(watch, number) for number in range(12)]
        until(lambda: len(begun) == 12)
        # a reader that an earlier test has left may come back for a moment
        assert following(api) <= 2
        assert one.move(board, MOVES[0]).is_success
        assert [each.result(10) for each in watching] == [["match-proposed", "moved"]] * 12


def following(api: Api) -> int:
    """How many of the server's clients follow its logs."""
    return [client["cmd"] for client in api.parts.data.client_list()].count("xread")


def test_a_watcher_of_a_match_is_not_told_of_another(api):
    one, other = api.players()
    boards = [api.match(one, other) for _ in range(2)]
    with api.stream(f"/api/matches/{boards[0]}/events?from=2") as told:
        assert one.move(boards[1], MOVES[0]).is_success
        assert one.move(boards[0], MOVES[0]).is_success
        assert news(told).data == events_of(api, boards[0], "?from=2").json()[0]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/api/matches/1/events?from=0", "from: "),
        ("/api/matches?player=alice&state=over", "state: "),
    ],
)
def test_a_parameter_is_refused_by_the_name_that_it_was_sent_under(api, path, words):
    refused = api.http.get(path)
    assert refused.status_code == 400
    assert refused.json()["detail"].startswith(words)


@pytest.mark.parametrize("asked", [{"Last-Event-ID": "5"}, {"Last-Event-ID": "99"}, "?from=6"])
def test_a_stream_that_is_to_go_on_after_what_never_was_is_refused(api, pair, asked):
    play(pair)
    board = pair[2]
    headers = {"Accept": "text/event-stream"} | (asked if isinstance(asked, dict) else {})
    query = asked if isinstance(asked, str) else ""
    answer = events_of(api, board, query, **headers)
    assert (answer.status_code, code_of(answer)) == (409, "beyond-end")
    assert f"match {board} has 4 events" in answer.json()["detail"]


def test_a_match_that_is_over_says_so_only_to_who_heard_its_end(api, pair):
    one, _, board = pair
    assert one.give(board, {"do": "resign"}).is_success
    heard = {"Accept": "text/event-stream", "Last-Event-ID": "3"}
    assert events_of(api, board, **heard).status_code == 204
    beyond = events_of(api, board, **{**heard, "Last-Event-ID": "4"})
    assert (beyond.status_code, code_of(beyond)) == (409, "beyond-end")
