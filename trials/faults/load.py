"""The load: players that repeat each command until it has an outcome, and write down every call."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import count
from threading import Event, Thread
from typing import Self

from redis import Redis
from redis.exceptions import RedisError

from bench.workload import PlannedGame, games, moves, resignations, starts
from domain.errors import Code, Refusal
from domain.match.commands import CommandEnvelope, PlayMove
from domain.match.history import leaf_hash
from domain.records import command_id
from infra.durability.durability import Mode
from infra.store.gateway import Gateway, OutcomePending
from infra.store.outcomes import CommandOutcome
from infra.store.port import Store
from infra.store.redis_store import RedisStore
from infra.valkey.server import EmbeddedError
from tests.helpers.served import gateway
from trials.faults.checker import Invocation, Record, Result, now

Connect = Callable[[], Redis]
RETRY_SECONDS = 0.05
STRANGER = b"stranger"

REPEATED_AFTER = 5
"""Matches of a player until a command of one that has ended is sent again."""

DOWN = (RedisError, EmbeddedError, LookupError, OSError)
"""What a client gets from a server that is not there."""


def open_store(client: Redis) -> Store:
    return RedisStore(client, Mode.FSYNC)


class MatchLostError(Exception):
    """So many commands were refused that the match must have lost a move that was acknowledged."""


class Client:
    """One client: a connection that is made anew when it broke."""

    def __init__(
        self,
        name: str,
        connect: Connect,
        record: Record,
        wait: float = 5.0,
        open_door: Callable[[Redis], Gateway] = gateway,
        open_store: Callable[[Redis], Store] = open_store,
    ) -> None:
        self.name = name
        self._connect = connect
        self._open_door = open_door
        self._open_store = open_store
        self._record = record
        self._wait = wait
        self._open: tuple[Redis, Gateway] | None = None
        self.busy_with: bytes | None = None
        """The command that was sent and has no outcome yet."""

    def send(
        self, sent: CommandEnvelope, stop: Event | None = None, seconds: float = 300
    ) -> CommandOutcome | None:
        """Repeat the command until there is an outcome; None when told to stop before.

        Raises MatchLostError if it is turned away for good.
        """
        self.busy_with = sent.id
        end = now() + int(seconds * 1e9)
        while (outcome := self.attempt(sent)) is None:
            if stop is not None and stop.wait(RETRY_SECONDS):
                return None
            if now() > end:
                raise AssertionError(f"{self.name}: no outcome within {seconds} s for {sent}")
        self.busy_with = None
        return outcome

    def attempt(self, sent: CommandEnvelope) -> CommandOutcome | None:
        began = now()
        try:
            _, door = self._connection()
        except DOWN:
            self._note(sent, began, Result.FAILED)
            return None
        try:
            outcome = door.send(sent, 0, seconds=self._wait)
        except Refusal as refusal:  # it was turned away at the door
            self._note(sent, began, Result.FAILED)
            if refusal.code is Code.TOO_MANY_REFUSALS:
                raise MatchLostError from refusal
        except (OutcomePending, *DOWN):
            self.hang_up()
            self._note(sent, began, Result.UNKNOWN)
        else:
            self._note(sent, began, Result.OK, outcome)
            return outcome
        return None

    def read(self, board: int) -> None:
        began = now()
        try:
            client, _ = self._connection()
            events = self._open_store(client).events(board)
        except DOWN:
            self.hang_up()
            call = Invocation(
                client=self.name, match=board, sent=began, done=now(), result=Result.UNKNOWN
            )
        else:
            call = Invocation(
                client=self.name,
                match=board,
                sent=began,
                done=now(),
                result=Result.OK,
                seq=len(events),
                head=leaf_hash(events[-1]) if events else b"",
            )
        self._record.add(call)

    def hang_up(self) -> None:
        if self._open is not None:
            client, door = self._open
            self._open = None
            with contextlib.suppress(*DOWN):
                close = getattr(door, "close", None)
                if close is not None:
                    close()
            client.close()

    def _connection(self) -> tuple[Redis, Gateway]:
        if self._open is None:
            client = self._connect()
            try:
                self._open = client, self._open_door(client)
            except BaseException:
                client.close()
                raise
        return self._open

    def _note(
        self,
        sent: CommandEnvelope,
        began: int,
        result: Result,
        outcome: CommandOutcome | None = None,
    ) -> None:
        told = {} if outcome is None else {
            "code": outcome.code, "seq": outcome.seq, "index": outcome.index
        }  # fmt: skip
        call = Invocation(
            client=self.name,
            match=sent.match,
            command=sent.id,
            actor=sent.actor,
            sent=began,
            done=now(),
            result=result,
            **told,
        )
        self._record.add(call)


@cache
def _played(number: int) -> tuple[PlannedGame, ...]:
    return tuple(games(number))


def orders(
    board: int, plies: int, variants: int = 8, *, ends: bool = False
) -> Iterator[CommandEnvelope]:
    """Send the commands of a match: a game, with commands between that must be refused.

    If it `ends`, a player resigns after these plies.
    """
    game = _played(variants)[board % variants]
    game = PlannedGame(board, (b"L%07d" % board, b"D%07d" % board), game.moves[:plies])
    yield from starts([game])
    for ply, sent in enumerate(moves([game])):
        yield sent
        if ply % 7 == 3:
            yield _other(game, f"late:{ply}", game.seats[ply % 2], ply)
        if ply % 7 == 5:
            yield _other(game, f"forged:{ply}", STRANGER, ply + 1)
    if ends:
        yield from resignations([game])


def _other(game: PlannedGame, key: str, actor: bytes, ply: int) -> CommandEnvelope:
    id_ = command_id("fault", actor, f"{game.board}:{key}")
    return CommandEnvelope(
        game.board, id_, actor, PlayMove(text=game.moves[min(ply, len(game.moves) - 1)], ply=ply)
    )


class Load:
    """Some players, each playing one match after another until stopped; a context manager.

    `pace` is the time in seconds between a player's commands, so that what is under test, and not
    the load, has the machine. With `on_end` each match ends with a resignation, and that is called with
    its board; later the player sends one of its commands again, and reads the match. With `lossy` a
    player goes on to the next match when one has lost acknowledged moves.
    """

    def __init__(
        self,
        connect: Connect,
        record: Record,
        *,
        players: int = 3,
        plies: int = 30,
        pace: float = 0.05,
        first_board: int = 1,
        wait: float = 5.0,
        open_door: Callable[[Redis], Gateway] = gateway,
        open_store: Callable[[Redis], Store] = open_store,
        on_end: Callable[[int], object] | None = None,
        lossy: bool = False,
    ) -> None:
        self._on_end = on_end
        self._lossy = lossy
        self._boards = count(first_board)
        self._plies = plies
        self._pace = pace
        self._stop = Event()
        self._failures: list[BaseException] = []
        self.record = record
        self.clients = [
            Client(f"player-{n}", connect, record, wait, open_door, open_store)
            for n in range(players)
        ]
        self._threads = [
            Thread(target=self._run, args=(client,), daemon=True) for client in self.clients
        ]

    def __enter__(self) -> Self:
        _played(8)
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.stop()
        if error is None and self._failures:
            raise self._failures[0]

    def stop(self) -> None:
        """End each player after the command in hand, which gets its outcome or is given up."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def in_flight(self) -> set[bytes]:
        """Return the commands that have no outcome yet."""
        return {command for client in self.clients if (command := client.busy_with)}

    def check(self) -> None:
        """Raise what went wrong in a player."""
        if self._failures:
            raise self._failures[0]

    def _run(self, client: Client) -> None:
        try:
            ended: list[int] = []
            while not self._stop.is_set():
                board = next(self._boards)
                try:
                    self._play(client, board)
                except MatchLostError:
                    if not self._lossy:
                        raise
                    client.busy_with = None
                if self._on_end is None or client.busy_with or self._stop.is_set():
                    continue
                self._on_end(board)
                ended.append(board)
                if len(ended) > REPEATED_AFTER:
                    self._repeat(client, ended[-REPEATED_AFTER])
        except BaseException as error:  # noqa: BLE001 - raised again in the run's own thread
            self._failures.append(error)
        finally:
            client.hang_up()

    def _play(self, client: Client, board: int) -> None:
        ends = self._on_end is not None
        for number, sent in enumerate(orders(board, self._plies, ends=ends)):
            if client.send(sent, self._stop) is None:
                return
            if number % 4 == 0:
                client.read(board)
            if self._stop.wait(self._pace):
                return

    def _repeat(self, client: Client, board: int) -> None:
        """Send a command of a match that is over once more, and read the match."""
        commands = list(orders(board, self._plies, ends=True))
        client.send(commands[board % len(commands)], self._stop)
        client.read(board)


def play_all(client: Client, todo: Sequence[CommandEnvelope]) -> None:
    """Send commands in order, each until it has an outcome."""
    for sent in todo:
        client.send(sent)
