"""The page of the published log: its latest checkpoints, and the witnesses that cosigned them.

The page that checks receipts, proofs and match documents in the browser: one file, without a request.

Its script and its style are in the folder `verify`, its text is a template; they are joined here. The policy names both by
their hashes and forbids all connections, so that the page can send nothing anywhere. The same policy is in
the page, because a saved copy has no headers.
"""

from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Final

import msgspec
from litestar import Response

from infra.audit.draws import DEALS
from infra.languages.wording import Wording
from infra.log.checkpoint import LogCheckpoint
from infra.log.key_files import LogKeyError, keys_folder, read_public_keys
from infra.log.names import CHECKPOINT, WITNESSED, folder, object_name
from infra.log.signed_note import NoteError, split_note
from infra.objects.port import ObjectNotFoundError
from services.app.context import App
from services.http.web.declared import Pages
from services.http.web.params import Asked, VisitorDependency
from services.http.web.render import environment, render
from services.http.web.session import Visitor

pages = Pages()


class ShownLog(msgspec.Struct, frozen=True):
    """The log of a shard as the page shows it."""

    folder: str
    note: str
    """Its latest checkpoint."""
    size: int
    witnesses: tuple[str, ...] = ()
    """The names of the witnesses that have cosigned it."""
    witnessed: int = 0
    """How many leaves they have cosigned."""


@pages.get("/log")
def show_log(asked: Asked) -> Response[str]:
    """Show the latest checkpoint of each log, for anybody to keep."""
    logs = list(_read_logs(asked.app))
    leaves = sum(log.size for log in logs)
    return render("log.html", asked.visitor, logs=logs, leaves=leaves)


def _read_logs(app: App) -> Iterator[ShownLog]:
    settings = app.settings
    with suppress(LogKeyError):
        read_public_keys(keys_folder(settings))
        for shard in range(app.store.shards):
            with suppress(ObjectNotFoundError, NoteError):
                yield _read_log(app, shard)


def _read_log(app: App, shard: int) -> ShownLog:
    note = app.objects.get(object_name(shard, CHECKPOINT)).decode()
    found = ShownLog(folder(shard), note, LogCheckpoint.parse(split_note(note)[0]).size)
    try:
        text, signatures = split_note(app.objects.get(object_name(shard, WITNESSED)))
    except ObjectNotFoundError:
        return found
    checkpoint = LogCheckpoint.parse(text)
    names = tuple(dict.fromkeys(name for name, _ in signatures if name != checkpoint.origin))
    return msgspec.structs.replace(found, witnesses=names, witnessed=checkpoint.size)


_SCRIPTS: Final = (
    "bytes.js",
    "sha256.js",
    "merkle.js",
    "note.js",
    "msgpack.js",
    "leaves.js",
    "report.js",
    "form.js",
    "document.js",
    "draw.js",
    "together.js",
    "files.js",
    "view.js",
)
"""The parts of the script, in their order."""

_WEB: Final = files("services.http.web")


def _read(name: str) -> str:
    return _WEB.joinpath(*name.split("/")).read_text("utf-8")


def _source(text: str) -> str:
    """Return the source of a policy that allows just this text."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


_DEALS: Final = f"const DEALS = {msgspec.json.encode(DEALS).decode()};\n"
"""The clauses on the kinds of deals, as `verify` has them."""

_SCRIPT: Final = "\n" + _DEALS + "\n".join(_read(f"verify/{name}") for name in _SCRIPTS)
_STYLE: Final = "\n" + "\n".join(
    map(_read, ("static/styles/tokens.css", "static/styles/page.css", "verify/style.css"))
)

_POLICY: Final = (
    f"default-src 'none'; script-src {_source(_SCRIPT)}; style-src {_source(_STYLE)}; "
    "base-uri 'none'; form-action 'none'"
)


def _script_words(words: Wording) -> dict[str, str]:
    """Return the headlines of the script, each with its words."""
    _ = words.gettext
    return {
        "Checking…": _("Checking…"),
        "This check failed.": _("This check failed."),
        "Nothing is wrong here, but not everything is proven.": _(
            "Nothing is wrong here, but not everything is proven."
        ),
        "Everything this page checks is correct.": _("Everything this page checks is correct."),
    }


@cache
def page_in(words: Wording) -> str:
    """Return the whole page in a language."""
    template = environment(words).get_template("verify.html")
    parts = {"policy": _POLICY, "style": _STYLE, "script": _SCRIPT}
    nobody = Visitor(proof="", secure=False, path="/verify", partial=False, known=False)
    return template.render(**parts, visitor=nobody, said=_script_words(words))


_HEADERS: Final = {
    "Content-Security-Policy": f"{_POLICY}; frame-ancestors 'none'",
    "Cache-Control": "no-cache",
    "Vary": "Cookie, Accept-Language",
}


@pages.get("/verify", for_guests=True)
def show_verify_page(visitor: VisitorDependency) -> Response[str]:
    """Return the page; it is the same for everybody who reads its language."""
    return Response(page_in(visitor.wording), media_type="text/html", headers=_HEADERS)
