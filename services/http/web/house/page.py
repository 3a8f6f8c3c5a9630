"""The site's own texts as pages, its logo, and the announcement that a visitor closes."""

from typing import Any, Final

from litestar import Response
from litestar.exceptions import NotFoundException
from litestar.response import Redirect

from infra.people.logos import MEDIA_TYPES
from infra.people.masthead import SiteText
from services.app.site import shown_text
from services.http.web.declared import Pages
from services.http.web.markdown import rendered_markdown
from services.http.web.params import Asked, ContextDependency, FormDependency, PictureName
from services.http.web.render import back_to, render
from services.http.web.session import banner_cookie

pages = Pages()

_PATHS: Final = {
    "/house-rules": SiteText.RULES,
    "/privacy": SiteText.PRIVACY,
    "/imprint": SiteText.IMPRINT,
    "/contact": SiteText.CONTACT,
}

_FOR_A_YEAR: Final = {"Cache-Control": "public, max-age=31536000, immutable"}


def _declare(path: str, kind: SiteText) -> None:
    @pages.get(path, for_guests=True)
    def show_site_text(asked: Asked) -> Response[str]:
        """Show a text of the site, in the reader's language if it is there; guests may read it everywhere."""
        visitor = asked.visitor
        if kind not in visitor.masthead.pages:
            raise NotFoundException("there is no such page")
        language, text = shown_text(asked.app, kind, visitor.language)
        return render(
            "site_text.html",
            visitor,
            kind=kind,
            written_in=language,
            text=rendered_markdown(text, 2),
        )


for _path, _kind in _PATHS.items():
    _declare(_path, _kind)


@pages.get("/logo/{name:str}", for_guests=True)
def show_logo(name: PictureName, context: ContextDependency) -> Response[Any]:
    """Return the logo; its name has its digest, so caches may keep it."""
    data = context.app.mastheads.logo()
    if not data or name != context.app.mastheads.recent().logo:
        raise NotFoundException("there is no such picture")
    return Response(data, media_type=MEDIA_TYPES[name.rpartition(".")[2]], headers=_FOR_A_YEAR)


@pages.post("/banner", in_thread=False, for_guests=True)
def close_banner(open_form: FormDependency) -> Redirect:
    """Close the announcement for this visit, and return to the page that it was on."""
    cookie = banner_cookie(open_form.visitor.masthead, secure=open_form.visitor.secure)
    return back_to(open_form.get("back") or "/", [cookie])
