"""What else becomes letters: codes for new addresses, messages, and the daily digests."""

from collections.abc import Iterator, Sequence
from typing import Final

from domain.errors import Refusal
from domain.match.events import AccountId
from infra.accounts import Accounts
from infra.mail.codes import Codes
from infra.mail.outbox import Outbox
from infra.mail.progress import Item, Progress
from infra.mail.written import Note, Written
from workers.mail.build import EmailBuilder, addresses_of
from workers.mail.isolate import isolate_errors

_COUNT: Final = 100

_PAGE: Final = 500


class CodeMailer:
    """Sends codes to the addresses that accounts gave."""

    def __init__(
        self, accounts: Accounts, codes: Codes, outbox: Outbox, writing: EmailBuilder
    ) -> None:
        self._accounts = accounts
        self._codes = codes
        self._outbox = outbox
        self._writing = writing

    def round(self) -> int:
        """See to some accounts; gives how many those were."""
        named = self._codes.named(_COUNT)
        for account in named:
            with isolate_errors("a code"):
                self._send(account)
            # crash window: it is in the outbox and comes again, one of three a day
            self._codes.seen_to(account)
        return len(named)

    def _send(self, account: AccountId) -> None:
        profile = self._accounts.record_of(account)
        for one in profile.addresses if profile else ():
            code = None if one.usable else self._codes.issue(account, one.address)
            if code is not None:
                now = self._outbox.now()
                self._outbox.put(self._writing.code(account, one.address, code, now))


class MessageMailer:
    """Mails what players write to each other."""

    def __init__(
        self,
        accounts: Accounts,
        written: Written,
        progress: Progress,
        outbox: Outbox,
        writing: EmailBuilder,
    ) -> None:
        self._accounts = accounts
        self._written = written
        self._progress = progress
        self._outbox = outbox
        self._writing = writing

    def round(self) -> int:
        """See to some messages; gives how many those were."""
        notes = self._written.oldest(_COUNT)
        for note in notes:
            with isolate_errors("a message"):
                for account in self._readers(note):
                    self._deliver(account, note)
            # crash window: all is in the outbox and comes again, under the same ids
            self._written.done(note)
        return len(notes)

    def _readers(self, note: Note) -> Iterator[AccountId]:
        if note.recipients:
            yield from note.recipients
            return
        start = 0
        while names := self._accounts.names(start, _PAGE):
            yield from filter(None, map(self._find, names))
            start += len(names)

    def _find(self, name: str) -> AccountId | None:
        """Return an account, unless it has just been deleted."""
        try:
            return self._accounts.id_of(name)
        except Refusal:
            return None

    def _deliver(self, account: AccountId, note: Note) -> None:
        profile = self._accounts.record_of(account)
        to = addresses_of(profile)
        if not to or profile is None or account == note.sender:
            return
        if profile.notify == "daily":
            self._progress.keep(account, [_item(note)], self._outbox.now())
        else:
            self._outbox.put_all(self._writing.message(account, note, to))


class DigestMailer:
    """Sends the daily digests."""

    def __init__(
        self, accounts: Accounts, progress: Progress, outbox: Outbox, writing: EmailBuilder
    ) -> None:
        self._accounts = accounts
        self._progress = progress
        self._outbox = outbox
        self._writing = writing

    def round(self) -> int:
        """Send some digests; gives how many were due."""
        now = self._outbox.now()
        due = self._progress.digests_due(now, _COUNT)
        for account, since in due:
            items = self._progress.items(account)
            with isolate_errors("a digest"):
                self._send(account, items, since)
            # crash window: it is in the outbox and comes again, under the same id
            self._progress.digested(account, items, now)
        return len(due)

    def _send(self, account: AccountId, items: Sequence[Item], since: int) -> None:
        to = addresses_of(self._accounts.record_of(account))
        if items and to:
            self._outbox.put_all(self._writing.digest(account, items, since, to))


def _item(note: Note) -> Item:
    return Item(0, 0, note.sender.hex(), note.at)
