"""Duplicates and reordering: each command one to five times, by several doors at once."""

import random
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from domain.match.commands import CommandEnvelope
from tests.faults.harness.load import Client, orders
from tests.faults.harness.record import Record
from tests.faults.harness.results import Outcome
from tests.faults.harness.station import Station

DOORS = 5
BOARDS_AT_ONCE = 4
PLIES = 30


def copies(sends: int, folder: Path) -> Outcome:
    """Hand commands in at least so many times, counting every copy."""
    station = Station(folder, {"MATCHPOST_WORKERS": "2"})
    station.start()
    try:
        with ThreadPoolExecutor(BOARDS_AT_ONCE) as pool:
            share = -(-sends // BOARDS_AT_ONCE)
            jobs = [
                pool.submit(_boards, n, share, station, station.record)
                for n in range(BOARDS_AT_ONCE)
            ]
            done = sum(job.result() for job in jobs)
        return Outcome(
            name="copies",
            what="commands sent 1 to 5 times by 5 doors at once, one match in five out of order",
            wanted=sends,
            faults=done,
            acknowledged=station.record.acknowledged(),
            violations=station.violations(),
        )
    finally:
        station.end()


def _boards(number: int, sends: int, station: Station, record: Record) -> int:
    chance = random.Random(number)
    doors = [Client(f"door-{number}-{n}", station.connect, record) for n in range(DOORS)]
    done, board = 0, 1 + number
    with ThreadPoolExecutor(DOORS) as pool:
        while done < sends:
            todo = list(orders(board, PLIES))
            together = len(todo) - 1 if chance.randrange(5) == 0 else 1
            start, rest = todo[:1], todo[1:]
            for group in (start, *(rest[i : i + together] for i in range(0, len(rest), together))):
                done += _send(pool, doors, group, chance)
            board += BOARDS_AT_ONCE
    for door in doors:
        door.hang_up()
    return done


def _send(
    pool: ThreadPoolExecutor,
    doors: list[Client],
    group: list[CommandEnvelope],
    chance: random.Random,
) -> int:
    """Send some commands, each as often as chance has it, and wait for all outcomes."""
    queues: list[list[CommandEnvelope]] = [[] for _ in doors]
    for sent in group:
        for queue in chance.sample(queues, chance.randint(1, DOORS)):
            queue.append(sent)
    for queue in queues:
        chance.shuffle(queue)
    jobs: list[Future[None]] = [
        pool.submit(_send_all, door, queue) for door, queue in zip(doors, queues, strict=True)
    ]
    for job in jobs:
        job.result()
    return sum(map(len, queues))


def _send_all(door: Client, queue: list[CommandEnvelope]) -> None:
    for sent in queue:
        door.send(sent)
