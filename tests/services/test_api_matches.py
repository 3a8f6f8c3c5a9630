"""Matches, their boards and analyses, lists and their tags, and games with their referee."""

import json
import xml.etree.ElementTree as ET
from itertools import cycle
from threading import BoundedSemaphore

import pytest

from infra.redis.rq_jobs import ANALYSIS
from services.app.matches import analyse
from services.cli.referee import judge
from services.http.api.routes import rules
from tests.golden.make_games import read_games
from tests.helpers.analysing import do_jobs, listening
from tests.helpers.api import Api, Player, code_of

MOVES = ("m13-j7", "a13-d7", "m1-i3")
Pair = tuple[Player, Player, int]


@pytest.fixture
def pair(api: Api) -> Pair:
    one, other = api.players()
    return one, other, api.begun(one, other)


def play(pair: Pair, *moves: str) -> None:
    for player, move in zip(cycle(pair[:2]), moves, strict=False):
        assert player.move(pair[2], move).is_success


def shown(api: Api, board: int) -> dict:
    return api.http.get(f"/api/matches/{board}").json()


def listed(api: Api, query: str) -> list[dict]:
    return api.http.get(f"/api/matches?{query}").json()["matches"]


def test_a_match_is_shown_with_all_it_takes_to_play_on(api, pair):
    one, other, board = pair
    play(pair, "m13-j7")
    match = shown(api, board)
    assert (match["game"], match["rules"], match["state"]) == ("pow2", "pow2/1", "active")
    seats = [(player["userid"], player["side"]) for player in match["players"]]
    assert seats == [(one.name, "Light"), (other.name, "Dark")]
    assert (match["ply"], match["moves"], match["waits_for"]) == (1, ["m13-j7"], [1])
    assert match["at"]["position"]["board"]["j7"] == "O"
    assert (match["at"]["last_move"], match["at"]["to_move"]) == ("m13-j7", 1)
    assert "a13-d7" in match["at"]["legal"]
    assert match["clock"]["now"] < match["clock"]["reminder"] < match["clock"]["deadline"]
    assert (match["offer"], match["result"], match["seq"]) == (None, None, 3)


def test_any_ply_can_be_seen(api, pair):
    play(pair, "m13-j7", "a13-d7")
    path = f"/api/matches/{pair[2]}"
    plies = [api.http.get(f"{path}/plies/{n}").json() for n in range(3)]
    seen = [(ply["last_move"], ply["to_move"]) for ply in plies]
    assert seen == [(None, 0), ("m13-j7", 1), ("a13-d7", 0)]
    assert plies[2] == shown(api, pair[2])["at"]
    assert "m13" in plies[0]["position"]["board"]
    assert api.http.get(f"{path}?legal=false").json()["at"]["legal"] is None
    for number, code in ((3, "unknown-ply"), (10**6 + 1, "bad-request")):
        assert code_of(api.http.get(f"{path}/plies/{number}")) == code
    assert pair[1].give(pair[2], {"do": "resign"}).is_success
    last, first = (api.http.get(f"{path}/plies/{ply}").json() for ply in (2, 0))
    assert (last["to_move"], last["legal"], first["to_move"]) == (None, [], 0)


def test_a_board_is_drawn_at_any_ply_and_is_a_picture_for_programs_without_svg_too(api, pair):
    play(pair, "m13-j7", "a13-d7")
    path = f"/api/matches/{pair[2]}/board"
    drawings = [api.http.get(f"{path}.svg?ply={n}") for n in range(3)]
    assert {one.headers["content-type"] for one in drawings} == {"image/svg+xml"}
    assert "default-src 'none'" in drawings[0].headers["content-security-policy"]
    assert all(ET.fromstring(drawing.text).tag.endswith("svg") for drawing in drawings)
    assert len({one.text for one in drawings}) == 3
    assert api.http.get(f"{path}.svg").text == drawings[2].text
    assert "The last move was m13-j7" in drawings[1].text
    first, last = (api.http.get(f"{path}.png?ply={ply}") for ply in (0, 2))
    assert last.headers["content-type"] == "image/png"
    assert last.content.startswith(b"\x89PNG\r\n")
    assert first.content != last.content == api.http.get(f"{path}.png").content
    for query, code in (("svg?ply=3", "unknown-ply"), ("svg?ply=-1", "bad-request"), ("png?ply=3", "unknown-ply")):  # fmt: skip
        assert code_of(api.http.get(f"{path}.{query}")) == code
    assert pair[0].give(pair[2], {"do": "resign"}).is_success
    assert "by resignation" in api.http.get(f"{path}.svg").text


def test_a_board_is_written_in_any_display_and_says_where_its_places_are(api, pair):
    play(pair, "m13-j7")
    path = f"/api/matches/{pair[2]}/board"
    for display, query in (("large", ""), ("small", "?display=small")):
        board = api.http.get(f"{path}.json{query}").json()
        drawn = api.http.get(f"{path}.txt{query}")
        assert drawn.headers["content-type"] == "text/plain; charset=utf-8"
        assert (board["text"], board["display"]) == (drawn.text.rstrip("\n"), display)
        assert (board["ply"], board["move"], board["next"]) == (1, "m13-j7", "")
        assert board["displays"] == ["large", "small"]
        places = {place.pop("name"): place for place in board["places"]}
        lines = board["text"].splitlines()
        letters = {name: lines[at["line"]][at["column"]] for name, at in places.items()}
        assert (letters["j7"], letters["m13"], letters["a13"]) == ("O", "*", "X")
        assert {(at["width"], at["height"]) for at in places.values()} == {(1, 1)}
    assert api.http.get(f"{path}.txt?ply=0").text != api.http.get(f"{path}.txt").text
    refused = api.http.get(f"{path}.txt?display=huge")
    assert (refused.status_code, code_of(refused)) == (422, "bad-option")


def test_a_move_is_previewed_and_nothing_is_played(api, pair):
    _, other, board = pair
    path = f"/api/matches/{board}/board.json"
    preview = api.http.get(path, params={"move": " M13-J7 ", "display": "small"}).json()
    assert (preview["ply"], preview["move"]) == (1, "m13-j7")
    assert preview["next"] == f"it will be {other.name}'s turn"
    assert api.http.get(path).json()["ply"] == 0
    play(pair, "m13-j7")
    assert api.http.get(f"{path}?display=small").json()["text"] == preview["text"]
    earlier = api.http.get(path, params={"ply": 0, "move": "m13-k8"}).json()
    assert (earlier["ply"], earlier["move"]) == (1, "m13-k8")
    for move, code in (("m13-j7", "illegal-move"), ("over there", "unreadable-move")):
        assert code_of(api.http.get(path, params={"move": move})) == code


PUBLIC = (
    "/api/games", "/api/games/pow2", "/api/games/pow2/schema", "/api/ratings/pow2", "/api/standings/pow2",
    "/api/history/pow2", "/api/robots", "/api/errors/stale-ply", "/api/challenges", "/api/players/{0}",
    "/api/ratings/pow2/{0}", "/api/matches?player={0}", "/api/puzzles/one/scores", "/api/head-to-head/pow2/{0}/{1}",
)  # fmt: skip
PLACES = ("", "?legal=false", "/plies/1", "/board.svg", "/board.svg?ply=1", "/board.txt", "/board.json")  # fmt: skip


def test_what_is_known_is_not_sent_again_until_it_changes(api, pair):
    one, other, board = pair
    play(pair, "m13-j7")
    api.caught_up()
    here = [f"/api/matches/{board}{place}" for place in PLACES]
    public = [path.format(one.name, other.name) for path in PUBLIC]
    tags = {}
    for path in (*public, *here):
        first = api.http.get(path)
        # the tag of a compressed answer is weak
        tag = tags[path] = first.headers["ETag"].removeprefix("W/")
        assert first.headers["Cache-Control"] == "no-cache", path
        again = api.http.get(path, headers={"If-None-Match": tag})
        told = again.status_code, again.content, again.headers["ETag"].removeprefix("W/")
        assert told == (304, b"", tag), path
    path, tag = here[0], tags[here[0]]
    for known, status in (
        (f"W/{tag}", 304), (f'"other", {tag}', 304), ("*", 304), ('"other"', 200), (tag.strip('"'), 200),
    ):  # fmt: skip
        assert api.http.get(path, headers={"If-None-Match": known}).status_code == status, known
    assert other.give(board, {"do": "resign"}).is_success
    api.caught_up()
    for path in (f"/api/matches?player={one.name}", *here):
        changed = api.http.get(path, headers={"If-None-Match": tags[path]})
        assert changed.status_code == 200, path


def test_a_ply_that_was_taken_back_and_played_otherwise_has_another_tag(api, pair):
    one, other, board = pair
    path = f"/api/matches/{board}/plies/1"
    play(pair, "m13-j7", "a13-d7")
    tag = api.http.get(path).headers["ETag"]
    for mover, waiting in ((other, one), (one, other)):
        assert mover.give(board, {"do": "offer", "kind": "undo"}).is_success
        assert waiting.give(board, {"do": "accept"}).is_success
    assert one.move(board, "m13-k8").is_success
    changed = api.http.get(path, headers={"If-None-Match": tag})
    assert (changed.status_code, changed.json()["last_move"]) == (200, "m13-k8")


def test_an_analysis_is_asked_for_with_a_token_and_read_by_anybody(api, pair):
    play(pair, *MOVES)
    player, _, board = pair
    assert player.give(board, {"do": "resign"}).is_success
    path = f"/api/matches/{board}/analysis"
    assert code_of(api.http.get(path)) == "not-found"
    assert code_of(api.http.post(path)) == "unauthorized"
    api.parts.queue.delete(f"rq:queue:{ANALYSIS}")
    with listening(api.parts):
        asked = player.post(path)
        told = {"board": board, "done": 0, "total": 4, "interrupted": False, "seconds_left": None}
        assert (asked.status_code, asked.json()) == (202, told)
        waiting = api.http.get(path)
        assert (waiting.status_code, waiting.json()) == (202, told)
        assert waiting.headers["Retry-After"] == "1"
        do_jobs(api.parts)
    answer = api.http.get(path)
    assert answer.status_code == 200
    found = answer.json()
    assert [one["move"] for one in found["plies"]] == [*MOVES, None]
    assert [one["ply"] for one in found["plies"]] == [0, 1, 2, 3]
    assert all(sum(one["values"]) == pytest.approx(1, abs=0.002) for one in found["plies"])
    assert (found["bound"], {one["reached"] for one in found["plies"]}) == (None, {None})
    tagged = {"If-None-Match": answer.headers["ETag"]}
    assert api.http.get(path, headers=tagged).status_code == 304
    again = player.post(path)
    assert (again.status_code, again.json()["done"], again.json()["total"]) == (202, 4, 4)


def test_the_command_in_a_puzzle_shows_the_score(api):
    one = api.player()
    board = api.match(one, game="one")
    assert one.move(board, "c3").is_success
    with listening(api.parts):
        assert analyse(api.parts, board)
    text = one.line(f"one analyse {board}")
    assert "100 is the proven maximum" in text
    assert "lines with exactly one stone" in text.splitlines()[-1]


# lists


def test_a_match_in_a_list_has_its_deadline_its_last_move_and_the_open_offer(api):
    alice, bob = api.players()
    board = api.begun(alice, bob, terms=["--days=3"])
    assert alice.move(board, "m13-j7").is_success
    assert bob.give(board, {"do": "offer", "kind": "draw"}).is_success
    api.caught_up()
    match = shown(api, board)
    (found,) = listed(api, f"player={alice.name}")
    assert found["last_move"] == "m13-j7"
    assert found["deadline"] == match["clock"]["deadline"] is not None
    assert found["offer"] == match["offer"] == {"kind": "draw", "seat": 1, "accepted": []}
    assert alice.give(board, {"do": "resign"}).is_success
    api.caught_up()
    (over,) = listed(api, f"board={board}")
    told = {"state": "over", "last_move": None, "deadline": None, "offer": None}
    assert {**over, **told} == over


def test_matches_are_read_by_their_numbers_in_one_request(api):
    alice, bob = api.players()
    boards = [api.begun(alice, bob) for _ in range(3)]
    cup = {"name": "Cup", "game": "pow2", "terms": ["--days=3"], "section": 3}
    tournament = alice.post("/api/tournaments", cup).json()["board"]
    api.caught_up()
    asked = f"{boards[2]},999999,{tournament},{boards[0]},{boards[2]}"
    found = api.http.get(f"/api/matches?board={asked}").json()
    assert [one["board"] for one in found["matches"]] == [boards[2], boards[0]]
    assert found["next"] is None
    invited = api.match(alice, bob)
    api.caught_up()
    path = f"/api/matches?board={invited}"
    assert listed(api, f"board={invited}") == api.player().get(path).json()["matches"] == []
    assert bob.get(path).json()["matches"][0]["invited"] == [1]
    both = api.http.get(f"/api/matches?board=1&player={alice.name}")
    assert "not both" in both.json()["detail"]


def test_the_terms_of_a_clock_are_there_in_numbers_too(api):
    terms = "--bank=10+1:20 --weekends=off --nagtime=2,4 --vacation=5 --pause=off --rated-from=3"
    board = api.match(*api.players(), terms=terms.split())
    assert shown(api, board)["clock"]["limits"] == {
        "turn": 0, "total": 0, "bank": 10, "increment": 1, "cap": 20, "reminders": [2, 4], "weekends": False,
        "vacation": 5, "pause": False, "rated_from": 3,
    }  # fmt: skip
    board = api.match(*api.players(), terms=["--days=3", "--unrated"])
    limits = shown(api, board)["clock"]["limits"]
    assert (limits["turn"], limits["rated_from"], limits["vacation"]) == (3, 0, None)


def test_what_can_not_be_listed_is_refused(api):
    bad = (
        "", "state=all", "game=pow2&state=all", "player=x&state=sleeping", "game=pow2&limit=0",
        "game=pow2&limit=101", "game=pow2&cursor=-1", "game=pow2&cursor=x", "game=pow2&page=2",
        "board=0", "board=1,", "board=a", "board=01", f"board={','.join(map(str, range(1, 102)))}",
    )  # fmt: skip
    me = api.player().name
    rows = [
        *((f"matches?{query}", 400, "bad-request") for query in bad),
        ("matches?game=chess", 404, "unknown-game"),
        ("matches?player=nobody-there", 404, "unknown-user"),
        ("ratings/chess", 404, "unknown-game"),
        ("ratings/one", 400, "usage"),
        ("standings/two", 400, "usage"),
        ("history/chess", 404, "unknown-game"),
        ("history/pow2?player=nobody-there", 404, "unknown-user"),
        (f"head-to-head/pow2/{me}/{me}", 422, "bad-players"),
        ("puzzles/pow2/scores", 400, "usage"),
        ("puzzles/chess/scores", 404, "unknown-game"),
        ("puzzles/jump/scores?options=-slow", 422, "unknown-option"),
        ("games/chess", 404, "unknown-game"),
        ("games/chess/schema", 404, "unknown-game"),
    ]
    answers = [(path, api.http.get(f"/api/{path}")) for path, *_ in rows]
    assert [(path, said.status_code, code_of(said)) for path, said in answers] == rows


# games


def ask(api: Api, game: str, picture: str = "", /, **asked):
    path = f"/api/games/{game}/judge{picture and f'?picture={picture}'}"
    return api.http.post(path, json=asked)


def at_terminal(game: str, **asked) -> dict:
    return json.loads(json.dumps(judge(json.dumps({"game": game, **asked}).encode())))


def test_the_games_are_listed_and_the_schema_of_one_is_in_the_readers_language(api):
    found = api.http.get("/api/games").json()
    keys = [game["key"] for game in found]
    assert keys == sorted(keys)
    assert {"pow2", "halves", "one"} <= set(keys)
    assert api.http.get("/api/games/HALVES").json() == found[keys.index("halves")]
    assert found[keys.index("halves")]["players"] == [2, 3]
    english = api.http.get("/api/games/POW2/schema")
    assert english.json()["options"][0]["title"] == "The start"
    assert english.json()["schemas"]["move"]["pattern"] == english.json()["moves"]["pattern"]
    german = api.http.get("/api/games/pow2/schema", headers={"Accept-Language": "de"})
    assert german.headers["content-language"] == "de"
    assert german.json()["options"][0]["title"] == "Der Beginn"
    assert german.headers["etag"] != english.headers["etag"]


def test_the_referee_answers_over_http_as_at_the_terminal(api):
    for game in ("pow2", "powerdrain", "halves", "torere"):
        record = read_games(game)[0]
        asked = {name: record[name] for name in ("players", "options", "setup")}
        moves = record["moves"].split()
        for more in ({"moves": moves}, {"moves": moves[:2], "trace": True}):
            assert ask(api, game, **asked, **more).json() == at_terminal(game, **asked, **more)
        assert ask(api, game, game=game, moves=moves, **asked).json()["ok"]
    refused = ask(api, "pow2", moves=["m13-j7", "j7-m13"])
    assert refused.status_code == 200
    assert refused.json() == at_terminal("pow2", moves=["m13-j7", "j7-m13"])
    for code, wrong in {
        "bad-request": {"game": "torere"},
        "unknown-option": {"options": ["-nonsense"]},
        "unknown-rules": {"rules": 9},
        "bad-players": {"players": 3},
        "bad-setup": {"seed": "00"},
    }.items():
        assert code_of(ask(api, "pow2", **wrong)) == code


def test_a_picture_shows_the_last_move_and_says_where_the_places_are(api):
    drawn = ask(api, "pow2", "true", moves=["m13-j7"]).json()
    assert drawn["picture"].startswith("<svg")
    assert drawn["picture"].count('class="place last"') == 2
    (j7,) = [one for one in drawn["board"]["places"] if one["name"] == "j7"]
    assert f'data-place="j7" transform="translate({j7["x"]:g} {j7["y"]:g})"' in drawn["picture"]
    halves = ask(api, "halves", "true", seed="00" * 32).json()
    numbers = {str(number) for *_, number in halves["position"]["tiles"]}
    assert {one["name"] for one in halves["board"]["places"]} == numbers
    assert "picture" not in ask(api, "pow2", "false").json()


def test_what_takes_the_referee_too_long_and_too_many_at_once_are_refused(api, monkeypatch):
    none_left = BoundedSemaphore(1)
    assert none_left.acquire()
    with monkeypatch.context() as patch:
        patch.setattr(rules, "_AT_ONCE", none_left)
        busy = ask(api, "pow2")
        assert (code_of(busy), busy.status_code) == ("busy", 503)
        assert busy.headers["retry-after"] == "1"
        none_left.release()
        assert ask(api, "pow2").is_success
        assert code_of(ask(api, "pow2", players=9)) == "bad-players"
        assert ask(api, "pow2").is_success  # a refusal takes no place
    monkeypatch.setattr(rules, "_MOST_WORDS", 60)
    assert ask(api, "pow2", moves=["m13-j7"]).is_success
    long = ask(api, "pow2", moves=["m13-j7", "a13-d7"], trace=True)
    assert (code_of(long), long.status_code) == ("too-long", 413)
    assert "leave out `trace`" in long.json()["detail"]
    monkeypatch.setattr(rules, "_SECONDS", -1.0)
    assert code_of(ask(api, "pow2", moves=[])) == "too-long"
