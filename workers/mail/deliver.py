"""Sends what is due, and decides what becomes of what could not be sent.

A relay that is not there is left alone for a while, and no letter is the worse for it. Where it was there
and the connection broke, it may be the letter in hand that it can't bear: that one waits, and the others go
on at once, unless it breaks again and again. A letter that
was refused for now is tried again after growing pauses, for three days. An address that was refused
for good is marked, and its player reads why.
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
from workers.mail.build import wants_mail

logger = logging.getLogger(__name__)

_MINUTE: Final = 60_000

RETRY_MS: Final = (1 * _MINUTE, 5 * _MINUTE, 15 * _MINUTE, 60 * _MINUTE)
"""Until a letter that was refused is tried again, in ms; the last one over and over."""

BACKOFF_MS: Final = (_MINUTE // 6, 1 * _MINUTE, LONGEST_REST_MS)
"""The same for a relay that can't be reached."""

GIVE_UP_MS: Final = 3 * 24 * 60 * _MINUTE
"""How long a letter that is refused is tried."""

MAX_BROKEN_SESSIONS: Final = 3
"""After so many connections that broke in a row the relay counts as one that can't be reached."""

BATCH: Final = 20
"""Letters taken together."""

SESSION_LIMIT: Final = 200
"""Letters after which there is a look at what else is to do."""


class EmailDelivery:
    """Sends letters through a relay."""

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
        """How many connections in a row broke before a letter was through."""

    def round(self) -> int:
        """Send letters in one session; gives how many were seen to, 0 when none is due."""
        if not self._outbox.is_due(self._outbox.now()):
            return 0
        done = 0
        try:
            with self._relay.session() as session:
                self._reached()
                while done < SESSION_LIMIT and (letters := self._take()):
                    self._send(session, letters)
                    done += len(letters)
        except BrokenSessionError as error:
            self._broken += 1
            if self._broken >= MAX_BROKEN_SESSIONS:
                self._rest(str(error))
            return done + 1
        except RelayDownError as error:
            self._rest(str(error))
        return done

    def _take(self) -> list[Taken]:
        return self._outbox.take(self._outbox.now(), BATCH)

    def _send(self, session: Session, letters: list[Taken]) -> None:
        """Send letters; those that were not come to when the relay went away are given back."""
        left = deque(letters)
        try:
            while left:
                self._see_to(session, left.popleft())
        finally:
            if left:
                self._outbox.give_back(left, self._outbox.now())

    def _see_to(self, session: Session, taken: Taken) -> None:
        letter = taken.letter
        if not self._may_go(letter):
            self._outbox.done(taken)
            return
        try:
            data = written(letter, self._addresses, taken.since)
        except UnfitLetterError:
            logger.exception("ALARM: letter %s can't be written, and is dropped", taken.key)
            self._outbox.done(taken)
            return
        try:
            sent = session.send(envelope_sender(letter, self._addresses), letter.to, data)
        except BrokenSessionError as error:
            # it may be the letter that the relay can't bear: others go before it
            self._note(taken, Sent(Fate.LATER, str(error)), blamed=False)
            raise
        self._broken = 0
        # crash window: the relay has it and that is not noted; it goes again, under the same id
        self._note(taken, sent)

    def _note(self, taken: Taken, sent: Sent, *, blamed: bool = True) -> None:
        """Note what became of a letter; `blamed` is whether its address may be at fault."""
        now = self._outbox.now()
        if sent.fate == Fate.LATER and now - taken.since < GIVE_UP_MS:
            self._outbox.later(taken, now + RETRY_MS[min(taken.tries, len(RETRY_MS)) - 1])
            return
        if blamed and sent.fate in (Fate.NO_ADDRESS, Fate.LATER):
            self._mark(taken, sent)
        elif sent.fate != Fate.SENT:
            logger.warning("letter %s is not taken by the relay: %s", taken.key, sent.status)
        self._outbox.done(taken)

    def _mark(self, taken: Taken, sent: Sent) -> None:
        letter = taken.letter
        said = sent.said if sent.fate == Fate.NO_ADDRESS else f"tried for 3 days: {sent.said}"
        logger.info("letter %s can't be delivered: %s", taken.key, sent.status)
        if letter.account:
            self._standing.bounced(letter.account, letter.to, said)

    def _may_go(self, letter: Letter) -> bool:
        """Whether a letter is still wanted: its player may have changed their mind, or address."""
        if letter.purpose == Purpose.ANSWER:
            return True
        profile = self._accounts.record_of(letter.account)
        if profile is None:
            return False
        own = [one for one in profile.addresses if _same(one, letter.to)]
        if letter.purpose == Purpose.CODE:
            return any(not one.usable for one in own)
        return wants_mail(profile) and any(one.usable for one in own)

    # the relay

    def _reached(self) -> None:
        rest = self._outbox.last_rest()
        if rest is not None:
            logger.warning("the relay is there again")
            self._outbox.go_on()

    def _rest(self, why: str) -> None:
        """Leave the relay alone for a while; it is said once."""
        before = self._outbox.last_rest()
        tries = before.tries + 1 if before else 1
        if before is None or before.why != why:
            logger.error("ALARM: mail can't be sent, and waits: %s", why)
        until = self._outbox.now() + BACKOFF_MS[min(tries, len(BACKOFF_MS)) - 1]
        self._outbox.lay_in(Rest(until, tries, why))


def _same(one: Address, to: str) -> bool:
    return mailbox(one.address) == mailbox(to)
