"""Lines for a player whose mail came back."""

from infra.languages.wording import Wording
from infra.people.accounts import Profile


def bounced_address_lines(profile: Profile, words: Wording) -> list[str]:
    """Return a line for each address from which mail came back, with what to do."""
    return [
        words.gettext(
            "mail to %(address)s bounced: %(why)s; `add %(name)s password %(address)s` sends a "
            "new code there",
            address=one.address,
            why=one.bounced,
            name=profile.name,
        )
        for one in profile.addresses
        if one.bounced
    ]
