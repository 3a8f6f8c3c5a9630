"""The site's own: its name, contact, texts, banner and logo."""

from collections.abc import Mapping
from typing import Annotated

import msgspec
from litestar.params import JSONBody

from domain.errors import Code
from infra.people.logos import MOST_BYTES
from infra.people.masthead import SiteChanges, SiteText
from infra.people.tokens import Scope
from services.app.context import App
from services.app.site import banner_end, change_site, last_day
from services.http.api.auth import Context, Own
from services.http.api.bodies import RequestBody
from services.http.api.declared import ANYBODY, ApiRoutes, refuses

api = ApiRoutes("site")


class Site(msgspec.Struct, frozen=True):
    """The site's own name, contact, texts, banner and logo."""

    name: str
    contact: str
    """Whom to ask; empty if nothing is set."""
    texts: dict[SiteText, dict[str, str]]
    """Texts by language, in Markdown."""
    banner: dict[str, str]
    """The announcement by language; empty for none."""
    banner_until: str
    """The last day of the announcement (UTC), such as `2026-12-24`; empty for none."""
    logo: str
    """The path of the logo; empty for none."""


class SiteChange(RequestBody, frozen=True):
    """Changes; what is left out or null stays, and an empty text takes away what was there."""

    name: str | None = None
    contact: str | None = None
    texts: Mapping[SiteText, dict[str, str]] = {}
    """By kind and language."""
    banner: Mapping[str, str] = {}
    """By language."""
    banner_until: str | None = None
    """The last day (UTC), such as `2026-12-24`; empty for an announcement that stays."""
    logo: Annotated[bytes, msgspec.Meta(max_length=MOST_BYTES)] | None = None
    """A PNG or WebP picture, in Base64; empty for none."""


@api.get("/api/site", "The site's name, contact, texts, banner and logo", ANYBODY, for_guests=True)
def show_site(context: Context) -> Site:
    """Return what the site has of its own; everybody may read it."""
    return _site(context.app)


def _site(app: App) -> Site:
    found = app.mastheads.recent()
    return Site(
        name=found.name,
        contact=found.contact,
        texts={kind: texts for kind, texts in app.mastheads.texts().items() if texts},
        banner=dict(found.banner),
        banner_until=last_day(found.banner_until) if found.banner else "",
        logo=f"/logo/{found.logo}" if found.logo else "",
    )


@api.patch("/api/admin/site", "Change what the site has of its own", Scope.ADMIN)
@refuses(Code.NOT_AN_OPERATOR, Code.BAD_OPTION, Code.TOO_LONG)
def change_own_site(data: JSONBody[SiteChange], own: Own) -> Site:
    """Change name, contact, texts, banner or logo; it is answered when that is in force everywhere."""
    until = data.banner_until
    changes = SiteChanges(
        name=data.name,
        contact=data.contact,
        banner=data.banner,
        banner_until=None if until is None else banner_end(until),
        texts={
            (kind, language): text
            for kind, by_language in data.texts.items()
            for language, text in by_language.items()
        },
    )
    change_site(own.app, changes, data.logo, by=own.account)
    return _site(own.app)
