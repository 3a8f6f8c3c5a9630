"""The site's own: name, contact, texts, banner and logo."""

from litestar import Response
from litestar.response import Redirect

from domain.errors import Refusal
from infra.languages.catalogues import languages
from infra.languages.formats import language_name
from infra.people.logos import MOST_BYTES, MOST_PIXELS
from infra.people.masthead import SiteChanges, SiteText
from services.app.site import (
    MOST_OF_BANNER,
    MOST_OF_CONTACT,
    MOST_OF_NAME,
    MOST_OF_TEXT,
    banner_end,
    change_site,
    last_day,
)
from services.http.web.admin.sections import render_section
from services.http.web.declared import Pages
from services.http.web.forms import OwnForm
from services.http.web.params import Own, OwnPage, SavedMark
from services.http.web.render import redirect_to

pages = Pages()


@pages.get("/admin/site")
def show_site(own_page: OwnPage, saved: SavedMark = "") -> Response[str]:
    """Show the forms, one for each thing; `saved` is what has just been changed."""
    return _site(own_page, saved=saved)


def _site(own: OwnForm, reason: Refusal | None = None, saved: str = "") -> Response[str]:
    masthead, texts = own.app.mastheads.now(), own.app.mastheads.texts()
    fields = {"name": masthead.name, "contact": masthead.contact}
    fields |= {"until": last_day(masthead.banner_until)}
    for code in languages():
        fields[f"banner.{code}"] = masthead.banner.get(code, "")
        fields |= {f"text.{kind}.{code}": texts[kind].get(code, "") for kind in SiteText}
    fields |= {name: own.raw(name) for name in own.fields}
    return render_section(
        "site.html",
        own,
        "site",
        fields=fields,
        kinds=tuple(SiteText),
        named={code: language_name(code, own.visitor.language) for code in languages()},
        logo=masthead.logo,
        most=(MOST_OF_NAME, MOST_OF_CONTACT, MOST_OF_TEXT, MOST_OF_BANNER),
        logo_most=(MOST_BYTES // 1000, MOST_PIXELS),
        reason=reason,
        saved=saved,
    )


@pages.post("/admin/site")
def set_site(own: Own) -> Response[str] | Redirect:
    """Change what the form has; it is answered when that is in force everywhere."""
    try:
        change_site(own.app, _asked(own), _logo(own), by=own.account)
    except Refusal as reason:
        return _site(own, reason)
    return redirect_to(f"/admin/site?saved={own.get('part')[:16]}")


def _asked(own: OwnForm) -> SiteChanges:
    def of(start: str) -> dict[str, str]:
        return {
            name.removeprefix(start): own.raw(name) for name in own.fields if name.startswith(start)
        }

    texts = {tuple(name.split(".", 1)): text for name, text in of("text.").items()}
    return SiteChanges(
        name=own.get("name") if "name" in own.fields else None,
        contact=own.get("contact") if "contact" in own.fields else None,
        banner=of("banner."),
        banner_until=banner_end(own.get("until")) if "until" in own.fields else None,
        texts={
            (kind, code): texts[kind, code]
            for kind in SiteText
            for code in languages()
            if (kind, code) in texts
        },
    )


def _logo(own: OwnForm) -> bytes | None:
    """Return the picture that was sent, nothing to take the logo away, and None to keep it."""
    if "no-logo" in own.fields:
        return b""
    return own.files.get("logo") or None
