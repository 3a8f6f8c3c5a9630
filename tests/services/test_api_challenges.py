"""Open challenges, and draws: players commit, then reveal, and what is said of it."""

from hashlib import sha256

from domain.clocks.time_control import DAY
from infra.audit.stored_match import check
from tests.helpers.api import PASSWORD, Api, Player, code_of, until

FAST = {"game": "pow2", "options": ["fast"], "terms": ["--unrated", "--days=3"], "seat": 0}
TEXTS = (b"a text of 32 bytes, of the first.", b"a text of 32 bytes, of the other.")
DIGESTS = tuple(sha256(text).hexdigest() for text in TEXTS)
SEALED = {"terms": ["--gather"], "commitment": DIGESTS[0]}


def opened(player: Player, **more) -> dict:
    answer = player.post("/api/challenges", {**FAST, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


def accept(player: Player, challenge: dict, **options):
    return player.post(f"/api/challenges/{challenge['id']}/accept", **options)


def listed(api: Api, query: str = "") -> list[str]:
    return [one["id"] for one in api.http.get(f"/api/challenges{query}").json()["challenges"]]


def test_a_challenge_is_listed_until_it_is_taken_and_starts_the_match_then(api):
    one, other = api.players()
    made = opened(one, note="beginners welcome")
    assert made["id"] in listed(api)
    assert made["id"] in listed(api, "?game=pow2")
    assert made["id"] not in listed(api, "?game=line")
    assert (made["options"], made["terms"]) == (["-fast"], ["--days=3", "--unrated"])
    assert (made["note"], made["players"], made["missing"]) == ("beginners welcome", [one.name], 1)
    with api.stream("/api/account/events", one) as told:
        taken = accept(other, made).json()
        assert next(one for one in told if not one.comment).data["board"] == taken["board"]
    assert (taken["state"], taken["players"]) == ("started", [one.name, other.name])
    match = api.http.get(f"/api/matches/{taken['board']}").json()
    assert [player["userid"] for player in match["players"]] == [one.name, other.name]
    assert (match["options"], match["clock"]["rated"]) == (["-fast"], False)
    assert made["id"] not in listed(api)
    for again in (api.http.get(f"/api/challenges/{made['id']}"), accept(other, made)):
        assert again.json() == taken
    late = one.delete(f"/api/challenges/{made['id']}")
    assert (late.status_code, code_of(late)) == (409, "already-started")


def test_to_open_it_again_with_its_key_is_safe(api):
    one, other = api.players()
    body = {**FAST, **SEALED, "game": "powerdrain", "options": []}
    key = {"Idempotency-Key": "again"}
    first = one.post("/api/challenges", body, headers=key)
    assert one.post("/api/challenges", body, headers=key).json() == first.json()
    for change in ({"seat": 1}, {"commitment": DIGESTS[1]}):
        changed = one.post("/api/challenges", {**body, **change}, headers=key)
        assert (changed.status_code, code_of(changed)) == (409, "id-reused")
    assert other.post("/api/challenges", body, headers=key).json()["id"] != first.json()["id"]


def test_a_start_without_an_outcome_in_time_is_pending_and_can_be_repeated(api):
    one, other = api.players()
    made = opened(one)
    with api.asleep():
        pending = accept(other, made, params={"wait": 0})
        assert (pending.status_code, code_of(pending)) == (202, "pending")
        assert api.http.get(f"/api/challenges/{made['id']}").json()["state"] == "taken"
    until(lambda: other.get(pending.headers["Location"]).json().get("accepted"))
    board = accept(other, made).json()["board"]
    assert one.move(board, "i5-g1").is_success


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


def test_a_match_and_its_stream_tell_the_phases_who_has_come_how_far_and_until_when(api):
    one, other = api.players()
    board = called(one, other, commitment=DIGESTS[0])
    found = match(api, board)
    assert (found["state"], found["waits_for"]) == ("waiting", [1])
    assert found["draw"]["phase"] == "commit"
    assert found["draw"]["commitments"] == [DIGESTS[0], ""]
    assert found["draw"]["deadline"] - found["updated"] == 14 * DAY
    with api.stream(f"/api/matches/{board}/events") as told:
        assert code_of(reveal(api, board, TEXTS[0])) == "too-early"
        other.give(board, {"do": "accept", "commitment": DIGESTS[1]})
        found = match(api, board)
        assert (found["state"], found["waits_for"]) == ("waiting", [0, 1])
        assert (found["draw"]["phase"], found["draw"]["revealed"]) == ("reveal", [])
        for body in ({"lines": [["24-57"]]}, {"move": "24-57"}):
            place = "replies" if "lines" in body else "draft"
            assert code_of(one.put(f"/api/matches/{board}/{place}", body)) == "not-started"
        before = api.parts.store.watermark().ends
        assert code_of(reveal(api, board, bytes(64))) == "wrong-text"
        assert api.parts.store.watermark().ends == before  # it left no trace
        for text in ("0", "xx", "00" * 65, ""):
            answer = api.http.post(f"/api/matches/{board}/reveal", json={"text": text})
            assert code_of(answer) == "bad-request"
        assert reveal(api, board, TEXTS[1]).is_success
        assert match(api, board)["draw"]["revealed"] == [1]
        assert one.give(board, {"do": "reveal", "text": TEXTS[0].hex()}).is_success
        events = ["deal-proposed", "committed", "sealed", "revealed", "revealed", "match-started"]
        assert [next(told).event for _ in events] == types(api, board) == events
    found = match(api, board)
    assert (found["state"], found["draw"]) == ("active", None)
    assert code_of(reveal(api, board, TEXTS[1])) == "too-late"
    assert "all players had committed" in check(api.parts.store, board)


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


def test_what_can_not_be_played_is_not_offered(api):
    one = api.player()
    for change, status, code in (
        ({"game": "chess"}, 404, "unknown-game"),
        ({"options": ["-slow"]}, 422, "unknown-option"),
        ({"options": ["fast", "fast"]}, 422, "bad-option"),
        ({"terms": ["--hurry"]}, 422, "unknown-option"),
        ({"terms": ["--entropy=word"]}, 422, "bad-option"),
        ({"commitment": DIGESTS[0]}, 422, "bad-option"),
        ({"seats": 3}, 422, "bad-players"),
        ({"seats": 9}, 400, "bad-request"),
        ({"seat": 2}, 422, "bad-players"),
        ({"game": "one", "options": [], "terms": []}, 422, "bad-players"),
        ({"note": "x" * 201}, 413, "too-long"),
        ({"note": "two\nlines"}, 400, "bad-request"),
        ({"players": ["bob"]}, 400, "bad-request"),
    ):
        refused = one.post("/api/challenges", {**FAST, **change})
        assert (refused.status_code, code_of(refused)) == (status, code), change
    for name in ("aaaaaaaaaa", "0123456789", "%00", "ä"):
        path = f"/api/challenges/{name}"
        for refused in (api.http.get(path), one.post(f"{path}/accept"), one.delete(path)):
            assert (refused.status_code, code_of(refused)) == (404, "unknown-challenge")
