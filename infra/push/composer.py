"""The port for what notifications say; `services.push.notification_texts` implements it."""

from collections.abc import Sequence
from typing import Protocol

from domain.match.events import AccountId
from infra.projections.notices import PlayerNotice
from infra.push.client import PushMessage


class PushComposer(Protocol):
    """Writes notifications."""

    def compose(self, account: AccountId, notices: Sequence[PlayerNotice]) -> PushMessage | None:
        """Write the notices of one command; None when none of them holds any longer."""
        ...
