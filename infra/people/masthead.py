"""The masthead: what an operator gives a site of its own. Its name, contact, texts, banner and logo.

| key | what |
|---|---|
| `{site}:masthead` | hash: `name`, `contact`, `logo`, `banner.<language>` and `banner_until`, those that were set |
| `{site}:texts` | hash: `<kind>.<language>` -> a text, Markdown |
| `{site}:logo` | the logo's bytes; its file name is in the masthead |

Every page and mail needs the masthead, so a process reads it at most once a second; see `infra.redis.recent`. Texts and logo
are read when somebody opens them.
"""

import time
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final

import msgspec
import redis

from infra.redis import keys
from infra.redis.clients import time_ms
from infra.redis.recent import Recent

USUAL_NAME: Final = "matchpost"
"""The name of a site whose operator has given it none."""

_SIGNATURE: Final = "\n-- \n"

_BANNER: Final = "banner."
_UNTIL: Final = "banner_until"


class SiteText(StrEnum):
    """The texts that a site may have, each a page of its own."""

    RULES = "rules"
    PRIVACY = "privacy"
    IMPRINT = "imprint"
    CONTACT = "contact"


class Masthead(msgspec.Struct, frozen=True):
    """The part of it that every page and every mail has."""

    name: str = USUAL_NAME
    contact: str = ""
    """A line that says whom to ask, such as a mail address."""
    logo: str = ""
    """The file name of the logo, which has a digest in it; empty for none."""
    banner: Mapping[str, str] = {}
    """An announcement by language; empty for none, and when its time is over."""
    banner_until: int = 0
    """When that time is over, ms since 1970 by Redis's clock; 0 for never."""
    texts: frozenset[SiteText] = frozenset()
    """The texts that are there, in any language."""

    @property
    def pages(self) -> tuple[SiteText, ...]:
        """The texts that have a page, in their order; that of the contact also has the contact."""
        has_contact = {SiteText.CONTACT} if self.contact else set()
        return tuple(kind for kind in SiteText if kind in self.texts | has_contact)

    @property
    def signature(self) -> str:
        """The line that signs a mail; empty where the site has no name of its own, and no contact."""
        named = self.name != USUAL_NAME or self.contact
        return ", ".join(filter(None, (self.name, self.contact))) if named else ""

    def signed(self, body: str) -> str:
        """Return the text of a mail with the signature below it, under the line that ends the text."""
        if not self.signature:
            return body
        separator = "" if _SIGNATURE in f"\n{body}" else f"\n{_SIGNATURE.lstrip()}"
        return f"{body}{separator}{self.signature}\n"


class SiteChanges(msgspec.Struct, frozen=True, kw_only=True):
    """Changes; None and what is left out stay, an empty value takes away what was there."""

    name: str | None = None
    contact: str | None = None
    banner: Mapping[str, str] = {}
    banner_until: int | None = None
    texts: Mapping[tuple[SiteText, str], str] = {}
    """By kind and language."""
    logo: tuple[str, bytes] | None = None
    """Its file name and its bytes."""


class Mastheads:
    """The masthead of a server, with the texts and the logo."""

    def __init__(
        self, client: redis.Redis, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = client
        self._recent = Recent(self._read, Masthead(), monotonic)
        self.recent = self._recent.recent
        self.now = self._recent.now

    @property
    def last(self) -> Masthead:
        """The masthead as this process has last read it; it asks for nothing."""
        return self._recent.last

    def _read(self) -> Masthead:
        with self._client.pipeline(transaction=False) as pipe:
            pipe.hgetall(keys.MASTHEAD)
            pipe.hkeys(keys.SITE_TEXTS)
            stored, texts = pipe.execute()
        fields = {name.decode(): value.decode() for name, value in stored.items()}
        banner = {
            name.removeprefix(_BANNER): text
            for name, text in fields.items()
            if name.startswith(_BANNER)
        }
        until = int(fields.get(_UNTIL, 0))
        if banner and until and time_ms(self._client) >= until:
            banner = {}
        known = {one.decode().partition(".")[0] for one in texts} & set(SiteText)
        return Masthead(
            name=fields.get("name", USUAL_NAME),
            contact=fields.get("contact", ""),
            logo=fields.get("logo", ""),
            banner=banner,
            banner_until=until,
            texts=frozenset(map(SiteText, known)),
        )

    def change(self, changes: SiteChanges) -> None:
        """Change what is given, all of it or nothing."""
        fields: dict[str, str | None] = {"name": changes.name, "contact": changes.contact}
        fields |= {f"{_BANNER}{language}": text for language, text in changes.banner.items()}
        if changes.banner_until is not None:
            fields[_UNTIL] = str(changes.banner_until or "")
        texts = {f"{kind}.{language}": text for (kind, language), text in changes.texts.items()}
        with self._client.pipeline() as pipe:
            if changes.logo is not None:
                fields["logo"], data = changes.logo
                pipe.set(keys.SITE_LOGO, data) if data else pipe.delete(keys.SITE_LOGO)
            for key, values in ((keys.MASTHEAD, fields), (keys.SITE_TEXTS, texts)):
                for name, value in values.items():
                    if value:
                        pipe.hset(key, name, value)
                    elif value is not None:
                        pipe.hdel(key, name)
            pipe.execute()
        self._recent.forget()

    def texts(self) -> dict[SiteText, dict[str, str]]:
        """Return each text by language."""
        found: Any = self._client.hgetall(keys.SITE_TEXTS)
        by_name = {name.decode(): text.decode() for name, text in found.items()}
        return {
            kind: {
                name.partition(".")[2]: text
                for name, text in by_name.items()
                if name.startswith(f"{kind}.")
            }
            for kind in SiteText
        }

    def logo(self) -> bytes:
        """Return the bytes of the logo; empty for none."""
        found: Any = self._client.get(keys.SITE_LOGO)
        return found or b""
