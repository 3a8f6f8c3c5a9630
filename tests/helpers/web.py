"""Somebody at the web pages, without a browser: keeps cookies, fills forms in, follows links."""

import html
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from html.parser import HTMLParser
from typing import Any, Self

import httpx

from domain.sentences import ENGLISH
from infra.languages.wording import wording
from services.http.web.log.page import page_in
from tests.helpers.api import PASSWORD, Api, Player, client_of

_PROOF = re.compile(r'name="csrf" value="([0-9a-f]{128})"')
_KEY = re.compile(r'name="key" value="([0-9a-f]{32})"')
_PROBLEM = re.compile(
    r'<main[^>]* class="narrow problem">.*?<p class="lead"[^>]*>(.*?)</p>', re.DOTALL
)
_CODE = re.compile(r"Error code: <code>(.*?)</code>")
_MISTAKE = re.compile(r'<(p|span) class="mistake"[^>]*>(.*?)</\1>', re.DOTALL)
_MESSAGE = re.compile(r'<p class="message[ \w-]*"[^>]*>(.*?)</p>', re.DOTALL)


def verify_page() -> str:
    """The page that checks files, in English."""
    return page_in(wording(ENGLISH.code))


def refusal(text: str) -> tuple[str, str]:
    """Return the code and the sentence of a refusal as a page shows them.

    The page of a refusal has both. A form that keeps what was typed has a sentence at the field that it
    is about, or above all fields, and no code.
    """
    if problem := _PROBLEM.search(text):
        code = _CODE.search(text)
        return code[1] if code else "", html.unescape(problem[1])
    if mistake := _MISTAKE.search(text):
        return "", html.unescape(mistake[2])
    message = _MESSAGE.search(text)
    return "", html.unescape(message[1]) if message else ""


class Guest:
    """Who looks at the pages; logs in with `log_in`."""

    def __init__(self, api: Api, **headers: str) -> None:
        self.http = client_of(api.url, headers=headers)
        self.name = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def get(self, path: str, **options: Any) -> httpx.Response:
        """Ask for a page; it is not followed anywhere."""
        return self.http.get(path, **options)

    def page(self, path: str, **options: Any) -> str:
        """Give the text of a page that has to be there."""
        answer = self.get(path, **options)
        assert answer.status_code == 200, (path, answer.status_code, answer.text)
        return answer.text

    def proof(self, path: str) -> str:
        """Give what the forms of a page show."""
        found = _PROOF.search(self.page(path))
        assert found, f"{path} has no form"
        return found[1]

    def send(
        self, path: str, fields: Mapping[str, Any] | None = None, *, on: str = "", **options: Any
    ) -> httpx.Response:
        """Fill in and send a form of the page `on`; it is not followed anywhere."""
        text = self.page(on) if on else self.page("/account" if self.name else "/login")
        proof, key = _PROOF.search(text), _KEY.search(text)
        assert proof, f"{on} has no form"
        shown = {"csrf": proof[1], **({"key": key[1]} if key else {})}
        return self.http.post(path, data={**shown, **(fields or {})}, **options)

    def sign_up(self, name: str) -> "Guest":
        answer = self.send("/signup", {"userid": name, "password": PASSWORD}, on="/signup")
        assert answer.status_code == 303, answer.text
        self.name = name
        return self

    def log_in(self, name: str, password: str = PASSWORD) -> httpx.Response:
        answer = self.send("/login", {"userid": name, "password": password}, on="/login")
        self.name = name if answer.status_code == 303 else self.name
        return answer

    def act(self, board: int, do: str, **fields: str) -> httpx.Response:
        """Do something in a match, from its page."""
        return self.send(f"/m/{board}/act", {"do": do, **fields}, on=f"/m/{board}")

    def move(self, board: int, text: str) -> httpx.Response:
        """Play a move from the page of a match; it has to be taken."""
        answer = self.act(board, "move", move=text)
        assert answer.status_code == 303, answer.text
        return answer


@contextmanager
def visitors(api: Api) -> Iterator[Callable[..., Guest]]:
    """Yield what makes a guest, logged in if named, with headers of its own; all are closed at the end."""
    with ExitStack() as stack:

        def come(who: Player | str = "", **headers: str) -> Guest:
            guest = stack.enter_context(Guest(api, **headers))
            name = who if isinstance(who, str) else who.name
            assert not name or guest.log_in(name).status_code == 303
            return guest

        yield come


class Read(HTMLParser):
    """A page as a browser reads it: links, forms, and what must not be there."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.forms: list[str] = []
        self.inline: list[str] = []
        self.ids: list[str] = []
        self._in_script = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._in_script = tag == "script"
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))
        elsewhere = given.get("rel") == "canonical"
        if (
            tag in ("img", "script", "link", "source")
            and not elsewhere
            and (given.get("src") or given.get("href"))
        ):
            self.loaded.append(str(given.get("src") or given.get("href")))
        if tag == "form" and given.get("method") == "post":
            self.forms.append(str(given["action"]))
        if given.get("id"):
            self.ids.append(str(given["id"]))
        handlers = [name for name in given if name.startswith("on")]
        if "style" in given or tag == "style" or handlers:
            self.inline.append(f"<{tag} {attrs}>")

    def handle_data(self, data: str) -> None:
        if self._in_script and data.strip():
            self.inline.append(data)

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 - its owner's name for it
        self._in_script = False


def boards(page: str) -> list[int]:
    return [int(board) for board in re.findall(r'href="/m/(\d+)"', page)]


def section(page: str, title: str) -> str:
    return page.partition(f'aria-labelledby="{title}"')[2].partition("</section>")[0]


def all_pages(guest: Guest, path: str, pattern: str) -> list[str]:
    """What is found on a page and on all those that its links to the next lead to."""
    found = []
    while path:
        main = guest.page(path).partition("<main")[2]
        found += re.findall(pattern, main)
        after = re.search(r'href="([^"]*)" rel="next"', main)
        path = after[1].replace("&amp;", "&") if after else ""
    return found
