"""What scripts of pages ask for: the event stream, what the service worker keeps, and moves that come late."""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import Mock

import pytest
from redis.exceptions import RedisError

from infra.people.sessions import Sessions
from services.app.matches import load_state
from services.http.context import TaskIntervals
from services.http.streams.limits import MAX_PER_ACCOUNT
from services.http.streams.page_marks import NEWEST_CHALLENGES, ChatTopic, HomeTopic, page_marks
from services.http.web.offline import page
from tests.helpers.api import Api
from tests.helpers.web import Guest, refusal

QUICK = TaskIntervals(heartbeat=0.2)


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("web"), intervals=QUICK) as api:
        yield api


class Told:
    """What a stream has told, message by message."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._messages = (line[6:] for line in lines if line.startswith("data: "))
        self.known: dict[str, object] = {}

    def __next__(self) -> dict[str, object]:
        self.known |= json.loads(next(self._messages))
        return self.known

    def __iter__(self) -> Iterator[dict[str, object]]:
        return self

    def until(self, name: str, value: object) -> None:
        """Read on until something is told; fails where the stream ends before."""
        while self.known.get(name) != value:
            next(self)


@contextmanager
def follow(guest: Guest, query: str) -> Iterator[Told]:
    """Open a stream."""
    with guest.http.stream("GET", f"/stream?{query}") as answer:
        assert answer.status_code == 200, answer.read()
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield Told(answer.iter_lines())


def test_it_tells_what_matches_stand_at_and_what_changes(api, come):
    one, two = api.players()
    first, second = api.begun(one, two), api.begun(one, two)
    one.move(first, "m13-j7")
    with follow(come(), f"boards={first},{second},999999") as told:
        now = next(told)
        assert (now[f"match {first}"], now[f"match {second}"]) == (3, 2)
        assert now["user"] == ""
        assert "match 999999" not in now
        one.move(second, "m13-j7")
        told.until(f"match {second}", 3)
        two.move(first, "a13-d7")
        told.until(f"match {first}", 4)


def test_chat_and_home_are_told_to_those_they_concern_alone(api, come):
    one, two, stranger = api.players(3)
    board = api.begun(one, two)
    api.caught_up()
    guest, other, nobody = come(two), come(stranger), come()
    query = f"boards={board}&home=true"
    with follow(guest, query) as told, follow(other, query) as strange, follow(nobody, query) as no:
        chat, home = ChatTopic(board), HomeTopic(two.account)
        for topic, name in ((chat, f"chat {board}"), (home, "home")):
            told.until(name, page_marks(api.parts, [topic])[topic])
        one.post(f"/api/matches/{board}/chat", {"text": "hello"})
        told.until(f"chat {board}", page_marks(api.parts, [chat])[chat])
        before = page_marks(api.parts, [home])[home]
        one.move(board, "m13-j7")
        api.caught_up()
        assert page_marks(api.parts, [home])[home] != before
        told.until("home", page_marks(api.parts, [home])[home])
        for others in (strange, no):
            others.until(f"match {board}", 3)
            assert f"chat {board}" not in others.known
        assert "home" not in no.known


def test_it_ends_within_a_heartbeat_of_its_session(api, come):
    guest = come().sign_up("ends")
    board = api.begun(*api.players())
    with follow(guest, f"boards={board}&home=true") as told:
        assert next(told)["user"] == "ends"
        Sessions(api.parts.data).forget(api.parts.accounts.id_of("ends"))
        for known in told:  # which comes to an end
            assert known["user"] == "ends"
    with follow(guest, f"boards={board}") as told:
        assert next(told)["user"] == ""


def test_it_counts_among_the_streams_that_one_account_may_have(api, come):
    guest = come(api.player())
    with ExitStack() as stack:
        streams = [stack.enter_context(follow(guest, "home=true")) for _ in range(MAX_PER_ACCOUNT)]
        assert {next(told)["user"] for told in streams} == {guest.name}
        assert guest.get("/stream?home=true").status_code == 429
    assert guest.get("/healthz").status_code == 200


def test_the_home_page_and_its_stream_have_the_same_mark(api, come):
    one, two = api.players()
    boards = [api.begun(one, two) for _ in range(3)]
    two.post(f"/api/matches/{boards[0]}/offers", {"kind": "draw"})
    one.give(boards[1], {"type": "resign"})
    two.post(f"/api/matches/{boards[2]}/chat", {"text": "hello"})
    api.parts.messages.send(two.account, [one.account], "hello", bytes(16))
    api.parts.messages.broadcast(two.account, "to all", bytes([1]) * 16)
    for _ in range(NEWEST_CHALLENGES // 5 + 1):
        player = api.player()
        for _ in range(5):
            player.post("/api/challenges", {"game": "pow2"})
    api.caught_up()
    guest = come(one)
    home = HomeTopic(one.account)

    def marks() -> tuple[str, str]:
        page = re.search(r'id="matches" data-mark="([0-9a-f]{16})"', guest.page("/"))
        return page[1], page_marks(api.parts, [home])[home]

    first = marks()
    assert first[0] == first[1]
    text = guest.page("/")
    assert f"{api.parts.challenges.count()}</span></h2>" in text.partition('id="open-title"')[2]
    assert "2 new messages" in text
    api.parts.messages.mark_read(one.account, api.parts.messages.read(one.account))
    second = marks()
    assert second[0] == second[1] != first[0]


# the service worker

FOR_SCRIPT = {"HX-Request": "true"}


def moves_of(api: Api, board: int) -> str:
    return load_state(api.parts, board).moves


def test_the_worker_learns_whose_pages_to_keep_and_which(api, come, monkeypatch):
    me, other = api.players()
    waiting, theirs, over = (api.begun(*pair) for pair in ((me, other), (other, me), (me, other)))
    me.give(over, {"do": "resign"})
    api.begun(other, api.player())
    api.caught_up()
    guest = come(me, **{"Accept-Language": "de"})
    answer = guest.get("/offline.json", headers=FOR_SCRIPT)
    found = answer.json()
    seqs = {board: load_state(api.parts, board).seq for board in (waiting, theirs)}
    assert found["matches"] == [[waiting, seqs[waiting]], [theirs, seqs[theirs]]]
    assert (found["user"], found["language"]) == (me.name, "de")
    assert answer.headers["cache-control"] == "no-store"
    # with the token it sends the form of a move
    form = {"csrf": found["csrf"], "key": "k", "do": "move", "move": "m13-j7", "ply": "0"}
    assert guest.http.post(f"/m/{waiting}/act", data=form).status_code == 303
    assert moves_of(api, waiting) == "m13-j7"
    monkeypatch.setattr(page, "MOST", 1)
    assert len(guest.get("/offline.json", headers=FOR_SCRIPT).json()["matches"]) == 1


def test_a_guest_is_told_nothing_and_gets_no_page_of_an_account(come):
    guest = come()
    assert guest.get("/offline.json", headers=FOR_SCRIPT).status_code == 401
    assert guest.get("/offline.json").status_code == 303
    assert 'data-user=""' in guest.page("/offline")


def test_the_page_of_an_error_says_that_its_user_was_not_looked_up(api, come, monkeypatch):
    guest = come(api.player())
    assert "data-unknown" not in guest.page("/")
    monkeypatch.setattr(Sessions, "read", Mock(side_effect=RedisError("away")))
    away = guest.get("/")
    assert away.status_code == 503
    assert 'data-user="" data-unknown' in away.text


def digest(guest: Guest, board: int) -> str:
    return guest.page(f"/m/{board}").partition('name="after" value="')[2].partition('"')[0]


def test_a_move_for_another_position_at_the_same_ply_is_refused(api, come):
    me, other = api.players()
    board = api.begun(me, other)
    me.move(board, "m13-j7")
    other.move(board, "a13-d7")
    guest = come(me)
    form = {"key": "k", "do": "move", "move": "j7-i5", "ply": "2", "after": digest(guest, board)}
    other.give(board, {"do": "offer", "kind": "undo"})
    me.give(board, {"do": "accept"})
    other.move(board, "a13-c11")
    refused = guest.send(f"/m/{board}/act", form, headers=FOR_SCRIPT)
    assert (refused.status_code, refusal(refused.text)[1]) == (409, "The match has moved on in the meantime.")  # fmt: skip
    assert moves_of(api, board) == "m13-j7 a13-c11"
    taken = {**form, "after": digest(guest, board)}
    assert guest.send(f"/m/{board}/act", taken).status_code == 303
    # sent again it has its outcome, although the position is another one by now
    assert guest.send(f"/m/{board}/act", taken).status_code == 303
    assert moves_of(api, board) == "m13-j7 a13-c11 j7-i5"


def test_the_worker_is_one_script_at_the_root_without_imports(come):
    answer = come().get("/sw.js")
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.headers["cache-control"] == "no-cache"
    assert all(name in answer.text for name in ("pageFor", "sendAll", "showNotification"))
    assert "import " not in answer.text
