"""The texts of notification e-mails: what happened, the board, and how to reply, in the reader's language.

The text about a match has only what anybody may see at its board, and nothing that only another
player may see. It shows the match as it was after the command that caused the e-mail.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from domain.match.events import MatchStarted
from domain.match.history import EventEnvelope, decode_event, replay, unpack_snapshot
from domain.match.moves import may_decline
from domain.match.state import MatchState, Reason
from domain.records import AccountId
from domain.rules import Seat
from domain.sentences import Sentence
from infra.languages.wording import Wording, wording
from infra.mail.addresses import ServerAddresses
from infra.mail.composer import EmailText, MatchUpdate, TournamentUpdate
from infra.mail.progress import DigestItem
from infra.mail.queues import QueuedMessage, lines_since
from infra.mail.verification_codes import format_code
from infra.people.accounts.writing import mail_turn_of
from infra.people.masthead import Masthead
from infra.people.messages import MessageKind, PlayerMessage
from infra.projections.notices import OF_TOURNAMENTS, NoticeKind, TournamentNotice
from services.app.context import App
from services.app.matches import preferred_display
from services.app.names import shown_name
from services.app.pictures import packed_drawing
from services.app.tournament_names import names_in_notices
from services.language.handlers.boards import draw
from services.mail.account_texts import code_text, reset_text
from services.mail.dispute_texts import (
    how_to_appeal,
    how_to_rule,
    reasons_text,
    statement_lines,
)
from services.mail.html_part import html_part
from services.mail.sentences import SAY
from services.words.agreements import offered
from services.words.endings import board_svg
from services.words.matches import describe_events, summary
from services.words.named_match import NamedMatch
from services.words.news import happened
from services.words.tournament_news import tournament_news, what_follows

_EARLIER: Final = 6
"""Earlier commands that a mail repeats, at most."""

_BOARDS: Final = 20
"""Matches of a digest, at most."""

_LINES: Final = 50
"""Lines of chat in a mail, at most: the newest."""

_SIGNATURE: Final = "-- \n"


class NotificationTexts:
    """Writes the texts; see `infra.mail.composer.Composer`."""

    def __init__(self, app: App, addresses: ServerAddresses) -> None:
        self._app = app
        self._addresses = addresses

    # a match

    def match_update(self, update: MatchUpdate) -> EmailText:
        """Write the mail about events of a match."""
        language = self._language(update.account)
        scene = self._scene(update.board, update.history, language)
        own = [decode_event(data) for data in update.history[update.seq - 1 :]]
        profile = self._app.accounts.record_of(update.account)
        answered = profile is None or profile.receipts or profile.notify != "move"
        link = f"{self._app.settings.site}/m/{update.board}" if self._app.settings.site else ""
        display = preferred_display(self._app, update.account, scene.rules)
        foot = self._masthead.signed(_foot(self._name(update.account, language), language))
        above = [
            _first(scene, update, own),
            statement_lines(self._app, update.board, own, language),
            self._chat_lines(update.chat, language),
        ]
        before = self._earlier(update, language)
        clocks = summary(scene, self._app.store.now())
        below = [
            _how(scene, update.seat, answered=answered),
            how_to_appeal(scene.state, own, language),
            _how_to_play_again(scene),
        ]
        web = scene.said(SAY("on-the-web", link=link)) if link else ""
        text = "\n\n".join(
            filter(None, [*above, before, clocks, draw(scene, display), *below, web])
        )
        subject = _subject(scene, update.seat, update.kinds)
        text = f"{text}\n\n{foot}"
        if scene.position is None:
            return EmailText(subject, text, language.code)
        html = html_part(
            list(filter(None, above)),
            list(filter(None, [*below, clocks, before])),
            foot.removeprefix(_SIGNATURE).rstrip(),
            alternative=scene.said(SAY("board-as-text")),
            language=language.code,
            link=(link, scene.said(SAY("open-match"))),
            small=display == "small",
        )
        svg = board_svg(scene.state, scene.state.ply, scene.names, language=language)
        return EmailText(subject, text, language.code, html, packed_drawing(svg))

    def case(self, account: AccountId, board: int, history: Sequence[bytes]) -> EmailText:
        """Write the mail to an arbiter about a claim or an appeal."""
        language = self._language(account)
        scene, last = self._scene(board, history, language), decode_event(history[-1])
        name = self._name(account, language)
        parts = [
            describe_events(scene, [last]),
            statement_lines(self._app, board, [last], language),
            summary(scene, self._app.store.now()),
            how_to_rule(board, name, language),
            self._masthead.signed(_server_foot(name, SAY("why-case"), language)),
        ]
        subject = scene.said(SAY("case", site=self._masthead.name, board=board))
        return EmailText(subject, "\n\n".join(parts), language.code)

    def chat(self, account: AccountId, board: int, said: Sequence[PlayerMessage]) -> EmailText:
        """Write the mail with chat of the other players in a match."""
        language = self._language(account)
        (data,) = self._app.store.snapshots([board])
        scene = NamedMatch.of(self._app, board, unpack_snapshot(data).state, language)
        how = _how(scene, scene.state.seats.index(account)) or scene.said(SAY("to-chat"))
        parts = [self._chat_lines(said, language), summary(scene, self._app.store.now()), how]
        text = "\n\n".join(parts)
        foot = self._masthead.signed(_foot(self._name(account, language), language))
        subject = _subject(scene, scene.state.seats.index(account))
        return EmailText(subject, f"{text}\n\n{foot}", language.code)

    def _chat_lines(self, said: Sequence[PlayerMessage], language: Wording) -> str:
        """Return chat of the other players, each line after the name of its writer."""
        shown = said[-_LINES:]
        names = self._app.accounts.name_of([line.sender for line in shown])
        lines = [
            # indented after every kind of line end, so that no line looks like the server's own
            f"{SAY('says', name=shown_name(name, language)).in_language(language)} "
            + "\n    ".join(line.text.splitlines())
            for line, name in zip(shown, names, strict=True)
        ]
        if len(said) > _LINES:
            earlier = SAY("earlier-lines", count=len(said) - _LINES)
            lines.insert(0, earlier.in_language(language))
        return "\n".join(lines)

    def _scene(self, board: int, history: Sequence[bytes], language: Wording) -> NamedMatch:
        return NamedMatch.of(self._app, board, replay(history), language)

    def _earlier(self, update: MatchUpdate, language: Wording) -> str:
        """Return the player's own last command, and what else happened since."""
        before = [decode_event(data) for data in update.history[: update.seq - 1]]
        since = max((e.seq for e in before if e.actor == update.account), default=2)
        runs = _runs([event for event in before if event.seq >= since])[-_EARLIER:]
        lines = [
            describe_events(self._scene(update.board, update.history[: run[-1].seq], language), run)
            for run in runs
        ]
        return "\n".join([SAY("before").in_language(language), *lines]) if lines else ""

    def _board(self, scene: NamedMatch, account: AccountId) -> str:
        """Draw the board in the display that the player prefers."""
        return draw(scene, preferred_display(self._app, account, scene.rules))

    # a tournament

    def tournament_update(self, update: TournamentUpdate) -> EmailText | None:
        """Write the mail about events of a tournament; None if the account may not see it."""
        number, language = update.first.match, self._language(update.account)
        title = names_in_notices(self._app, update.account, [number]).get(number)
        if title is None:
            return None
        news = [tournament_news(one.kind, one.detail, title, language) for one in update.notices]
        name = self._name(update.account, language)
        parts = [
            "\n".join(f"{one}." for one in news),
            "\n".join(what_follows(update.notices, language)),
            self._reasons(update, language),
            self._where(number, name, language),
            self._masthead.signed(_server_foot(name, SAY("to-get-less"), language)),
        ]
        return EmailText(news[0], "\n\n".join(filter(None, parts)), language.code)

    def _reasons(self, update: TournamentUpdate, language: Wording) -> str:
        """Return the reasons for which the account was taken out; empty for other news."""
        if all(one.kind is not NoticeKind.TAKEN_OUT for one in update.notices):
            return ""
        said = self._app.statements.of_match(update.first.match)
        texts = [one.text for one in said if one.command == update.first.command]
        return reasons_text(self._name(update.first.actor, language), texts, language)

    def _where(self, number: int, name: str, language: Wording) -> str:
        """Return where a tournament can be seen: its page, or how to ask for it by mail."""
        if site := self._app.settings.site:
            return SAY("on-the-web", link=f"{site}/tournaments/{number}").in_language(language)
        how = SAY("to-see-tournament").in_language(language)
        return f"{how}\n  tournament {number} {name} password"

    def _of_tournaments(
        self, account: AccountId, items: Sequence[DigestItem], language: Wording
    ) -> list[str]:
        """Return the news of each tournament that the account may see."""
        notices: dict[int, list[TournamentNotice]] = {}
        for item in filter(_is_of_tournament, items):
            one = TournamentNotice.read(account, item.what)
            notices.setdefault(item.board, []).append(one)
        titles = names_in_notices(self._app, account, [*notices]) if notices else {}
        name, parts = self._name(account, language), []
        for number, title in titles.items():
            news = [
                tournament_news(one.kind, one.detail, title, language) for one in notices[number]
            ]
            lines = [f"{one}." for one in dict.fromkeys(news)]
            parts.append("\n".join([*lines, self._where(number, name, language)]))
        return parts

    # a digest

    def digest(self, account: AccountId, items: Sequence[DigestItem]) -> EmailText:
        """Write the daily digest."""
        language = self._language(account)
        every, items = items, [one for one in items if not _is_of_tournament(one)]
        boards = list(dict.fromkeys(item.board for item in items if item.board))
        parts = [self._of_match(account, board, items, language) for board in boards[:_BOARDS]]
        if len(boards) > _BOARDS:
            more = SAY("more-matches", count=len(boards) - _BOARDS)
            parts.append(more.in_language(language))
        parts += self._of_tournaments(account, every, language)
        parts += self._of_messages(account, items, language)
        text = "\n\n\n".join(part for part in parts if part)
        foot = _server_foot(self._name(account, language), SAY("why-daily"), language)
        subject = SAY("digest", site=self._masthead.name).in_language(language)
        text = self._masthead.signed(f"{text}\n\n{foot}")
        return EmailText(subject, text, language.code)

    def _of_match(
        self, account: AccountId, board: int, items: Sequence[DigestItem], language: Wording
    ) -> str:
        (data,) = self._app.store.snapshots([board])
        state = unpack_snapshot(data).state
        if account not in state.seats:
            return ""
        scene = NamedMatch.of(self._app, board, state, language)
        seat = state.seats.index(account)
        kinds = dict.fromkeys(NoticeKind(item.what) for item in items if item.board == board)
        news = [f"  {one}" for kind in kinds if (one := happened(kind, scene.words))]
        chat = [one.at for one in items if (one.board, one.what) == (board, NoticeKind.CHAT)]
        said = lines_since(self._app.messages, account, board, min(chat)) if chat else []
        lines = [summary(scene, self._app.store.now()), scene.said(SAY("since")), *news]
        parts = ["\n".join(lines)]
        parts += [self._chat_lines(said, language)] if said else []
        if asked := _asked(scene, seat):
            turn = mail_turn_of(self._app.accounts.record_of(account))
            address = self._addresses.of(board, seat, account, turn)
            how = scene.said(SAY("in-mail-to", asked=asked))
            parts += [self._board(scene, account), f"{how}\n{address}"]
        return "\n\n".join(parts)

    def _of_messages(
        self, account: AccountId, items: Sequence[DigestItem], language: Wording
    ) -> list[str]:
        senders = [bytes.fromhex(item.what) for item in items if not item.board]
        name = self._name(account, language)
        return [
            f"{SAY('sent', sender=self._name(sender, language)).in_language(language)}\n"
            f"  messages {name} password"
            for sender in dict.fromkeys(senders)
        ]

    # outside matches

    def message(self, account: AccountId, note: QueuedMessage) -> EmailText:
        """Write the mail with a message of another player."""
        language = self._language(account)
        sender, name = self._name(note.sender, language), self._name(account, language)
        site = self._masthead.name
        subject, head = SAY("wrote-all", site=site, sender=sender), SAY("writes-all", sender=sender)
        if note.kind == MessageKind.MESSAGE:
            subject, head = (
                SAY("wrote-you", site=site, sender=sender),
                SAY("writes-you", sender=sender),
            )
        own_text = SAY("your-text").in_language(language)
        parts = [
            head.in_language(language),
            # indented after every kind of line end, so that no line looks like the server's own
            "\n".join(f"  {line}" for line in note.text.splitlines()),
            (
                f"{SAY('to-answer').in_language(language)}\n"
                f"  message {name} password {sender} {own_text}"
            ),
            self._masthead.signed(_server_foot(name, SAY("why-message"), language)),
        ]
        return EmailText(subject.in_language(language), "\n\n".join(parts), language.code)

    def code(self, account: AccountId, code: str) -> EmailText:
        """Write the mail with the code that verifies an address."""
        language = self._language(account)
        name = self._name(account, language)
        return code_text(language, name, format_code(code), self._addresses, self._masthead)

    def reset(self, account: AccountId, link: str) -> EmailText:
        """Write the mail with the link for a new password."""
        language = self._language(account)
        site = self._app.settings.site or ""
        return reset_text(language, self._name(account, language), site, link, self._masthead)

    @property
    def _masthead(self) -> Masthead:
        return self._app.mastheads.recent()

    def _language(self, account: AccountId) -> Wording:
        return wording(self._app.accounts.language_of(account))

    def _name(self, account: AccountId, language: Wording) -> str:
        (name,) = self._app.accounts.name_of([account])
        return shown_name(name, language)


def _is_of_tournament(item: DigestItem) -> bool:
    return item.what.partition(":")[0] in OF_TOURNAMENTS


def _subject(scene: NamedMatch, seat: Seat, kinds: Sequence[NoticeKind] = ()) -> str:
    """Return the subject of a mail about a match: what it is about for a seat, against whom, and where.

    Mail programs show the mails of a match together by the ids to which they refer.
    """
    what = scene.said(_about(scene, seat, kinds))
    return scene.said(SAY("subject", what=what, game=scene.game, board=scene.board))


def _about(scene: NamedMatch, seat: Seat, kinds: Sequence[NoticeKind]) -> Sentence:
    names = [name for other, name in enumerate(scene.names) if other != seat]
    players = scene.words.names(names)
    if not names:
        return SAY("your-move")
    if NoticeKind.REMINDER in kinds:
        return SAY("time-against", players=players)
    if NoticeKind.CHALLENGED in kinds and len(names) == 1:
        return SAY("challenges-you", players=players)
    if scene.state.over:
        return SAY("over-against", players=players)
    if scene.state.next == seat:
        return SAY("move-against", players=players)
    return SAY("you-and", players=players)


def _first(scene: NamedMatch, update: MatchUpdate, own: Sequence[EventEnvelope]) -> str:
    if NoticeKind.REMINDER in update.kinds:
        return scene.said(SAY("reminder", place=scene.place))
    return describe_events(scene, own)


def _runs(events: Sequence[EventEnvelope]) -> list[list[EventEnvelope]]:
    """Return events grouped by their command, without the start, which had a mail of its own."""
    found: dict[bytes, list[EventEnvelope]] = {}
    for event in events:
        if not isinstance(event.body, MatchStarted):
            found.setdefault(event.command, []).append(event)
    return list(found.values())


def _how(scene: NamedMatch, seat: Seat, *, answered: bool = True) -> str:
    """Return how to reply, and whether an accepted move is answered; empty if the match is over."""
    if scene.state.over:
        return ""
    asked = _asked(scene, seat)
    if not asked:
        return f"{scene.said(SAY('nothing'))}.\n{scene.said(SAY('to-chat'))}"
    unaccepted = scene.state.awaits_entropy or scene.state.invitation is not None
    others = ["chat TEXT"] if unaccepted else ["resign", "propose draw", "chat TEXT"]
    if may_decline(seat, scene.state):
        others.insert(0, "decline")
    lines = [scene.said(SAY("in-reply", asked=asked))]
    if scene.state.next == seat and not answered:
        lines.append(scene.said(SAY("only-if-refused")))
    lines.append(scene.said(SAY("also", commands=", ".join(others))))
    return "".join(f"{line}.\n" for line in lines).rstrip()


def _how_to_play_again(scene: NamedMatch) -> str:
    """Return how to get a rematch; empty while the match goes on, here or elsewhere, and for a puzzle."""
    state = scene.state
    if state.result is None or len(state.seats) == 1 or state.result.reason == Reason.TRANSFERRED:
        return ""
    return scene.said(SAY("to-rematch"))


def _asked(scene: NamedMatch, seat: Seat) -> str:
    """Return what the player has to do, as instructions; empty if nothing."""
    if scene.state.over:
        return ""
    found = list(_proposed(scene, seat))
    if scene.state.awaits_entropy:
        found += _asked_before(scene.state, seat)
    else:
        found += _turn(scene, seat)
    return "\n".join(map(scene.said, found))


def _asked_before(state: MatchState, seat: Seat) -> list[Sentence]:
    """Return what the player has to do before the draw."""
    if seat not in state.waits:
        return []
    return [SAY("write-reveal") if state.sealed else SAY("write-accept")]


def _proposed(scene: NamedMatch, seat: Seat) -> Iterator[Sentence]:
    state, offer = scene.state, scene.state.offer
    if (
        offer is not None
        and seat in state.active_seats
        and seat not in (offer.seat, *offer.accepted)
    ):
        what = offered(offer.kind, scene.who(offer.seat), scene.words)
        yield SAY("write-answer", offer=what)


def _turn(scene: NamedMatch, seat: Seat) -> Iterator[Sentence]:
    invited = seat in scene.state.invited
    if scene.state.next == seat:
        move = next(iter(scene.rules.legal_moves(scene.position)), "")
        if invited:
            yield SAY("write-accept-or-move", move=move)
        else:
            yield SAY("write-move-such-as", move=move) if move else SAY("write-move")
    elif invited:
        yield SAY("write-accept")


def _foot(name: str, language: Wording) -> str:
    secret = SAY("keep-secret", name=name).in_language(language)
    return _server_foot(name, SAY("to-get-less"), language, f"{secret}.\n")


def _server_foot(name: str, why: Sentence, language: Wording, first: str = "") -> str:
    how = f"set {name} password notify move|daily|none"
    return f"{_SIGNATURE}{first}{why.in_language(language)}\n  {how}\n"
