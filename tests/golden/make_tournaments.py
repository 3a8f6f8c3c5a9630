"""Tables, schedules and brackets as `matchpost referee` answers them, to the byte.

    python -m tests.golden.make_tournaments

adds to `tournaments-1.json` the answers that it does not hold yet. Those that are there stay: other programs rely
on them, so a changed one is a fault.
"""

import json
import random
from pathlib import Path

from domain.tournament.results import PairResult
from domain.tournament.schedule import round_robin
from services.cli.referee import judge

FILE = Path(__file__).with_name("tournaments-1.json")
USUAL = {"win": 1, "draw": 0.5, "loss": 0}
NAMES = ["direct", "sonneborn-berger", "wins", "buchholz"]


def table(seed, pairs, players, **fields):
    """A table of pairs with results by chance."""
    chance = random.Random(seed)
    matches = [[*pair, chance.choice([*map(str, PairResult), None])] for pair in pairs]
    return {"tournament": "table", "players": players, "matches": matches, **fields}


def requests():
    five = [[0, 1, "1-0"], [2, 3, "1/2"], [0, 4, "+-"], [1, 2, "--"], [3, 4, None]]
    page = {
        "tournament": "table", "players": 5, "points": USUAL, "tiebreaks": NAMES[:3], "matches": five,
        "withdrawn": [{"player": 4, "kind": "accepted"}],
    }  # fmt: skip
    asked = {
        "table of the page": page,
        "silent": page | {"withdrawn": [{"player": 4, "kind": "silent"}]},
        "nobody left": page | {"withdrawn": []},
        "two left": page
        | {"withdrawn": [{"player": 4, "kind": "silent"}, {"player": 3, "kind": "accepted"}]},
        "tenths": page | {"points": {"win": 0.3, "draw": 0.1, "loss": -0.1}},
        "nothing yet": {"tournament": "table", "players": 3, "tiebreaks": NAMES, "matches": []},
        "no such player": page | {"players": 4},
        "unknown result": page | {"matches": [[0, 1, "2-0"]]},
        "unknown tie-break": page | {"tiebreaks": ["elo"]},
        "unknown kind": {"tournament": "cup", "players": 4},
        "unknown field": page | {"rounds": 3},
        "left twice": page | {"withdrawn": page["withdrawn"] * 2},
        "double robin of 3": {"tournament": "schedule", "players": 3, "double": True},
    }
    for players in (2, 3, 6, 7, 8, 15):
        asked[f"robin of {players}"] = {"tournament": "schedule", "players": players}
    for players in (2, 3, 5, 6, 8, 16, 21):
        asked[f"bracket of {players}"] = {"tournament": "bracket", "players": players}
    for players in (6, 9):
        pairs = [pair for matches in round_robin(players) for pair in matches]
        for left in ("silent", "accepted"):
            withdrawn = [{"player": 1, "kind": left}, {"player": 4, "kind": "accepted"}]
            fields = {"tiebreaks": NAMES, "points": USUAL, "withdrawn": withdrawn}
            asked[f"{left} of {players}"] = table(players, pairs, players, **fields)
    return asked


def answers():
    """The answer of today to each request, as a line."""
    return {
        name: {"asked": asked, "answer": judge(json.dumps(asked).encode())}
        for name, asked in requests().items()
    }


def main():
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    lines = (f" {json.dumps(name)}: {json.dumps(one)}" for name, one in (answers() | known).items())
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
