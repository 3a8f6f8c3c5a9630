"""How an account is mailed."""

import msgspec

from infra.people.accounts import Profile


class Recipient(msgspec.Struct, frozen=True):
    """A player who wants mail."""

    addresses: tuple[str, ...]
    daily: bool
    """Whether the player wants one digest a day."""
    receipts: bool = False
    """Whether the player wants receipts."""


def recipient_of(profile: Profile | None) -> Recipient | None:
    """Return how to mail a player; None for one who wants no mail, has no address, or is deleted."""
    if profile is None or not wants_mail(profile):
        return None
    addresses = tuple(one.address for one in profile.addresses if one.usable)
    daily = profile.notify == "daily"
    return Recipient(addresses, daily, profile.receipts) if addresses else None


def wants_mail(profile: Profile) -> bool:
    """Return whether a player wants any mail."""
    return not profile.signed_off and profile.notify != "none"
