# ruff: noqa: E402 - the path is set first
"""Counts the files and functions whose code runs for one request, and for one decision.

    .venv/bin/python tests/width.py

prints JSON. It measures the code in the current folder, so that two checkouts can be compared. A server runs in
this process, on a Valkey of its own, with a drain and a projection worker; every thread has a profile function.
Each request is made some times before it is counted, and then `RUNS` times. Only what ran in each of these runs
is counted, so that no task of the background, and no particular move, is in the figures.

`files` are modules of the product, and templates; `functions` are those of modules, without comprehensions;
`templates` are also in `files`.
"""

import json
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType
from typing import Any, Final

ROOT: Final = Path.cwd()
sys.path.insert(0, str(ROOT))

from tests.helpers.api import Api, Player
from tests.helpers.web import Guest

LAYERS: Final = ("domain", "infra", "workers", "services")
RUNS: Final = 8
WARMING: Final = 2

AFTER_SECONDS: Final = 0.3
"""After the answer to a move, so that all that the drain does for it is counted."""

DRAIN: Final = "_drain"
NOT_THE_WEB: Final = {DRAIN, "_side", threading.main_thread().name}
"""The names of the threads that are processes of their own on a server, and that of the client."""

MOVES: Final = (
    "m1-e1:d2 a1-a5 e1-e11 a5-a1:c3 d2-i5 a1-b4:a1 m13-e9:f11 c3-d2:c3 e9-b4:a5,d4 a1-f3 i5-k6 a13-d10 a5-a7 "
    "d10-e11:g13 d4-d2:a1 f3-e3:e1 a7-d4:b4,e3 g13-j10 d4-f6 e11-e9:g10 k6-i9:g9,i11 j10-l10 f11-g13:f11,i13"
)
"""Moves of a match of pow2/1, from its start."""


class Width:
    """The code objects of the product that run, by the name of their thread."""

    def __init__(self) -> None:
        self._seen: dict[str, set[CodeType]] | None = None
        threading.setprofile(self._profile)

    def _profile(self, frame: FrameType, event: str, _: Any) -> None:
        seen = self._seen
        if seen is not None and event == "call":
            seen[threading.current_thread().name].add(frame.f_code)

    @contextmanager
    def recording(self) -> Iterator[dict[str, set[CodeType]]]:
        """Yield what has run in each thread, which is whole at the end."""
        self._seen = found = defaultdict(set)
        try:
            yield found
        finally:
            self._seen = None

    def measure(self, request: Callable[[], None]) -> tuple[set[CodeType], set[CodeType]]:
        """Return what runs in the web process, and what in the drain, whenever a request is made."""
        for _ in range(WARMING):
            request()
        web, drain = [], []
        for _ in range(RUNS):
            with self.recording() as found:
                request()
            web.append({code for name in found.keys() - NOT_THE_WEB for code in found[name]})
            drain.append(found[DRAIN])
        return set.intersection(*web), set.intersection(*drain)


def figures(ran: set[CodeType]) -> dict[str, int]:
    """Return the numbers of files, functions and templates of the product."""
    product = [str(ROOT / layer) + "/" for layer in LAYERS]
    ours = {code for code in ran if code.co_filename.startswith(tuple(product))}
    files = {code.co_filename for code in ours}
    return {
        "files": len(files),
        "functions": len(
            {
                code
                for code in ours
                if code.co_filename.endswith(".py")
                and (code.co_name == "<lambda>" or not code.co_name.startswith("<"))
            }
        ),
        "templates": len({name for name in files if not name.endswith(".py")}),
    }


def measure(api: Api, width: Width) -> dict[str, dict[str, int]]:
    """Return the figures of each request, and of a decision."""
    alice, bob = api.players(2)
    board = api.begun(alice, bob)
    plies = count()
    for _ in range(3):
        play(alice, bob, board, next(plies), "")
    fill_home(api, alice, bob)
    with Guest(api) as guest:
        guest.log_in(alice.name)
        match_page, _ = width.measure(lambda: shown(guest, f"/m/{board}"))
        home, _ = width.measure(lambda: shown(guest, "/"))
    move, decision = width.measure(lambda: play(alice, bob, board, next(plies), ""))
    board, plies = api.begun(alice, bob), count()
    route, _ = width.measure(lambda: play(alice, bob, board, next(plies), "?wait=5"))
    return {
        "match_page": figures(match_page),
        "home": figures(home),
        "post_move": figures(move),
        "post_move_route": figures(route),
        "decision": figures(decision),
    }


def fill_home(api: Api, alice: Player, bob: Player) -> None:
    """Have alice's home page show a match that waits for her, one that is over, and an open challenge."""
    api.begun(alice, bob)
    assert bob.give(api.begun(alice, bob), {"do": "resign"}).status_code == 200
    assert bob.post("/api/challenges", {"game": "pow2"}).status_code == 201
    api.caught_up()


def shown(guest: Guest, path: str) -> None:
    guest.page(path)


def play(alice: Player, bob: Player, board: int, ply: int, query: str) -> None:
    """Play the move of a ply, and wait until all that follows from it has run."""
    mover = (alice, bob)[ply % 2]
    answer = mover.post(
        f"/api/matches/{board}/commands{query}", {"do": "move", "move": MOVES.split()[ply]}
    )
    assert answer.status_code == 200, answer.text
    time.sleep(AFTER_SECONDS)


def main() -> None:
    """Print the figures of the code in the current folder."""
    width = Width()
    with TemporaryDirectory() as folder, Api(Path(folder)) as api:
        found = measure(api, width)
    json.dump(found, sys.stdout, indent=2)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
