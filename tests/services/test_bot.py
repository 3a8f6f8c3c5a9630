"""`matchpost bot`: engines in both forms, and what happens when one fails; and the bot of docs/bots.md, as it stands there."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from services.app import bots
from services.cli.bot import BotPlayer
from services.cli.bot_engine import Engine, EngineError, RefusedMove, json_line, plain_lines
from services.cli.referee import judge
from services.client import Client, ProblemError
from tests.helpers.api import Api, Player, until
from tests.helpers.forked import Forked, run_command

PAGE = Path(__file__).parents[2] / "docs" / "bots.md"

FIRST = """
import json, sys
for line in sys.stdin:
    print(json.loads(line)["legal"][0], flush=True)
"""
"""An engine that plays the first legal move."""

STUBBORN = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    print("# thinking", file=sys.stdout)
    print("m13-a1" if asked["refused"] is None else NEXT, flush=True)
"""
"""An engine whose first answer in a position is illegal."""


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("bot")) as api:
        yield api


@pytest.fixture
def guest(api: Api) -> Player:
    return api.player()


@pytest.fixture
def bot(api: Api) -> Player:
    owner = api.player()
    made = bots.make_bot(api.parts, owner.account, owner.name)
    token = bots.make_bot_token(api.parts, owner.account, made.profile.name, "test").text
    return Player(api, made.profile.name, made.account, token)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Callable[..., Engine]]:
    made: list[Engine] = []

    def of(program: str, **options: Any) -> Engine:
        file = tmp_path / f"engine{len(made)}.py"
        file.write_text(program)
        made.append(Engine([sys.executable, str(file)], **options))
        return made[-1]

    yield of
    for one in made:
        one.close()


class Playing:
    """A bot that plays when it is told to, with what it says and how long it pauses."""

    def __init__(self, api: Api, client: Client, bot: Player, engine: Engine) -> None:
        self.said: list[str] = []
        self.pauses: list[float] = []
        self._api = api
        self.client = client
        self.player = BotPlayer(self.client, bot.name, engine, self.pauses.append, self.said.append)

    def round(self) -> None:
        self._api.caught_up()
        self.player.round()


@pytest.fixture
def play(api: Api, bot: Player) -> Iterator[Callable[[Engine], Playing]]:
    """Returns the bot with an engine."""
    with Client(api.url, bot.token) as client:
        yield lambda engine: Playing(api, client, bot, engine)


def begun(api: Api, bot: Player, guest: Player) -> int:
    """A match in which it is the bot's turn."""
    return guest.accept(api.match(bot, guest))


def moves(api: Api, board: int) -> list[str]:
    found: list[str] = api.http.get(f"/api/matches/{board}").json()["moves"]
    return found


def test_a_bot_accepts_what_waits_and_plays_several_matches_at_once(api, bot, guest, engine, play):
    playing = play(engine(FIRST))
    boards = [api.match(guest, bot, game=game) for game in ("pow2", "line", "halves")]
    playing.round()
    for board in boards:
        match = guest.get(f"/api/matches/{board}").json()
        assert match["state"] == "active"
        while match["at"]["to_move"] == 0:
            guest.move(board, match["at"]["legal"][0])
            match = guest.get(f"/api/matches/{board}").json()
    before = {board: len(moves(api, board)) for board in boards}
    playing.round()
    assert all(len(moves(api, board)) > count for board, count in before.items())
    assert playing.said == []


def test_an_illegal_answer_is_asked_again_with_the_servers_sentence(api, bot, guest, engine, play):
    playing = play(engine(STUBBORN.replace("NEXT", 'asked["legal"][0]')))
    board = begun(api, bot, guest)
    playing.round()
    assert len(moves(api, board)) == 1
    (said,) = playing.said
    assert said.startswith(f"match {board}: ")


def test_after_three_illegal_answers_the_match_is_left_alone_until_something_happens(
    api, bot, guest, engine, play
):
    playing = play(engine(STUBBORN.replace("NEXT", '"a1-m13"')))
    board, other = begun(api, bot, guest), api.match(guest, bot)
    for _ in range(2):
        playing.round()
        assert len(playing.said) == 4
    assert playing.said[-1].startswith(f"match {board}: 3 answers of the engine were refused")
    match = guest.get(f"/api/matches/{board}").json()
    assert (match["state"], match["moves"]) == ("active", [])
    # others go on, and so does this one after an event
    assert guest.get(f"/api/matches/{other}").json()["invitation"] is None
    guest.give(board, {"do": "offer", "kind": "draw"})
    playing.round()
    assert len(playing.said) == 8


def test_an_engine_that_ends_is_started_again_later_and_later_and_nothing_is_lost(
    api, bot, guest, engine, play, tmp_path
):
    program = f"""
import json, pathlib, sys
count = pathlib.Path({str(tmp_path / "count")!r})
for line in sys.stdin:
    starts = count.read_text() if count.exists() else ""
    count.write_text(starts + "x")
    if len(starts) < 3:
        sys.exit(7)
    print(json.loads(line)["legal"][0], flush=True)
"""
    pauses: list[float] = []
    playing = play(engine(program, pause=pauses.append))
    board = begun(api, bot, guest)
    for _ in range(3):
        playing.round()
        assert playing.player.is_behind
    said = f"match {board}: the engine has ended with exit code 7; trying again"
    assert set(playing.said) == {said}
    assert guest.get(f"/api/matches/{board}").json()["state"] == "active"
    playing.round()
    assert len(moves(api, board)) == 1
    assert pauses == [1, 2, 4]


def test_an_engine_that_is_too_slow_or_missing_is_an_error(engine):
    with pytest.raises(EngineError, match=r"not answered within 0\.2 seconds"):
        engine("import time; time.sleep(60)", seconds=0.2).ask({}, None)
    with pytest.raises(EngineError, match="can't be started"):
        Engine(["/no/such/engine"]).ask({}, None)


def test_offers_are_answered_and_a_match_is_resigned_only_if_the_engine_says_so(
    api, bot, guest, engine, play
):
    playing = play(engine('for _ in open(0): print("resign", flush=True)'))
    board = api.begun(guest, bot)
    assert guest.give(board, {"do": "offer", "kind": "draw"}).is_success
    playing.round()
    match = guest.get(f"/api/matches/{board}").json()
    assert (match["offer"], match["state"]) == (None, "active")
    assert guest.give(board, {"do": "offer", "kind": "abort"}).is_success
    playing.round()
    assert guest.get(f"/api/matches/{board}").json()["state"] == "over"
    resigned = begun(api, bot, guest)
    playing.round()
    assert guest.get(f"/api/matches/{resigned}").json()["result"]["reason"] == "resignation"


class Failing(httpx.BaseTransport):
    """A transport that fails in a way before it works, for requests of moves."""

    def __init__(self, inner: httpx.BaseTransport, *failures: str) -> None:
        self._failures = list(failures)
        self._inner = inner

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if not self._failures or not request.url.path.endswith("/commands"):
            return self._inner.handle_request(request)
        failure = self._failures.pop(0)
        if failure != "lost":
            body = {"code": failure, "detail": "no"}
            return httpx.Response(429, json=body, headers={"Retry-After": "17"})
        self._inner.handle_request(request).close()
        raise httpx.ReadTimeout("the answer is lost", request=request)

    def close(self) -> None:
        self._inner.close()


def fail(client: Client, *failures: str) -> None:
    client._http._transport = Failing(client._http._transport, *failures)


# the client itself tries thrice what is lost, and then the player again
@pytest.mark.parametrize("failures", [("too-fast",), ("lost",) * 3])
def test_what_passes_is_tried_again_and_a_move_is_made_once(
    api, bot, guest, engine, play, failures
):
    playing = play(engine(FIRST))
    fail(playing.client, *failures)
    board = begun(api, bot, guest)
    for _ in range(2):
        playing.round()
    assert playing.pauses == [17 if failures == ("too-fast",) else 5]
    assert len(moves(api, board)) == 1


def test_a_refusal_that_does_not_pass_is_not_asked_for_again_and_again(
    api, bot, guest, engine, play
):
    playing = play(engine(FIRST))
    fail(playing.client, "sanctioned")
    board = api.match(guest, bot)
    playing.round()
    assert (playing.said, playing.pauses) == ([f"match {board}: no"], [])
    assert not playing.player.is_behind


def test_a_token_that_no_longer_works_ends_it(api, bot, engine, play):
    playing = play(engine(FIRST))
    api.parts.tokens.forget(bot.account)
    with pytest.raises(ProblemError) as refused:
        playing.round()
    assert refused.value.code == "unknown-token"


# the forms of questions

QUESTION = {
    "game": "powerdrain", "players": 2, "options": ["-p"], "rules": "powerdrain/1", "setup": {"a": [1, 2]},
    "moves": ["24-37"], "board": 3, "seat": 1, "position": {}, "legal": [], "time_left_ms": 5,
}  # fmt: skip


def test_a_question_in_plain_form_is_two_lines_after_what_was_refused_and_a_word_is_heard(engine):
    position = 'position powerdrain 2 options -p setup {"a":[1,2]} moves 24-37'
    assert plain_lines(QUESTION, None) == [position, "go time 5"]
    bare = {**QUESTION, "options": [], "setup": None, "time_left_ms": None}
    refused = plain_lines(bare, RefusedMove("x", "no such move"))
    assert refused == ["refused x no such move", "position powerdrain 2 moves 24-37", "go"]
    program = """
import sys
for line in sys.stdin:
    if line.startswith("go"):
        print("info depth 3", flush=True)
        print("bestmove a1-a5", flush=True)
"""
    assert engine(program, plain=True).ask(QUESTION) == "a1-a5"


def test_the_questions_of_the_page_are_questions():
    """The page's examples have the fields and the lines that an engine gets, and the referee takes the request in them."""
    text = PAGE.read_text("utf-8")
    shown = json.loads(re.findall(r"```json\n(.*?)```", text, re.DOTALL)[0])
    asked = json.loads(json_line({**QUESTION, "board": 12}, None))
    assert list(shown) == list(asked)
    request = {name: shown[name] for name in list(shown)[:6]}
    answer = judge(json.dumps(request).encode())
    assert answer["ok"], answer
    assert answer["to_move"] == shown["seat"]
    assert set(shown["legal"]) <= set(answer["legal"])
    assert answer["position"] == shown["position"]
    plain = re.findall(r"```text\n(position.*?)```", text, re.DOTALL)[0]
    assert plain.splitlines() == plain_lines({**shown, "time_left_ms": 259200000}, None)


# whole programs


def environment(api: Api, token: str) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    return {**clean, "MATCHPOST_URL": api.url, "MATCHPOST_TOKEN": token, "PAUSE": "0.05"}


def play_whole_match(guest: Player, board: int) -> None:
    """Have a guest play with a program until the match is over, by its rules."""

    def is_over() -> bool:
        shown = guest.get(f"/api/matches/{board}").json()
        if shown["state"] == "active" and shown["at"]["to_move"] == 0:
            guest.move(board, shown["at"]["legal"][-1])
        return bool(shown["state"] == "over")

    until(is_over)
    result = guest.get(f"/api/matches/{board}").json()["result"]
    assert result["reason"] not in ("resignation", "time")


@pytest.mark.long
def test_the_bot_of_the_page_plays_a_whole_match(api, bot, guest, tmp_path):
    (program,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(program.splitlines()) <= 40
    file = tmp_path / "bot.py"
    file.write_text(program)
    board = api.match(guest, bot, game="powerdrain")
    with subprocess.Popen([sys.executable, file], env=environment(api, bot.token)) as process:
        try:
            play_whole_match(guest, board)
        finally:
            process.terminate()


def test_matchpost_bot_accepts_a_challenge_and_plays_a_whole_match(api, bot, guest, tmp_path):
    file = tmp_path / "engine.py"
    file.write_text(FIRST)
    words = ["bot", f"{sys.executable} {file}"]
    with Path(os.devnull).open("r+b") as nothing:
        process = Forked(words, environment(api, bot.token), [nothing] * 3)
        try:
            play_whole_match(guest, api.match(guest, bot, game="powerdrain"))
        finally:
            process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0


def test_matchpost_bot_plays_for_bots_alone(api, guest):
    words = ["bot", "--url", api.url, "true"]
    done = run_command(words, environment(api, guest.token))
    said = f"{guest.name} isn't a bot; its owner makes one at {api.url}/account/bots"
    assert (done.returncode != 0, done.stderr.strip().endswith(said)) == (True, True)
