"""Userids that a new account can't have: those of the server, words of its commands, and look-alikes."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import Final

from domain.errors import Code, Refusal
from domain.rules import game_keys
from infra.people.accounts import read_name
from infra.people.accounts.usernames import Lookalikes, skeleton
from infra.sentences import SAY
from services.app.context import App

_OFFICES: Final = frozenset(
    {
        "abuse", "account", "admin", "administrator", "anonymous", "anybody", "api", "arbiter", "arbiters",
        "deleted", "erased", "everybody", "everyone", "guest", "help", "hostmaster", "info", "login", "logout",
        "mailer-daemon", "matchpost", "me", "moderator", "moderators", "no-reply", "nobody", "none", "noreply",
        "null", "official", "operator", "password", "postmaster", "privacy", "robot", "robots", "root", "security",
        "server", "staff", "support", "sysadmin", "sysop", "system", "undefined", "webmaster",
    }
)  # fmt: skip
"""Names that a reader would take for a name of the server, or of no player."""

BOT: Final = "bot-"
"""How the userid of a bot begins, so that everybody who reads it knows."""

_PROGRAM: Final = re.compile(r"(r[o0])?b[o0]t[-_]")
"""Userids of robots and bots, and those that look like one."""


@cache
def _command_words() -> frozenset[str]:
    """Return the words of the command language, from its grammar."""
    grammar = files("services").joinpath("language", "grammar.lark").read_text("utf-8")
    found = "|".join(re.findall(r"^_?[A-Z_]+\.3: /\(?([a-z][a-z|[\]]*)", grammar, re.MULTILINE))
    # analy[sz]e is two words
    spelt = {re.sub(r"\[(.)(.)\]", rf"\{which}", found) for which in (1, 2)}
    return frozenset(word for words in spelt for word in words.split("|"))


@cache
def _server_skeletons() -> frozenset[str]:
    return frozenset(map(skeleton, (*_OFFICES, *game_keys())))


def check_reserved(name: str) -> None:
    """Refuse a userid of the server, or one that looks like it, as `bad-name`."""
    # of commands the words alone, because ali looks like all
    if _PROGRAM.match(name) or skeleton(name) in _server_skeletons() or name in _command_words():
        raise Refusal(Code.BAD_NAME, SAY("name-reserved", name=name))


@contextmanager
def claimed_userid(app: App, text: str, *, is_bot: bool = False) -> Iterator[None]:
    """Claim a userid while its account is made; `bad-name` or `name-taken`."""
    name = read_name(text)
    if not is_bot:
        check_reserved(name)
    looks = Lookalikes(app.people)
    if not looks.claim(name):
        rests = looks.rests(name)
        if rests or name not in app.accounts.names_starting(name, 1):
            said = SAY("name-rests", name=name) if rests else SAY("name-alike", name=name)
            raise Refusal(Code.NAME_TAKEN, said)
        yield  # it is refused as taken
        return
    try:
        yield
    except Refusal:
        looks.release(name)
        raise
    looks.keep(name)
