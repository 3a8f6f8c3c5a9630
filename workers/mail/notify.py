"""Reads the logs and mails players what happened: for each command one mail to each player concerned.

After a kill it goes on from the leaves that are recorded as mailed, and builds the same e-mails under
the same ids, which the outbox takes once. So it needs no lease, and several mailers do no harm.
"""

import logging
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from domain.match.events import AccountId, CommandId
from domain.match.leaves import decode_event
from infra.mail.address_status import Recipient, recipient_of
from infra.mail.chat_queue import UnmailedChat, lines_since
from infra.mail.composer import MatchUpdate
from infra.mail.progress import DigestItem
from infra.people.messages import PlayerMessage
from infra.projections.command_notices import notices_by_player
from infra.projections.notices import NoticeKind
from infra.projections.projection import Fact, MatchSetup
from workers.mail.cases import mail_arbiters
from workers.mail.context import MailContext
from workers.mail.isolate import isolate_errors
from workers.mail.log_round import LogRound
from workers.projections.log_reader import LogChunk

logger = logging.getLogger(__name__)

OLD_MS: Final = 3 * 24 * 3_600_000
"""Older events are not mailed: the mailer was down, and the pages show them."""

_URGENT: Final = frozenset({NoticeKind.REMINDER})
"""Notices that can't wait for a digest, because it would come after the deadline."""


class MatchMailer(LogRound):
    """Mails players what happened in their matches."""

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
