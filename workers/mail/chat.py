"""Mails the chat of matches, unless another mail of the match contained it."""

from domain.match.history import unpack_snapshot
from infra.mail.address_status import recipient_of
from infra.mail.chat_queue import UnmailedChat, lines_since
from infra.mail.progress import DigestItem
from infra.projections.notices import NoticeKind
from workers.mail.context import BATCH, MailContext
from workers.mail.isolate import isolate_errors


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
