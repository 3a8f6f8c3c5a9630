"""Clubs in words: roles, and how one joins."""

from collections.abc import Mapping, Sequence
from typing import Final

from infra.languages.wording import N_, Wording
from infra.people.clubs import ClubRole, Joining

_ROLES: Final[Mapping[ClubRole, str]] = {
    ClubRole.OWNER: N_("owner"),
    ClubRole.ORGANISER: N_("organiser"),
    ClubRole.CAPTAIN: N_("captain"),
    ClubRole.MEMBER: N_("member"),
}
_JOINING: Final[Mapping[Joining, str]] = {
    Joining.OPEN: N_("anybody with an account can join"),
    Joining.REQUEST: N_("an organiser admits those who ask"),
    Joining.LINK: N_("members join with a link"),
}


def role_name(role: ClubRole, words: Wording) -> str:
    """Return the name of a role, such as `organiser`."""
    return words.gettext(_ROLES[role])


def role_names(words: Wording) -> dict[ClubRole, str]:
    """Return the names of all roles, the owner's first."""
    return {role: role_name(role, words) for role in ClubRole}


def pairing_rule(words: Wording) -> str:
    """Return what it means to be in a club whose organisers may pair its members."""
    return words.gettext(
        "Organisers of this club may pair its members with each other, in matches that begin at once. "
        "Leave the club if you don’t want that."
    )


def way_to_join(joining: Joining, words: Wording) -> str:
    """Return how people join a club, without a full stop."""
    return words.gettext(_JOINING[joining])


def match_begun(game: str, players: Sequence[str], words: Wording) -> str:
    """Return that members of a club have begun a match, as a sentence without a full stop."""
    return words.gettext("%(players)s have begun %(game)s", players=words.names(players), game=game)


def match_ended(game: str, players: Sequence[str], ending: str, words: Wording) -> str:
    """Return that a match of members has ended; `ending` is that of `services.words.endings`."""
    return words.gettext(
        "%(game)s, %(players)s: %(ending)s", game=game, players=words.names(players), ending=ending
    )
