"""Mail that came back, told to whom it was for."""

from infra.people.accounts import Profile


def bounced_address_lines(profile: Profile) -> list[str]:
    """Say which of a player's addresses mail came back from, and what to do."""
    return [
        f"mail to {one.address} came back: {one.bounced}; "
        f"`add {profile.name} password {one.address}` has a new code sent there"
        for one in profile.addresses
        if one.bounced
    ]
