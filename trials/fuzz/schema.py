"""Requests that schemathesis makes from the OpenAPI document, against the API on a real server.

    python trials/fuzz/schema.py [EXAMPLES] [SEED] [COUNT]

EXAMPLES is how many requests are made for each operation, valid and wrong ones; what schemathesis
makes by itself to cover each bound comes on top. Each has to be answered as the document promises,
and none with a failure of the server. With COUNT there are further runs, each by the next seed on a fresh server, until there
were so many requests. Prints how many there were, and fails where one was not as promised.
"""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from infra.people.accounts import AccountRole
from infra.people.tokens import Scope
from tests.helpers.analysing import listening
from tests.helpers.api import Api, Player

sys.path.insert(0, str(Path(__file__).parents[2]))

TOOL = Path(sys.executable).with_name("schemathesis")

# one worker: Python 3.11 miscounts the depth of syntax trees when two threads of the tool make them

LEFT_OUT = "follow_account"
"""A stream without end; it has tests of its own."""

ALONE = ("revoke_token", "log_out_everywhere")
"""What would end the token that all others are asked with: each has one of its own."""

NOT_CHECKED = (
    # a good request about a match or a player that there is not is refused, and says why
    "positive_data_acceptance",
    # replies laid ready that were dropped are an empty list, and no missing one
    "use_after_free",
    # a command that was taken has a place for its outcome: 404 there until it is decided
    "ensure_resource_availability",
)
"""What the tool expects of all that is made or deleted, and is not so here."""

REFUSED = [
    *("400", "401", "403", "404", "405", "406", "409", "413", "415", "422", "428", "429", "431"),
]
"""How a request may be answered that the document does not allow; 413 and 431 if it is too long as well."""

PASSWORD = "in-no-example"

SHARE = 0.7
"""How often a name of something that there is stands in a path."""


class Report(NamedTuple):
    """What came of a run."""

    statuses: Counter[str]
    text: str
    failed: bool

    def __add__(self, other: "Report") -> "Report":  # type: ignore[override]
        return Report(
            self.statuses + other.statuses, self.text + other.text, self.failed or other.failed
        )


def run(api: Api, examples: int, seed: int) -> Report:
    """Have so many requests made for each operation, by a player who has all roles."""
    account = api.parts.accounts.signup("alice", PASSWORD)
    for role in AccountRole:
        api.parts.accounts.set_role("alice", role, held=True)
    token = api.parts.tokens.issue(account, "fuzz", list(Scope)).text
    player = Player(api, "alice", account, token)
    there = _world(api, player)
    others = [word for name in (LEFT_OUT, *ALONE) for word in ("--exclude-operation-id", name)]
    with listening(api.parts):  # without a process that analyses, a request for an analysis is 503
        report = _run(api, player, examples, seed, others, there)
    for name in ALONE:
        player.token = api.parts.tokens.issue(account, "fuzz", list(Scope)).text
        report += _run(api, player, examples, seed, ["--include-operation-id", name], {})
    return report


def _world(api: Api, player: Player) -> dict[str, list[Any]]:
    """Make one of each thing that paths name, and return their names by parameter."""
    bob, eve = api.player(name="bob"), api.player(name="eve")
    board = api.begun(player, bob)
    assert board == 1  # the one that examples are about
    assert player.move(board, "m13-j7").is_success
    numbers = []
    for terms in (
        {"section": 3},
        {"section": 4, "by_code": True},
        {"form": "ladder"},
        {"form": "teams"},
    ):
        cup = {"name": "Spring Cup", "game": "goliath", "terms": ["--days=3"], **terms}
        numbers.append(player.post("/api/tournaments", cup).json()["board"])
        assert player.post(f"/api/tournaments/{numbers[-1]}/open").is_success
        eve.post(f"/api/tournaments/{numbers[-1]}/entry", {"robot": ""})
    club = player.post("/api/clubs", {"name": "Rook & Pawn"}).json()["club"]["path"]
    assert bob.post(f"/api/clubs/{club}/membership").is_success
    challenges = [
        one.post("/api/challenges", {"game": "pow2"}).json()["id"] for one in (player, bob)
    ]
    report = {"kind": "player", "userid": "eve", "reason": "spam", "words": "20 times"}
    warning = {"sanction": "warning", "why": "spam"}
    return {
        "board": [board],
        "number": numbers,
        "path": [club],
        "game": ["pow2", "goliath", "one"],
        "userid": ["bob", "eve"],
        "challenge": challenges,
        "report": [bob.post("/api/reports", report).json()["id"]],
        "sanction": [player.post("/api/admin/accounts/eve/sanctions", warning).json()["id"]],
    }


def _config(there: Mapping[str, Sequence[Any]]) -> str:
    """Return the settings by which the tool often names what there is."""
    names = [f"[dictionaries.{name}]\nvalues = {json.dumps(one)}" for name, one in there.items()]
    used = [
        f'"{place}.{name}" = {{ dictionary = "{name}", probability = {SHARE} }}'
        for name in there
        for place in ("path", "query", "body")
        if f"{place}.{name}" != "query.board"  # a list in a text
    ]
    refused = f"[checks.negative_data_rejection]\nexpected-statuses = {json.dumps(REFUSED)}"
    return "\n".join([*names, "[parameters]", *used, refused])


def _run(
    api: Api,
    player: Player,
    examples: int,
    seed: int,
    which: Sequence[str],
    there: Mapping[str, Sequence[Any]],
) -> Report:
    with TemporaryDirectory() as folder:
        calls, config = Path(folder) / "calls.ndjson", Path(folder) / "schemathesis.toml"
        config.write_text(_config(there))
        done = subprocess.run(
            [
                TOOL, "--config-file", config, "run", f"{api.url}/api/openapi.json", *which,
                "--header", f"Authorization: Bearer {player.token}",
                "--max-examples", str(examples), "--seed", str(seed), "--workers", "1",
                "--checks", "all", "--exclude-checks", ",".join(NOT_CHECKED),
                "--request-timeout", "30", "--suppress-health-check", "all", "--no-color",
                "--report", "ndjson", "--report-ndjson-path", str(calls), "--no-shrink",
            ],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return Report(_statuses(calls), done.stdout + done.stderr, done.returncode != 0)


def _statuses(file: Path) -> Counter[str]:
    """Count the answers in the tool's own record; `none` for requests without one."""
    found: Counter[str] = Counter()
    for line in file.read_text().splitlines():
        recorder = json.loads(line).get("ScenarioFinished", {}).get("recorder", {})
        for interaction in recorder.get("interactions", {}).values():
            response = interaction.get("response") or {}
            found[str(response.get("status_code", "none"))] += 1
    return found


def main(examples: int = 300, seed: int = 1, count: int = 1) -> None:
    report = Report(Counter(), "", failed=False)
    while report.statuses.total() < count and not report.failed:
        with TemporaryDirectory() as folder, Api(Path(folder)) as api:
            report += run(api, examples, seed)
        seed += 1
    print(report.text)
    for status, many in sorted(report.statuses.items()):
        print(f"{many:>9}  {status}")
    print(f"{report.statuses.total()} calls")
    sys.exit(report.failed)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]))
