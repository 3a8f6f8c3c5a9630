"""What is stored of an account, and what of it others may see.

Records are maps: a field that an older one lacks is read as its default, and defaults are not
written. A new field therefore needs a default, and a default never changes.
"""

from typing import Final

import msgspec


class Address(msgspec.Struct, frozen=True, omit_defaults=True):
    """A mail address of an account."""

    address: str
    """As its owner wrote it."""
    verified: bool = False
    """Whether a mail sent there was answered."""
    bounced: str = ""
    """Why mail came back from there, in one line; empty while it does not."""

    @property
    def usable(self) -> bool:
        """Whether a player's mail may go there."""
        return self.verified and not self.bounced


class Profile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An account's record, less its password."""

    name: str
    """The userid, in lower case."""
    created: int
    """Milliseconds since 1970 by Redis's clock."""
    language: str = ""
    """In which help is given, such as `de`; empty for English."""
    addresses: tuple[Address, ...] = ()
    notify: str = "move"
    """When mail is sent: at each `move`, `daily` or `none`."""
    signed_off: bool = False
    """Whether no mail is sent at all, whatever `notify` says."""
    displays: tuple[tuple[str, str], ...] = ()
    """Pairs of a game and the drawing of its board that is preferred."""
    arbiter: bool = False
    """Whether the account decides disputes; only the operator says so."""
    challenges: str = "anyone"
    """Whose challenges by name are taken: of `anyone`, of players who are `known`, or of `none`."""
    vacations: tuple[tuple[int, int], ...] = ()
    """Since when clocks stood still, ms since 1970, and for how many days."""


class Account(Profile, frozen=True, kw_only=True, omit_defaults=True):
    """An account's whole record; not shown to anybody."""

    password: str
    """The argon2id hash, with its parameters and salt."""

    def __repr__(self) -> str:
        """Show whose record it is, and nothing else of it: it may come to stand in a log."""
        return f"Account({self.name!r})"


encode: Final = msgspec.msgpack.Encoder().encode
decode: Final = msgspec.msgpack.Decoder(Account).decode
decode_profile: Final = msgspec.msgpack.Decoder(Profile).decode
"""Reads what others may see of a stored record."""
