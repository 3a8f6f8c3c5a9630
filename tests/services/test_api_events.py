"""Streams and lists of events of a match, and of what an account is told."""

import asyncio
import hashlib
import json
from base64 import b64decode
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from domain.match.audit import verify
from domain.match.history import decode_event
from infra.projections.notices import (
    MOST_NOTICES,
    NoticeKind,
    NoticePosition,
    NoticesAfter,
    PlayerNotice,
    position_of,
)
from infra.store.port import Watermark
from services.http.context import TaskIntervals
from services.http.streams.notice_stream import NoticeGap, NoticeStream, NoticeWatermark
from tests.helpers.api import Api, Player, Told, code_of

MOVES = ["m13-j7", "a13-d7", "m1-i3"]
LIVE = {"Accept": "text/event-stream"}
START: NoticePosition = (0, 0, 0, "")


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api"), intervals=TaskIntervals(heartbeat=0.3)) as api:
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


def now_and_news(told: Iterator[Told]) -> tuple[Any, Told]:
    """How its match stands now, and the next event without that, past comments."""
    found = next(one for one in told if not one.comment)
    now = found.data.get("match")
    return now, found._replace(data={k: v for k, v in found.data.items() if k != "match"})


def news(told: Iterator[Told]) -> Told:
    """The next event, past comments."""
    return now_and_news(told)[1]


def test_events_are_the_stored_bytes_with_what_they_say_and_enough_to_verify_a_match(api, pair):
    play(pair)
    board = pair[2]
    shown, stored = events_of(api, board).json(), api.parts.store.events(board)
    assert [b64decode(event["data"]) for event in shown] == stored
    assert [event["type"] for event in shown] == ["match-proposed", *["moved"] * 3]
    assert [event["seq"] for event in shown] == [1, 2, 3, 4]
    assert [event["body"]["move"] for event in shown[1:]] == MOVES
    assert shown[1]["actor"] == pair[0].account.hex()
    assert shown[1]["at"] == decode_event(stored[1]).at
    head = "0" * 64
    for event in shown:
        leaf = hashlib.sha256(b"\0" + b64decode(event["data"])).hexdigest()
        assert (event["hash"], event["prev"]) == (leaf, head)
        head = event["hash"]
    assert api.http.get(f"/api/matches/{board}").json()["head"] == head
    assert verify(board, stored).head.hex() == head


def test_events_can_be_read_in_pages_and_as_lines(api, pair):
    play(pair)
    board = pair[2]
    whole = events_of(api, board).json()
    first = events_of(api, board, "?limit=3")
    rest = api.http.get(first.links["next"]["url"])
    assert (first.json(), rest.json()) == (whole[:3], whole[3:])
    assert "next" not in rest.links
    assert events_of(api, board, "?from=99").json() == []
    for query in ("?from=0", "?limit=1001"):
        assert code_of(events_of(api, board, query)) == "bad-request"
    lines = events_of(api, board, Accept="application/x-ndjson")
    assert lines.headers["content-type"] == "application/x-ndjson"
    assert lines.text.endswith("\n")
    assert [json.loads(line) for line in lines.text.splitlines()] == whole
    refused = events_of(api, board, Accept="text/html")
    assert (refused.status_code, code_of(refused)) == (406, "not-acceptable")


def test_events_that_are_known_are_not_sent_again_until_there_are_more(api, pair):
    one, _, board = pair
    tags = {}
    for accept in ("application/json", "application/x-ndjson", "*/*"):
        tags[accept] = {"If-None-Match": events_of(api, board, Accept=accept).headers["ETag"]}
        again = events_of(api, board, Accept=accept, **tags[accept])
        assert (again.status_code, again.content) == (304, b""), accept
    assert one.move(board, MOVES[0]).is_success
    for accept, tag in tags.items():
        assert events_of(api, board, Accept=accept, **tag).status_code == 200, accept


def test_events_come_as_they_happen_until_the_match_ends_without_gap_or_repetition(api, pair):
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
        assert other.give(board, {"do": "offer", "kind": "draw"}).is_success
        assert one.give(board, {"do": "accept"}).is_success
        seen += [one for one in told if not one.comment]  # it ends by itself
    kinds = ["match-proposed", *["moved"] * 3, "offered", "answered", "ended"]
    assert [one.event for one in seen] == kinds
    whole = events_of(api, board).json()
    assert [one.data for one in seen] == whole
    assert [one.id for one in seen] == [str(event["seq"]) for event in whole]


def test_a_stream_that_is_to_go_on_after_what_never_was_is_refused(api, pair):
    play(pair)
    board = pair[2]
    for query, more in (("", {"Last-Event-ID": "5"}), ("", {"Last-Event-ID": "99"}), ("?from=6", {})):  # fmt: skip
        answer = events_of(api, board, query, **LIVE, **more)
        assert (answer.status_code, code_of(answer)) == (409, "beyond-end")
        assert f"match {board} has 4 events" in answer.json()["detail"]


class Logs:
    """Logs whose watermark the test sets, and a list that has read so far."""

    def __init__(self) -> None:
        self.mark = Watermark(100, (5, 5))
        self.counts = [5, 5]
        self.now = 0.0
        self.horizon = NoticeWatermark(self, lambda: self.counts, lambda: self.now)

    def watermark(self, beyond: int = 0) -> Watermark:
        del beyond
        return self.mark


def test_the_horizon_is_the_watermark_that_the_list_has_read_up_to():
    logs = Logs()
    assert logs.horizon.poll() == 100
    logs.mark = Watermark(200, (6, 5))
    assert logs.horizon.poll() is None
    logs.mark = Watermark(300, (9, 9))  # a later one is not waited for: it might never be reached
    logs.counts = [6, 5]
    assert logs.horizon.poll() == 200
    assert logs.horizon.poll() is None


class Boxes:
    """Notices of one account."""

    def __init__(self, *notices: PlayerNotice) -> None:
        self.notices = list(notices)
        self.oldest: NoticePosition | None = None
        self.asked: dict[bytes, int] = defaultdict(int)

    def since(self, wanted: Mapping[bytes, NoticePosition]) -> dict[bytes, NoticesAfter]:
        for account in wanted:
            self.asked[account] += 1
        return {
            account: NoticesAfter([one for one in self.notices if one.at >= after[0]], self.oldest)
            for account, after in wanted.items()
        }


def notice(at: int, board: int, kind: NoticeKind = NoticeKind.YOUR_TURN) -> PlayerNotice:
    return PlayerNotice(at, board, 1, kind)


def take(
    boxes: Boxes, logs: Logs, count: int, after: NoticePosition = START, quiet: float = 0.1
) -> list[PlayerNotice | NoticeGap]:
    async def taking() -> list[PlayerNotice | NoticeGap]:
        found, before = [], boxes.asked[b"account."]
        async with NoticeStream(boxes, logs.horizon, look_seconds=0.005) as bulletins:
            async for one in bulletins.notices(b"account.", after, quiet):
                if one is not None:
                    found.append(one)
                # on a busy machine it is quiet before the first look has been taken
                if len(found) == count or (one is None and boxes.asked[b"account."] > before + 1):
                    break
        return found

    return asyncio.run(asyncio.wait_for(taking(), 10))


def test_notices_are_told_in_their_order_and_the_younger_wait_for_what_may_come_before_them():
    boxes = Boxes(notice(30, 1), notice(20, 9), notice(20, 2), notice(20, 2, NoticeKind.OVER))
    found = take(boxes, Logs(), 4)
    assert [position_of(one) for one in found] == sorted(map(position_of, boxes.notices))
    logs, boxes = Logs(), Boxes(notice(150, 1), notice(90, 1))
    assert take(boxes, logs, 2) == [notice(90, 1)]
    logs.mark = Watermark(151, (5, 5))
    assert take(boxes, logs, 2, position_of(notice(90, 1))) == [notice(150, 1)]


def test_all_who_watch_an_account_are_told_by_one_look():
    boxes, logs = Boxes(), Logs()

    async def watching() -> list[list[PlayerNotice | None]]:
        async with NoticeStream(boxes, logs.horizon, look_seconds=0.01) as bulletins:

            async def watch() -> list[PlayerNotice | None]:
                notices = bulletins.notices(b"account.", START, 30)
                return [await anext(notices), await anext(notices)]

            tasks = [asyncio.create_task(watch()) for _ in range(50)]
            await asyncio.sleep(0)
            boxes.notices = [notice(1, 1), notice(2, 1)]
            return await asyncio.gather(*tasks)

    found = asyncio.run(asyncio.wait_for(watching(), 10))
    assert found == [[notice(1, 1), notice(2, 1)]] * 50
    assert boxes.asked[b"account."] < 10


def test_a_look_that_fails_is_taken_again(caplog):
    class Broken(Logs):
        failures = 2

        def watermark(self, beyond: int = 0) -> Watermark:
            del beyond
            if self.failures:
                self.failures -= 1
                raise OSError("the line is down")
            return super().watermark()

    assert take(Boxes(notice(1, 1)), Broken(), 1, quiet=5) == [notice(1, 1)]
    assert caplog.text.count("trying again") == 2


def test_a_gap_is_told_before_the_oldest_that_is_kept_once_the_horizon_has_come_there():
    boxes = Boxes(notice(50, 1), notice(60, 1))
    boxes.oldest = position_of(notice(50, 1))
    before = position_of(notice(40, 1))
    assert take(boxes, Logs(), 3, before) == [NoticeGap(before, 50), *boxes.notices]
    # who has the oldest that is kept has missed nothing
    assert take(boxes, Logs(), 3, boxes.oldest) == [notice(60, 1)]
    boxes = Boxes(notice(100, 1))
    boxes.oldest = position_of(notice(100, 1))
    assert take(boxes, Logs(), 1, START) == []


def follow(api: Api, player: Player, **headers: str):
    return api.stream("/api/account/events", player, **headers)


def test_a_player_is_told_what_happens_in_the_own_matches_from_now_on_and_nothing_else(api):
    one, other, third = api.players(3)
    api.match(one, other)
    with follow(api, other) as told:
        first = next(told)
        api.match(one, third)
        board = api.match(one, other)
        assert one.move(board, "m13-j7").is_success
        found = [news(told)]
        now, after = now_and_news(told)
        found.append(after)
    # the first has an id to go on after, and data like any other
    at = int(first.id.partition("-")[0])
    hello = {"board": 0, "seq": 0, "at": at, "kind": "hello", "match": None}
    assert (first.event, first.data) == ("hello", hello)
    assert now == {"state": "waiting", "ply": 1, "waits_for": [1]}
    kinds = [(each.event, each.data["board"]) for each in found]
    assert kinds == [("challenged", board), ("your-turn", board)]
    at = found[1].data["at"]
    assert found[1].data == {"board": board, "seq": 2, "at": at, "kind": "your-turn"}
    assert found[1].id == f"{at}-{board}-2-your-turn"


def test_a_stream_goes_on_after_any_of_its_ids_without_gap_or_repetition(api):
    one, other = api.players()
    with follow(api, other) as told:
        for _ in range(3):
            board = api.match(one, other)
            assert one.move(board, "m13-j7").is_success
        whole = [next(told), *(news(told) for _ in range(6))]
    for number, last in enumerate(whole[:-1], 1):
        with follow(api, other, Last_Event_ID=last.id) as told:
            assert next(told).id == last.id
            assert [news(told) for _ in whole[number:]] == whole[number:]


def test_the_others_are_told_of_chat_and_messages_and_count_them_until_they_are_read(api):
    one, other = api.players()
    board = api.match(one, other)
    chat = f"/api/matches/{board}/chat"
    with follow(api, other) as told, follow(api, one) as own:
        assert one.post(chat, {"text": "hello - you"}).status_code == 204
        assert one.post("/api/messages", {"to": [other.name], "text": "hi"}).status_code == 204
        found = [news(told), news(told)]
        # nobody is told what they said themselves
        assert [next(own).comment for _ in range(2)] == ["still here"] * 2
    said = [{name: each.data[name] for name in ("board", "seq", "kind")} for each in found]
    assert said == [{"board": board, "seq": 0, "kind": "chat"}, {"board": 0, "seq": 0, "kind": "message"}]  # fmt: skip
    with follow(api, other, Last_Event_ID=found[0].id) as told:
        assert news(told) == found[1]
    listed = other.get("/api/notices?limit=2").json()
    assert listed["notices"] == [found[1].data, found[0].data]
    assert listed["unread"] == {"messages": 1, "boards": {str(board): 1}}
    assert other.post("/api/messages/read", {"until": found[1].data["at"]}).is_success
    assert other.get(chat).is_success
    for player in (one, other):
        assert player.get("/api/notices").json()["unread"] == {"messages": 0, "boards": {}}


def test_a_stream_that_goes_on_past_more_than_is_kept_says_so_first(api):
    one, other = api.players()
    board = api.match(one, other)
    with follow(api, other) as told:
        first = next(told)
    letters = api.parts.messages
    seats = api.parts.accounts.id_of(one.name), api.parts.accounts.id_of(other.name)
    for number in range(MOST_NOTICES + 1):
        letters.chat(board, seats[0], f"line {number}", number.to_bytes(16), seats)
    with follow(api, other, Last_Event_ID=first.id) as told:
        gap, oldest = news(told), news(told)
    assert (gap.event, gap.id) == ("gap", first.id)
    assert gap.data == {"since": oldest.data["at"]}
    with follow(api, other, Last_Event_ID=oldest.id) as told:
        assert news(told).event == "chat"
