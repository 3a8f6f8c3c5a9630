"""Sends the e-mails that are due, and decides what to do with those that could not be sent.

If the relay can't be reached, nothing is sent for a while, and no e-mail counts as tried. If the
connection breaks, the e-mail that was being sent may be the reason: that one waits, and the others go
on at once, unless it breaks several times in a row. An e-mail that was refused temporarily is tried
again after growing pauses, for three days. An address that was refused permanently is marked, and its
player reads why.
"""

import logging
from collections import deque
from collections.abc import Callable
from typing import Final

from infra.mail.addresses import AddressStatus, ServerAddresses, wants_mail
from infra.mail.email import Email, InvalidEmailError, Purpose, envelope_sender, serialize
from infra.mail.outbox import LONGEST_BACKOFF_MS, LeasedEmail, Outbox, RelayBackoff, SentEmails
from infra.mail.smtp_client import (
    BrokenSessionError,
    DeliveryResult,
    DeliveryStatus,
    RelayDownError,
    SmtpRelay,
    SmtpSession,
)
from infra.people.accounts import Accounts, MailAddress
from infra.people.accounts.usernames import mailbox
from infra.people.masthead import USUAL_NAME
from infra.process.metrics import count_sent_mail

logger = logging.getLogger(__name__)

_MINUTE: Final = 60_000

RETRY_MS: Final = (1 * _MINUTE, 5 * _MINUTE, 15 * _MINUTE, 60 * _MINUTE)
"""Until an e-mail that was refused is tried again; the last one repeats."""

BACKOFF_MS: Final = (_MINUTE // 6, 1 * _MINUTE, LONGEST_BACKOFF_MS)
"""The same for a relay that can't be reached."""

GIVE_UP_MS: Final = 3 * 24 * 60 * _MINUTE
"""How long an e-mail that is refused is tried."""

MAX_BROKEN_SESSIONS: Final = 3
"""After so many broken connections in a row the relay counts as one that can't be reached."""

BATCH: Final = 20
"""E-mails that are leased together."""

SESSION_LIMIT: Final = 200
"""E-mails of a session, after which the mailer does its other work."""


class EmailDelivery:
    """Sends e-mails through a relay."""

    def __init__(  # noqa: PLR0913 - one for each part
        self,
        outbox: Outbox,
        relay: SmtpRelay,
        accounts: Accounts,
        standing: AddressStatus,
        addresses: ServerAddresses,
        sent: SentEmails,
        *,
        paint: Callable[[bytes], bytes] = lambda _: b"",
        sender: Callable[[], str] = lambda: USUAL_NAME,
    ) -> None:
        """`paint` returns the picture of a drawing, as a PNG; `ValueError` if there is none. `sender` is the site's name."""
        self._sender = sender
        self._outbox = outbox
        self._paint = paint
        self._sent = sent
        self._relay = relay
        self._accounts = accounts
        self._standing = standing
        self._addresses = addresses
        self._broken = 0
        """How many connections in a row broke before an e-mail was sent."""

    def round(self) -> int:
        """Send e-mails in one session; return how many were dealt with, 0 if none is due."""
        if not self._outbox.is_due(self._outbox.now()):
            return 0
        done = 0
        try:
            with self._relay.session() as session:
                self._clear_backoff()
                while done < SESSION_LIMIT and (emails := self._lease()):
                    self._send(session, emails)
                    done += len(emails)
        except BrokenSessionError as error:
            self._broken += 1
            if self._broken >= MAX_BROKEN_SESSIONS:
                self._back_off(str(error))
            return done + 1
        except RelayDownError as error:
            self._back_off(str(error))
        return done

    def _lease(self) -> list[LeasedEmail]:
        return self._outbox.lease_due(self._outbox.now(), BATCH)

    def _send(self, session: SmtpSession, emails: list[LeasedEmail]) -> None:
        """Send e-mails; return those to the outbox that were not tried when the relay went away."""
        left = deque(emails)
        try:
            while left:
                self._send_one(session, left.popleft())
        finally:
            if left:
                self._outbox.release(left, self._outbox.now())

    def _send_one(self, session: SmtpSession, leased: LeasedEmail) -> None:
        email = leased.email
        if self._sent.has(leased.key) or not self._is_wanted(email):
            self._outbox.remove(leased)
            return
        try:
            picture = self._picture(leased)
            data = serialize(email, self._addresses, leased.since, picture, self._sender())
        except InvalidEmailError:
            logger.exception("ALARM: e-mail %s can't be written, and is dropped", leased.key)
            self._outbox.remove(leased)
            return
        try:
            sent = session.send(envelope_sender(email, self._addresses), email.to, data)
        except BrokenSessionError as error:
            # the e-mail itself may be the reason: others go before it
            self._record(leased, DeliveryResult(DeliveryStatus.LATER, str(error)), blamed=False)
            raise
        self._broken = 0
        # crash window: the relay has it and nobody knows; it goes again, under the same id
        if sent.delivery_status == DeliveryStatus.SENT:
            self._sent.add(leased.key, self._outbox.now())
        self._record(leased, sent)

    def _picture(self, leased: LeasedEmail) -> bytes:
        """Return the picture of an e-mail; empty without one, so that its text is sent all the same."""
        try:
            return self._paint(leased.email.drawing) if leased.email.drawing else b""
        except ValueError:
            logger.exception("ALARM: e-mail %s is sent without its picture", leased.key)
            return b""

    def _record(self, leased: LeasedEmail, sent: DeliveryResult, *, blamed: bool = True) -> None:
        """Record the result of an e-mail; `blamed` is whether its address may be at fault."""
        count_sent_mail(sent.delivery_status)
        now = self._outbox.now()
        if sent.delivery_status == DeliveryStatus.LATER and now - leased.since < GIVE_UP_MS:
            self._outbox.retry_at(leased, now + RETRY_MS[min(leased.tries, len(RETRY_MS)) - 1])
            return
        if blamed and sent.delivery_status in (DeliveryStatus.NO_ADDRESS, DeliveryStatus.LATER):
            self._mark_address(leased, sent)
        elif sent.delivery_status != DeliveryStatus.SENT:
            logger.warning("e-mail %s is refused by the relay: %s", leased.key, sent.reply_status)
        self._outbox.remove(leased)

    def _mark_address(self, leased: LeasedEmail, sent: DeliveryResult) -> None:
        email = leased.email
        said = (
            sent.reply
            if sent.delivery_status == DeliveryStatus.NO_ADDRESS
            else f"tried for 3 days: {sent.reply}"
        )
        logger.info("e-mail %s can't be delivered: %s", leased.key, sent.reply_status)
        if email.account:
            self._standing.mark_bounced(email.account, email.to, said)

    def _is_wanted(self, email: Email) -> bool:
        """Return whether an e-mail is still wanted; its player may have changed settings or address."""
        if email.purpose == Purpose.ANSWER:
            return True
        profile = self._accounts.record_of(email.account)
        if profile is None:
            return False
        own = [one for one in profile.addresses if _same(one, email.to)]
        if email.purpose == Purpose.CODE:
            return any(not one.usable for one in own)
        if email.purpose == Purpose.RESET:
            return any(one.usable for one in own)
        return wants_mail(profile) and any(one.usable for one in own)

    def _clear_backoff(self) -> None:
        rest = self._outbox.last_backoff()
        if rest is not None:
            logger.warning("the relay can be reached again")
            self._outbox.clear_backoff()

    def _back_off(self, why: str) -> None:
        """Leave the relay alone for a while; log the reason once."""
        before = self._outbox.last_backoff()
        tries = before.tries + 1 if before else 1
        if before is None or before.why != why:
            logger.error("ALARM: mail can't be sent, and waits: %s", why)
        until = self._outbox.now() + BACKOFF_MS[min(tries, len(BACKOFF_MS)) - 1]
        self._outbox.start_backoff(RelayBackoff(until, tries, why))


def _same(one: MailAddress, to: str) -> bool:
    return mailbox(one.address) == mailbox(to)
