"""Requests with anything in any place, a sample of what `trials/fuzz` asks, and clients that generators make of the document."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import services.http.api
from services.http.api.bodies import FORM_TYPE
from tests.helpers.api import Api, Player, code_of
from tests.helpers.examples import examples
from trials.fuzz import schema

EXAMPLES = json.loads((Path(services.http.api.__file__).parent / "examples.json").read_text())

SETTINGS = settings(examples(100, 400), suppress_health_check=[HealthCheck.function_scoped_fixture])
TELLING = frozenset({"delete_account", "change_password", "log_out_everywhere", "revoke_token"})


class Routes:
    """The operations of the document, asked by a player of a match."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.player: Player = api.player()
        self.board = api.match(self.player, api.player())
        document = api.http.get("/api/openapi.json").json()
        self.operations = {
            operation["operationId"]: (method.upper(), path, operation)
            for path, item in document["paths"].items()
            for method, operation in item.items()
        }

    def ask(
        self, name: str, given: dict[str, str], headers: dict[str, str], content: bytes | None
    ) -> int:
        """Ask an operation, whatever the document says of it; gives the status."""
        method, path, operation = self.operations[name]
        query = {}
        for parameter in operation["parameters"]:
            value = given.get(parameter["name"])
            if parameter["in"] == "path":
                good = EXAMPLES[name].get("parameters", {}).get(parameter["name"], self.board)
                text = str(good if value is None else value)
                path = path.replace(f"{{{parameter['name']}}}", quote(text, safe=""))
            elif value is not None and parameter["in"] == "query":
                query[parameter["name"]] = value
            elif value is not None:
                headers = {**headers, parameter["name"]: value}
        # a stream would have no end
        method = "HEAD" if name == "follow_account" else method
        answer = self.api.http.request(
            method, path, params=query, headers={**self.player.headers, **headers}, content=content
        )  # whether it is as the document says is looked at there
        return answer.status_code


@pytest.fixture(scope="module")
def routes(api: Api) -> Routes:
    return Routes(api)


NAMES = st.sampled_from(sorted(EXAMPLES.keys() - TELLING))


ODD = (
    "", " ", "0", "-1", "1", "01", "1.0", "1e3", "99999999999999999999", "null", "true", "NaN",
    "../..", "%00", "\x00", "'", '"', "\\", "<b>", "{}", "[]", "*", "mp_", "Ünïcödé", "\uff11", "\u202e",
    "a" * 3_000, "alice", "pow2", "POW2", "-fast", "--days=3",
)  # fmt: skip
TEXTS = st.one_of(st.sampled_from(ODD), st.text(max_size=40))

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXTS, inner, max_size=5),
    max_leaves=10,
)


def encoded(value: Any) -> bytes:
    # halves of surrogate pairs as JSON writes them
    return json.dumps(value).encode()


@SETTINGS
@given(name=NAMES, content=JSON_VALUES.map(encoded) | st.binary(max_size=200))
def test_whatever_stands_in_a_body_is_answered(routes, name, content):
    for headers in ({"Content-Type": "application/json"}, {}):
        assert routes.ask(name, {}, headers, content) < 500


FORMS = ("ask_for_device", "get_app_token", "revoke_app_token")


@SETTINGS
@given(name=st.sampled_from(FORMS), data=st.data())
def test_whatever_stands_in_a_form_of_oauth_is_answered(routes, name, data):
    form = dict(EXAMPLES[name]["request"])
    field = data.draw(st.sampled_from([*form, "scope", "code", "refresh_token", "redirect_uri"]))
    form[field] = data.draw(TEXTS)
    content = urlencode(form, errors="surrogatepass").encode()
    assert routes.ask(name, {}, {"Content-Type": FORM_TYPE}, content) < 500


BODIES = st.sampled_from(
    sorted(
        name
        for name, example in EXAMPLES.items()
        if isinstance(example.get("request"), dict)
        and example["request"]
        and name not in {*TELLING, *FORMS}
    )
)


@SETTINGS
@given(name=BODIES, data=st.data())
def test_a_body_with_one_thing_wrong_is_answered_and_one_thing_more_is_refused(routes, name, data):
    body = dict(EXAMPLES[name]["request"])
    field = data.draw(st.sampled_from(sorted(body)), "field")
    wrong = {**body, field: data.draw(JSON_VALUES, "value")}
    assert routes.ask(name, {}, {"Content-Type": "application/json"}, encoded(wrong)) < 500
    method, path, _ = routes.operations[name]
    extra = data.draw(TEXTS.filter(lambda text: text not in allowed(name)), "extra")
    refused = routes.api.http.request(
        method,
        path.replace("{board}", str(routes.board)).replace("{number}", str(routes.board)),
        content=encoded({**body, extra: 1}),
        headers={**routes.player.headers, "Content-Type": "application/json"},
    )
    assert (refused.status_code, code_of(refused)) == (400, "bad-request")


def allowed(name: str) -> set[str]:
    return {*EXAMPLES[name]["request"], "do", "ply", "options", "terms", "note", "seat", "seats",
            "language", "notify", "displays", "days", "addresses"}  # fmt: skip


@pytest.mark.long
@pytest.mark.timeout(900)  # some 6,500 requests one after the other, which a busy machine stretches
def test_what_schemathesis_asks_is_answered_as_the_document_promises(tmp_path):
    with Api(tmp_path) as api:
        report = schema.run(api, examples=2, seed=3)
    assert not report.failed, report.text
    assert report.statuses.total() > 5_000
    assert min(report.statuses[one] for one in ("200", "201", "204")) > 100
    assert not [status for status in report.statuses if status >= "500"], report.text


# clients that generators make: each signs two players up and plays a whole match


PYTHON = Path(sys.executable).with_name("openapi-python-client")
TYPESCRIPT = ("@hey-api/openapi-ts@0.95", "typescript@5.8")
SECRET = "neither-of-both"


@pytest.fixture(scope="module")
def document(api: Api, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("document") / "openapi.json"
    file.write_bytes(api.http.get("/api/openapi.json").content)
    return file


@pytest.fixture
def client(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The package that openapi-python-client makes."""
    made = ["--output-path", tmp_path / "made", "--meta", "none"]
    command = [PYTHON, "generate", "--path", document, *made]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    monkeypatch.syspath_prepend(tmp_path)
    return import_module("made")


@pytest.mark.long
def test_a_client_in_python_plays_a_whole_match(api: Api, client: ModuleType) -> None:
    models = import_module("made.models")
    game = made_by(client)
    stack = ExitStack()
    guest = stack.enter_context(client.Client(base_url=api.url))
    players = []
    scopes = [models.Scope(one) for one in ("read", "play")]
    for name in ("py-anna", "py-bert"):
        signup = models.Signup(userid=name, password=SECRET)
        game("accounts", "sign_up", client=guest, body=signup)
        wanted = models.NewToken(userid=name, password=SECRET, label="generated", scopes=scopes)
        token = game("tokens", "make_token", client=guest, body=wanted).token
        known = client.AuthenticatedClient(base_url=api.url, token=token)
        players.append(stack.enter_context(known))
    new = models.NewMatch(game="powerdrain", players=["py-anna", "py-bert"], terms=["--days=3"])
    board = game("matches", "start_match", client=players[0], body=new).board
    accept = models.Accept(do=models.AcceptDo.ACCEPT)
    assert game("commands", "give_command", board, client=players[1], body=accept).accepted
    shape = game("games", "show_game_schema", "powerdrain", client=guest)
    written = []
    while (match := game("matches", "show_match", board, client=guest)).state == "active":
        (seat,) = match.waits_for
        move = models.Move(do=models.MoveDo.MOVE, move=match.at.legal[0], ply=match.ply)
        assert game("commands", "give_command", board, client=players[seat], body=move).accepted
        written.append(move.move)
    assert match.state == "over"
    assert match.result.winners
    judged = models.ToJudge(moves=written, setup=match.setup, options=match.options)
    said = game("games", "judge_game", "powerdrain", client=guest, body=judged)
    assert said.ok
    assert said.result.reason == match.result.reason
    assert shape.moves.parts[0].name == "plug"
    stack.close()


def made_by(package: ModuleType) -> Callable[..., Any]:
    """What asks an operation of a generated package; gives the answer, which is no problem document."""

    def ask(tag: str, operation: str, /, *place: object, **given: object) -> Any:
        found = import_module(f"{package.__name__}.api.{tag}.{operation}").sync(*place, **given)
        assert found is not None
        assert type(found).__name__ != "Problem", found
        return found

    return ask


SCRIPT = """
import { client } from "./made/client.gen";
import * as api from "./made";

declare const process: any;
const url = process.argv[2], password = process.argv[3];
client.setConfig({ baseUrl: url });

async function of<T>(asked: Promise<{ data?: T; error?: unknown }>): Promise<NonNullable<T>> {
  const { data, error } = await asked;
  if (data === undefined || data === null) throw new Error(JSON.stringify(error));
  return data as NonNullable<T>;
}

async function main() {
  const names = ["ts-anna", "ts-bert"], tokens: string[] = [];
  for (const userid of names) {
    await of(api.signUp({ body: { userid, password } }));
    const made = await of(api.makeToken({ body: { userid, password, label: "generated", scopes: ["read", "play"] } }));
    tokens.push(made.token);
  }
  const as = (seat: number) => ({ headers: { Authorization: `Bearer ${tokens[seat]}` } });
  const started = await of(api.startMatch({ body: { game: "powerdrain", players: names }, ...as(0) }));
  if (!("board" in started)) throw new Error(started.code);  // 202: not decided in time
  const path = { board: started.board };
  await of(api.giveCommand({ path, body: { do: "accept" }, ...as(1) }));
  const pattern = new RegExp((await of(api.showGameSchema({ path: { game: "powerdrain" } }))).moves.pattern, "v");
  const moves: string[] = [];
  for (;;) {
    const match = await of(api.showMatch({ path }));
    if (match.state === "over") {
      const body = { moves, setup: match.setup, options: match.options };
      const judged = await of(api.judgeGame({ path: { game: "powerdrain" }, body }));
      console.log(JSON.stringify({ state: match.state, reason: match.result?.reason, ok: judged.ok, moves: moves.length }));
      return;
    }
    const move = match.at.legal![0];
    if (!pattern.test(move)) throw new Error(move);
    await of(api.giveCommand({ path, body: { do: "move", move, ply: match.ply }, ...as(match.waits_for[0]) }));
    moves.push(move);
  }
}

main();
"""
CONFIG = {
    "compilerOptions": {
        "strict": True, "target": "es2022", "module": "commonjs", "moduleResolution": "node", "lib": ["es2024", "dom", "dom.iterable"],
        "outDir": "built", "skipLibCheck": True, "types": [],
    },
    "files": ["play.ts"],
}  # fmt: skip


def run(folder: Path, *command: str | Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_client_in_typescript_plays_a_whole_match(
    api: Api, document: Path, tmp_path: Path
) -> None:
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("there is no Node.js here")
    (tmp_path / "package.json").write_text('{"private": true}')
    wanted = [npm, "install", "--no-fund", "--no-audit", "--ignore-scripts", *TYPESCRIPT]
    if subprocess.run(wanted, cwd=tmp_path, capture_output=True, check=False).returncode:
        pytest.skip("npm can't install the generator here")
    tools = tmp_path / "node_modules" / ".bin"
    run(tmp_path, tools / "openapi-ts", "-i", document, "-o", "made")
    (tmp_path / "play.ts").write_text(SCRIPT)
    (tmp_path / "tsconfig.json").write_text(json.dumps(CONFIG))
    run(tmp_path, tools / "tsc", "-p", ".")
    said = json.loads(run(tmp_path, node, "built/play.js", api.url, SECRET))
    assert said == {"state": "over", "reason": said["reason"], "ok": True, "moves": 16}
    assert said["reason"] in ("more-active", "more-power", "equal-power")
