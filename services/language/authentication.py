"""Proof of the account that gives a command, before its handler is called."""

from collections.abc import Callable
from typing import Final, TypeAlias

from domain.errors import Code, Refusal
from domain.match.start import read_start_options
from domain.records import AccountId
from services.app.accounts import authenticate
from services.app.context import App
from services.language.invocation import Origin
from services.language.parser import CommandLine

Proof: TypeAlias = Callable[[App, CommandLine, Origin], AccountId | None]
"""Returns the account that gives a command; None where the command needs none."""

_AS: Final = "--as="

_UNPROVEN: Final = (
    "only one of its players can make a challenge: add --password=PASSWORD, which is the first "
    "player's, or another's with --as=USERID; or send a token, or answer a mail of one of your matches"
)


def nobody(_app: App, _line: CommandLine, _origin: Origin) -> None:
    """Ask for no proof: the command is for everybody, or its handler checks the password itself."""


def signer(app: App, line: CommandLine, origin: Origin) -> AccountId:
    """Return the account that the password proves, or else the seat to which the line was sent."""
    if line.has("password"):
        return authenticate(app, line.get("userid"), line.get("password"))
    # the grammar requires a password, except in lines sent to a seat's address
    assert origin.proven is not None
    return origin.proven


def signer_if_any(app: App, line: CommandLine, origin: Origin) -> AccountId | None:
    """Return the account that the password or the front end proves; None for anybody else."""
    return signer(app, line, origin) if line.has("password") else origin.proven


def challenger(app: App, line: CommandLine, origin: Origin) -> AccountId | None:
    """Return the account that challenges; None at the operator's terminal without a password.

    A password in the line overrides the account that the front end has proven. `unauthorized`
    without either.
    """
    passwords = line.all("password")
    own = [flag for flag in line.all("flag") if names_challenger(flag)]
    if len(passwords) > 1 or len(own) > len(passwords):
        raise Refusal(
            Code.BAD_OPTION,
            "write --password=PASSWORD once, and --as=USERID only together with it",
        )
    if passwords:
        name = own[0][len(_AS) :] if own else line.get("userid")
        return authenticate(app, name, passwords[0])
    if origin.proven is None and not origin.trusted:
        # refuse a misspelt or empty --password as an option, because that says more
        terms = [flag for flag in line.all("flag") if flag.startswith("--")]
        read_start_options(terms, len(line.all("userid")))
        raise Refusal(Code.UNAUTHORIZED, _UNPROVEN)
    return origin.proven


def names_challenger(flag: str) -> bool:
    """Return whether a flag names the player that makes the challenge."""
    return flag.lower().startswith(_AS)
