"""The same players at every front end, on one server: terminal, mail, API and web."""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import httpx
from msgspec.structs import replace

from domain.errors import Code
from domain.match.history import unpack_snapshot
from domain.match.state import MatchState
from infra.mail.addresses import ServerAddresses
from infra.mail.outbox import Outbox
from infra.people.accounts import MailAddress
from infra.people.accounts.writing import mail_turn_of
from services.app.error_codes import CODE_INFO
from services.http.web.render import sentence as as_sentence
from services.language import LOCAL, Answer, Language
from services.mail.inbound import InboundMail, TryAgainError
from tests.helpers.api import PASSWORD, Api, Player
from tests.helpers.mails import mail
from tests.helpers.web import Guest, refusal

DOMAIN = "play.example.org"
_VOUCHING = "mx.example.org"
SERVER = f"matchpost@{DOMAIN}"
TERMINAL, MAIL, SEAT, API, WEB = "terminal", "mail to the server", "mail to a seat", "API", "web"
FRONT_ENDS = (TERMINAL, MAIL, SEAT, API, WEB)
_REFUSED = re.compile(r"(?:> .*\n)?([a-z-]+): ([\s\S]+)")
_STATUS = "status "
_COMMITMENT = "--commitment="


class Result(NamedTuple):
    """What a front end answered: a code, empty for an acceptance, and the sentence of a refusal."""

    code: str
    sentence: str = ""


class Everywhere:
    """Front ends of one server, and what their answers come to."""

    def __init__(self, api: Api, stack: ExitStack) -> None:
        self.api = api
        self._stack = stack
        self._language = Language(api.parts, origin=LOCAL)
        self._addresses = ServerAddresses(b"s" * 32, DOMAIN)
        self._office = InboundMail(api.parts, api.parts.data, self._addresses, authserv=_VOUCHING)
        self._outbox = Outbox(api.parts.data)
        self._guests: dict[str, Guest] = {}
        self._players: dict[int, tuple[Player, ...]] = {}
        self._numbers = itertools.count(1)

    def player(self, language: str = "") -> Player:
        """A player whose mail address is proven, and who reads a language."""
        player = self.api.player()
        player.language = language
        own = (MailAddress(f"{player.name}@example.org", verified=True),)
        self.api.parts.accounts.change_of(
            player.account, lambda one: replace(one, addresses=own, language=language)
        )
        return player

    def answer(self, line: str) -> Answer:
        """The answer to a line at the terminal."""
        return self._language.do(line)

    def say(self, line: str) -> Result:
        answer = self.answer(line)
        return Result(answer.code, answer.sentence if answer.code else "")

    def mail(self, player: Player, line: str) -> Result:
        return self._take(SERVER, player, line)

    def match(self, one: Player, other: Player, game: str = "pow2", *terms: str) -> int:
        """Have the first of two players start a match; gives its board number."""
        board = self.api.match(one, other, game=game, terms=terms)
        self._players[board] = (one, other)
        return board

    def start_game(self, game: str, *players: Player) -> int:
        """Have the first of some players start a match of a game; gives its board number."""
        body = {"game": game, "players": [player.name for player in players]}
        board: int = players[0].post("/api/matches", body).json()["board"]
        self._players[board] = players
        return board

    def boards(self, board: int, *players: Player) -> None:
        """Note who plays in a match that was started otherwise."""
        self._players[board] = players

    def seat(self, player: Player, board: int, text: str, turn: int | None = None) -> Result:
        """Send what is said to the address of a player's seat, as it is now or was at a turn."""
        number = self._players[board].index(player)
        now = mail_turn_of(self.api.parts.accounts.record_of(player.account))
        at = now if turn is None else turn
        return self._take(self._addresses.of(board, number, player.account, at), player, text)

    def letter(self, line: str) -> str:
        """Send a command line by mail, from an address of nobody; gives the answer's text."""
        return self._answer(SERVER, f"sender{next(self._numbers)}@example.org", line)

    def _take(self, to: str, player: Player, text: str) -> Result:
        try:
            body = self._answer(to, f"{player.name}@example.org", text)
        except TryAgainError as error:
            return Result(str(error))
        found = _REFUSED.match(body)
        if not found or found[1] not in set(Code):
            return Result("")
        return Result(found[1], found[2].strip().split("\n")[0])

    def _answer(self, to: str, sender: str, text: str) -> str:
        """Send a mail for whose sender a server vouches."""
        # a match has more turns than a player gets replies in an hour
        people = self.api.parts.people
        for counted in people.scan_iter("answers:*"):
            people.delete(counted)
        # else all letters of the module would be read again with each mail
        if old := [key for key, _ in self._outbox._all()]:
            self._outbox._remove(old)
        vouched = {"Authentication-Results": f"{_VOUCHING}; spf=pass smtp.mailfrom=example.org"}
        data = mail(text, id_=f"<{next(self._numbers)}@example.org>", headers=vouched)
        self._office.take(to, sender, data)
        (answer,) = [letter for _, letter in self._outbox._all() if letter.to == sender]
        return answer.body

    def http(self, answer: httpx.Response) -> Result:
        if answer.is_success and answer.status_code != httpx.codes.ACCEPTED:
            return Result("")
        problem = answer.json()
        return Result(problem["code"], problem["detail"])

    def guest(self, player: Player) -> Guest:
        """A browser in which a player has logged in."""
        if player.name not in self._guests:
            guest = self._stack.enter_context(Guest(self.api))
            assert guest.log_in(player.name).status_code == httpx.codes.SEE_OTHER
            self._guests[player.name] = guest
        return self._guests[player.name]

    def page(
        self, player: Player, path: str, fields: Mapping[str, str] | None = None, *, on: str = ""
    ) -> Result:
        """Send the form of a page."""
        return self.shown(self.guest(player).send(path, fields, on=on))

    def shown(self, answer: httpx.Response) -> Result:
        """What a page says."""
        if answer.status_code in (httpx.codes.SEE_OTHER, httpx.codes.OK):
            return Result("")
        code, said = refusal(answer.text)
        # a form that keeps what was typed has no code beside its message
        return Result(code or f"{_STATUS}{answer.status_code}", said)

    def act(self, where: str, player: Player, board: int, action: "Action") -> Result:
        line = f"{action.game} move {board} {own(player)} {action.words}"
        request, form = ("POST", "commands", action.json), ("act", action.form)
        return self._ask(where, player, board, line, action.words, request, form)

    def _ask(  # noqa: PLR0917 - as many as a request has parts
        self,
        where: str,
        player: Player,
        board: int,
        line: str,
        at_seat: str,
        request: tuple[str, str, Any],
        form: tuple[str, dict[str, str]] = ("", {}),
    ) -> Result:
        """Have a player ask for something in a match by a line, a mail to the seat, a request or a form."""
        method, path, body = request
        address = f"/api/matches/{board}/{path}"
        return {
            TERMINAL: lambda: self.say(line),
            MAIL: lambda: self.mail(player, line),
            SEAT: lambda: self.seat(player, board, at_seat),
            API: lambda: self.http(player._request(method, address, json=body)),
            WEB: lambda: self.page(player, f"/m/{board}/{form[0]}", form[1]),
        }[where]()

    def vacation(self, where: str, player: Player, days: str) -> Result:
        """Take a vacation, or end it with `back`."""
        line, path = f"vacation {own(player)} {days}", "/api/account/vacation"
        return {
            TERMINAL: lambda: self.say(line),
            MAIL: lambda: self.mail(player, line),
            API: lambda: self.http(
                player.delete(path) if days == "back" else player.post(path, {"days": int(days)})
            ),
            WEB: lambda: self.page(player, "/account/vacation", {"days": days}),
        }[where]()

    def queue(self, where: str, player: Player, board: int, line: str) -> Result:
        """Store a line of conditional moves in a match of The Power of Two."""
        command = f"pow2 queue {board} {own(player)} {line}"
        request = ("PUT", "replies", {"lines": [line.split()]})
        form = ("replies", {"line": line})
        return self._ask(where, player, board, command, f"queue {line}", request, form)

    def submit(self, where: str, player: Player, board: int, move: str) -> Result:
        """Submit a move in a match of The Power of Two."""
        command, request = (
            f"pow2 submit {board} {own(player)} {move}",
            ("PUT", "draft", {"move": move}),
        )
        return self._ask(where, player, board, command, f"submit {move}", request)

    def confirm(self, where: str, player: Player, board: int) -> Result:
        command, request = f"pow2 confirm {board} {own(player)}", ("POST", "draft/confirm", None)
        return self._ask(where, player, board, command, "confirm", request)

    def chat(self, where: str, player: Player, board: int, text: str) -> Result:
        """Write to the players of a match of The Power of Two."""
        command, body = f"pow2 chat {board} {own(player)} {text}", {"text": text}
        request = ("POST", "chat", body)
        return self._ask(where, player, board, command, f"chat {text}", request, ("chat", body))

    def claim(self, where: str, player: Player, board: int, ply: int, text: str) -> Result:
        line, at_seat = f"claim {board} {own(player)} #{ply}\n{text}", f"claim #{ply}\n{text}"
        request = ("POST", "claim", {"ply": ply, "text": text})
        form = ("claim", {"ply": str(ply), "text": text})
        return self._ask(where, player, board, line, at_seat, request, form)

    def appeal(self, where: str, player: Player, board: int, case: int, text: str) -> Result:
        """Object to the last ruling in a match, which is the one of a case."""
        line, request = f"appeal {board} {own(player)}\n{text}", ("POST", "appeal", {"text": text})
        form = ("appeal", {"case": str(case), "text": text})
        return self._ask(where, player, board, line, f"appeal\n{text}", request, form)

    def rule(self, where: str, player: Player, board: int, case: int, text: str) -> Result:
        line = f"rule {board} {own(player)} dismissed\n{text}"
        body = {"verdict": "dismissed", "text": text}
        form = ("rule", {**body, "case": str(case), "do": "rule"})
        return self._ask(where, player, board, line, "", ("POST", "rule", body), form)

    def rematch(self, where: str, player: Player, board: int) -> Result:
        """Ask for a rematch of a match of The Power of Two."""
        line, nothing = f"pow2 rematch {board} {own(player)}", dict[str, str]()
        request, form = ("POST", "rematch", nothing), ("rematch", nothing)
        return self._ask(where, player, board, line, "rematch", request, form)

    def start(
        self, where: str, player: Player, board: int, names: Sequence[str], terms: Sequence[str]
    ) -> Result:
        """Start a match of The Power of Two; a mail to a seat goes to that of `board`."""
        line = " ".join(["pow2 challenge", *names, *terms])
        signed = f"{line} --password={PASSWORD} --as={player.name}"
        digests = [term.removeprefix(_COMMITMENT) for term in terms if _COMMITMENT in term]
        rest = [term for term in terms if _COMMITMENT not in term]
        body = {"game": "pow2", "players": names, "terms": rest, "commitment": "".join(digests)}
        form = {"game": "pow2", "opponent": names[-1], "seat": "first"}
        return {
            TERMINAL: lambda: self.say(signed),
            MAIL: lambda: self.mail(player, signed),
            SEAT: lambda: self.seat(player, board, line),
            API: lambda: self.http(player.post("/api/matches", body)),
            WEB: lambda: self.page(player, "/new", form),
        }[where]()

    def state(self, board: int) -> MatchState:
        return unpack_snapshot(self.api.parts.store.snapshots([board])[0]).state

    def types(self, board: int) -> list[str]:
        events = self.api.http.get(f"/api/matches/{board}/events").json()
        return [event["type"] for event in events]


def own(player: Player) -> str:
    """How a line is signed."""
    return f"{player.name} {PASSWORD}"


class Action(NamedTuple):
    """One action as each front end has it."""

    words: str
    json: dict[str, Any]
    form: dict[str, str]
    game: str = "pow2"


def same(found: Mapping[str, Result]) -> Result:
    """The one result of all front ends; a sentence counts as a page writes it."""
    codes = {one.code for one in found.values() if not one.code.startswith(_STATUS)}
    by_status = {f"{_STATUS}{CODE_INFO[Code(code)].status}": code for code in codes if code}
    read = {
        where: Result(by_status.get(one.code, one.code), as_sentence(one.sentence))
        for where, one in found.items()
    }
    assert len(set(read.values())) == 1, read
    return next(iter(read.values()))


@contextmanager
def everywhere(api: Api) -> Iterator[Everywhere]:
    """The front ends of a server; they are closed at the end."""
    with ExitStack() as stack:
        yield Everywhere(api, stack)
