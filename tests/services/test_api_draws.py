"""Draws over the API: players commit, then reveal; what the match, the lists and the notices say."""

from collections.abc import Iterator
from hashlib import sha256

import pytest

from domain.clocks.time_control import DAY, TimeControl
from domain.match.commands import CommandEnvelope, StartMatch
from domain.match.events import Absent, MatchStarted
from domain.match.history import decode_event
from infra.audit.stored_match import check
from tests.helpers.api import PASSWORD, Api, Player, code_of

TEXTS = (b"a text of 32 bytes, of the first.", b"a text of 32 bytes, of the other.")
DIGESTS = tuple(sha256(text).hexdigest() for text in TEXTS)
SEALED = {"terms": ["--gather"], "commitment": DIGESTS[0]}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api")) as api:
        yield api


def called(one: Player, other: Player, **more) -> int:
    body = {"game": "powerdrain", "players": [one.name, other.name], "terms": ["--gather"]}
    made = one.post("/api/matches", {**body, **more})
    assert made.status_code == 201, made.text
    return int(made.json()["board"])


def sealed(one: Player, other: Player) -> int:
    board = called(one, other, commitment=DIGESTS[0])
    assert other.give(board, {"do": "accept", "commitment": DIGESTS[1]}).is_success
    return board


def match(api: Api, board: int) -> dict:
    return api.http.get(f"/api/matches/{board}").json()


def types(api: Api, board: int) -> list[str]:
    return [event["type"] for event in api.http.get(f"/api/matches/{board}/events").json()]


def reveal(api: Api, board: int, text: bytes):
    return api.http.post(f"/api/matches/{board}/reveal", json={"text": text.hex()})


def test_a_match_shows_its_phases_who_has_come_how_far_and_until_when(api):
    one, other = api.players()
    board = called(one, other, commitment=DIGESTS[0])
    found = match(api, board)
    assert (found["state"], found["waits_for"]) == ("waiting", [1])
    assert found["draw"]["phase"] == "commit"
    assert found["draw"]["commitments"] == [DIGESTS[0], ""]
    assert found["draw"]["deadline"] - found["updated"] == 14 * DAY
    other.give(board, {"do": "accept", "commitment": DIGESTS[1]})
    found = match(api, board)
    assert (found["state"], found["waits_for"]) == ("waiting", [0, 1])
    assert (found["draw"]["phase"], found["draw"]["revealed"]) == ("reveal", [])
    assert reveal(api, board, TEXTS[1]).is_success
    assert match(api, board)["draw"]["revealed"] == [1]
    assert one.give(board, {"do": "reveal", "text": TEXTS[0].hex()}).is_success
    found = match(api, board)
    assert (found["state"], found["draw"]) == ("active", None)
    assert types(api, board) == [
        "deal-proposed", "committed", "sealed", "revealed", "revealed", "match-started",
    ]  # fmt: skip
    assert "all players had committed" in check(api.parts.store, board)


def test_the_stream_of_a_match_tells_the_phases_as_they_come(api):
    one, other = api.players()
    board = sealed(one, other)
    with api.stream(f"/api/matches/{board}/events") as told:
        assert [next(told).event for _ in range(3)] == ["deal-proposed", "committed", "sealed"]
        for text in TEXTS:
            reveal(api, board, text)
        assert [next(told).event for _ in range(3)] == ["revealed", "revealed", "match-started"]


@pytest.mark.parametrize(
    ("text", "code"),
    [(b"another text", "wrong-text"), (b"x", "wrong-text"), (bytes(64), "wrong-text")],
)
def test_a_text_that_nobody_has_committed_to_is_refused_and_leaves_no_trace(api, text, code):
    one, other = api.players()
    board = sealed(one, other)
    before = api.parts.store.watermark().ends
    assert code_of(reveal(api, board, text)) == code
    assert api.parts.store.watermark().ends == before


def test_a_text_is_revealed_when_it_is_time_and_once(api):
    one, other = api.players()
    board = called(one, other, commitment=DIGESTS[0])
    assert code_of(reveal(api, board, TEXTS[0])) == "too-early"
    other.give(board, {"do": "accept", "commitment": DIGESTS[1]})
    assert reveal(api, board, TEXTS[0]).is_success
    assert code_of(reveal(api, board, TEXTS[0])) == "too-late"
    assert reveal(api, board, TEXTS[1]).is_success
    assert code_of(reveal(api, board, TEXTS[1])) == "too-late"
    assert code_of(reveal(api, 999_999, TEXTS[1])) == "unknown-board"


@pytest.mark.parametrize("text", ["0", "xx", "00" * 65, ""])
def test_what_is_no_text_in_hex_is_a_bad_request(api, text):
    one, other = api.players()
    board = sealed(one, other)
    answer = api.http.post(f"/api/matches/{board}/reveal", json={"text": text})
    assert code_of(answer) == "bad-request"


def test_without_a_commitment_the_server_keeps_the_text_and_reveals_it_itself(api):
    one, other = api.players()
    board = called(one, other, terms=["--gather", "--entropy=luck"])
    assert other.give(board, {"do": "accept"}).is_success
    events = api.http.get(f"/api/matches/{board}/events").json()
    revealed = [event for event in events if event["type"] == "revealed"]
    assert {event["actor"] for event in revealed} == {"00" * 8}
    texts = [bytes.fromhex(event["body"]["text"]) for event in revealed]
    assert texts[0][32:] == sha256(b"luck").digest()
    assert events[-1]["type"] == "match-started"
    assert "kept the texts of all players" in check(api.parts.store, board)


def test_a_repetition_with_its_key_is_the_command_it_was(api):
    one, other = api.players()
    key = {"headers": {"Idempotency-Key": "k1"}}
    body = {
        "game": "powerdrain", "players": [other.name, one.name],
        "terms": ["--gather", "--entropy=luck"],
    }  # fmt: skip
    first = one.post("/api/matches", body, **key)
    board = first.json()["board"]
    # the challenger sits second, and it is the other who is waited for
    assert match(api, board)["waits_for"] == [0]
    assert one.post("/api/matches", body, **key).json() == first.json()
    accept = {"do": "accept", "entropy": "mine"}
    done = other.give(board, accept, **key)
    assert match(api, board)["state"] == "active"
    assert other.give(board, accept, **key).json() == done.json()
    assert one.post("/api/matches", body, **key).json() == first.json()


def test_commitments_where_nothing_is_gathered_and_words_beside_them_are_refused(api):
    one, other = api.players()
    plain = {"game": "powerdrain", "players": [one.name, other.name], "commitment": DIGESTS[0]}
    assert code_of(one.post("/api/matches", plain)) == "bad-option"
    both = {**plain, "terms": ["--gather", "--entropy=x"]}
    assert code_of(one.post("/api/matches", both)) == "bad-option"
    board = api.match(one, other)
    assert code_of(one.give(board, {"do": "accept", "commitment": DIGESTS[0]})) == "bad-option"
    assert code_of(one.give(board, {"do": "accept", "commitment": "00"})) == "bad-request"
    pow2 = {"game": "pow2", "commitment": DIGESTS[0]}
    assert code_of(one.post("/api/challenges", pow2)) == "bad-option"
    made = one.post("/api/challenges", {"game": "pow2"}).json()["id"]
    path = f"/api/challenges/{made}/accept?commitment={DIGESTS[1]}"
    assert code_of(other.post(path)) == "bad-option"


@pytest.mark.parametrize(
    ("asked", "gathers"),
    [
        ({"game": "powerdrain"}, False),
        ({"game": "powerdrain", "terms": ["--gather"]}, True),
        ({"game": "halves", "seats": 3}, False),
        ({"game": "powerdrain", "terms": ["--unrated"]}, False),
        ({"game": "powerdrain", "terms": ["--unrated", "--gather"]}, True),
        ({"game": "powerdrain", "options": ["-o1", "-p"]}, False),
        ({"game": "pow2"}, False),
    ],
)
def test_an_open_challenge_has_a_sealed_deal_if_it_was_asked_for(api, asked, gathers):
    (one,) = api.players(1)
    made = one.post("/api/challenges", asked).json()
    assert ("--gather" in made["terms"]) is gathers


def test_three_take_an_open_challenge_and_two_of_them_keep_their_texts(api):
    one, two, three = api.players(3)
    body = {"game": "halves", "seats": 3, "seat": 2, **SEALED}
    made = one.post("/api/challenges", body).json()["id"]
    assert two.post(f"/api/challenges/{made}/accept").is_success
    taken = three.post(f"/api/challenges/{made}/accept?commitment={DIGESTS[1]}").json()
    board = taken["board"]
    assert types(api, board) == ["called", "sealed", "revealed"]
    assert match(api, board)["draw"]["revealed"] == [0]
    # to take it again is safe, whatever is committed to now
    again = three.post(f"/api/challenges/{made}/accept?commitment={'00' * 32}")
    assert again.json()["board"] == board
    for text in TEXTS:
        assert reveal(api, board, text).is_success
    assert match(api, board)["state"] == "active"
    assert "holds" in check(api.parts.store, board)


def test_who_gives_the_seat_back_takes_the_commitment_away(api):
    one, two, three = api.players(3)
    body = {"game": "halves", "seats": 3, "seat": 0, **SEALED}
    made = one.post("/api/challenges", body).json()["id"]
    two.post(f"/api/challenges/{made}/accept?commitment={DIGESTS[1]}")
    two.delete(f"/api/challenges/{made}")
    record = api.parts.challenges.get(made)
    assert record.commitments == ((one.account, bytes.fromhex(DIGESTS[0])),)
    three.post(f"/api/challenges/{made}/accept?commitment={DIGESTS[1]}")
    assert dict(api.parts.challenges.get(made).commitments).keys() == {one.account, three.account}


def test_an_opening_repeated_with_another_commitment_is_another_challenge(api):
    (one,) = api.players(1)
    key = {"headers": {"Idempotency-Key": "open"}}
    body = {"game": "powerdrain", **SEALED}
    first = one.post("/api/challenges", body, **key)
    assert one.post("/api/challenges", body, **key).json() == first.json()
    other = one.post("/api/challenges", {**body, "commitment": DIGESTS[1]}, **key)
    assert code_of(other) == "id-reused"


# lists, notices, counts


def test_lists_and_notices_tell_who_is_waited_for(api):
    one, other = api.players()
    board = called(one, other, commitment=DIGESTS[0])
    api.caught_up()
    waits = f"/api/matches?player={other.name}&state=next"
    assert api.http.get(waits).json()["matches"] == []
    (asked,) = other.get("/api/account/invitations").json()["matches"]
    assert (asked["board"], asked["state"], asked["invited"]) == (board, "waiting", [1])
    other.give(board, {"do": "accept", "commitment": DIGESTS[1]})
    reveal(api, board, TEXTS[1])
    api.caught_up()
    assert api.http.get(waits).json()["matches"] == []
    mine = api.http.get(f"/api/matches?player={one.name}&state=next").json()["matches"]
    assert [(m["board"], m["waits_for"]) for m in mine] == [(board, [0])]
    kinds = [notice["kind"] for notice in one.get("/api/notices").json()["notices"]]
    assert kinds == ["reveal"]
    kinds = [notice["kind"] for notice in other.get("/api/notices").json()["notices"]]
    assert kinds == ["challenged"]


def test_who_would_not_reveal_or_play_a_known_draw_is_counted_and_who_declines_before_is_not(api):
    one, other = api.players()
    before = called(one, other, commitment=DIGESTS[0])
    other.give(before, {"do": "decline"})
    board = sealed(one, other)
    without = sealed(one, other)
    # the browser of the other keeps the text of one match; none was seen with that of the next
    api.parts.seen_texts.note(other.account, [board], api.parts.store.now())
    for asked in (board, without):
        reveal(api, asked, TEXTS[0])
        assert other.give(asked, {"do": "decline"}).is_success
    assert types(api, board)[-2:] == ["withheld", "ended"]
    assert types(api, without)[-2:] == ["declined", "ended"]
    seen = api.begun(one, other, game="powerdrain")
    one.give(seen, {"do": "decline"})
    plain = api.match(one, other)
    other.give(plain, {"do": "decline"})
    api.caught_up()
    counts = [api.http.get(f"/api/players/{p.name}").json()["refused_draws"] for p in (one, other)]
    assert counts == [1, 1]
    notices = one.get("/api/notices").json()["notices"]
    assert [n["board"] for n in notices if n["kind"] == "declined"] == [
        plain,
        without,
        board,
        before,
    ]
    assert "doesn’t count" in api.http.get(f"/api/matches/{board}").json()["result"]["text"]


# vacations


def on_vacation(api: Api, player: Player) -> None:
    line = f"vacation {player.name} {PASSWORD} 9"
    assert api.http.post("/api/do", content=line).is_success


@pytest.mark.parametrize("late", [False, True])
def test_a_player_on_vacation_loses_no_time_though_the_last_accept_comes_by_the_api(api, late):
    one, other = api.players()
    if not late:
        on_vacation(api, one)
    board = called(one, other)
    if late:
        api.caught_up()
        on_vacation(api, one)
    assert other.give(board, {"do": "accept"}).is_success
    found = match(api, board)
    assert (found["state"], found["at"]["to_move"]) == ("active", 0)
    assert found["clock"]["deadline"] - found["updated"] > 29 * DAY
    assert "holds" in check(api.parts.store, board)


def test_a_match_called_for_before_commitments_were_there_starts_with_the_vacation(api):
    one, other = api.players()
    on_vacation(api, one)
    store, gateway = api.parts.store, api.parts.gateway
    board = store.allocate(one.account)
    start = StartMatch(
        rules="powerdrain/1", options=(), seats=(one.account, other.account), gather=True,
        text=b"text", terms=TimeControl(days=3, forfeit=0),
    )  # fmt: skip
    assert gateway.send(CommandEnvelope(board, b"a" * 16, one.account, start), 0, 10).accepted
    assert match(api, board)["draw"] is None
    assert other.give(board, {"do": "accept", "entropy": "luck"}).is_success
    bodies = [decode_event(data).body for data in store.events(board)]
    assert any(isinstance(body, Absent) for body in bodies)
    assert any(isinstance(body, MatchStarted) for body in bodies)
    found = match(api, board)
    assert found["clock"]["deadline"] - found["updated"] > 11 * DAY
    assert "sent their texts one after another" in check(store, board)


# those who leave


def test_an_account_that_is_deleted_while_players_commit_or_reveal_leaves_a_match_that_holds(api):
    one, other = api.players()
    boards = [called(one, other, commitment=DIGESTS[0]), sealed(one, other)]
    assert other.post("/api/account/deletion", {"password": PASSWORD}).is_success
    for board in boards:
        assert match(api, board)["players"][1]["userid"] is None
    # a text that another program of theirs still has starts a match like one left in the middle
    reveal(api, boards[1], TEXTS[0])
    assert one.give(boards[0], {"do": "decline"}).is_success
    for board in boards:
        assert "holds" in check(api.parts.store, board)


def test_nothing_is_laid_ready_or_drafted_before_the_draw(api):
    one, other = api.players()
    board = sealed(one, other)
    lines = {"lines": [["24-57"]]}
    assert code_of(one.put(f"/api/matches/{board}/replies", lines)) == "not-started"
    assert code_of(one.move(board, "24-57")) == "not-started"
    assert code_of(one.give(board, {"do": "offer", "kind": "undo"})) == "not-started"
