"""Sends the e-mails that are due, and decides what to do with those that could not be sent.

If the relay can't be reached, nothing is sent for a while, and no e-mail counts as tried. If the
connection breaks, the e-mail that was being sent may be the reason: that one waits, and the others go
on at once, unless it breaks several times in a row. An e-mail that was refused temporarily is tried
again after growing pauses, for three days. An address that was refused permanently is marked, and its
player reads why.
"""

import logging
from collections import deque
from typing import Final

from infra.accounts import Accounts, Address
from infra.accounts.reading import mailbox
from infra.mail.addresses import Addresses
from infra.mail.letter import Letter, Purpose, UnfitLetterError
from infra.mail.message import envelope_sender, written
from infra.mail.outbox import LONGEST_REST_MS, Outbox, Rest, Taken
from infra.mail.relay import BrokenSessionError, Fate, Relay, RelayDownError, Sent, Session
from infra.mail.standing import Standing
from workers.mail.context import wants_mail

logger = logging.getLogger(__name__)

_MINUTE: Final = 60_000

RETRY_MS: Final = (1 * _MINUTE, 5 * _MINUTE, 15 * _MINUTE, 60 * _MINUTE)
"""Until an e-mail that was refused is tried again; the last one repeats."""

BACKOFF_MS: Final = (_MINUTE // 6, 1 * _MINUTE, LONGEST_REST_MS)
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

    def __init__(
        self,
        outbox: Outbox,
        relay: Relay,
        accounts: Accounts,
        standing: Standing,
        addresses: Addresses,
    ) -> None:
        self._outbox = outbox
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
                while done < SESSION_LIMIT and (letters := self._lease()):
                    self._send(session, letters)
                    done += len(letters)
        except BrokenSessionError as error:
            self._broken += 1
            if self._broken >= MAX_BROKEN_SESSIONS:
                self._back_off(str(error))
            return done + 1
        except RelayDownError as error:
            self._back_off(str(error))
        return done

    def _lease(self) -> list[Taken]:
        return self._outbox.take(self._outbox.now(), BATCH)

    def _send(self, session: Session, letters: list[Taken]) -> None:
        """Send e-mails; return those to the outbox that were not tried when the relay went away."""
        left = deque(letters)
        try:
            while left:
                self._send_one(session, left.popleft())
        finally:
            if left:
                self._outbox.give_back(left, self._outbox.now())

    def _send_one(self, session: Session, taken: Taken) -> None:
        letter = taken.letter
        if not self._is_wanted(letter):
            self._outbox.done(taken)
            return
        try:
            data = written(letter, self._addresses, taken.since)
        except UnfitLetterError:
            logger.exception("ALARM: e-mail %s can't be written, and is dropped", taken.key)
            self._outbox.done(taken)
            return
        try:
            sent = session.send(envelope_sender(letter, self._addresses), letter.to, data)
        except BrokenSessionError as error:
            # the e-mail itself may be the reason: others go before it
            self._record(taken, Sent(Fate.LATER, str(error)), blamed=False)
            raise
        self._broken = 0
        # crash window: the relay has it and the outbox does not know; it goes again, under the same id
        self._record(taken, sent)

    def _record(self, taken: Taken, sent: Sent, *, blamed: bool = True) -> None:
        """Record the result of an e-mail; `blamed` is whether its address may be at fault."""
        now = self._outbox.now()
        if sent.fate == Fate.LATER and now - taken.since < GIVE_UP_MS:
            self._outbox.later(taken, now + RETRY_MS[min(taken.tries, len(RETRY_MS)) - 1])
            return
        if blamed and sent.fate in (Fate.NO_ADDRESS, Fate.LATER):
            self._mark_address(taken, sent)
        elif sent.fate != Fate.SENT:
            logger.warning("e-mail %s is refused by the relay: %s", taken.key, sent.status)
        self._outbox.done(taken)

    def _mark_address(self, taken: Taken, sent: Sent) -> None:
        letter = taken.letter
        said = sent.said if sent.fate == Fate.NO_ADDRESS else f"tried for 3 days: {sent.said}"
        logger.info("e-mail %s can't be delivered: %s", taken.key, sent.status)
        if letter.account:
            self._standing.bounced(letter.account, letter.to, said)

    def _is_wanted(self, letter: Letter) -> bool:
        """Return whether an e-mail is still wanted; its player may have changed settings or address."""
        if letter.purpose == Purpose.ANSWER:
            return True
        profile = self._accounts.record_of(letter.account)
        if profile is None:
            return False
        own = [one for one in profile.addresses if _same(one, letter.to)]
        if letter.purpose == Purpose.CODE:
            return any(not one.usable for one in own)
        return wants_mail(profile) and any(one.usable for one in own)

    def _clear_backoff(self) -> None:
        rest = self._outbox.last_rest()
        if rest is not None:
            logger.warning("the relay can be reached again")
            self._outbox.go_on()

    def _back_off(self, why: str) -> None:
        """Leave the relay alone for a while; log the reason once."""
        before = self._outbox.last_rest()
        tries = before.tries + 1 if before else 1
        if before is None or before.why != why:
            logger.error("ALARM: mail can't be sent, and waits: %s", why)
        until = self._outbox.now() + BACKOFF_MS[min(tries, len(BACKOFF_MS)) - 1]
        self._outbox.lay_in(Rest(until, tries, why))


def _same(one: Address, to: str) -> bool:
    return mailbox(one.address) == mailbox(to)
