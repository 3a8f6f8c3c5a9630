"""Answers to the service worker of the pages, and the form of a move that comes late."""

from unittest.mock import Mock

from redis.exceptions import RedisError

from infra.people.sessions import Sessions
from services.app.matches import load_state
from services.http.web.offline import page
from tests.helpers.api import Api
from tests.helpers.web import Guest, refusal

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
