"""Accounts as mail knows them: by a password, or by the address that only one player was given."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hmac import compare_digest
from secrets import token_urlsafe
from typing import Any, Final

import redis
from argon2 import PasswordHasher

from domain.match.events import AccountId
from infra.accounts import Account, Accounts
from infra.limits import LoginLimit

WRONG_PASSWORDS: Final = 5
"""How many a userid may have by mail within an hour, before mail with passwords is refused."""

WINDOW_MINUTES: Final = 60


class MailAccounts(Accounts):
    """The accounts at the mail door. Not for several threads at once.

    A mail that came to a seat's address needs no password. The command language asks for one all
    the same, so it gets a word made for that mail alone, which opens the account until the mail is
    done with. Nobody is told the word: it stands only in the lines that `services.mail.asking`
    spells out, and so does for what a seat may say and nothing else.
    """

    def __init__(
        self, client: redis.Redis, hasher: PasswordHasher | None = None, **more: Any
    ) -> None:
        limit = LoginLimit(client, WRONG_PASSWORDS, WINDOW_MINUTES)
        super().__init__(client, hasher, limit=limit, **more)
        self._open: tuple[AccountId, str] | None = None
        self._proven: set[AccountId] = set()

    @contextmanager
    def opened(self, account: AccountId) -> Iterator[str]:
        """Return a word that stands for the account's password while this is entered."""
        word = token_urlsafe(16)
        self._open = account, word
        try:
            yield word
        finally:
            self._open = None

    @contextmanager
    def noting(self) -> Iterator[set[AccountId]]:
        """Return a set that has, on leaving, the accounts whose passwords were given and right."""
        self._proven = set()
        yield self._proven

    def verify(self, name: str, password: str) -> AccountId:
        """Return the account whose password this is, or for which the mail's address stands."""
        opened = self._opened(password)
        if opened is not None:
            return opened
        account = super().verify(name, password)
        self._proven.add(account)
        return account

    def change(self, name: str, password: str, change: Callable[[Account], Account]) -> AccountId:
        """Change a record, as `Accounts.change` does."""
        opened = self._opened(password)
        if opened is not None:
            self.change_of(opened, change)
            return opened
        account = super().change(name, password, change)
        self._proven.add(account)
        return account

    def _opened(self, password: str) -> AccountId | None:
        if self._open is None:
            return None
        account, word = self._open
        return account if compare_digest(word.encode(), password.encode(errors="replace")) else None
