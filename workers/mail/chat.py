"""Mails what players say in their matches, where no other mail of the match has told it."""

from typing import Final

from domain.match.record import unpack_snapshot
from infra.accounts import Accounts
from infra.letters import Letters
from infra.mail.chats import Chats, Talk, lines_since
from infra.mail.outbox import Outbox
from infra.mail.progress import Item, Progress
from infra.projections.notices import Kind
from infra.store.port import Store
from workers.mail.build import EmailBuilder, addresses_of
from workers.mail.isolate import isolate_errors

_COUNT: Final = 100


class ChatMailer:
    """Mails chat that has waited long enough for a move."""

    def __init__(
        self,
        store: Store,
        accounts: Accounts,
        progress: Progress,
        outbox: Outbox,
        writing: EmailBuilder,
        *,
        chats: Chats,
        letters: Letters,
    ) -> None:
        self._store = store
        self._accounts = accounts
        self._letters = letters
        self._chats = chats
        self._progress = progress
        self._outbox = outbox
        self._writing = writing

    def round(self) -> int:
        """See to some chats; gives how many were due."""
        due = self._chats.due(self._outbox.now(), _COUNT)
        for talk in due:
            upto = talk.last
            with isolate_errors(f"the chat of match {talk.board}"):
                upto = max(upto, self._send(talk))
            # crash window: it is in the outbox and comes again, under the same id
            self._chats.done(talk, upto, self._outbox.now())
        return len(due)

    def _send(self, talk: Talk) -> int:
        """Mail what was said; gives the time of its newest line, 0 where there is nothing to say."""
        profile = self._accounts.record_of(talk.account)
        to = addresses_of(profile)
        said = lines_since(self._letters, talk.account, talk.board, talk.first)
        if not said or not to or profile is None:
            return 0
        if profile.notify == "daily":
            # the digest looks for the text itself, from the first line on
            item = Item(talk.board, 0, Kind.CHAT, said[0].at)
            self._progress.keep(talk.account, [item], self._outbox.now())
            return said[-1].at
        (data,) = self._store.snapshots([talk.board])
        seat = unpack_snapshot(data).state.seats.index(talk.account)
        self._outbox.put_all(self._writing.chat(talk.account, talk.board, seat, said, to))
        return said[-1].at
