"""Poisoned decisions among matches that go on: refused as `internal`, and nobody else harmed."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from domain.match.commands import CommandEnvelope, PlayMove
from domain.records import command_id
from trials.faults.checker import now
from trials.faults.load import Client, orders
from trials.faults.poisoned import KINDS, MARK
from trials.faults.results import Outcome
from trials.faults.station import Station, since, slowest_outcome

FIRST_BOARD = 2_000_000
"""Of the poisoned matches."""

INTERNAL_SECONDS = 90.0
"""In which a poisoned command is refused."""

NEIGHBOUR_SECONDS = 30.0
"""The longest that a command of another match may take meanwhile."""

PROGRAM = Path(__file__).with_name("poisoned.py")


def doses(count: int, folder: Path) -> Outcome:
    """Send so many poisoned commands, six at a time, among matches that go on."""
    argv = [sys.executable, str(PROGRAM), "serve"]
    times: dict[str, list[float]] = {kind: [] for kind in KINDS}
    wrong: list[str] = []
    late: list[str] = []
    done = 0
    with Station(folder, {"MATCHPOST_WORKERS": "2"}, argv=argv) as station:
        with station.load(players=3) as load:
            while done < count:
                given = list(KINDS)[: count - done]
                with ThreadPoolExecutor(len(given)) as pool:
                    jobs = [
                        pool.submit(_dose, station, kind, FIRST_BOARD + done + number)
                        for number, kind in enumerate(given)
                    ]
                for kind, job in zip(given, jobs, strict=True):
                    took, failure = job.result()
                    times[kind].append(took)
                    wrong += failure
                done += len(given)
            load.check()
        calls = [call for call in station.record if call.match < FIRST_BOARD and call.command]
        slowest = slowest_outcome(calls)
        if slowest > NEIGHBOUR_SECONDS:
            late.append(f"a command of another match took {slowest:.1f} s")
        wrong += [f"{call} was refused as internal" for call in calls if call.code == "internal"]
        late += [
            f"{kind}: it took {took:.1f} s"
            for kind, all_taken in times.items()
            for took in all_taken
            if took > INTERNAL_SECONDS
        ]
        worst = {kind: round(max(took), 1) for kind, took in times.items() if took}
        details = {"seconds_until_refused": worst, "slowest_neighbour": round(slowest, 1)}
        what = "decisions that loop, recurse, allocate, raise or are stuck in C"
        more = {"faults": done, "violations": wrong, "late": late, "details": details}
        return station.outcome("poison", what, count, list(worst.values()), **more)


def _dose(station: Station, kind: str, board: int) -> tuple[float, list[str]]:
    """Poison a match, and play on in it; give the time until the refusal, and what was wrong."""
    start, first, second, *_ = orders(board, 2)
    client = Client(f"poisoner-{kind}", station.connect, station.record)
    client.send(start)
    client.send(first)
    began = now()
    id_ = command_id("poison", second.actor, f"{board}")
    refused = client.send(
        CommandEnvelope(board, id_, second.actor, PlayMove(text=f"{MARK}{kind}")),
        seconds=2 * INTERNAL_SECONDS,
    )
    took = since(began)
    then = client.send(second)
    client.hang_up()
    wrong = []
    if refused is None or refused.code != "internal":
        wrong.append(f"{kind}: the outcome is {refused}")
    if then is None or not then.accepted:
        wrong.append(f"{kind}: the match does not go on: {then}")
    return took, wrong
