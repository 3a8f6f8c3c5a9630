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
from infra.attempts import Source, coming_from
from infra.limits import LoginLimit
from infra.mail.addresses import Addresses
from infra.mail.codes import Codes
from infra.mail.deliveries import ANSWERS, REFUSALS, AnswerLimit, Deliveries, key_of
from infra.mail.letter import fit_subject
from infra.mail.outbox import Outbox
from infra.mail.standing import Standing
from services.app.context import App
from services.language import Answer, Language, Origin
from services.language.answer import refusal
from services.mail.answering import LAST, NOTHING, Said, Sheet
from services.mail.asking import Order, Player, at_seat, at_server
from services.mail.mime import UnfitError
from services.mail.reading import Read, read
from services.mail.recipients import Bounce, CodeFor, Directory, Recipient, SeatOf, Server, Signoff

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


Reply: TypeAlias = tuple[Sheet, list[str]]
"""An answer, and the addresses it may go to."""


def password_limit(client: redis.Redis) -> LoginLimit:
    """Return the limit of wrong passwords that come by mail."""
    return LoginLimit(client, WRONG_PASSWORDS, WINDOW_MINUTES)


class TryAgainError(Exception):
    """What became of the mail is not known yet: the same mail is to be delivered once more."""


class Office:
    """Takes mail, one at a time. Errors of the server of the matches pass through.

    `passwords` is whether a line may have one.
    """

    def __init__(
        self,
        app: App,
        client: redis.Redis,
        addresses: Addresses,
        *,
        passwords: bool = True,
        seconds: float = WAIT_SECONDS,
    ) -> None:
        self._app = app
        self._language = Language(app, DOOR)
        self._addresses = addresses
        self._directory = Directory(app, addresses)
        self._deliveries = Deliveries(client)
        self._limit = AnswerLimit(client)
        self._refusals = AnswerLimit(client, REFUSALS)
        self._outbox = Outbox(client)
        self._standing = Standing(app.accounts, Codes(client, self._outbox.now))
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
        if self._deliveries.taken(key):
            logger.info("a mail came once more")
            return
        try:
            self._carry_out(found, mail, "" if sender == "<>" else sender)
        except Refusal as reason:
            # the account was changed elsewhere at the same moment, or is gone: seen the next time
            raise TryAgainError(reason.code) from None
        # crash window: all is done and not noted; the next delivery does the same once more
        self._deliveries.take(key)

    def _carry_out(self, found: Recipient, mail: Read, sender: str) -> None:
        unasked = mail.automatic or not sender
        match found:
            case Server() if not unasked:
                self._answer(self._by_server(mail, sender))
            case SeatOf() if not unasked:
                self._answer(self._by_seat(mail, found, sender))
            case Signoff() if sender:
                self._sign_off(found.account)
            case CodeFor() if not unasked:
                self._answer(self._proven(mail, found, sender))
            case Bounce() if mail.failed:
                # whatever address it was passed on to, it began with this one
                self._bounced(found.account, found.address, mail.failed[0].why)
            case SeatOf() if mail.failed:
                for failure in mail.failed:
                    self._bounced(found.player.account, failure.address, failure.why)
            case _:
                logger.info("a mail that no person sent was dropped")

    # commands

    def _by_seat(self, mail: Read, seat: SeatOf, sender: str) -> Reply:
        player = seat.player
        said = self._do_all(mail, lambda: at_seat(mail, player), player)
        logger.info("a mail in match %d: %s", player.board, _codes(said))
        sheet = Sheet(mail, said, seat.address, fit_subject(player.title))
        return sheet, self._directory.own(player.account, sender)

    def _by_server(self, mail: Read, sender: str) -> Reply:
        with coming_from(_source(sender)):
            said = self._do_all(mail, lambda: at_server(mail), None)
        logger.info("a mail to the server: %s", _codes(said))
        sheet = Sheet(mail, said)
        # of one player alone: what two are told goes to neither's address, but back
        proven = {one.answer.account for one in said} - {None}
        account = next(iter(proven)) if len(proven) == 1 else None
        return sheet, (account and self._directory.own(account, sender)) or [sender]

    def _do_all(
        self, mail: Read, read_orders: Callable[[], list[Order]], player: Player | None
    ) -> tuple[Said, ...]:
        """Carry out all commands of a mail; `TryAgainError` when an outcome is not known."""
        try:
            orders = read_orders()
        except Refusal as reason:
            return (_refused(reason),)
        if not orders:
            return (_refused(_unreadable(mail) if mail.problem else NOTHING),)
        keys = [mail.id] if len(orders) == 1 else [f"{mail.id}/{n}" for n in range(len(orders))]
        return tuple(
            Said(order, self._do(order, key, player))
            for order, key in zip(orders, keys, strict=True)
        )

    def _do(self, order: Order, key: str, player: Player | None) -> Answer:
        if order.refused:
            return Answer(order.refused, code=Code.USAGE)
        if order.secret and not self._passwords:
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

    def _answer(self, reply: Reply) -> None:
        sheet, addresses = reply
        for address in addresses:
            answerable = self._directory.answerable(address)
            foot = self._foot(sheet, address) if answerable else None
            if foot is None:
                logger.info("an answer was not sent: too many, or to nobody who could read it")
                continue
            told = replace(sheet, foot=foot)
            self._outbox.put_all(list(told.letters([address], self._addresses.domain)))

    def _foot(self, sheet: Sheet, address: str) -> str | None:
        """Count an answer, and give what stands below it; None where too many were sent.

        What a player is refused is never left unsaid, because they would think that it was done.
        """
        if self._limit.admits(address):
            but = "; what is refused is answered all the same" if sheet.sender else ""
            return LAST.format(most=ANSWERS, but=but) if self._limit.is_spent(address) else ""
        if sheet.sender and sheet.refused and self._refusals.admits(address):
            spent = self._refusals.is_spent(address)
            return LAST.format(most=REFUSALS, but="") if spent else ""
        return None

    # what is no command

    def _sign_off(self, account: AccountId) -> None:
        self._app.accounts.change_of(account, lambda record: replace(record, signed_off=True))
        logger.info("an account gets no mail any more, as it asked for")

    def _proven(self, mail: Read, found: CodeFor, sender: str) -> Reply:
        try:
            address = self._standing.prove(found.account, found.code)
        except Refusal as reason:
            if reason.code == Code.BUSY:
                raise
            return Sheet(mail, (_refused(reason),)), [sender]
        said = Said(Order("", ""), Answer(f"{address} is yours; mail of your matches goes there"))
        return Sheet(mail, (said,)), [address]

    def _bounced(self, account: AccountId, address: str, why: str) -> None:
        if self._standing.bounced(account, address, why):
            logger.info("mail to an address came back")


def _source(sender: str) -> Source:
    """Return where the passwords of a mail come from.

    Anybody can name any sender, and the peer is a mail server of our own. So a sender counts by
    itself only for an account whose password came from there before, and all others as one.
    """
    return Source(f"mail {sender.lower()}", strangers="mail")


def _refused(reason: Refusal) -> Said:
    return Said(Order("", ""), refusal(reason))


def _unreadable(mail: Read) -> Refusal:
    return Refusal(Code.BAD_REQUEST, f"what the mail says can't be read: {mail.problem}")


def _codes(said: Sequence[Said]) -> str:
    return ", ".join(one.answer.code or "done" for one in said)
