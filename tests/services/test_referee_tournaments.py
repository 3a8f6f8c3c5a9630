"""`matchpost referee` on tournaments: what is asked, what is refused with its place, and answers that stay."""

import io
import json
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import Code
from services.cli.referee import LINE_LIMIT, judge, serve
from tests.golden.make_tournaments import FILE, answers
from tests.helpers.examples import examples


def ask(**request) -> dict:
    answers = io.BytesIO()
    serve(io.BytesIO(json.dumps(request).encode() + b"\n"), answers)
    (line,) = answers.getvalue().splitlines()
    return json.loads(line)


def ask_table(**request) -> dict:
    return ask(**{"tournament": "table", "players": 3, "matches": []} | request)


def test_the_answers_are_the_recorded_ones():
    recorded = json.loads(FILE.read_text())
    assert len(recorded) > 25
    assert json.loads(json.dumps(answers())) == recorded


@pytest.mark.parametrize(("request_", "said"), [
    ({"tournament": "cup", "players": 4}, "invalid value 'cup' - at `$.tournament`"),
    ({"tournament": None}, "`$.tournament`"),
    ({"tournament": "table", "matches": []}, "missing required field `players`"),
    ({"tournament": "table", "players": 3}, "missing required field `matches`"),
    ({"tournament": "table", "players": 3, "matches": [], "game": "pow2"}, "unknown field `game`"),
    ({"tournament": "schedule", "players": 1_001}, "<= 1000 - at `$.players`"),
    ({"tournament": "schedule", "players": 4, "double": 1}, "`$.double`"),
    ({"tournament": "schedule", "players": 4, "matches": []}, "unknown field `matches`"),
    ({"tournament": "bracket", "players": 10_001}, "<= 10000 - at `$.players`"),
    ({"tournament": "bracket", "players": True}, "`$.players`"),
])  # fmt: skip
def test_what_is_wrong_with_a_request_is_said_with_its_place(request_, said):
    answer = ask(**request_)
    assert list(answer) == ["ok", "error", "message"]
    assert (answer["ok"], answer["error"]) == (False, Code.BAD_TOURNAMENT)
    assert said in answer["message"]
    assert answer["message"][0] == answer["message"][0].lower()


@pytest.mark.parametrize(("fields", "said"), [
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
])  # fmt: skip
def test_what_is_wrong_with_a_table_is_said_with_its_place(fields, said):
    answer = ask_table(**fields)
    assert (answer["ok"], answer["error"]) == (False, Code.BAD_TOURNAMENT)
    assert said in answer["message"]


@pytest.mark.parametrize(("points", "written"), [
    ("3", b"3"), ("2.0", b"2"), ("1e2", b"100"), ("0.1", b"0.1"), ("-0.0", b"0"), ("0.25", b"0.25"),
    ("1e-7", b"1e-7"),
])  # fmt: skip
def test_numbers_are_written_as_short_as_they_can_be(points, written):
    request = f'{{"tournament":"table","players":2,"matches":[[0,1,"1-0"]],"points":{{"win":{points},"draw":0,"loss":-5}}}}'
    answers = io.BytesIO()
    serve(io.BytesIO(request.encode()), answers)
    assert b'{"player":0,"points":' + written + b"," in answers.getvalue()


FIELDS = ["players", "points", "tiebreaks", "matches", "withdrawn", "double", "else"]
NUMBERS = st.integers(-2, 5)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(["1-0", "--", "wins", "silent"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["player", "kind", "win", "draw", "loss"]), inner),
    max_leaves=10,
)  # fmt: skip


@examples(200, 5_000)
@given(
    kind=st.sampled_from(["table", "schedule", "bracket"]) | JSON,
    fields=st.dictionaries(st.sampled_from(FIELDS), JSON),
    players=NUMBERS,
)
def test_any_tournament_is_answered(kind, fields, players):
    answer = judge(
        json.dumps({"players": players, "matches": []} | fields | {"tournament": kind}).encode()
    )
    assert answer["ok"] is True or answer["error"] == Code.BAD_TOURNAMENT


def test_the_largest_table_fits_a_line_and_is_judged_at_once():
    players, rounds = 10_000, 7
    results = ["1-0", "0-1", "1/2", "1-0", "+-"]
    matches = [
        [one, (one + turn) % 5_000 + 5_000, results[one * (turn + 3) % 5]]
        for turn in range(rounds)
        for one in range(5_000)
    ]
    request = {
        "players": players,
        "matches": matches,
        "tiebreaks": ["direct", "buchholz", "sonneborn-berger", "wins"],
    }
    line = json.dumps({"tournament": "table"} | request).encode()
    assert len(line) < LINE_LIMIT
    began = perf_counter()
    answer = judge(line)
    assert perf_counter() - began < 5  # 0.3 s on a quiet machine
    assert [row["player"] for row in answer["table"]] != sorted(range(players))
    assert sum(row["points"] for row in answer["table"]) == len(matches)
