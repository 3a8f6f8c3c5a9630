"""The actor: an account that a front end has proven, before it calls any use case."""

import msgspec

from domain.match.events import AccountId, CommandId, command_id


class Actor(msgspec.Struct, frozen=True):
    """An account, the front end that proved it, and the idempotency key of its request."""

    account: AccountId
    via: str
    """The front end's name: a part of each command id, so that keys of two front ends never meet."""
    key: str
    """The same request sent again carries the same key, and so it is carried out once."""
    name: str = ""
    """The userid, where the front end knows it."""

    def command_id(self, part: str = "") -> CommandId:
        """Return the id of the command that the actor gives with this key.

        `part` tells apart several commands of one request.
        """
        return command_id(self.via, self.account, f"{self.key} {part}" if part else self.key)
