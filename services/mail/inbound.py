"""Carries out the commands of a mail and answers it: from the mail's bytes to the outbox.

A mail is carried out each time it is delivered, always with the same command keys, so its commands
take effect once. It is marked as processed last, after its answer is in the outbox. If the process
is killed before that, the mail server has received no `250` and delivers again, and the next delivery
does the rest.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Final

import redis
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.languages.wording import IN_ENGLISH, Wording, wording
from infra.mail.addresses import AddressStatus, ServerAddresses
from infra.mail.email import clean_subject
from infra.mail.outbox import Outbox
from infra.mail.processed import (
    ProcessedMail,
    key_of,
)
from infra.mail.verification_codes import VerificationCodes
from infra.people.accounts.writing import refuse_suspended
from infra.people.rate_limits import (
    AttemptSource,
    LoginRateLimit,
    SecurityEvent,
    attempts_from,
    note_security,
)
from services.app.accounts import own_profile
from services.app.context import App
from services.language import Answer, Language, Origin
from services.language.answer import refusal
from services.mail.code_answers import confirms
from services.mail.mail_commands import (
    MailCommand,
    SeatPlayer,
    at_seat,
    at_server,
    own_subject,
)
from services.mail.parse.message import ParsedMail, read
from services.mail.parse.mime import UnfitError
from services.mail.recipients import (
    BounceAddress,
    DisplayAddress,
    OperatorAddress,
    Recipient,
    RecipientDirectory,
    SeatAddress,
    ServerAddress,
    SignoffAddress,
    VerificationAddress,
)
from services.mail.reply import (
    NO_COMMAND,
    NO_OPERATOR,
    NOT_CONFIRMED,
    AddressedReply,
    CommandResult,
    MailReply,
    ReplySender,
    passed_on,
)
from services.mail.sentences import SAY

logger = logging.getLogger(__name__)

MAIL_FRONT_END: Final = "mail"
"""The front end in command ids, so that its keys never equal those of another front end."""

WAIT_SECONDS: Final = 5.0
"""How long to wait for an outcome; after that the mail must be delivered again."""

WRONG_PASSWORDS: Final = 5
"""Wrong passwords for a userid by mail within an hour, before mail with passwords is refused."""

WINDOW_MINUTES: Final = 60

_UNKNOWN: Final = frozenset({Code.UNAVAILABLE, Code.BUSY})
"""Codes after which the mail should be delivered again."""

_NO_PASSWORDS: Final = Refusal(Code.NOT_ALLOWED, SAY("no-passwords"))


_MEANS: Final = {
    SeatAddress: "seat-address",
    SignoffAddress: "signoff-address",
    VerificationAddress: "verification-address",
    BounceAddress: "bounce-address",
}
"""Names in the security log of what proves an account without a password."""


def password_limit(client: redis.Redis) -> LoginRateLimit:
    """Return the limit on wrong passwords by mail."""
    return LoginRateLimit(client, WRONG_PASSWORDS, WINDOW_MINUTES)


class TryAgainError(Exception):
    """The outcome of the mail is not known yet, so the same mail must be delivered again."""


class InboundMail:
    """Processes mails, one at a time. Errors of the server of the matches pass through.

    `passwords` is whether a command may have a password, `authserv` the server that is believed about senders.
    """

    def __init__(
        self,
        app: App,
        client: redis.Redis,
        addresses: ServerAddresses,
        *,
        passwords: bool = True,
        authserv: str | None = None,
        seconds: float = WAIT_SECONDS,
    ) -> None:
        self._app = app
        self._language = Language(app, MAIL_FRONT_END)
        self._addresses = addresses
        self._directory = RecipientDirectory(app, addresses)
        self._deliveries = ProcessedMail(client)
        self._replies = ReplySender(app, client, addresses, self._language, authserv)
        self._outbox = Outbox(client)
        self._address_status = AddressStatus(
            app.accounts, VerificationCodes(client, self._outbox.now)
        )
        self._passwords = passwords
        self._seconds = seconds

    def knows(self, address: str) -> bool:
        """Return whether an address accepts mail; refuses as `damaged` if its match can't be read."""
        return self._directory.find(address) is not None

    def take(self, recipient: str, sender: str, data: bytes) -> None:
        """Carry out a mail and put its answer into the outbox; do nothing if that was done before.

        `sender` is the envelope's, empty or `<>` for a mail that must not be answered. Raises
        `UnfitError` for a mail that is refused, and `TryAgainError`.
        """
        mail = read(data)
        try:
            found = self._directory.find(recipient)
        except Refusal as reason:
            raise TryAgainError(reason.code) from None
        if found is None:
            raise UnfitError("its recipient no longer exists")
        key = key_of(recipient, mail.id)
        if self._deliveries.is_processed(key):
            logger.info("a mail that was processed before was delivered again")
            return
        sender = "" if sender == "<>" else sender
        try:
            means = _MEANS.get(type(found), "")
            with attempts_from(AttemptSource(f"mail {sender.lower()}", "mail", means)):
                self._carry_out(found, mail, sender)
        except Refusal as reason:
            # the account was changed at the same moment, or deleted: the next delivery finds out
            raise TryAgainError(reason.code) from None
        # crash window: all is done and not marked; the next delivery repeats it without effect
        self._deliveries.mark_processed(key)

    def _carry_out(self, found: Recipient, mail: ParsedMail, sender: str) -> None:
        unasked = mail.automatic or not sender
        match found:
            case ServerAddress() if not unasked:
                self._replies.answer(self._by_server(mail, sender))
            case DisplayAddress() if not unasked:
                raise UnfitError("nobody reads mail at this address; reply to the one in Reply-To")
            case OperatorAddress() if (to := self._app.settings.postmaster) and not self._is_here(
                to
            ):
                self._outbox.enqueue(passed_on(mail, found.name, sender, to, self._addresses))
            case OperatorAddress() if not unasked:
                said = _refused(NO_OPERATOR)
                self._replies.answer(self._replies.to_sender(MailReply(mail, (said,)), sender))
            case SeatAddress() if not unasked:
                by = self._by_outdated_seat if found.outdated else self._by_seat
                self._replies.answer(by(mail, found, sender))
            case SignoffAddress() if sender:
                self._sign_off(found.account, sender)
            case VerificationAddress() if not unasked:
                self._replies.answer(self._proven(mail, found, sender))
            case BounceAddress() if mail.failed:
                # the mail was sent to this address, even if it was then forwarded to another
                self._bounced(found.account, found.address, mail.failed[0].why)
            case _:
                logger.info("a mail that was sent by a program was dropped")

    # commands

    @property
    def _site(self) -> str:
        """The site's name."""
        return self._app.mastheads.recent().name

    def _by_seat(self, mail: ParsedMail, seat: SeatAddress, sender: str) -> AddressedReply:
        player = seat.player
        said = self._do_all(mail, lambda: at_seat(mail, player, self._site), player, sender)
        logger.info("a mail in match %d: %s", player.board, _codes(said))
        _note_seat_mail(player, _codes(said))
        title = own_subject(mail.subject) or player.title
        reply = MailReply(
            mail,
            said,
            seat.address,
            clean_subject(title),
            reader=player.account,
            words=self._words_of(player.account),
        )
        return reply, self._replies.to_player(reply, player.account, sender)

    def _by_outdated_seat(self, mail: ParsedMail, seat: SeatAddress, sender: str) -> AddressedReply:
        """Return the answer with the address that is valid now, which only the player may get.

        A suspended player reads that instead, because nothing would be carried out there either.
        """
        player = seat.player
        _note_seat_mail(player, "outdated")
        if not self._directory.is_own(player.account, sender):
            raise UnfitError("this address is outdated; reply to the newest e-mail about the match")
        reason = Refusal(Code.NOT_ALLOWED, SAY("outdated-seat"))
        try:
            refuse_suspended(own_profile(self._app, player.account))
        except Refusal as suspended:
            reason = suspended
        words = self._words_of(player.account)
        said, title = _refused(reason, words), clean_subject(player.title)
        reply = MailReply(mail, (said,), seat.address, title, words=words)
        return reply, self._directory.own(player.account, sender)

    def _by_server(self, mail: ParsedMail, sender: str) -> AddressedReply:
        with attempts_from(_source(sender, vouched=self._replies.is_vouched(mail, sender))):
            said = self._do_all(mail, lambda: at_server(mail, self._site), None, sender)
        logger.info("a mail to the server: %s", _codes(said))
        # an answer for two players goes back to the sender, because neither may read the other's
        proven = {one.answer.account for one in said} - {None}
        account = next(iter(proven)) if len(proven) == 1 else None
        reply = MailReply(mail, said, reader=account, words=self._words_of(account))
        if account and self._directory.own(account, sender):
            return reply, self._replies.to_player(reply, account, sender)
        return self._replies.to_sender(reply, sender)

    def _do_all(
        self,
        mail: ParsedMail,
        read_orders: Callable[[], list[MailCommand]],
        player: SeatPlayer | None,
        sender: str,
    ) -> tuple[CommandResult, ...]:
        """Carry out all commands of a mail; `TryAgainError` if an outcome is not known yet."""
        words = self._words_of(player.account if player else None)
        try:
            orders = read_orders()
        except Refusal as reason:
            return (_refused(reason, words),)
        if not orders:
            return (_refused(_unreadable(mail) if mail.problem else NO_COMMAND, words),)
        keys = [mail.id] if len(orders) == 1 else [f"{mail.id}/{n}" for n in range(len(orders))]
        return tuple(
            CommandResult(order, self._do(order, key, player, sender))
            for order, key in zip(orders, keys, strict=True)
        )

    def _do(self, order: MailCommand, key: str, player: SeatPlayer | None, sender: str) -> Answer:
        if player is not None:
            try:
                refuse_suspended(own_profile(self._app, player.account))
            except Refusal as reason:
                return _refused(reason, self._words_of(player.account)).answer
        # the answer goes to the player for whom the seat's address was made
        reader = player.account if player else None
        if order.refusal:
            return _refused(order.refusal, self._words_of(reader)).answer
        if order.has_password and not self._passwords:
            return _refused(_NO_PASSWORDS, self._words_of(reader)).answer
        seat = player.seat if player and order.at_seat else None
        address = sender if self._directory.answerable(sender) else ""
        origin = Origin(proven=reader, address=address)
        answer = self._language.do(order.text, key, self._seconds, reader, origin, seat)
        if answer.code in _UNKNOWN or (answer.pending and self._app.durable):
            raise TryAgainError(answer.code)
        return answer

    def _words_of(self, account: AccountId | None) -> Wording:
        """Return the words of an account's language; English for nobody."""
        return wording(self._app.accounts.language_of(account)) if account else IN_ENGLISH

    # mail without commands

    def _is_here(self, address: str) -> bool:
        return address.lower().endswith(f"@{self._addresses.domain}")

    def _sign_off(self, account: AccountId, sender: str) -> None:
        if not self._directory.is_own(account, sender):
            raise UnfitError(
                "write from a verified address of the account, or use the account's page"
            )
        self._app.accounts.change_of(account, lambda record: replace(record, signed_off=True))
        logger.info("an account has signed off from all mail")

    def _proven(self, mail: ParsedMail, found: VerificationAddress, sender: str) -> AddressedReply:
        words = self._words_of(found.account)
        if not confirms(mail, found.code, self._app.mastheads.recent()):
            said = _refused(NOT_CONFIRMED, words)
            return self._replies.to_sender(MailReply(mail, (said,), words=words), sender)
        try:
            address = self._address_status.prove(found.account, found.code)
        except Refusal as reason:
            if reason.code == Code.BUSY:
                raise
            said = _refused(reason, words)
            return self._replies.to_sender(MailReply(mail, (said,), words=words), sender)
        verified = SAY("confirmed", address=address).in_language(words)
        said = CommandResult(MailCommand("", ""), Answer(verified))
        return MailReply(mail, (said,), words=words), [address]

    def _bounced(self, account: AccountId, address: str, why: str) -> None:
        if self._address_status.mark_bounced(account, address, why):
            logger.info("mail to an address was returned")


def _source(sender: str, *, vouched: bool) -> AttemptSource:
    """Return the source to which the password attempts of a mail are counted.

    The sender may be forged, and the peer is our own mail server. So a sender is counted by itself
    only for an account whose password came from there before; all other senders count as one, those
    that the server in front has vouched for as one a domain.
    """
    domain = sender.rpartition("@")[2].lower()
    strangers = f"mail {domain}" if vouched else "mail"
    return AttemptSource(f"mail {sender.lower()}", strangers)


def _note_seat_mail(player: SeatPlayer, outcomes: str) -> None:
    event = SecurityEvent.SEAT_MAIL
    note_security(event, player.account, match=player.board, outcomes=outcomes)


def _refused(reason: Refusal, words: Wording = IN_ENGLISH) -> CommandResult:
    return CommandResult(MailCommand("", ""), refusal(reason, words))


def _unreadable(mail: ParsedMail) -> Refusal:
    return Refusal(Code.BAD_REQUEST, SAY("unreadable", problem=mail.problem))


def _codes(said: Sequence[CommandResult]) -> str:
    return ", ".join(one.answer.code or "done" for one in said)
