"""The rules for new passwords, the same wherever one is chosen.

`common_passwords.txt.gz` has the passwords that are tried first, one a line, in lower case and sorted: the 10,000
most frequent of ten ASCII characters and more among ten million that were published in 2015 for research, without
rights reserved (CC0). The order of frequency is that of SecLists (Daniel Miessler, MIT License).
"""

import gzip
from functools import cache
from importlib.resources import files
from typing import Final

from domain.errors import Code, Refusal
from domain.rules import all_rules
from infra.sentences import SAY

PASSWORD_LENGTHS: Final = range(10, 129)
"""Of new passwords."""

SHORTEST_PASSWORD: Final = 6
"""Fewest characters of any password, because older accounts keep theirs."""

_BESIDE_NAMES: Final = 6
"""Fewest characters that a new password has beside the userid and the words that are known here."""

_SHORTEST_WORD: Final = 4
"""Fewest letters of a game's name that counts as such a word."""


def check_password(password: str, name: str) -> None:
    """Refuse a bad new password of a userid as `bad-password`; the sentence does not repeat it."""
    # that includes half a surrogate pair, which print and mail can't carry
    if not password.isprintable():
        raise Refusal(Code.BAD_PASSWORD, SAY("password-form"))
    if password != password.strip():  # some forms and programs drop it
        raise Refusal(Code.BAD_PASSWORD, SAY("password-ends"))
    if (length := len(password)) not in PASSWORD_LENGTHS:
        least, most = PASSWORD_LENGTHS[0], PASSWORD_LENGTHS[-1]
        raise Refusal(
            Code.BAD_PASSWORD, SAY("password-length", least=least, most=most, length=length)
        )
    folded = rest = password.lower()
    for word in (name.lower(), *_known_words()):
        rest = rest.replace(word, "")
    if len(rest) < _BESIDE_NAMES:
        raise Refusal(Code.BAD_PASSWORD, SAY("password-name"))
    if folded in _common_passwords():
        raise Refusal(Code.BAD_PASSWORD, SAY("password-common"))


@cache
def _known_words() -> tuple[str, ...]:
    """Return words that anybody would try on such a server, the longest first."""
    games = {rules.key for rules in all_rules() if len(rules.key) >= _SHORTEST_WORD}
    return tuple(sorted({"matchpost", "password", *games}, key=lambda one: (-len(one), one)))


@cache
def _common_passwords() -> frozenset[str]:
    """Return the list, read when it is first asked for; about 1 MB."""
    packed = files("infra.people.accounts").joinpath("common_passwords.txt.gz").read_bytes()
    return frozenset(gzip.decompress(packed).decode("ascii").splitlines())
