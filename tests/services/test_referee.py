"""`matchpost referee`: requests and match documents, judged line by line."""

import io
import json

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
from tests.helpers.evidence import KINDS, golden_document
from tests.helpers.examples import examples
from tests.helpers.games import whole_game


def ask(**request) -> dict:
    return json.loads(json.dumps(judge(json.dumps({"game": "pow2"} | request).encode())))


def filtered(data: bytes) -> list[dict]:
    answers = io.BytesIO()
    serve(io.BytesIO(data), answers)
    return [json.loads(line) for line in answers.getvalue().splitlines()]


def test_the_start_is_answered_with_the_keys_in_order():
    answer = ask()
    assert list(answer) == ["ok", "rules", "setup", "ply", "to_move", "legal", "position", "result"]
    assert (answer["ok"], answer["rules"], answer["setup"]) == (True, "pow2/1", None)
    assert (answer["ply"], answer["to_move"], answer["result"]) == (0, 0, None)
    assert len(answer["legal"]) == 48
    assert answer["position"] == {
        "board": {"a1": "X", "a13": "X", "m1": "O", "m13": "O"},
        "supply": [14, 14],
    }


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
    assert answer["ok"]
    assert (answer["to_move"], answer["legal"]) == (None, [])
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


@pytest.mark.parametrize(("request_", "code", "said"), [
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
])  # fmt: skip
def test_what_is_wrong_with_a_request_is_said_without_a_ply(request_, code, said):
    answer = ask(**request_)
    assert list(answer) == ["ok", "error", "message"]
    assert (answer["ok"], answer["error"]) == (False, code)
    assert said in answer["message"]
    assert answer["message"][0] == answer["message"][0].lower()


@pytest.mark.parametrize(
    "line",
    [
        b"{", b"[]", b"null", b"7", b"{}", b"\xff\xfe", b'{"game": "pow2\xff"}', b'{"game": "pow2"} {"game": "pow2"}',
        b'{"game": "pow2", "setup": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", b'{"game": "pow2", "game": 7}',
        b'{"game": "pow2", "players": ' + b"9" * 9_999 + b"}", b'{"game": "pow2", "rules": ' + b"9" * 9_999 + b"}",
        b'{"game": "pow2", "setup": ' + b"9" * 9_999 + b"}",
    ],
)  # fmt: skip
def test_what_is_no_request_is_answered_and_the_next_line_read(line):
    bad, good = filtered(line + b'\n{"game": "pow2"}\n')
    assert (bad["ok"], bad["error"]) == (False, Code.BAD_REQUEST)
    assert good["ok"]


@pytest.mark.parametrize("end", [b"\n", b""])
@pytest.mark.parametrize("over", [1, 100, LINE_LIMIT, 3 * LINE_LIMIT])
def test_a_line_over_the_limit_is_answered_and_the_next_read(over, end):
    answers = filtered(b" " * (LINE_LIMIT + over) + end + b'{"game": "pow2"}' * bool(end))
    assert answers[0]["error"] == Code.TOO_LONG
    assert [answer["ok"] for answer in answers[1:]] == [True] * bool(end)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)

FIELDS = ["game", "players", "options", "rules", "setup", "seed", "moves", "trace", "else"]


@examples(150, 5_000)
@given(request=st.dictionaries(st.sampled_from(FIELDS), JSON), named=st.booleans())
def test_any_object_is_answered(request, named):
    line = json.dumps(request | ({"game": "pow2"} if named else {}))
    answer = judge(line.encode())
    assert answer["ok"] is True or answer["error"] in set(Code)


@examples(150, 5_000)
@given(data=st.binary(max_size=200))
def test_any_bytes_are_answered_line_by_line(data):
    lines = [line for line in data.split(b"\n") if line.strip()]
    assert len(filtered(data)) == len(lines)


SEED = "00112233445566778899aabbccddeeff" * 2


@pytest.mark.parametrize(("game", "players", "options", "keys"), [
    ("powerdrain", 2, [], {"grid", "hands"}),
    ("powerdrain", 2, ["-p"], {"grid", "pool"}),
    ("halves", 2, [], {"phase", "colours", "tiles"}),
    ("halves", 3, ["-no_contract"], {"phase", "colours", "tiles"}),
])  # fmt: skip
def test_a_seed_draws_a_setup_that_gives_the_same_game_again(game, players, options, keys):
    request = {"game": game, "players": players, "options": options}
    drawn = ask(**request, seed=SEED)
    assert drawn["ok"]
    assert drawn["setup"] is not None
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


@pytest.mark.parametrize(("more", "message"), [
    ({}, "chance sets up powerdrain; give either a setup or a seed"),
    ({"seed": "12"}, "a seed is written as 64 hex digits"),
    ({"seed": SEED, "setup": {}}, "give either a setup or a seed"),
    ({"options": ["-o1", "-p"], "seed": SEED}, "chance decides nothing here"),
])  # fmt: skip
def test_a_game_of_chance_takes_a_setup_or_a_seed(more, message):
    answer = ask(game="powerdrain", **more)
    assert (answer["ok"], answer["error"]) == (False, "bad-setup")
    assert message in answer["message"]


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
