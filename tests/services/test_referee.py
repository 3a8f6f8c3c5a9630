"""`matchpost referee`: requests, match documents and tournaments, judged line by line."""

import io
import json
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.json import encode

from domain.errors import Code
from domain.match.state import position_of
from domain.rules import rules_by_id
from infra.audit.match_document import write_document
from services.cli import referee
from services.cli.referee import LINE_LIMIT, judge, serve
from tests.golden.make_events import MATCHES
from tests.golden.make_tournaments import FILE, answers
from tests.helpers.evidence import KINDS, golden_document
from tests.helpers.examples import examples
from tests.helpers.games import whole_game


def filtered(data: bytes) -> list[dict]:
    answers = io.BytesIO()
    serve(io.BytesIO(data), answers)
    return [json.loads(line) for line in answers.getvalue().splitlines()]


def ask(**request) -> dict:
    (answer,) = filtered(json.dumps({"game": "pow2"} | request).encode())
    return answer


def test_the_start_is_answered_with_the_keys_in_order():
    answer = ask()
    assert list(answer) == ["ok", "rules", "setup", "ply", "to_move", "legal", "position", "result"]
    assert len(answer.pop("legal")) == 48
    assert answer == {
        "ok": True, "rules": "pow2/1", "setup": None, "ply": 0, "to_move": 0, "result": None,
        "position": {
            "board": {"a1": "X", "a13": "X", "m1": "O", "m13": "O"},
            "supply": [14, 14],
        },
    }  # fmt: skip


def test_a_trace_has_every_prefix_of_the_moves():
    moves = ["m13-j7", "a13-d7"]
    answer = ask(moves=moves, trace=True)
    assert list(answer)[-1] == "trace"
    prefixes = [ask(moves=moves[:ply]) for ply in range(3)]
    assert answer["trace"] == [
        {key: prefix[key] for key in ("to_move", "legal", "position")} for prefix in prefixes
    ]


def test_a_finished_game_has_a_result_and_nobody_to_move():
    moves = whole_game()
    answer = ask(moves=moves, trace=True)
    assert (answer["ok"], answer["to_move"], answer["legal"]) == (True, None, [])
    assert answer["result"]["reason"] in ("all-placed", "no-move")
    assert answer["result"]["winners"] in ([0], [1])
    assert answer["trace"][-1]["legal"] == []
    assert answer["trace"][-2]["to_move"] is not None
    more = ask(moves=[*moves, moves[-1], "a1-a5"])
    assert (more["ok"], more["ply"], more["error"]) == (False, len(moves), Code.MATCH_OVER)


@pytest.mark.parametrize(("moves", "ply", "code"), [
    (["m13-a1"], 0, Code.ILLEGAL_MOVE),
    (["m13-j7", "j7-m13"], 1, Code.ILLEGAL_MOVE),
    (["m13-j7", "zzz"], 1, Code.UNREADABLE_MOVE),
    (["m13-j7", ""], 1, Code.UNREADABLE_MOVE),
    (["m13-j7", "a1-" * 500], 1, Code.TOO_LONG),
])  # fmt: skip
def test_a_refused_move_is_named_by_its_index(moves, ply, code):
    answer = ask(moves=moves)
    assert list(answer) == ["ok", "ply", "error", "message"]
    assert (answer["ok"], answer["ply"], answer["error"]) == (False, ply, code)
    assert answer["message"]


SEED = "00112233445566778899aabbccddeeff" * 2
WRONG = (
    ({"game": "chess"}, Code.UNKNOWN_GAME, "'chess'"),
    ({"players": 3}, Code.BAD_PLAYERS, "3"),
    ({"options": ["-slow"]}, Code.UNKNOWN_OPTION, "slow"),
    ({"options": ["fast", "free"]}, Code.BAD_OPTION, "exclude"),
    ({"rules": "pow2/9"}, Code.UNKNOWN_RULES, "'pow2/9'"),
    ({"setup": []}, Code.BAD_SETUP, "setup"),
    ({"seed": "0" * 64}, Code.BAD_SETUP, "seed"),
    ({"game": None}, Code.BAD_REQUEST, "$.game"),
    ({"players": "two"}, Code.BAD_REQUEST, "$.players"),
    ({"moves": "m13-j7"}, Code.BAD_REQUEST, "$.moves"),
    ({"moves": [1]}, Code.BAD_REQUEST, "$.moves[0]"),
    ({"rules": 1.5}, Code.BAD_REQUEST, "$.rules"),
    ({"move": "m13-j7"}, Code.BAD_REQUEST, "`move`"),
    ({"game": "powerdrain"}, Code.BAD_SETUP, "chance sets up powerdrain; give either a setup or a seed"),
    ({"game": "powerdrain", "seed": "12"}, Code.BAD_SETUP, "a seed is written as 64 hex digits"),
    ({"game": "powerdrain", "seed": SEED, "setup": {}}, Code.BAD_SETUP, "give either a setup or a seed"),
    ({"game": "powerdrain", "options": ["-o1", "-p"], "seed": SEED}, Code.BAD_SETUP, "chance decides nothing here"),
)  # fmt: skip


@pytest.mark.parametrize(("request_", "code", "said"), WRONG)
def test_what_is_wrong_with_a_request_is_said_without_a_ply(request_, code, said):
    answer = ask(**request_)
    assert list(answer) == ["ok", "error", "message"]
    assert (answer["ok"], answer["error"]) == (False, code)
    assert said in answer["message"]
    assert answer["message"][0] == answer["message"][0].lower()


NO_REQUESTS = (
    b'{"game": "pow2", "players": Infinity}', b"{", b"[]", b"null", b"7", b"{}", b"\xff\xfe", b'{"game": "pow2\xff"}', b'{"game": "pow2"} {"game": "pow2"}',
    b'{"game": "pow2", "setup": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", b'{"game": "pow2", "game": 7}',
    b'{"game": "pow2", "players": ' + b"9" * 9_999 + b"}", b'{"game": "pow2", "rules": ' + b"9" * 9_999 + b"}",
    b'{"game": "pow2", "setup": ' + b"9" * 9_999 + b"}",
)  # fmt: skip


def test_what_is_no_request_is_answered_and_the_next_line_read():
    for line in NO_REQUESTS:
        bad, good = filtered(line + b'\n{"game": "pow2"}\n')
        assert (bad["ok"], bad["error"]) == (False, Code.BAD_REQUEST), line[:50]
        assert good["ok"]


@pytest.mark.parametrize("end", [b"\n", b""])
@pytest.mark.parametrize("over", [1, 100, LINE_LIMIT, 3 * LINE_LIMIT])
def test_a_line_over_the_limit_is_answered_and_the_next_read(over, end):
    answers = filtered(b" " * (LINE_LIMIT + over) + end + b'{"game": "pow2"}' * bool(end))
    assert answers[0]["error"] == Code.TOO_LONG
    assert [answer["ok"] for answer in answers[1:]] == [True] * bool(end)


WORDS = ["1-0", "--", "wins", "silent", "player", "kind", "win", "draw", "loss", "table", "bracket"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 5) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
FIELDS = [
    "game", "players", "options", "rules", "setup", "seed", "moves", "trace", "else",
    "points", "tiebreaks", "matches", "withdrawn", "double", "tournament",
]  # fmt: skip
BEGUN = (
    {}, {"game": "pow2"},
    *({"tournament": kind, "players": 4, "matches": []} for kind in ("table", "schedule", "bracket")),
)  # fmt: skip


@examples(200, 10_000)
@given(request=st.dictionaries(st.sampled_from(FIELDS), JSON), begun=st.sampled_from(BEGUN))
def test_any_object_is_answered(request, begun):
    asked = begun | request
    answer = judge(json.dumps(asked).encode())
    allowed = {Code.BAD_TOURNAMENT} if "tournament" in asked else set(Code)
    assert answer["ok"] is True or answer["error"] in allowed


@examples(150, 5_000)
@given(data=st.binary(max_size=200))
def test_any_bytes_are_answered_line_by_line(data):
    lines = [line for line in data.split(b"\n") if line.strip()]
    assert len(filtered(data)) == len(lines)


@pytest.mark.parametrize(("game", "players", "options", "keys"), [
    ("powerdrain", 2, [], {"grid", "hands"}),
    ("powerdrain", 2, ["-p"], {"grid", "pool"}),
    ("halves", 2, [], {"phase", "colours", "tiles"}),
    ("halves", 3, ["-no_contract"], {"phase", "colours", "tiles"}),
])  # fmt: skip
def test_a_seed_draws_a_setup_that_gives_the_same_game_again(game, players, options, keys):
    request = {"game": game, "players": players, "options": options}
    drawn = ask(**request, seed=SEED)
    assert (drawn["ok"], drawn["setup"] is None) == (True, False)
    assert ask(**request, setup=drawn["setup"]) == drawn
    assert ask(**request, seed=SEED.upper()) == drawn
    assert ask(**request, seed=SEED[::-1])["setup"] != drawn["setup"]
    moves = []
    for _ in range(6):
        answer = ask(**request, seed=SEED, moves=moves, trace=True)
        assert set(answer["position"]) == keys
        assert len(answer["trace"]) == len(moves) + 1
        if not answer["legal"]:
            break
        moves.append(answer["legal"][0])


@pytest.mark.parametrize("kind", KINDS)
def test_a_match_document_is_judged_as_it_is(kind):
    document = golden_document(kind)
    (answer,) = filtered(write_document(document))
    if document.setup is None and document.game == "powerdrain":
        assert (answer["ok"], answer["error"]) == (False, Code.NOT_STARTED)
        return
    match = MATCHES[kind]()
    rules = rules_by_id(document.rules)
    assert (answer["ok"], answer["rules"], answer["ply"]) == (True, document.rules, match.state.ply)
    assert answer["position"] == json.loads(encode(rules.public_json(position_of(match.state))))
    if match.state.result is None:
        assert (answer["result"], answer["to_move"]) == (None, match.state.next)
        assert answer["legal"]
    else:
        ended = match.state.result
        wanted = {"winners": list(ended.winners), "reason": ended.reason}
        assert (answer["result"], answer["to_move"], answer["legal"]) == (wanted, None, [])


def test_a_document_may_be_longer_than_other_lines_but_not_longer_than_documents(monkeypatch):
    data = write_document(golden_document("plain"))
    long = data[:-2] + b" " * LINE_LIMIT + b"}\n"
    (answer, other) = filtered(long + b'{"game": "pow2"}\n')
    assert answer == filtered(data)[0]
    assert other["ply"] == 0
    monkeypatch.setattr(referee, "DOCUMENT_LIMIT", LINE_LIMIT + 100)
    (answer, other) = filtered(long + b'{"game": "pow2"}\n')
    assert answer["error"] == Code.TOO_LONG
    assert other["ply"] == 0


# tournaments


def test_the_answers_to_tournaments_are_the_recorded_ones():
    recorded = json.loads(FILE.read_text())
    assert len(recorded) > 25
    assert json.loads(json.dumps(answers())) == recorded


TABLE = {"tournament": "table", "players": 3, "matches": []}
WRONG_TOURNAMENTS = (
    ({"tournament": "cup", "players": 4}, "invalid value 'cup' - at `$.tournament`"),
    ({"tournament": None}, "`$.tournament`"),
    ({"tournament": "table", "matches": []}, "missing required field `players`"),
    ({"tournament": "table", "players": 3}, "missing required field `matches`"),
    (TABLE | {"game": "pow2"}, "unknown field `game`"),
    ({"tournament": "schedule", "players": 1_001}, "<= 1000 - at `$.players`"),
    ({"tournament": "schedule", "players": 4, "double": 1}, "`$.double`"),
    ({"tournament": "schedule", "players": 4, "matches": []}, "unknown field `matches`"),
    ({"tournament": "bracket", "players": 10_001}, "<= 10000 - at `$.players`"),
    ({"tournament": "bracket", "players": True}, "`$.players`"),
    *((TABLE | fields, said) for fields, said in (
        ({"players": -1}, "`$.players`"),
        ({"players": 10_001}, "<= 10000 - at `$.players`"),
        ({"matches": None}, "`$.matches`"),
        ({"matches": [[0, 1]]}, "`$.matches[0]`"),
        ({"matches": [[0, 1, "2-0"]]}, "invalid enum value '2-0' - at `$.matches[0][2]`"),
        ({"matches": [[0, 2, None], [0, 3, None]]}, "there is no player 3, only 0 to 2 - at `$.matches[1]`"),
        ({"matches": [[-1, 2, None]]}, "there is no player -1, only 0 to 2 - at `$.matches[0]`"),
        ({"matches": [[1, 1, None]]}, "player 1 can't play against themselves - at `$.matches[0]`"),
        ({"points": None}, "`$.points`"),
        ({"points": {"win": 1, "draw": 0.5}}, "missing required field `loss` - at `$.points`"),
        ({"points": {"win": 1, "draw": 0.5, "loss": 0, "bye": 1}}, "unknown field `bye` - at `$.points`"),
        ({"points": {"win": "1", "draw": 0.5, "loss": 0}}, "`$.points.win`"),
        ({"points": {"win": 1, "draw": 1e300, "loss": 0}}, "points are at most 1000000000000 - at `$.points.draw`"),
        ({"tiebreaks": "wins"}, "`$.tiebreaks`"),
        ({"tiebreaks": ["wins", "Direct"]}, "there is no tie-break 'Direct'; there are direct, sonneborn-berger, wins, buchholz - at `$.tiebreaks[1]`"),
        ({"tiebreaks": ["x" * 999]}, f"there is no tie-break '{'x' * 24}';"),
        ({"tiebreaks": ["wins"] * 17}, "a table has at most 16 tie-breaks - at `$.tiebreaks`"),
        ({"withdrawn": None}, "`$.withdrawn`"),
        ({"withdrawn": [{"player": 2}]}, "missing required field `kind` - at `$.withdrawn[0]`"),
        ({"withdrawn": [{"player": 2, "kind": "late"}]}, "invalid enum value 'late' - at `$.withdrawn[0].kind`"),
        ({"withdrawn": [{"player": 3, "kind": "silent"}]}, "there is no player 3, only 0 to 2 - at `$.withdrawn[0]`"),
        ({"withdrawn": [{"player": 2, "kind": "silent"}, {"player": 2, "kind": "accepted"}]}, "player 2 is named twice - at `$.withdrawn[1]`"),
    )),
)  # fmt: skip


def test_what_is_wrong_with_a_tournament_is_said_with_its_place():
    for request, said in WRONG_TOURNAMENTS:
        (answer,) = filtered(json.dumps(request).encode())
        assert list(answer) == ["ok", "error", "message"], request
        assert (answer["ok"], answer["error"]) == (False, Code.BAD_TOURNAMENT)
        assert said in answer["message"]
        assert answer["message"][0] == answer["message"][0].lower()


@pytest.mark.parametrize(("points", "written"), [
    ("3", b"3"), ("2.0", b"2"), ("1e2", b"100"), ("0.1", b"0.1"), ("-0.0", b"0"), ("0.25", b"0.25"),
    ("1e-7", b"1e-7"),
])  # fmt: skip
def test_numbers_are_written_as_short_as_they_can_be(points, written):
    request = f'{{"tournament":"table","players":2,"matches":[[0,1,"1-0"]],"points":{{"win":{points},"draw":0,"loss":-5}}}}'
    answers = io.BytesIO()
    serve(io.BytesIO(request.encode()), answers)
    assert b'{"player":0,"points":' + written + b"," in answers.getvalue()


def test_the_largest_table_fits_a_line_and_is_judged_at_once():
    results = ["1-0", "0-1", "1/2", "1-0", "+-"]
    matches = [
        [one, (one + turn) % 5_000 + 5_000, results[one * (turn + 3) % 5]]
        for turn in range(7)
        for one in range(5_000)
    ]
    tiebreaks = ["direct", "buchholz", "sonneborn-berger", "wins"]
    request = TABLE | {"players": 10_000, "matches": matches, "tiebreaks": tiebreaks}
    line = json.dumps(request).encode()
    assert len(line) < LINE_LIMIT
    began = process_time()
    answer = judge(line)
    assert process_time() - began < 5  # 0.3 s on a quiet machine
    assert [row["player"] for row in answer["table"]] != list(range(10_000))
    assert sum(row["points"] for row in answer["table"]) == len(matches)
