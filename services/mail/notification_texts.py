"""The texts of notification e-mails: what happened, the board, and how to reply.

The text about a match has only what anybody may see at its board, and nothing that only another
player may see. It shows the match as it was after the command that caused the e-mail.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from domain.match.events import AccountId, EventEnvelope, MatchStarted, decode_event
from domain.match.history import replay, unpack_snapshot
from domain.match.state import MatchState, Reason
from domain.rules import Seat
from infra.mail.addresses import ServerAddresses
from infra.mail.chat_queue import lines_since
from infra.mail.composer import EmailText, MatchUpdate
from infra.mail.message_queue import QueuedMessage
from infra.mail.progress import DigestItem
from infra.mail.verification_codes import format_code
from infra.people.messages import MessageKind, PlayerMessage
from infra.projections.notices import NoticeKind
from services.app.context import App
from services.app.names import shown_name
from services.app.sentences import offer_name
from services.language.handlers.boards import draw
from services.language.render.match_text import NamedMatch, describe_events, summary
from services.mail.dispute_texts import how_to_appeal, how_to_rule, statement_lines
from services.mail.reset_texts import reset_text

_EARLIER: Final = 6
"""Earlier commands that a mail repeats, at most."""

_BOARDS: Final = 20
"""Matches of a digest, at most."""

_LINES: Final = 50
"""Lines of chat in a mail, at most: the newest."""

_CHAT: Final = "To chat with the other players, reply with: chat TEXT"

_HAPPENED: Final = {
    NoticeKind.CHALLENGED: "you were challenged",
    NoticeKind.REVEAL: "the draw waits for your text",
    NoticeKind.STARTED: "the match has started",
    NoticeKind.YOUR_TURN: "it became your turn",
    NoticeKind.OFFER: "a player made a proposal",
    NoticeKind.ANSWERED: "a player answered a proposal",
    NoticeKind.REPLIED: "one of your conditional moves was played",
    NoticeKind.RESIGNED: "a player resigned",
    NoticeKind.FLAGGED: "a player ran out of time",
    NoticeKind.RESUMED: "the pause has ended",
    NoticeKind.DECLINED: "a player declined to play",
    NoticeKind.OVER: "the match is over",
    NoticeKind.REMINDER: "your time is running out",
    NoticeKind.CLAIMED: "a claim was made, on which an arbiter rules",
    NoticeKind.RULED: "an arbiter ruled",
    NoticeKind.APPEALED: "a player appealed against a ruling",
    NoticeKind.CHAT: "there is new chat",
}


class NotificationTexts:
    """Writes the texts; see `infra.mail.composer.Composer`."""

    def __init__(self, app: App, addresses: ServerAddresses) -> None:
        self._app = app
        self._addresses = addresses

    # a match

    def match_update(self, update: MatchUpdate) -> EmailText:
        """Write the mail about events of a match."""
        scene = self._scene(update.board, update.history)
        own = [decode_event(data) for data in update.history[update.seq - 1 :]]
        parts = [
            _first(scene, update, own),
            statement_lines(self._app, update.board, own),
            self._chat_lines(update.chat),
            self._earlier(update),
            summary(scene, self._app.store.now()),
            self._board(scene, update.account),
            _how(scene, update.seat),
            how_to_appeal(scene.state, own),
            _how_to_play_again(scene),
        ]
        text = "\n\n".join(part for part in parts if part)
        return EmailText(_subject(scene), f"{text}\n\n{_foot(self._name(update.account))}")

    def case(self, account: AccountId, board: int, history: Sequence[bytes]) -> EmailText:
        """Write the mail to an arbiter about a claim or an appeal."""
        scene, last = self._scene(board, history), decode_event(history[-1])
        name = self._name(account)
        parts = [
            describe_events(scene, [last.body]),
            statement_lines(self._app, board, [last]),
            summary(scene, self._app.store.now()),
            how_to_rule(board, name),
            _server_foot(name, "when a case waits for an arbiter"),
        ]
        return EmailText(f"matchpost: a case waits in match {board}", "\n\n".join(parts))

    def chat(self, account: AccountId, board: int, said: Sequence[PlayerMessage]) -> EmailText:
        """Write the mail with chat of the other players in a match."""
        (data,) = self._app.store.snapshots([board])
        scene = NamedMatch.of(self._app, board, unpack_snapshot(data).state)
        how = _how(scene, scene.state.seats.index(account)) or _CHAT
        parts = [self._chat_lines(said), summary(scene, self._app.store.now()), how]
        text = "\n\n".join(parts)
        return EmailText(_subject(scene), f"{text}\n\n{_foot(self._name(account))}")

    def _chat_lines(self, said: Sequence[PlayerMessage]) -> str:
        """Return chat of the other players, each line after the name of its writer."""
        earlier = f"... and {len(said) - _LINES} earlier lines; to see them, reply with: chat"
        shown = said[-_LINES:]
        names = self._app.accounts.name_of([line.sender for line in shown])
        lines = [
            # indented after every kind of line end, so that no line looks like the server's own
            f"{shown_name(name)} says: " + "\n    ".join(line.text.splitlines())
            for line, name in zip(shown, names, strict=True)
        ]
        return "\n".join([earlier, *lines] if len(said) > _LINES else lines)

    def _scene(self, board: int, history: Sequence[bytes]) -> NamedMatch:
        return NamedMatch.of(self._app, board, replay(history))

    def _earlier(self, update: MatchUpdate) -> str:
        """Return what else happened since the player's own last command."""
        before = [decode_event(data) for data in update.history[: update.seq - 1]]
        since = max((e.seq for e in before if e.actor == update.account), default=1)
        runs = _runs([event for event in before if event.seq > since])[-_EARLIER:]
        lines = [
            describe_events(
                self._scene(update.board, update.history[: run[-1].seq]), [e.body for e in run]
            )
            for run in runs
        ]
        return "\n".join(["Before that:", *lines]) if lines else ""

    def _board(self, scene: NamedMatch, account: AccountId) -> str:
        """Draw the board in the display that the player prefers."""
        profile = self._app.accounts.record_of(account)
        chosen = dict(profile.displays).get(scene.rules.key, "") if profile else ""
        return draw(scene, chosen if chosen in scene.rules.displays else scene.rules.displays[0])

    # a digest

    def digest(self, account: AccountId, items: Sequence[DigestItem]) -> EmailText:
        """Write the daily digest."""
        boards = list(dict.fromkeys(item.board for item in items if item.board))
        parts = [self._of_match(account, board, items) for board in boards[:_BOARDS]]
        if len(boards) > _BOARDS:
            parts.append(f"... and {len(boards) - _BOARDS} more matches")
        parts += self._of_messages(account, items)
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
        said = lines_since(self._app.messages, account, board, min(chat)) if chat else []
        parts = [f"{summary(scene, self._app.store.now())}\nsince the last e-mail:\n{happened}"]
        parts += [self._chat_lines(said)] if said else []
        if asked := _asked(scene, seat):
            address = self._addresses.of(board, seat, account)
            parts += [self._board(scene, account), f"{asked}, in an e-mail to\n{address}"]
        return "\n\n".join(parts)

    def _of_messages(self, account: AccountId, items: Sequence[DigestItem]) -> list[str]:
        senders = [bytes.fromhex(item.what) for item in items if not item.board]
        name = self._name(account)
        return [
            f"{self._name(sender)} has sent you a message; to read it, reply with:\n"
            f"  messages {name} password"
            for sender in dict.fromkeys(senders)
        ]

    # outside matches

    def message(self, account: AccountId, note: QueuedMessage) -> EmailText:
        """Write the mail with a message of another player."""
        sender, name = self._name(note.sender), self._name(account)
        to = "you" if note.kind == MessageKind.MESSAGE else "everybody"
        # indented after every kind of line end, so that no line looks like the server's own
        text = "\n".join(f"  {line}" for line in note.text.splitlines())
        how = f"To answer, reply with:\n  message {name} password {sender} YOUR TEXT"
        foot = _server_foot(name, "when somebody writes to you")
        return EmailText(
            f"matchpost: {sender} wrote to {to}",
            f"{sender} writes to {to}:\n\n{text}\n\n{how}\n\n{foot}",
        )

    def code(self, account: AccountId, code: str) -> EmailText:
        """Write the mail with the code that verifies an address."""
        name, shown = self._name(account), format_code(code)
        return EmailText(
            f"matchpost: your code is {shown}",
            f"Somebody, probably you, entered this e-mail address for the userid {name} on the\n"
            f"matchpost server {self._addresses.domain}.\n\n"
            "If it was you, reply to this e-mail to verify the address; the reply may be empty.\n"
            "Or enter this line at the terminal, or send it by e-mail to\n"
            f"{self._addresses.server_address}:\n\n  verify {name} password {shown}\n\n"
            "If it was not you, do nothing. Until the address is verified, the server sends only\n"
            "such codes to it.\n",
        )

    def reset(self, account: AccountId, link: str) -> EmailText:
        """Write the mail with the link for a new password."""
        site = self._app.settings.site or ""
        return reset_text(self._app.accounts.language_of(account), self._name(account), site, link)

    def _name(self, account: AccountId) -> str:
        (name,) = self._app.accounts.name_of([account])
        return shown_name(name)


def _subject(scene: NamedMatch) -> str:
    """Return the subject of a match's mails. It never changes, so mail programs show them together."""
    return f"match {scene.board}: {scene.rules.title}{scene.options}"


def _first(scene: NamedMatch, update: MatchUpdate, own: Sequence[EventEnvelope]) -> str:
    if NoticeKind.REMINDER in update.kinds:
        return f"{scene.place}: it is your turn, and your time is running out"
    return describe_events(scene, [event.body for event in own])


def _runs(events: Sequence[EventEnvelope]) -> list[list[EventEnvelope]]:
    """Return events grouped by their command, without the start, which had a mail of its own."""
    found: dict[bytes, list[EventEnvelope]] = {}
    for event in events:
        if not isinstance(event.body, MatchStarted):
            found.setdefault(event.command, []).append(event)
    return list(found.values())


def _how(scene: NamedMatch, seat: Seat) -> str:
    """Return how to reply; empty if the match is over."""
    if scene.state.over:
        return ""
    asked = _asked(scene, seat)
    if not asked:
        return f"There is nothing for you to do now.\n{_CHAT}"
    others = (
        ["chat TEXT"] if scene.state.awaits_entropy else ["resign", "propose draw", "chat TEXT"]
    )
    if scene.state.awaits_entropy or not scene.state.acted >> seat & 1:
        others.insert(0, "decline")
    return f"{asked}, in the first line of a reply.\nYou can also write: {', '.join(others)}."


def _how_to_play_again(scene: NamedMatch) -> str:
    """Return how to get a rematch; empty while the match goes on, here or elsewhere, and for a puzzle."""
    state = scene.state
    if state.result is None or len(state.seats) == 1 or state.result.reason == Reason.TRANSFERRED:
        return ""
    return "To play again with the sides exchanged, reply with: rematch"


def _asked(scene: NamedMatch, seat: Seat) -> str:
    """Return what the player has to do, as instructions; empty if nothing."""
    state = scene.state
    if state.over:
        return ""
    if state.awaits_entropy:
        return _asked_before(state, seat)
    return "\n".join([*_proposed(scene, state, seat), *_turn(scene, state, seat)])


def _asked_before(state: MatchState, seat: Seat) -> str:
    """Return the same before the draw."""
    if seat not in state.waits:
        return ""
    if not state.sealed:
        return "To play, write accept"
    return (
        "To play, open the match with the browser or program in which you accepted it: your text "
        "for the draw is stored there, and is revealed automatically. Or write reveal and the text"
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
        f"-- \n{name}, keep the sender's address secret: anybody who knows it can play for you.\n"
        "To get one e-mail a day, reply with: set notify daily\n"
        "To get no e-mail, reply with: signoff\n"
    )


def _server_foot(name: str, when: str) -> str:
    return (
        f"-- \nYou get e-mail {when}. To change that, reply with\n"
        f"  set {name} password notify move|daily|none\n"
    )
