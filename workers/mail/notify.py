"""Reads the logs and mails players what happened: for each command one mail to each player concerned.

Mails players and organisers what happens in tournaments.

After a kill it goes on from the leaves that are recorded as mailed, and builds the same e-mails under
the same ids, which the outbox takes once. So it needs no lease, and several mailers do no harm.

Mails the chat of matches, unless another mail of the match contained it.

Mails the messages that players write to each other.

Mails arbiters that a case waits for a ruling: a claim, or an appeal.

Arbiters get it at once, also those who want a digest, because a player waits. Those who play in the
match get the mail of its players. The arbiter who has ruled before gets the mail of an appeal, too.

Mails to new addresses the codes that verify them.

Mails links for forgotten passwords, to the proven addresses of those who asked.

Mails the daily digests.

Log the failure of one mail and go on with the others.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from msgspec.structs import replace
from redis.exceptions import RedisError
from rq.timeouts import BaseTimeoutException

from domain.errors import Refusal
from domain.match.events import Appealed, Claimed
from domain.match.history import decode_event, unpack_snapshot
from domain.records import AccountId, CommandId
from infra.mail.addresses import Recipient, recipient_of
from infra.mail.composer import MatchUpdate, TournamentUpdate
from infra.mail.email import Email
from infra.mail.progress import DigestItem
from infra.mail.queues import MessageMailQueue, QueuedMessage, UnmailedChat, lines_since
from infra.mail.verification_codes import VerificationCodes
from infra.people.accounts import AccountRole
from infra.people.accounts.address_owners import AddressOwners
from infra.people.messages import PlayerMessage
from infra.people.password_resets import PasswordResets, ResetRequest
from infra.projections.notice_fold import notices_by_player
from infra.projections.notices import NoticeKind
from infra.projections.projection import Fact, MatchSetup
from infra.projections.tournament_notices import notices_by_account
from workers.mail.build import BATCH, MailContext
from workers.mail.log_round import LogRound
from workers.projections.log_reader import LogChunk


def mail_arbiters(context: MailContext, fact: Fact) -> None:
    """Mail all arbiters who do not play in the match; nothing for any other event."""
    event = fact.event
    if not isinstance(event.body, Claimed | Appealed):
        return
    history: tuple[bytes, ...] = ()
    for account in context.accounts.holders(AccountRole.ARBITER):
        if account in (*fact.setup.seats, event.actor):
            continue
        # read once, and only if there is an arbiter
        history = history or tuple(context.store.events(event.match)[: event.seq])
        mails = _mails(context, account, event.match, history)
        if mails:
            context.outbox.enqueue_all(mails)


def _mails(
    context: MailContext, account: AccountId, board: int, history: tuple[bytes, ...]
) -> list[Email]:
    to = recipient_of(context.accounts.record_of(account))
    return context.builder.case(account, board, history, to.addresses) if to else []


logger = logging.getLogger(__name__)


@contextmanager
def isolate_errors(what: str) -> Iterator[None]:
    """Log an error in mailing `what`, and go on after it.

    Errors of the server and the end of the job's time pass through, because `what` is not at fault.
    """
    try:
        yield
    except (RedisError, BaseTimeoutException):
        raise
    except Exception:
        logger.exception("ALARM: %s can't be mailed", what)


OLD_MS: Final = 3 * 24 * 3_600_000
"""Older events are not mailed: the mailer was down, and the pages show them."""

_URGENT: Final = frozenset({NoticeKind.REMINDER})
"""Notices that can't wait for a digest, because it would come after the deadline."""


class MatchMailer(LogRound):
    """Mails players what happened in their matches and tournaments."""

    what = "mailed"

    def __init__(self, context: MailContext) -> None:
        super().__init__(context.store, context.progress)
        self._context = context
        self._recipients: dict[AccountId, Recipient | None] = {}
        """The players of this round's matches."""
        self._oldest = 0

    def begin_round(self, chunk: LogChunk) -> None:
        """Forget the players of the last round."""
        del chunk
        self._recipients.clear()
        self._oldest = self._context.store.now() - OLD_MS

    def notify(self, board: int, command: CommandId, fact: Fact) -> None:
        """Mail a command to everybody concerned; `fact` is its first event."""
        if fact.event.at < self._oldest:
            return
        with isolate_errors(f"match {board}"):
            mail_arbiters(self._context, fact)
        if not any(map(self._recipient, fact.setup.seats)):
            return  # as in most matches: what follows reads the whole of it
        with isolate_errors(f"match {board}"):
            for one in self._notifications(board, command, fact.setup):
                self._deliver(one, fact.event.at)

    def notify_of_tournament(self, number: int, command: CommandId, fact: Fact) -> None:
        """Mail a command in a tournament to everybody concerned, once also if its events are read in parts."""
        if fact.event.at < self._oldest:
            return
        with isolate_errors(f"tournament {number}"):
            history = self._context.store.events(number)
            events = [decode_event(data) for data in history]
            first = next(event for event in events if event.command == command)
            for account, notices in notices_by_account(events, command).items():
                update = TournamentUpdate(account, first, tuple(notices))
                with isolate_errors(f"tournament {number}"):
                    self._deliver_of_tournament(update, history[first.seq - 1])

    def _deliver_of_tournament(self, update: TournamentUpdate, event: bytes) -> None:
        context, first, to = self._context, update.first, self._recipient(update.account)
        if to is None:
            return
        if to.daily:
            items = [
                DigestItem(first.match, first.seq, one.text, first.at) for one in update.notices
            ]
            context.progress.add_digest_items(update.account, items, context.outbox.now())
        else:
            context.outbox.enqueue_all(context.builder.tournament(update, event, to.addresses))

    def _notifications(
        self, board: int, command: CommandId, cast: MatchSetup
    ) -> Iterator[MatchUpdate]:
        history = self._context.store.events(board)
        events = [decode_event(data) for data in history]
        own = [event for event in events if event.command == command]
        for account, kinds in notices_by_player(cast, events, own).items():
            yield MatchUpdate(
                account=account,
                board=board,
                seat=cast.seats.index(account),
                seq=own[0].seq,
                kinds=tuple(kinds),
                history=tuple(history[: own[-1].seq]),
            )

    def _deliver(self, one: MatchUpdate, at: int) -> None:
        context = self._context
        to = self._recipient(one.account)
        if to is None:
            return
        if to.daily and not _URGENT.intersection(one.kinds):
            items = [DigestItem(one.board, one.seq, kind, at) for kind in one.kinds]
            context.progress.add_digest_items(one.account, items, context.outbox.now())
            return
        talk = context.chats.of(one.account, one.board)
        said = self._unread_chat(talk) if talk else []
        attached = context.attach(one.board, one.history[-1]) if to.receipts else ()
        news = replace(one, chat=tuple(said))
        mails = context.builder.notification(news, to.addresses, attached)
        context.outbox.enqueue_all(mails)
        if talk:
            # crash window: it is in the outbox, and comes again in the next mail of the match
            upto = max([talk.last, *(line.at for line in said)])
            context.chats.mark_mailed(talk, upto, context.outbox.now())

    def _unread_chat(self, talk: UnmailedChat) -> list[PlayerMessage]:
        return lines_since(self._context.messages, talk.account, talk.board, talk.first)

    def _recipient(self, account: AccountId) -> Recipient | None:
        if account not in self._recipients:
            profile = self._context.accounts.record_of(account)
            self._recipients[account] = recipient_of(profile)
        return self._recipients[account]


class ChatMailer:
    """Mails chat that has waited long enough for a move."""

    def __init__(self, context: MailContext) -> None:
        self._context = context

    def round(self) -> int:
        """Mail some chats; return how many were due."""
        chats, outbox = self._context.chats, self._context.outbox
        due = chats.due(outbox.now(), BATCH)
        for talk in due:
            upto = talk.last
            with isolate_errors(f"the chat of match {talk.board}"):
                upto = max(upto, self._send(talk))
            # crash window: it is in the outbox and comes again, under the same id
            chats.mark_mailed(talk, upto, outbox.now())
        return len(due)

    def _send(self, talk: UnmailedChat) -> int:
        """Mail the lines; return the time of the newest, 0 if there is nothing to mail."""
        context = self._context
        to = recipient_of(context.accounts.record_of(talk.account))
        said = lines_since(context.messages, talk.account, talk.board, talk.first)
        if not said or to is None:
            return 0
        if to.daily:
            # the digest reads the text itself, from the first line on
            item = DigestItem(talk.board, 0, NoticeKind.CHAT, said[0].at)
            context.progress.add_digest_items(talk.account, [item], context.outbox.now())
            return said[-1].at
        (data,) = context.store.snapshots([talk.board])
        seat = unpack_snapshot(data).state.seats.index(talk.account)
        mails = context.builder.chat(talk.account, talk.board, seat, said, to.addresses)
        context.outbox.enqueue_all(mails)
        return said[-1].at


class MessageMailer:
    """Mails messages; one to everybody goes to all accounts, some in each round."""

    def __init__(self, context: MailContext, written: MessageMailQueue) -> None:
        self._context = context
        self._written = written

    def round(self) -> int:
        """Mail some messages, and a broadcast to some players; return how many."""
        notes = self._written.oldest(BATCH)
        personal = [note for note in notes if note.recipients]
        for note in personal:
            with isolate_errors("a message"):
                for account in note.recipients:
                    self._deliver(account, note)
            # crash window: all is in the outbox and comes again, under the same ids
            self._written.done(note)
        broadcasts = [note for note in notes if not note.recipients][:1]
        for note in broadcasts:
            self._mail_part(note)
        return len(personal) + len(broadcasts)

    def _mail_part(self, note: QueuedMessage) -> None:
        """Mail a broadcast to the next players; the others come in later rounds, after all other mail."""
        names = self._context.accounts.names_after(note.after, BATCH)
        for account in filter(None, map(self._find, names)):
            with isolate_errors("a message"):
                self._deliver(account, note)
        # crash window: these are in the outbox and come again, under the same ids
        if len(names) < BATCH:
            self._written.done(note)
        else:
            self._written.go_on(note, names[-1])

    def _find(self, name: str) -> AccountId | None:
        """Return an account, or None if it has just been deleted."""
        try:
            return self._context.accounts.id_of(name)
        except Refusal:
            return None

    def _deliver(self, account: AccountId, note: QueuedMessage) -> None:
        context = self._context
        to = recipient_of(context.accounts.record_of(account))
        if to is None or account == note.sender:
            return
        if to.daily:
            item = DigestItem(0, 0, note.sender.hex(), note.at)
            context.progress.add_digest_items(account, [item], context.outbox.now())
        else:
            context.outbox.enqueue_all(context.builder.message(account, note, to.addresses))


class CodeMailer:
    """Mails codes to the addresses that accounts have entered."""

    def __init__(self, context: MailContext, codes: VerificationCodes) -> None:
        self._context = context
        self._codes = codes

    def round(self) -> int:
        """Mail the codes of some accounts; return the number of accounts."""
        named = self._codes.accounts_to_verify(BATCH)
        for account in named:
            with isolate_errors("a code"):
                self._send(account)
            # crash window: it is in the outbox and comes again
            self._codes.mark_verified_for(account)
        return len(named)

    def _send(self, account: AccountId) -> None:
        profile = self._context.accounts.record_of(account)
        outbox = self._context.outbox
        for one in profile.addresses if profile else ():
            if not one.usable:
                code = self._codes.issue(account, one.address)
                builder = self._context.builder
                outbox.enqueue(builder.code(account, one.address, code, outbox.now()))


class ResetMailer:
    """Reads the requests for links, and queues the mails."""

    def __init__(self, context: MailContext, resets: PasswordResets, owners: AddressOwners) -> None:
        self._context = context
        self._resets = resets
        self._owners = owners

    def round(self) -> int:
        """Answer some requests; return their number."""
        requests = self._resets.oldest(BATCH)
        for request in requests:
            with isolate_errors("a link for a new password"):
                if self._resets.is_timely(request):
                    self._answer(request)
            # crash window: the mail is in the outbox, and another one follows with another link
            self._resets.done(request)
        return len(requests)

    def _answer(self, request: ResetRequest) -> None:
        for account in self._accounts(request.text):
            profile = self._context.accounts.record_of(account)
            if profile is None or profile.suspended:
                continue
            to = [one.address for one in profile.addresses if one.usable]
            link = self._resets.issue(account) if to else None
            if link is not None:
                builder, now = self._context.builder, self._context.outbox.now()
                self._context.outbox.enqueue_all(builder.reset(account, to, link, now))

    def _accounts(self, text: str) -> list[AccountId]:
        """Return the accounts that a userid or an address names; none for any other text."""
        if "@" in text:
            return self._owners.of(text)
        try:
            return [self._context.accounts.id_of(text)]
        except Refusal:
            return []


class DigestMailer:
    """Mails the digests that are due."""

    def __init__(self, context: MailContext) -> None:
        self._context = context

    def round(self) -> int:
        """Mail some digests; return how many were due."""
        progress, now = self._context.progress, self._context.outbox.now()
        due = progress.digests_due(now, BATCH)
        for account, since in due:
            items = progress.digest_items(account)
            with isolate_errors("a digest"):
                self._send(account, items, since)
            # crash window: it is in the outbox and comes again, under the same id
            progress.mark_digest_sent(account, items, now)
        return len(due)

    def _send(self, account: AccountId, items: Sequence[DigestItem], since: int) -> None:
        to = recipient_of(self._context.accounts.record_of(account))
        if items and to:
            builder = self._context.builder
            self._context.outbox.enqueue_all(builder.digest(account, items, since, to.addresses))
