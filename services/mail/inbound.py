"""Carries a mail out and answers it: everything between the mail's bytes and the outbox.

A mail is carried out at least once, and as many times as it comes, by the same keys: so it is done
once. It is noted as taken last, after its answer is in the outbox. Killed anywhere before, the next
delivery does what is left; the mail server has heard no `250` and delivers again.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import redis
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.mail.address_status import AddressStatus
from infra.mail.addresses import ServerAddresses
from infra.mail.email import clean_subject
from infra.mail.outbox import Outbox
from infra.mail.processed import (
    REFUSALS_AN_HOUR,
    REPLIES_AN_HOUR,
    ProcessedMail,
    ReplyRateLimit,
    key_of,
)
from infra.mail.verification_codes import VerificationCodes
from infra.people.password_attempts import AttemptSource, attempts_from
from infra.rate_limits import LoginRateLimit
from services.app.context import App
from services.language import Answer, Language, Origin
from services.language.answer import refusal
from services.mail.mail_commands import MailCommand, SeatPlayer, at_seat, at_server
from services.mail.parse.message import ParsedMail, read
from services.mail.parse.mime import UnfitError
from services.mail.recipients import (
    BounceAddress,
    Recipient,
    RecipientDirectory,
    SeatAddress,
    ServerAddress,
    SignoffAddress,
    VerificationAddress,
)
from services.mail.reply import LAST_REPLY, NO_COMMAND, CommandResult, MailReply

logger = logging.getLogger(__name__)

DOOR: Final = "mail"
"""Its name is part of each command id: keys of different doors don't meet."""

WAIT_SECONDS: Final = 5.0
"""How long an outcome is waited for; after that the mail is to be delivered again."""

WRONG_PASSWORDS: Final = 5
"""How many a userid may have by mail within an hour, before mail with passwords is refused."""

WINDOW_MINUTES: Final = 60

_UNKNOWN: Final = frozenset({Code.UNAVAILABLE, Code.BUSY})
"""Codes after which it pays to come again."""

_NO_PASSWORDS: Final = Answer(
    "no password is accepted in a mail here; answer a mail of a match with the move alone, "
    "or use the terminal or the web",
    code=Code.NOT_ALLOWED,
)


AddressedReply: TypeAlias = tuple[MailReply, list[str]]
"""An answer, and the addresses it may go to."""


def password_limit(client: redis.Redis) -> LoginRateLimit:
    """Return the limit of wrong passwords that come by mail."""
    return LoginRateLimit(client, WRONG_PASSWORDS, WINDOW_MINUTES)


class TryAgainError(Exception):
    """What became of the mail is not known yet: the same mail is to be delivered once more."""


class InboundMail:
    """Takes mail, one at a time. Errors of the server of the matches pass through.

    `passwords` is whether a line may have one.
    """

    def __init__(
        self,
        app: App,
        client: redis.Redis,
        addresses: ServerAddresses,
        *,
        passwords: bool = True,
        seconds: float = WAIT_SECONDS,
    ) -> None:
        self._app = app
        self._language = Language(app, DOOR)
        self._addresses = addresses
        self._directory = RecipientDirectory(app, addresses)
        self._deliveries = ProcessedMail(client)
        self._limit = ReplyRateLimit(client)
        self._refusals = ReplyRateLimit(client, REFUSALS_AN_HOUR)
        self._outbox = Outbox(client)
        self._standing = AddressStatus(app.accounts, VerificationCodes(client, self._outbox.now))
        self._passwords = passwords
        self._seconds = seconds

    def knows(self, address: str) -> bool:
        """Whether mail to an address is taken here; `damaged` for a match that can't be read."""
        return self._directory.find(address) is not None

    def take(self, recipient: str, sender: str, data: bytes) -> None:
        """Carry a mail out, and put its answer into the outbox; once that is done, do nothing.

        `sender` is the envelope's, empty or `<>` for a mail that nobody is to answer. Raises
        `UnfitError` for a mail that is refused, and `TryAgainError`.
        """
        mail = read(data)
        try:
            found = self._directory.find(recipient)
        except Refusal as reason:
            raise TryAgainError(reason.code) from None
        if found is None:
            raise UnfitError("there is nobody behind its recipient any more")
        key = key_of(recipient, mail.id)
        if self._deliveries.is_processed(key):
            logger.info("a mail came once more")
            return
        try:
            self._carry_out(found, mail, "" if sender == "<>" else sender)
        except Refusal as reason:
            # the account was changed elsewhere at the same moment, or is gone: seen the next time
            raise TryAgainError(reason.code) from None
        # crash window: all is done and not noted; the next delivery does the same once more
        self._deliveries.mark_processed(key)

    def _carry_out(self, found: Recipient, mail: ParsedMail, sender: str) -> None:
        unasked = mail.automatic or not sender
        match found:
            case ServerAddress() if not unasked:
                self._answer(self._by_server(mail, sender))
            case SeatAddress() if not unasked:
                self._answer(self._by_seat(mail, found, sender))
            case SignoffAddress() if sender:
                self._sign_off(found.account)
            case VerificationAddress() if not unasked:
                self._answer(self._proven(mail, found, sender))
            case BounceAddress() if mail.failed:
                # whatever address it was passed on to, it began with this one
                self._bounced(found.account, found.address, mail.failed[0].why)
            case SeatAddress() if mail.failed:
                for failure in mail.failed:
                    self._bounced(found.player.account, failure.address, failure.why)
            case _:
                logger.info("a mail that no person sent was dropped")

    # commands

    def _by_seat(self, mail: ParsedMail, seat: SeatAddress, sender: str) -> AddressedReply:
        player = seat.player
        said = self._do_all(mail, lambda: at_seat(mail, player), player)
        logger.info("a mail in match %d: %s", player.board, _codes(said))
        sheet = MailReply(mail, said, seat.address, clean_subject(player.title))
        return sheet, self._directory.own(player.account, sender)

    def _by_server(self, mail: ParsedMail, sender: str) -> AddressedReply:
        with attempts_from(_source(sender)):
            said = self._do_all(mail, lambda: at_server(mail), None)
        logger.info("a mail to the server: %s", _codes(said))
        sheet = MailReply(mail, said)
        # of one player alone: what two are told goes to neither's address, but back
        proven = {one.answer.account for one in said} - {None}
        account = next(iter(proven)) if len(proven) == 1 else None
        return sheet, (account and self._directory.own(account, sender)) or [sender]

    def _do_all(
        self,
        mail: ParsedMail,
        read_orders: Callable[[], list[MailCommand]],
        player: SeatPlayer | None,
    ) -> tuple[CommandResult, ...]:
        """Carry out all commands of a mail; `TryAgainError` when an outcome is not known."""
        try:
            orders = read_orders()
        except Refusal as reason:
            return (_refused(reason),)
        if not orders:
            return (_refused(_unreadable(mail) if mail.problem else NO_COMMAND),)
        keys = [mail.id] if len(orders) == 1 else [f"{mail.id}/{n}" for n in range(len(orders))]
        return tuple(
            CommandResult(order, self._do(order, key, player))
            for order, key in zip(orders, keys, strict=True)
        )

    def _do(self, order: MailCommand, key: str, player: SeatPlayer | None) -> Answer:
        if order.refusal:
            return Answer(order.refusal, code=Code.USAGE)
        if order.has_password and not self._passwords:
            return _NO_PASSWORDS
        # who reads the answer of a seat is who its address was made for
        reader = player.account if player else None
        seat = player.seat if player and order.at_seat else None
        origin = Origin(proven=reader)
        answer = self._language.do(order.text, key, self._seconds, reader, origin, seat)
        if answer.code in _UNKNOWN or (answer.pending and self._app.durable):
            raise TryAgainError(answer.code)
        return answer

    # answers

    def _answer(self, reply: AddressedReply) -> None:
        sheet, addresses = reply
        for address in addresses:
            answerable = self._directory.answerable(address)
            foot = self._foot(sheet, address) if answerable else None
            if foot is None:
                logger.info("an answer was not sent: too many, or to nobody who could read it")
                continue
            told = replace(sheet, foot=foot)
            self._outbox.enqueue_all(list(told.letters([address], self._addresses.domain)))

    def _foot(self, sheet: MailReply, address: str) -> str | None:
        """Count an answer, and give what stands below it; None where too many were sent.

        What a player is refused is never left unsaid, because they would think that it was done.
        """
        if self._limit.admits(address):
            but = "; what is refused is answered all the same" if sheet.sender else ""
            return (
                LAST_REPLY.format(most=REPLIES_AN_HOUR, but=but)
                if self._limit.is_spent(address)
                else ""
            )
        if sheet.sender and sheet.refused and self._refusals.admits(address):
            spent = self._refusals.is_spent(address)
            return LAST_REPLY.format(most=REFUSALS_AN_HOUR, but="") if spent else ""
        return None

    # what is no command

    def _sign_off(self, account: AccountId) -> None:
        self._app.accounts.change_of(account, lambda record: replace(record, signed_off=True))
        logger.info("an account gets no mail any more, as it asked for")

    def _proven(self, mail: ParsedMail, found: VerificationAddress, sender: str) -> AddressedReply:
        try:
            address = self._standing.prove(found.account, found.code)
        except Refusal as reason:
            if reason.code == Code.BUSY:
                raise
            return MailReply(mail, (_refused(reason),)), [sender]
        said = CommandResult(
            MailCommand("", ""), Answer(f"{address} is yours; mail of your matches goes there")
        )
        return MailReply(mail, (said,)), [address]

    def _bounced(self, account: AccountId, address: str, why: str) -> None:
        if self._standing.mark_bounced(account, address, why):
            logger.info("mail to an address came back")


def _source(sender: str) -> AttemptSource:
    """Return where the passwords of a mail come from.

    Anybody can name any sender, and the peer is a mail server of our own. So a sender counts by
    itself only for an account whose password came from there before, and all others as one.
    """
    return AttemptSource(f"mail {sender.lower()}", strangers="mail")


def _refused(reason: Refusal) -> CommandResult:
    return CommandResult(MailCommand("", ""), refusal(reason))


def _unreadable(mail: ParsedMail) -> Refusal:
    return Refusal(Code.BAD_REQUEST, f"what the mail says can't be read: {mail.problem}")


def _codes(said: Sequence[CommandResult]) -> str:
    return ", ".join(one.answer.code or "done" for one in said)
