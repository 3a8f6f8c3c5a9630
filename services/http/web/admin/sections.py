"""The admin page with its sections, and what the page of each has in common."""

from typing import Any, Final, NamedTuple

from litestar import Response

from domain.errors import Refusal
from infra.languages.wording import N_
from infra.people.accounts import AccountRole, Profile
from services.app.roles import require_moderator, require_operator
from services.http.web.declared import Pages
from services.http.web.forms import OwnForm
from services.http.web.params import OwnPage
from services.http.web.render import secret_page

pages = Pages()


class Section(NamedTuple):
    """A section of the admin page."""

    path: str
    """Its address below `/admin/`."""
    title: str
    """A message, looked up when it is shown."""
    text: str
    """Its purpose in a sentence; a message, too."""
    moderators: bool = False
    """Whether it is for moderators, too."""


SECTIONS: Final[tuple[Section, ...]] = (
    Section("members", N_("Members"), N_("Find, make, suspend and reinstate accounts.")),
    Section("signup-links", N_("Sign-up links"), N_("Links with which people make accounts.")),
    Section("admission", N_("Admission"), N_("Who may sign up, and what guests see.")),
    Section("games", N_("Games"), N_("Switch games off and on.")),
    Section("site", N_("Site"), N_("Name, contact, house rules and other texts, banner and logo.")),
    Section("roles", N_("Roles"), N_("Operators, moderators and arbiters.")),
    Section("reports", N_("Reports"), N_("What people reported, and appeals."), moderators=True),
    Section("record", N_("Record"), N_("What was done here, by whom and why."), moderators=True),
    Section("health", N_("Health"), N_("What is wrong with the server, and what to do.")),
    Section("backups", N_("Backups"), N_("When the last backup was made and tried, and one now.")),
    Section(
        "storage", N_("Robots and storage"), N_("How much there is, and how much room is left.")
    ),
)
"""In the order of the navigation."""


def sections_for(profile: Profile | None) -> tuple[Section, ...]:
    """Return the sections that an account may open; none for one without a role."""
    if profile is None or profile.suspended:
        return ()
    if profile.has(AccountRole.OPERATOR):
        return SECTIONS
    if profile.has(AccountRole.MODERATOR):
        return tuple(section for section in SECTIONS if section.moderators)
    return ()


def render_section(
    template: str, own: OwnForm, path: str, *, reason: Refusal | None = None, **shown: Any
) -> Response[str]:
    """Render the page of a section, with the navigation of all; `path` is the section's, or empty for the first page.

    With a `reason` it shows a refusal, as `render` does. Refuses those who may not open the section as `not-an-operator` or `not-a-moderator`.
    """
    section = next((one for one in SECTIONS if one.path == path), None)
    is_for_moderators = section is None or section.moderators
    (require_moderator if is_for_moderators else require_operator)(own.app, own.account)
    words = own.visitor.wording
    listed = [
        Section(one.path, words.gettext(one.title), words.gettext(one.text))
        for one in sections_for(own.visitor.profile)
    ]
    # these pages have passwords and links that are shown once
    return secret_page(
        template,
        own.visitor,
        reason=reason,
        sections=listed,
        section=next((one for one in listed if one.path == path), None),
        **shown,
    )


@pages.get("/admin")
def show_admin(own_page: OwnPage) -> Response[str]:
    """Show the sections that the visitor may open."""
    return render_section("admin_home.html", own_page, "")
