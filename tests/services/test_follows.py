"""Watching matches, following players and muting chats: by API, pages, and the language."""

import pytest

from infra.people.account_lists import FOLLOWED, MUTED, WATCHED
from services.app.follows import watched_matches
from tests.helpers.api import PASSWORD, Player, code_of
from tests.helpers.web import Guest, Read


def following(player: Player) -> dict[str, list[object]]:
    found: dict[str, list[object]] = player.get("/api/account/following").json()
    return found


class Fan:
    """Somebody who watches, follows and mutes, by one of the ways in, and looks at pages."""

    def __init__(self, player: Player, guest: Guest, way: str) -> None:
        self.player, self.guest, self.way = player, guest, way

    def sets(self, api: str, page: str, do: str, line: str, said: str, *, on: bool) -> None:
        do = do if on else f"un{do}"
        if self.way == "api":
            sent = self.player.put(api, None) if on else self.player.delete(api)
            assert sent.status_code == 204
        elif self.way == "page":
            posted = self.guest.send(f"{page}/{do}", on=page)
            assert (posted.status_code, posted.headers["location"]) == (303, page)
        else:
            assert said in self.player.line(f"{do} {line}")

    def watches(self, board: int, *, on: bool) -> None:
        api = f"/api/account/following/matches/{board}"
        self.sets(api, f"/m/{board}", "watch", str(board), f"match {board}", on=on)

    def follows(self, name: str, *, on: bool) -> None:
        api = f"/api/account/following/players/{name.upper()}"
        self.sets(api, f"/players/{name}", "follow", name, "`watching`", on=on)

    def mutes(self, board: int, *, on: bool) -> None:
        api, said = f"/api/matches/{board}/chat/mute", f"the chat of match {board}"
        self.sets(api, f"/m/{board}", "mute", str(board), said, on=on)


WAYS = ["api", "page", "line"]


@pytest.mark.parametrize("way", WAYS)
def test_each_way_in_watches_and_follows_and_every_one_shows_it(api, come, way):
    fan, one, other = api.players(3)
    board, played = api.begun(one, other), api.begun(one, other)
    who = Fan(fan, guest := come(fan), way)
    for _ in range(2):  # repeated it is no error
        who.watches(board, on=True)
        who.follows(one.name, on=True)
    assert following(fan) == {"matches": [board], "players": [one.name]}
    api.caught_up()
    said = fan.line("watching")
    assert f"{board}  " in said.partition("you follow")[0]
    assert f"{played}  " in said.partition(f"you follow {one.name}, who are playing:")[2]
    home, page = guest.page("/"), guest.page("/watching")
    assert f'href="/m/{board}"' in home
    assert f'href="/m/{played}"' in home
    assert f'href="/m/{board}"' in page
    assert f"/m/{board}/unwatch" in Read(page).forms
    page = guest.page("/watching?state=played")
    assert f'href="/m/{played}"' in page
    assert f'href="/m/{board}"' not in page, "a watched match is not said twice"
    assert f"/players/{one.name}/unfollow" in Read(page).forms
    assert f"/m/{board}/unwatch" in Read(guest.page(f"/m/{board}")).forms
    assert f"/players/{one.name}/unfollow" in Read(guest.page(f"/players/{one.name}")).forms
    for _ in range(2):
        who.watches(board, on=False)
        who.follows(one.name, on=False)
    assert following(fan) == {"matches": [], "players": []}
    assert "you aren't watching any matches or following anyone" in fan.line("watching")
    assert 'id="watching"' not in guest.page("/")


def test_the_lists_go_with_either_account(api):
    fan, star = api.players()
    board = api.match(fan, star)
    assert fan.put(f"/api/account/following/players/{star.name}", None).is_success
    assert star.put(f"/api/account/following/players/{fan.name}", None).is_success
    assert star.put(f"/api/account/following/matches/{board}", None).is_success
    assert star.put(f"/api/matches/{board}/chat/mute", None).is_success
    own = [key(star.account) for key in (WATCHED.key, FOLLOWED.key, MUTED.key)]
    assert api.parts.data.exists(*own) == len(own)
    assert star.post("/api/account/deletion", {"password": PASSWORD}).is_success
    assert api.parts.data.exists(*own) == 0
    assert following(fan)["players"] == []
    assert not api.parts.data.exists(FOLLOWED.key(fan.account))


def test_who_is_blocked_follows_and_watches_no_longer(api, come):
    fan, star, third = api.players(3)
    board, own, foreign = api.match(star, third), api.match(star, fan), api.match(third, fan)
    api.caught_up()
    watched = [f"/api/account/following/matches/{one}" for one in (board, own, foreign)]
    player = f"/api/account/following/players/{star.name}"
    for path in (*watched, player):
        assert fan.put(path, None).is_success
    assert star.put(f"/api/account/blocks/{fan.name}", None).is_success
    assert following(fan) == {"matches": [foreign, own], "players": []}
    for path in (watched[0], player):
        again = fan.put(path, None)
        assert (again.status_code, code_of(again)) == (403, "not-wanted")
        assert again.json()["detail"] == f"{star.name} doesn't let you follow or watch"
    assert "doesn't let you follow or watch" in fan.line(f"follow {star.name}")
    guest = come(fan)
    sent = guest.send(f"/players/{star.name}/follow", on=f"/players/{star.name}")
    assert sent.status_code == 403
    assert f"{star.name} doesn&#39;t let you follow or watch" in sent.text
    assert star.delete(f"/api/account/blocks/{fan.name}").is_success
    assert fan.put(player, None).is_success


def test_a_match_whose_row_has_left_redis_is_read_only_where_it_is_shown(api, monkeypatch):
    fan, one, other = api.players(3)
    going, old = api.match(one, other), api.match(one, other)
    for board in (going, old):
        assert fan.put(f"/api/account/following/matches/{board}", None).is_success
    api.caught_up()
    app, found = api.parts, api.parts.follows.of(fan.account)
    rows = {row.board: row for row in app.lists.rows([going, old]) if row}
    monkeypatch.setattr(app.lists, "rows", lambda boards: [rows.get(one) for one in boards])
    del rows[old]
    assert [row.board for row in watched_matches(app, found)] == [going, old]
    monkeypatch.setattr(app.store, "snapshots", None)
    assert [row.board for row in watched_matches(app, found, 0, 1)] == [going]


def test_nobody_else_learns_who_watches_and_follows(api, come):
    fan, star, third = api.players(3)
    board = api.match(star, third)
    assert fan.put(f"/api/account/following/players/{star.name}", None).is_success
    assert fan.put(f"/api/account/following/matches/{board}", None).is_success
    guest = come(star)
    for path in (f"/m/{board}", f"/players/{star.name}", f"/players/{fan.name}", "/", "/watching"):
        page = guest.page(path)
        assert path.endswith(fan.name) or fan.name not in page, path
        assert "★" not in page, path
    assert fan.name not in star.get("/api/notices").text


@pytest.mark.parametrize("way", WAYS)
def test_a_muted_chat_brings_no_notice_and_can_be_read(api, come, way):
    one, other = api.players()
    board = api.match(one, other)
    who = Fan(one, guest := come(one), way)

    def unread() -> dict[int, int]:
        return api.parts.unread.counts(one.account).boards

    def say(text: str) -> None:
        assert other.post(f"/api/matches/{board}/chat", {"text": text}).is_success

    who.mutes(board, on=True)
    say("nobody hears this")
    assert unread() == {}
    assert "nobody hears this" in guest.page(f"/m/{board}")
    assert "/mute" not in str(Read(guest.page(f"/m/{board}")).forms)
    who.mutes(board, on=False)
    say("but this")
    assert unread() == {board: 1}
