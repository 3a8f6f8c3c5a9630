"""The texts of the mails that nobody asked for: what happened, the board, and how to answer.

What a mail says of a match is what anybody sees at its board, and never what only another player
may see. It is as things stood after the command that it tells of.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from domain.match.events import AccountId, EventEnvelope, MatchStarted, decode_event
from domain.match.history import replay, unpack_snapshot
from domain.match.state import MatchState
from domain.rules import Seat
from infra.mail.addresses import ServerAddresses
from infra.mail.chat_queue import lines_since
from infra.mail.composer import EmailText, MatchUpdate
from infra.mail.message_queue import QueuedMessage
from infra.mail.progress import DigestItem
from infra.mail.verification_codes import format_code
from infra.people.messages import MessageKind as LetterKind
from infra.people.messages import PlayerMessage
from infra.projections.notices import NoticeKind
from services.app.context import App
from services.app.names import shown_name
from services.language.handlers.boards import draw
from services.language.render.match_text import NamedMatch, describe_events, offer_name, summary

_EARLIER: Final = 6
"""Commands before the one a mail tells of that it repeats."""

_BOARDS: Final = 20
"""Matches a digest tells of."""

_LINES: Final = 50
"""Lines of chat that a mail has, the newest."""

_SAY: Final = "`say TEXT` in a reply writes to the others."

_HAPPENED: Final = {
    NoticeKind.CHALLENGED: "you are asked to play",
    NoticeKind.REVEAL: "it waits for your text for the draw",
    NoticeKind.STARTED: "it has started",
    NoticeKind.YOUR_TURN: "it became your turn",
    NoticeKind.OFFER: "something was proposed",
    NoticeKind.ANSWERED: "what was proposed was answered",
    NoticeKind.REPLIED: "a move that you had laid ready was played",
    NoticeKind.RESIGNED: "a player resigned",
    NoticeKind.FLAGGED: "a player's time was over",
    NoticeKind.RESUMED: "the pause was ended",
    NoticeKind.DECLINED: "a player declined to play",
    NoticeKind.OVER: "it is over",
    NoticeKind.REMINDER: "your time runs out",
    NoticeKind.CHAT: "something was said",
}


class NotificationTexts:
    """Writes the texts; see `infra.mail.composer.Composer`."""

    def __init__(self, app: App, addresses: ServerAddresses) -> None:
        self._app = app
        self._addresses = addresses

    # a match

    def match_update(self, told: MatchUpdate) -> EmailText:
        """Write what a player is told of a match."""
        scene = self._scene(told.board, told.history)
        own = [decode_event(data) for data in told.history[told.seq - 1 :]]
        parts = [
            _first(scene, told, own),
            self._said(told.chat),
            self._earlier(told),
            summary(scene, self._app.store.now()),
            self._board(scene, told.account),
            _how(scene, told.seat),
        ]
        text = "\n\n".join(part for part in parts if part)
        return EmailText(_subject(scene), f"{text}\n\n{_foot(self._name(told.account))}")

    def chat(self, account: AccountId, board: int, said: Sequence[PlayerMessage]) -> EmailText:
        """Write what others said in a match."""
        (data,) = self._app.store.snapshots([board])
        scene = NamedMatch.of(self._app, board, unpack_snapshot(data).state)
        how = _how(scene, scene.state.seats.index(account)) or _SAY
        parts = [self._said(said), summary(scene, self._app.store.now()), how]
        text = "\n\n".join(parts)
        return EmailText(_subject(scene), f"{text}\n\n{_foot(self._name(account))}")

    def _said(self, said: Sequence[PlayerMessage]) -> str:
        """Say what others said, each line after its writer."""
        earlier = f"... and {len(said) - _LINES} lines before; `chat` in a reply shows them"
        shown = said[-_LINES:]
        names = self._app.accounts.name_of([line.sender for line in shown])
        lines = [
            # set off at every sign that may be taken for a line's end: no text passes for ours
            f"{shown_name(name)} says: " + "\n    ".join(line.text.splitlines())
            for line, name in zip(shown, names, strict=True)
        ]
        return "\n".join([earlier, *lines] if len(said) > _LINES else lines)

    def _scene(self, board: int, history: Sequence[bytes]) -> NamedMatch:
        return NamedMatch.of(self._app, board, replay(history))

    def _earlier(self, told: MatchUpdate) -> str:
        """Say what else happened since the player last did something."""
        before = [decode_event(data) for data in told.history[: told.seq - 1]]
        since = max((e.seq for e in before if e.actor == told.account), default=1)
        runs = _runs([event for event in before if event.seq > since])[-_EARLIER:]
        lines = [
            describe_events(
                self._scene(told.board, told.history[: run[-1].seq]), [e.body for e in run]
            )
            for run in runs
        ]
        return "\n".join(["Before that:", *lines]) if lines else ""

    def _board(self, scene: NamedMatch, account: AccountId) -> str:
        """Draw the board as the player prefers it."""
        profile = self._app.accounts.record_of(account)
        chosen = dict(profile.displays).get(scene.rules.key, "") if profile else ""
        return draw(scene, chosen if chosen in scene.rules.displays else scene.rules.displays[0])

    # a digest

    def digest(self, account: AccountId, items: Sequence[DigestItem]) -> EmailText:
        """Write what a player is told once a day."""
        boards = list(dict.fromkeys(item.board for item in items if item.board))
        parts = [self._of_match(account, board, items) for board in boards[:_BOARDS]]
        if len(boards) > _BOARDS:
            parts.append(f"... and {len(boards) - _BOARDS} more matches")
        parts += self._of_letters(account, items)
        text = "\n\n\n".join(part for part in parts if part)
        foot = _server_foot(self._name(account), "once a day")
        return EmailText("matchpost: what happened in your matches", f"{text}\n\n{foot}")

    def _of_match(self, account: AccountId, board: int, items: Sequence[DigestItem]) -> str:
        (data,) = self._app.store.snapshots([board])
        state = unpack_snapshot(data).state
        if account not in state.seats:
            return ""
        scene, seat = NamedMatch.of(self._app, board, state), state.seats.index(account)
        kinds = dict.fromkeys(NoticeKind(item.what) for item in items if item.board == board)
        happened = "\n".join(f"  {_HAPPENED[kind]}" for kind in kinds if kind in _HAPPENED)
        chat = [one.at for one in items if (one.board, one.what) == (board, NoticeKind.CHAT)]
        said = lines_since(self._app.letters, account, board, min(chat)) if chat else []
        parts = [f"{summary(scene, self._app.store.now())}\nsince the last mail:\n{happened}"]
        parts += [self._said(said)] if said else []
        if asked := _asked(scene, seat):
            address = self._addresses.of(board, seat, account)
            parts += [self._board(scene, account), f"{asked}, in a mail to\n{address}"]
        return "\n\n".join(parts)

    def _of_letters(self, account: AccountId, items: Sequence[DigestItem]) -> list[str]:
        senders = [bytes.fromhex(item.what) for item in items if not item.board]
        name = self._name(account)
        return [
            f"{self._name(sender)} has written to you; `messages {name} password` shows it"
            for sender in dict.fromkeys(senders)
        ]

    # what has no board

    def message(self, account: AccountId, note: QueuedMessage) -> EmailText:
        """Write what another player wrote."""
        sender, name = self._name(note.sender), self._name(account)
        to = "you" if note.kind == LetterKind.MESSAGE else "everybody"
        # set off at every sign that may be taken for a line's end: no text passes for ours
        text = "\n".join(f"  {line}" for line in note.text.splitlines())
        how = f"To answer, mail to this address:\n  message {name} password {sender} YOUR TEXT"
        foot = _server_foot(name, "when somebody writes to you")
        return EmailText(
            f"matchpost: {sender} wrote to {to}",
            f"{sender} writes to {to}:\n\n{text}\n\n{how}\n\n{foot}",
        )

    def code(self, account: AccountId, code: str) -> EmailText:
        """Write the code that proves an address."""
        name, shown = self._name(account), format_code(code)
        return EmailText(
            f"matchpost: your code is {shown}",
            f"Somebody, probably you, gave this address for the userid {name} on the matchpost\n"
            f"server {self._addresses.domain}.\n\n"
            "If it was you, reply to this mail; it need not say anything. Or give the code back\n"
            f"by hand, here or at the terminal:\n\n  verify {name} password {shown}\n\n"
            "If it was not you, do nothing. Nothing else is sent here.\n",
        )

    def _name(self, account: AccountId) -> str:
        (name,) = self._app.accounts.name_of([account])
        return shown_name(name)


def _subject(scene: NamedMatch) -> str:
    """Return what all mails of a match are called: the same for ever, so that they stay together."""
    return f"match {scene.board}: {scene.rules.title}{scene.options}"


def _first(scene: NamedMatch, told: MatchUpdate, own: Sequence[EventEnvelope]) -> str:
    if NoticeKind.REMINDER in told.kinds:
        return f"{scene.place}: you are to move, and your time runs out"
    return describe_events(scene, [event.body for event in own])


def _runs(events: Sequence[EventEnvelope]) -> list[list[EventEnvelope]]:
    """Group events by the command that led to them, but for the start, which was told."""
    found: dict[bytes, list[EventEnvelope]] = {}
    for event in events:
        if not isinstance(event.body, MatchStarted):
            found.setdefault(event.command, []).append(event)
    return list(found.values())


def _how(scene: NamedMatch, seat: Seat) -> str:
    """Say how to answer, where something is asked of the player or can be said."""
    if scene.state.over:
        return ""
    asked = _asked(scene, seat)
    if not asked:
        return f"Nothing is asked of you now. {_SAY}"
    others = ["say TEXT"] if scene.state.awaits_entropy else ["resign", "propose draw", "say TEXT"]
    if not scene.state.acted >> seat & 1:
        others.insert(0, "decline")
    return f"{asked}, in the first line of a reply.\nAlso: {', '.join(others)}."


def _asked(scene: NamedMatch, seat: Seat) -> str:
    """Say what is asked of a player; empty when nothing is."""
    state = scene.state
    if state.over:
        return ""
    if state.awaits_entropy:
        return _asked_before(state, seat)
    return "\n".join([*_proposed(scene, state, seat), *_turn(scene, state, seat)])


def _asked_before(state: MatchState, seat: Seat) -> str:
    """Say what is asked of a player before the draw."""
    if seat not in state.waits:
        return ""
    if not state.sealed:
        return "To play, write accept"
    return (
        "To play, open the match where you accepted it: your text for the draw is kept there, and "
        "revealed by itself. Or write reveal and the text"
    )


def _proposed(scene: NamedMatch, state: MatchState, seat: Seat) -> Iterator[str]:
    offer = state.offer
    if (
        offer is not None
        and seat in state.active_seats
        and seat not in (offer.seat, *offer.accepted)
    ):
        yield f"{scene.who(offer.seat)} proposed {offer_name(offer.kind)}: write accept or reject"


def _turn(scene: NamedMatch, state: MatchState, seat: Seat) -> Iterator[str]:
    if state.next == seat:
        move = next(iter(scene.rules.legal_moves(scene.position)), "")
        yield f"To play, write your move, such as {move}" if move else "To play, write your move"


def _foot(name: str) -> str:
    return (
        f"-- \n{name}, the address of this mail is for you alone: who has it can play for you.\n"
        "For less mail reply with: set notify daily, or set notify none; for no mail: signoff\n"
    )


def _server_foot(name: str, when: str) -> str:
    return (
        f"-- \nYou get mail {when}. To change that, write in a reply\n"
        f"  set {name} password notify move|daily|none\n"
    )
