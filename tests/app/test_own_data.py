"""All that the server has about an account, as one file for its owner."""

import json
import stat
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from zipfile import ZipFile

import pytest
from msgspec import msgpack
from msgspec.structs import replace

from infra.languages.wording import wording
from infra.people.accounts import MailAddress
from infra.people.acts import Act
from infra.people.clubs import ClubRole
from infra.people.push_subscriptions import PushSubscription
from services.app import own_data
from services.app.accounts import set_suspended
from services.app.own_data import FILES, LEFT_OUT
from services.words.own_archive import own_archive
from tests.helpers.api import PASSWORD, Api, Player, code_of
from tests.helpers.games import whole_game
from tests.helpers.key_patterns import all_rows, row_of
from tests.helpers.rollback import content
from tests.helpers.subcommands import change_accounts

TEXTS = {
    "message": "a letter to bruno",
    "answer": "an answer to agathe",
    "chat": "a line over the board",
    "note": "a note for myself",
    "claim": "he was late on purpose",
}


class Place(NamedTuple):
    api: Api
    own: Player
    other: Player
    third: Player
    boards: tuple[int, ...]
    """A running match, and one that is over."""
    first: Mapping[str, bytes] = MappingProxyType({})
    """The files of the account's export, before other tests log in and export."""


SETTINGS = {"site": "https://x.example"}


@pytest.fixture(scope="module")
def place(api: Api) -> Place:
    """A server where an account has something of every kind."""
    own, other, third = (api.player(name=name) for name in ("agathe", "bruno", "celeste"))
    api.parts.accounts.change_of(
        own.account,
        lambda old: replace(
            old, addresses=(MailAddress("a@x.example", verified=True),), real_name="Agathe Real"
        ),
    )
    running, over = api.begun(own, other), api.begun(own, other, game="torere")
    assert own.give(over, {"do": "resign"}).is_success
    assert code_of(own.move(running, "m13-a1")) == "illegal-move"
    draft = {"move": next(iter(whole_game("pow2")))}
    assert own.put(f"/api/matches/{running}/draft", draft).is_success
    assert own.post(f"/api/matches/{running}/chat", {"text": TEXTS["chat"]}).is_success
    assert own.post("/api/messages", {"to": ["bruno"], "text": TEXTS["message"]}).is_success
    assert other.post("/api/messages", {"to": ["agathe"], "text": TEXTS["answer"]}).is_success
    assert other.post("/api/messages", {"to": ["celeste"], "text": "of others"}).is_success
    assert own.post(f"/api/matches/{running}/claim", {"ply": 0, "text": TEXTS["claim"]}).is_success
    for path in (f"following/matches/{running}", "following/players/bruno", "blocks/celeste"):
        assert own.put(f"/api/account/{path}", None).is_success, path
    assert own.put(f"/api/matches/{running}/chat/mute", None).is_success
    parts = api.parts
    club, asked = (parts.clubs.found(name, other.account) for name in ("Rook Club", "Pawn Club"))
    parts.clubs.put_member(club, own.account, ClubRole.ORGANISER)
    parts.clubs.announce(club, own.account, "we meet on Monday", b"c" * 16)
    parts.clubs.announce(club, other.account, "of others", b"d" * 16)
    parts.clubs.request(asked, own.account)
    cup = {"name": "Slingshot Cup", "text": "For *all*.", "game": "goliath", "section": 3}
    number = own.post("/api/tournaments", cup).json()["board"]
    for path in ("open", "entry"):
        body = {} if path == "entry" else None
        assert own.post(f"/api/tournaments/{number}/{path}", body).is_success
    parts.notes.put(own.account, running, TEXTS["note"])
    parts.follows.pinned.add(own.account, running)
    parts.seen_texts.note(own.account, [running], 5)
    parts.push_subscriptions.add(
        own.account, PushSubscription("https://push.example/1", b"p" * 65, b"s" * 16, "a phone", 1)
    )
    set_suspended(parts, "agathe", suspended=True, why="a reason to know")
    set_suspended(parts, "agathe", suspended=False)
    own.token = parts.tokens.issue(own.account, "my program", ["read", "play", "account"]).text
    parts.sessions.open(own.account, "Firefox on a boat")
    assert own.post("/api/challenges", {"game": "pow2", "note": "come"}).is_success
    api.caught_up()
    place = Place(api, own, other, third, (running, over))
    return place._replace(first=exported(place))


def exported(place: Place, language: str = "en") -> dict[str, bytes]:
    """The files of the account's export, by name."""
    parts = list(own_archive(place.api.parts, place.own.account, wording(language)))
    with ZipFile(BytesIO(b"".join(parts))) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def test_every_key_of_an_account_is_in_a_file_or_left_out_for_a_reason():
    rows, known = set(all_rows()), {*FILES, *LEFT_OUT}
    assert known <= rows
    assert not FILES.keys() & LEFT_OUT.keys()
    of_accounts = {
        row for row in rows if row.startswith("{a:") or "<account>" in row or ":refused:" in row
    }
    assert of_accounts - known == set()


def test_every_key_that_names_the_account_in_its_data_is_known_too(place):
    data, own = place.api.parts.data, place.own
    marks = (own.account, own.account.hex().encode(), b"agathe")
    rows, found = all_rows(), set()
    for key in data.scan_iter("*", count=1000):
        kept = data.dump(key) if data.type(key) == b"stream" else repr(content(data, key)).encode()
        if any(mark in key or mark in kept or repr(mark)[2:-1].encode() in kept for mark in marks):
            found.add(row_of(key.decode(), rows) or key.decode())
    assert "{a:<hex>}:box" in found
    assert "{p:<name>:b<bucket>}:<generation>:..." in found
    assert found - {*FILES, *LEFT_OUT} == set()


def test_the_file_has_everything_that_the_account_wrote_and_was_written(place):
    files, (running, over) = place.first, place.boards
    read = {name: json.loads(data) for name, data in files.items() if name.endswith(".json")}
    assert {one for one in FILES.values() if not one.endswith("/")} <= read.keys()
    assert [one["text"] for one in read["messages.json"]["received"]] == [TEXTS["answer"]]
    assert read["messages.json"]["written"][0]["to"] == "bruno"
    assert read["chat.json"][str(running)][0]["text"] == TEXTS["chat"]
    assert read["notes.json"] == {str(running): TEXTS["note"]}
    assert read["statements.json"][str(running)][0]["text"] == TEXTS["claim"]
    assert read["account.json"]["addresses"][0]["address"] == "a@x.example"
    assert [one["label"] for one in read["tokens.json"]] == ["my program"]
    assert read["sessions.json"]["sessions"][0]["label"] == "Firefox on a boat"
    assert read["challenges.json"]["waiting"][0]["terms"]["note"] == "come"
    assert read["lists.json"] == {
        "blocked": ["celeste"], "followed": ["bruno"], "watched": [running], "pinned": [running], "muted": [running],
    }  # fmt: skip
    (club,) = read["clubs.json"]["member"]
    assert (club["club"], club["role"]) == ("Rook Club", "organiser")
    assert [one["text"] for one in club["announced"]] == ["we meet on Monday"]
    assert read["clubs.json"]["asks to join"] == ["Pawn Club"]
    (cup,) = read["tournaments.json"]
    assert (cup["name"], cup["text"], cup["organiser"]) == ("Slingshot Cup", "For *all*.", True)
    assert (cup["rating at entry"], cup["phase"]) == (1500, "entry")
    assert [one["why"] for one in read["acts.json"]] == ["", "a reason to know"]
    assert "m13-a1" in files["refused.json"].decode()
    assert read["noted.json"]["written_to"] == ["bruno"]
    assert read["noted.json"]["deal_texts_seen"] == {str(running): 5}
    assert read["ratings.json"] == {}  # nobody has moved in the match that is over
    for board in (running, over):
        match = read[f"matches/{board}.json"]
        assert match["players"] == ["agathe", "bruno"]
        assert match["events"][0]["by"] == "agathe"
        assert files[f"matches/{board}.svg"].startswith(b"<svg")
        assert len(files[f"matches/{board}.txt"].splitlines()) > 3
    assert read[f"matches/{running}.json"]["draft"] == next(iter(whole_game("pow2")))
    assert read[f"matches/{running}.json"]["chat"][0]["from"] == "agathe"


def test_the_file_has_no_secret_and_nothing_of_others(place):
    text = b"".join(exported(place).values()).decode()
    for secret in ("of others", "argon2", place.own.token, "ssssss", "cHBwcHBw"):
        assert secret not in text
    digests = place.api.parts.data.hvals(f"{{a:{place.own.account.hex()}}}:tokens")
    assert digests
    assert all(one.hex() not in text for one in digests)


def test_one_match_at_a_time_is_made_while_the_file_is_sent(place, monkeypatch):
    made = []
    match = own_data._match
    monkeypatch.setattr(own_data, "_match", lambda *args: made.append(1) or match(*args))
    parts = own_archive(place.api.parts, place.own.account, wording("en"))
    while b"noted.json" not in next(parts):
        assert not made
    next(parts)
    assert len(made) == 1


def test_a_match_that_can_not_be_read_is_named_and_the_others_are_there(place, monkeypatch):
    load, (running, over) = own_data.load_state, place.boards

    def damaged(app: Any, board: int) -> Any:
        if board == running:
            raise own_data.Refusal(own_data.Code.DAMAGED, "it can't be read")
        return load(app, board)

    monkeypatch.setattr(own_data, "load_state", damaged)
    files = exported(place)
    assert json.loads(files[f"matches/{running}.json"]) == {
        "board": running,
        "unread": "it can't be read",
    }
    assert f"matches/{over}.svg" in files


def test_the_page_the_api_and_the_terminal_give_the_same_file(place, tmp_path: Path, capsys, come):
    api, own = place.api, place.own
    asked = api.http.get("/api/account/export", headers=own.headers)
    assert asked.headers["content-type"] == "application/zip"
    assert asked.headers["content-disposition"] == 'attachment; filename="matchpost-agathe.zip"'
    guest = come("agathe")
    sent = guest.send("/account/export", {}, on="/account")
    assert sent.headers["cache-control"] == "no-store"
    assert come().http.post("/account/export", data={"csrf": "x"}).status_code in (303, 403)
    file = tmp_path / "own.zip"
    assert change_accounts(api, "export", "Agathe", str(file)) == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    names = [
        sorted(ZipFile(BytesIO(data)).namelist())
        for data in (asked.content, sent.content, file.read_bytes())
    ]
    assert names[0] == names[1] == names[2] == sorted(exported(place))
    (act,) = api.parts.acts.newest(1)
    assert (act.act, act.account) == (Act.DATA_EXPORTED, own.account)
    capsys.readouterr()
    for wrong, said in (
        (["agathe", str(file)], "own.zip: File exists"),
        (["nobody-here", str(tmp_path / "b")], "unknown-user"),
        (["agathe"], "usage"),
    ):
        assert change_accounts(api, "export", *wrong) != 0
        assert said in capsys.readouterr().err
    assert not (tmp_path / "b").exists()


def test_an_old_session_gives_the_password_again_and_a_token_needs_its_scope(place, come):
    api, parts = place.api, place.api.parts
    read = parts.tokens.issue(place.own.account, "reads", ["read"]).text
    refused = api.http.get("/api/account/export", headers={"Authorization": f"Bearer {read}"})
    assert code_of(refused) == "missing-scope"
    guest = come("agathe")
    for key in parts.data.scan_iter("{w:*"):
        data = parts.data.get(key)
        parts.data.set(key, _aged(data), keepttl=True)
    assert "password" in guest.page("/account").split('action="/account/export"')[1][:400]
    answer = guest.send("/account/export", {}, on="/account")
    assert answer.status_code == 403
    given = guest.send("/account/export", {"password": PASSWORD}, on="/account")
    assert given.content[:2] == b"PK"


def _aged(data: bytes) -> bytes:
    """A session's record as if it had been opened an hour ago."""
    record = msgpack.decode(data[32:])
    record["created"] -= 3_600_000
    return data[:32] + msgpack.encode(record)
