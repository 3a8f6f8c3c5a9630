"""Clients that two generators make from the document: each signs two players up and plays a whole match."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from tests.helpers.api import Api

PYTHON = Path(sys.executable).with_name("openapi-python-client")
TYPESCRIPT = ("@hey-api/openapi-ts@0.95", "typescript@5.8")
PASSWORD = "neither-of-both"


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api")) as api:
        yield api


@pytest.fixture(scope="module")
def document(api: Api, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("document") / "openapi.json"
    file.write_bytes(api.http.get("/api/openapi.json").content)
    return file


@pytest.fixture
def client(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The package that openapi-python-client makes."""
    command = [
        PYTHON,
        "generate",
        "--path",
        document,
        "--output-path",
        tmp_path / "made",
        "--meta",
        "none",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    monkeypatch.syspath_prepend(tmp_path)
    return import_module("made")


@pytest.mark.long
def test_a_client_in_python_plays_a_whole_match(api: Api, client: ModuleType) -> None:
    with ExitStack() as stack:
        _play_in_python(api, client, stack)


def _play_in_python(api: Api, client: ModuleType, stack: ExitStack) -> None:
    models = import_module("made.models")
    game = Routes(client)
    guest = stack.enter_context(client.Client(base_url=api.url))
    players = []
    scopes = [models.Scope(one) for one in ("read", "play")]
    for name in ("py-anna", "py-bert"):
        game(
            "accounts", "sign_up", client=guest, body=models.Signup(userid=name, password=PASSWORD)
        )
        wanted = models.NewToken(userid=name, password=PASSWORD, label="generated", scopes=scopes)
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


class Routes:
    """The functions of a generated package."""

    def __init__(self, package: ModuleType) -> None:
        self._name = package.__name__

    def __call__(self, tag: str, operation: str, /, *place: object, **given: object):
        """Ask an operation; gives the answer, which is no problem document."""
        found = import_module(f"{self._name}.api.{tag}.{operation}").sync(*place, **given)
        assert found is not None
        assert type(found).__name__ != "Problem", found
        return found


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
    said = json.loads(run(tmp_path, node, "built/play.js", api.url, PASSWORD))
    assert said == {"state": "over", "reason": said["reason"], "ok": True, "moves": 16}
    assert said["reason"] in ("more-active", "more-power", "equal-power")
