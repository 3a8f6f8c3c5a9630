import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping

import pytest

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
from services.http.streams.notice_stream import (
    MAX_LAG_SECONDS,
    NoticeGap,
    NoticeStream,
    NoticeWatermark,
)
from tests.helpers.api import Api, Player, Told, code_of

HEARTBEAT = 0.4

START: NoticePosition = (0, 0, 0, "")


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api"), intervals=TaskIntervals(heartbeat=HEARTBEAT)) as api:
        yield api


def news(told: Iterator[Told]) -> Told:
    """The next event, past comments."""
    return next(one for one in told if not one.comment)


def follow(api: Api, player: Player, **headers: str):
    return api.stream("/api/account/events", player, **headers)


def kinds(told: list[Told], board: int) -> list[str]:
    return [one.data["kind"] for one in told if one.data["board"] == board]


def test_a_player_is_told_what_happens_in_the_own_matches(api):
    one, other = api.players()
    with follow(api, other) as told:
        board = api.match(one, other)
        assert one.move(board, "m13-j7").is_success
        found = [news(told) for _ in range(2)]
    assert [each.event for each in found] == ["challenged", "your-turn"]
    assert found[1].data == {"board": board, "seq": 2, "at": found[1].data["at"],
                             "kind": "your-turn"}  # fmt: skip
    assert found[1].id == f"{found[1].data['at']}-{board}-2-your-turn"


def test_a_player_is_told_of_nobody_elses_matches(api):
    one, other, third = api.players(3)
    with follow(api, third) as told:
        api.match(one, other)
        board = api.match(one, third)
        assert news(told).data["board"] == board


def test_without_an_id_it_begins_with_what_happens_from_now_on(api):
    one, other = api.players()
    api.match(one, other)
    with follow(api, other) as told:
        board = api.match(one, other)
        assert news(told).data["board"] == board


def test_a_stream_goes_on_after_any_of_its_ids_without_gap_or_repetition(api):
    one, other = api.players()
    with follow(api, other) as told:
        for _ in range(4):
            board = api.match(one, other)
            assert one.move(board, "m13-j7").is_success
        whole = [news(told) for _ in range(8)]
    for number, last in enumerate(whole[:-1], 1):
        with follow(api, other, Last_Event_ID=last.id) as told:
            assert [news(told) for _ in whole[number:]] == whole[number:]


def test_two_notices_of_one_event_have_ids_of_their_own(api):
    one, other = api.players()
    begun = one.post("/api/challenges", {"game": "pow2", "seat": 0}).json()["id"]
    with follow(api, one) as told:
        assert other.post(f"/api/challenges/{begun}/accept").is_success
        both = [news(told) for _ in range(2)]
    assert sorted(each.data["kind"] for each in both) == ["started", "your-turn"]
    assert both[0].data["seq"] == both[1].data["seq"]
    with follow(api, one, Last_Event_ID=both[0].id) as told:
        assert news(told) == both[1]


def test_a_silent_stream_says_that_it_is_still_there(api):
    with follow(api, api.player()) as told:
        assert [next(told).comment for _ in range(2)] == ["still here"] * 2


def test_a_list_says_the_same_the_newest_first_and_in_pages(api):
    one, other = api.players()
    with follow(api, other) as told:
        board = api.match(one, other)
        assert one.move(board, "m13-j7").is_success
        streamed = [news(told).data for _ in range(2)]
    listed = other.get("/api/notices").json()
    nothing = {"messages": 0, "boards": {}}
    assert listed == {"notices": streamed[::-1], "next": None, "unread": nothing}
    first = other.get("/api/notices?limit=1").json()
    rest = other.get(f"/api/notices?limit=1&cursor={first['next']}").json()
    assert first["notices"] + rest["notices"] == listed["notices"]
    assert rest["next"] is None


@pytest.mark.parametrize("last", ["1", "1-2-3", "1-2-3-", "a-b-c-d", "1-2-3-UP", "-1-2-3-x"])
def test_an_id_that_is_none_is_refused(api, last):
    refused = api.player().get("/api/account/events", headers={"Last-Event-ID": last})
    assert code_of(refused) == "bad-request"


# what is told, and when


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


def test_a_list_that_knows_of_no_logs_yet_has_read_nothing():
    logs = Logs()
    logs.counts = []
    assert logs.horizon.poll() is None
    logs.mark = Watermark(100, (0, 0))
    fresh = NoticeWatermark(logs, list, lambda: 0.0)
    assert fresh.poll() == 100


def test_a_list_that_lags_for_ever_is_told_all_the_same(caplog):
    logs = Logs()
    logs.counts = [5, 4]
    assert logs.horizon.poll() is None
    logs.now = MAX_LAG_SECONDS
    assert logs.horizon.poll() == 100
    assert "lags" in caplog.text


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
        found = []
        async with NoticeStream(boxes, logs.horizon, look_seconds=0.005) as bulletins:
            async for one in bulletins.notices(b"account.", after, quiet):
                if one is None:
                    break
                found.append(one)
                if len(found) == count:
                    break
        return found

    return asyncio.run(asyncio.wait_for(taking(), 10))


def test_notices_are_told_in_their_order_whatever_order_they_came_in():
    boxes = Boxes(notice(30, 1), notice(20, 9), notice(20, 2), notice(20, 2, NoticeKind.OVER))
    found = take(boxes, Logs(), 4)
    assert [position_of(one) for one in found] == sorted(map(position_of, boxes.notices))


def test_what_is_younger_than_the_horizon_waits_for_what_may_come_before_it():
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


def test_a_gap_is_told_before_the_oldest_that_is_kept():
    boxes = Boxes(notice(50, 1), notice(60, 1))
    boxes.oldest = position_of(notice(50, 1))
    before = position_of(notice(40, 1))
    assert take(boxes, Logs(), 3, before) == [NoticeGap(before, 50), *boxes.notices]
    # who has the oldest that is kept has missed nothing
    assert take(boxes, Logs(), 3, boxes.oldest) == [notice(60, 1)]


def test_a_gap_that_is_younger_than_the_horizon_waits_for_it():
    boxes = Boxes(notice(100, 1))
    boxes.oldest = position_of(notice(100, 1))
    assert take(boxes, Logs(), 1, START) == []


# what is written


def test_the_others_are_told_of_chat_and_messages_and_go_on_after_them(api):
    one, other = api.players()
    board = api.match(one, other)
    with follow(api, other) as told, follow(api, one) as own:
        assert one.post(f"/api/matches/{board}/chat", {"text": "hello - you"}).status_code == 204
        assert one.post("/api/messages", {"to": [other.name], "text": "hi"}).status_code == 204
        found = [news(told), news(told)]
        assert next(own).comment == "still here"
        assert next(own).comment == "still here", "nobody is told what they said themselves"
    at = [each.data["at"] for each in found]
    assert [each.data for each in found] == [
        {"board": board, "seq": 0, "at": at[0], "kind": "chat"},
        {"board": 0, "seq": 0, "at": at[1], "kind": "message"},
    ]
    with follow(api, other, Last_Event_ID=found[0].id) as told:
        assert news(told) == found[1]
    listed = other.get("/api/notices?limit=2").json()
    assert listed["notices"] == [found[1].data, found[0].data]


def test_what_is_unread_is_counted_until_it_is_read(api):
    one, other = api.players()
    board = api.match(one, other)
    for text in ("one", "two"):
        assert one.post(f"/api/matches/{board}/chat", {"text": text}).is_success
    assert one.post("/api/messages", {"to": [other.name], "text": "hi"}).is_success

    def unread(player: Player) -> object:
        return player.get("/api/notices").json()["unread"]

    assert unread(other) == {"messages": 1, "boards": {str(board): 2}}
    assert unread(one) == {"messages": 0, "boards": {}}
    at = other.get("/api/messages").json()["messages"][0]["at"]
    assert other.post("/api/messages/read", {"until": at}).is_success
    assert other.get(f"/api/matches/{board}/chat").is_success
    assert unread(other) == {"messages": 0, "boards": {}}


def test_the_first_event_has_an_id_to_go_on_after_and_data_like_any_other(api):
    one, other = api.players()
    with follow(api, other) as told:
        first = next(told)
    at = int(first.id.partition("-")[0])
    assert first.event == "hello"
    assert first.data == {"board": 0, "seq": 0, "at": at, "kind": "hello"}
    board = api.match(one, other)  # while nobody listens
    with follow(api, other, Last_Event_ID=first.id) as told:
        assert next(told).id == first.id
        assert news(told).data["board"] == board


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
