"""Lines for a player whose mail came back."""

from infra.people.accounts import Profile


def bounced_address_lines(profile: Profile) -> list[str]:
    """Return a line for each address from which mail came back, with what to do."""
    return [
        f"mail to {one.address} came back: {one.bounced}; "
        f"`add {profile.name} password {one.address}` sends a new code there"
        for one in profile.addresses
        if one.bounced
    ]
