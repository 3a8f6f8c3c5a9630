"""From texts to e-mails: ids, headers and addresses.

The stores that all parts of the mailer share, and the addresses of an account's mail.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from domain.match.history import leaf_hash
from domain.records import AccountId
from domain.rules import Seat
from infra.mail.addresses import ServerAddresses
from infra.mail.composer import Composer, EmailText, MatchUpdate, TournamentUpdate
from infra.mail.email import Attachment, Email, Purpose, clean_subject, references
from infra.mail.outbox import Outbox
from infra.mail.progress import DigestItem, MailerProgress
from infra.mail.queues import ChatMailQueue, QueuedMessage
from infra.mail.receipt_attachments import with_receipt_line
from infra.people.accounts import Accounts, Profile
from infra.people.accounts.writing import mail_turn_of
from infra.people.messages import MessageStore, PlayerMessage
from infra.store.port import Store

_DAY = 24 * 3_600_000

_AUTOMATIC = ("Auto-Submitted", "auto-generated")


class EmailBuilder:
    """Builds e-mails. Those for one event have the same id, whichever mailer builds them."""

    def __init__(
        self,
        composer: Composer,
        addresses: ServerAddresses,
        progress: MailerProgress,
        record_of: Callable[[AccountId], Profile | None],
        unsubscribe: Callable[[AccountId], str] = lambda _: "",
    ) -> None:
        """`unsubscribe` returns the link that ends an account's mail, empty where there is none."""
        self._composer = composer
        self._addresses = addresses
        self._progress = progress
        self._record_of = record_of
        self._unsubscribe = unsubscribe

    def notification(
        self, news: MatchUpdate, to: Sequence[str], attachments: tuple[Attachment, ...] = ()
    ) -> list[Email]:
        """Return the e-mails to a player about a command's effect in a match."""
        text = self._composer.match_update(news)
        place = (news.board, news.seq, news.seat)
        # of this event, because another may come in its place when the data have lost it
        event = leaf_hash(news.history[news.seq - 1])
        id_ = self._id("m{}.{}.s{}".format(*place), *place, news.account.hex(), event.hex())
        headers = self._match_headers(news.board, news.seat, news.account, id_)
        return self._notices(id_, news.account, to, text, headers, attachments)

    def tournament(self, update: TournamentUpdate, event: bytes, to: Sequence[str]) -> list[Email]:
        """Return the e-mails about events of a tournament, the first of which is `event`; none if it is hidden."""
        text, first = self._composer.tournament_update(update), update.first
        place = (first.match, first.seq)
        id_ = self._id(
            "t{}.{}".format(*place),
            "tournament",
            *place,
            update.account.hex(),
            leaf_hash(event).hex(),
        )
        return self._notices(id_, update.account, to, text) if text else []

    def chat(
        self,
        account: AccountId,
        board: int,
        seat: Seat,
        said: Sequence[PlayerMessage],
        to: Sequence[str],
    ) -> list[Email]:
        """Return the e-mails with chat of the other players in a match."""
        text = self._composer.chat(account, board, said)
        place = (board, said[-1].at, seat)
        id_ = self._id("c{}.{}.s{}".format(*place), "chat", *place, account.hex())
        return self._notices(id_, account, to, text, self._match_headers(board, seat, account, id_))

    def digest(
        self, account: AccountId, items: Sequence[DigestItem], due: int, to: Sequence[str]
    ) -> list[Email]:
        """Return the e-mails of a digest that became due at `due`, ms."""
        text = self._composer.digest(account, items)
        id_ = self._id(f"d{due // _DAY}", "digest", due, account.hex())
        return self._notices(id_, account, to, text)

    def message(self, account: AccountId, note: QueuedMessage, to: Sequence[str]) -> list[Email]:
        """Return the e-mails with a message of another player."""
        text = self._composer.message(account, note)
        id_ = self._id("w", note.command.hex(), account.hex())
        return self._notices(id_, account, to, text)

    def case(
        self, account: AccountId, board: int, history: Sequence[bytes], to: Sequence[str]
    ) -> list[Email]:
        """Return the e-mails to an arbiter about the claim or the appeal that is the last event."""
        text = self._composer.case(account, board, history)
        event = leaf_hash(history[-1])
        id_ = self._id(
            f"a{board}.{len(history)}", "case", board, len(history), account.hex(), event.hex()
        )
        return self._notices(id_, account, to, text)

    def code(self, account: AccountId, address: str, code: str, now: int) -> Email:
        """Return the e-mail with the code for an address; its id differs each time."""
        text = self._composer.code(account, code)
        return Email(
            id=self._id("v", "code", now, address, account.hex()),
            to=address,
            subject=clean_subject(text.subject),
            body=text.body,
            headers=(("Reply-To", self._addresses.code(account, code)), _AUTOMATIC),
            purpose=Purpose.CODE,
            account=account,
        )

    def reset(self, account: AccountId, to: Sequence[str], link: str, now: int) -> list[Email]:
        """Return the e-mails with a link for a new password; their id differs each time."""
        text = self._composer.reset(account, link)
        return [
            Email(
                id=self._id("p", "reset", now, account.hex()),
                to=address,
                subject=clean_subject(text.subject),
                body=text.body,
                headers=(_AUTOMATIC,),
                purpose=Purpose.RESET,
                account=account,
            )
            for address in to
        ]

    def _match_headers(
        self, board: int, seat: Seat, account: AccountId, id_: str
    ) -> tuple[tuple[str, str], ...]:
        """Return where replies go, and what makes mail programs show a match's mails together."""
        turn = mail_turn_of(self._record_of(account))
        reply_to = ("Reply-To", self._addresses.of(board, seat, account, turn))
        first = self._progress.thread_id(board, seat, id_)
        if first == id_:
            return (reply_to,)
        thread = references([first])
        return reply_to, ("In-Reply-To", thread), ("References", thread)

    def _notices(
        self,
        id_: str,
        account: AccountId,
        to: Sequence[str],
        text: EmailText,
        headers: Sequence[tuple[str, str]] = (),
        attachments: tuple[Attachment, ...] = (),
    ) -> list[Email]:
        return [
            Email(
                id=id_,
                to=address,
                subject=clean_subject(text.subject),
                body=with_receipt_line(text.body, attachments, text.language),
                headers=(*headers, _AUTOMATIC, *self._leaving(account)),
                purpose=Purpose.NOTICE,
                account=account,
                attachments=attachments,
                html=text.html,
                drawing=text.drawing,
            )
            for address in to
        ]

    def _leaving(self, account: AccountId) -> tuple[tuple[str, str], ...]:
        """Return how to end all mail: by mail, and by a link; mail programs use it by themselves if it is HTTPS."""
        by_mail, link = f"<mailto:{self._addresses.signoff(account)}>", self._unsubscribe(account)
        if not link:
            return (("List-Unsubscribe", by_mail),)
        both = ("List-Unsubscribe", f"<{link}>, {by_mail}")
        by_click = ("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")
        return (both, by_click) if link.startswith("https:") else (both,)

    def _id(self, shown: str, *parts: object) -> str:
        return f"{shown}.{self._addresses.mark(*parts)}@{self._addresses.domain}"


BATCH: Final = 100
"""About how many mails a part makes in a round."""


@dataclass(frozen=True)
class MailContext:
    """The stores of a mailer, and the builder of its e-mails."""

    store: Store
    accounts: Accounts
    progress: MailerProgress
    outbox: Outbox
    builder: EmailBuilder
    chats: ChatMailQueue
    messages: MessageStore
    attach: Callable[[int, bytes], tuple[Attachment, ...]]
    """Returns the attachments of a mail about a match, by its board and its last event in the mail."""
