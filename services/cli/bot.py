"""`matchpost bot COMMAND`: lets an engine play for a bot, on the server of the login or at --url.

It accepts the challenges that wait for the bot, which are inside its rules, asks the engine for each move, and
plays it. It never resigns by itself. A lost connection is made again, and no move is made twice: the key of a move
is made of the board, the number of the match's last event and the move.
"""

import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from hashlib import sha256
from queue import Empty, SimpleQueue
from threading import Thread
from time import sleep
from typing import Any, Final

from httpx import TransportError

from domain.errors import Code, Refusal
from services.app.error_codes import EXIT_OK
from services.cli.bot_engine import RESIGN, Engine, EngineError, RefusedMove, question_of
from services.cli.remote import run_remotely
from services.client import Client, ProblemError
from services.client.connect import Connection, require_connection
from services.client.following import Link, follow

_LOOK_SECONDS: Final = 30.0
"""Between two looks at the lists, because news may be lost."""

_SOON_SECONDS: Final = 1.0
"""The same while something has failed that may pass."""

_AGAIN_SECONDS: Final = 5.0
"""Pause after a refusal that passes, where the server names no time."""

_MOST_REFUSED: Final = 3
"""Answers of the engine in one position that are refused, before the bot waits for the next event."""

_ROWS: Final = 100
"""Matches of a list that are looked at."""

_WELCOME: Final = ("undo", "abort", "pause")
"""Offers that are accepted; all others are rejected, because an engine isn't asked."""

_PASSING: Final = frozenset({Code.TOO_FAST, Code.BUSY, Code.UNAVAILABLE, Code.PENDING})

_WRONG_MOVE: Final = frozenset({Code.ILLEGAL_MOVE, Code.UNREADABLE_MOVE, Code.TOO_LONG})

_NO_ACCESS: Final = frozenset({Code.UNKNOWN_TOKEN, Code.UNAUTHORIZED, Code.MISSING_SCOPE})


def run(command: Sequence[str], url: str, plain: bool, seconds: float) -> int:  # noqa: FBT001 - called by keyword
    """Play until Ctrl-C or a stop signal, and return the exit code."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # or the engine would be left behind
    connection = require_connection(url)
    if connection.token is None:
        raise Refusal(
            Code.UNAUTHORIZED,
            "put the bot's token into MATCHPOST_TOKEN, or log in by `matchpost login URL --token -`",
        )
    try:
        with closing(Engine(command, plain=plain, seconds=seconds)) as engine:
            return run_remotely(connection.url, lambda: _play(connection, engine))
    except KeyboardInterrupt:
        return EXIT_OK


def _play(connection: Connection, engine: Engine) -> int:
    with Client(connection.url, connection.token) as client:
        userid = client.get("/api/account")["userid"]
        if not client.get(f"/api/players/{userid}")["bot"]:
            raise Refusal(
                Code.NOT_WANTED,
                f"{userid} isn't a bot; its owner makes one at {connection.url}/account/bots",
            )
        print(f"{userid} plays at {connection.url}", flush=True)
        news: SimpleQueue[int | Exception] = SimpleQueue()
        Thread(target=_follow, args=(connection, news), daemon=True).start()
        player = BotPlayer(client, userid, engine)
        for boards in _rounds(news, player):
            player.round(boards)
    return EXIT_OK  # pragma: no cover - the rounds have no end


def _follow(connection: Connection, news: "SimpleQueue[int | Exception]") -> None:
    """Put the board of each notice into a queue, and the error that ends this."""
    try:
        with Client(connection.url, connection.token) as client:
            for message in follow(client, "/api/account/events", "", Link()):
                news.put(message.data.get("board", 0))
    except Exception as error:  # noqa: BLE001 - raised again by the thread that plays
        news.put(error)


def _rounds(news: "SimpleQueue[int | Exception]", player: "BotPlayer") -> Iterator[set[int] | None]:
    """Yield the boards of which there is news, as it comes; first, and where some may be lost, None for all."""
    yield None
    while True:
        boards = set[int]()
        try:
            found = [news.get(timeout=_SOON_SECONDS if player.is_behind else _LOOK_SECONDS)]
            while not news.empty():
                found.append(news.get())
        except Empty:
            yield None
            continue
        for one in found:
            if isinstance(one, Exception):
                raise one
            boards.add(one)
        yield boards - {0}


class BotPlayer:
    """Plays the matches of a bot. `pause` waits for so many seconds, and `say` prints a line."""

    def __init__(
        self,
        client: Client,
        userid: str,
        engine: Engine,
        pause: Callable[[float], object] = sleep,
        say: Callable[[str], object] = lambda line: print(line, file=sys.stderr, flush=True),
    ) -> None:
        self._client = client
        self._userid = userid
        self._engine = engine
        self._pause = pause
        self._say = say
        self._left: dict[int, int] = {}
        """By board the number of the last event of a match in which the engine gives no legal move."""
        self._again = set[int]()
        """Boards at which something has failed that may pass."""

    @property
    def is_behind(self) -> bool:
        """Whether something has failed that will be tried again."""
        return bool(self._again)

    def round(self, boards: set[int] | None = None) -> None:
        """Act in these matches and in all that wait for the bot; for None look at all that it plays.

        What fails in one match keeps none of the others waiting. Only a token that no longer works is raised.
        """
        wanted = (boards or set()) | self._again
        self._again = set()
        try:
            self._client.reveal_all()
            wanted |= self._waiting("next" if boards is not None else "active")
        except (ProblemError, TransportError) as error:
            self._wait_after(error, wanted)
            return
        for board in sorted(wanted):
            try:
                self._act(board)
            except EngineError as error:
                self._say(f"match {board}: {error}; trying again")
                self._again.add(board)
            except (ProblemError, TransportError) as error:
                self._wait_after(error, {board})

    def _waiting(self, state: str) -> set[int]:
        lists = [
            self._client.get("/api/matches", player=self._userid, state=state, limit=_ROWS),
            self._client.get("/api/account/invitations", limit=_ROWS),
        ]
        return {row["board"] for one in lists for row in one["matches"]}

    def _wait_after(self, error: ProblemError | TransportError, boards: set[int]) -> None:
        """Wait after an error that passes, to try these boards again; raise one of access."""
        if isinstance(error, ProblemError) and error.code in _NO_ACCESS:
            raise error
        if isinstance(error, ProblemError) and error.code not in _PASSING:
            self._say(f"{_named(boards)}: {error.detail}")
            return
        self._again |= boards
        self._say(f"{_named(boards)}: {getattr(error, 'detail', error)}; trying again")
        self._pause(getattr(error, "retry_after", 0.0) or _AGAIN_SECONDS)

    def _act(self, board: int) -> None:
        """Do all that the bot is to do in a match now."""
        match = self._client.match(board)
        seats = [one["seat"] for one in match["players"] if one["userid"] == self._userid]
        if not seats or match["state"] == "over":
            self._left.pop(board, None)
            return
        (seat,) = seats
        invitation, offer = match["invitation"], match["offer"]
        if invitation is not None:
            if seat in invitation["seats"]:
                self._client.accept(board, key=f"bot accepts {board}")
                self._act(board)
            return
        if offer and seat not in (offer["seat"], *offer["accepted"]):
            answer = "accept" if offer["kind"] in _WELCOME else "reject"
            self._client.command(board, {"do": answer}, f"bot answers {board} {match['seq']}")
            self._act(board)
            return
        if match["state"] == "active" and match["at"]["to_move"] == seat:
            self._move(match, seat)

    def _move(self, match: Mapping[str, Any], seat: int) -> None:
        """Ask the engine for a move, and play it; leave the match alone after too many illegal ones."""
        board, seq = match["board"], match["seq"]
        if self._left.get(board) == seq:
            return
        self._left.pop(board, None)
        question, refused = question_of(match, seat), None
        for _ in range(_MOST_REFUSED):
            answer = self._engine.ask(question, refused)
            resigns = answer.lower() == RESIGN
            body = {"do": "resign"} if resigns else _move_body(answer, match["ply"])
            try:
                self._client.command(board, body, _key(board, seq, answer))
            except ProblemError as problem:
                if problem.code not in _WRONG_MOVE:
                    if problem.code in (Code.STALE_PLY, Code.NOT_YOUR_TURN, Code.MATCH_OVER):
                        return  # it was played before, or the match has gone on
                    raise
                self._say(f"match {board}: {problem.detail}")
                refused = RefusedMove(answer, problem.detail)
            else:
                return
        self._left[board] = seq
        self._say(
            f"match {board}: {_MOST_REFUSED} answers of the engine were refused, so the match is left alone "
            "until something happens there"
        )


def _named(boards: set[int]) -> str:
    """Return what an error is about: a match, or all of them."""
    return f"match {min(boards)}" if len(boards) == 1 else "all matches"


def _move_body(answer: str, ply: int) -> dict[str, Any]:
    return {"do": "move", "move": answer, "ply": ply}


def _key(board: int, seq: int, answer: str) -> str:
    # the same answer is the same command, and another one is refused as soon as one was played, because of its ply
    return f"bot {board} {seq} {sha256(answer.encode()).hexdigest()[:16]}"
