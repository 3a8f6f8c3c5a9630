"""A real browser without a window, and what somebody does with it."""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Request, expect, sync_playwright

from tests.helpers.api import PASSWORD, Api

NAMES = ("chromium", "chromium-browser", "google-chrome")

PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "has_touch": True,
    "is_mobile": True,
}

SIZES = [(844, 390), (768, 1024), (375, 553), (390, 844), (1280, 900)]
"""Widths and heights of screens."""

WORDS = {"keep": "Play the light tiles", "swap": "Play the dark tiles"}
"""The buttons of moves that are words, where they say more than the move."""

_PLACE = re.compile(r"[a-z]*\d+")


OFFLINE: dict[str, Any] = {"service_workers": "allow"}
"""Options of a window with a service worker, behind which no test can hold or answer requests."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the machine's own Chromium; the test is skipped where there is none."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("no Chromium is installed; the Debian package `chromium` brings one")
    # its sandbox needs a user who is not root; what it loads here is ours alone
    args = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=args)
        try:
            yield browser
        finally:
            browser.close()


class Person:
    """Somebody with a browser of their own, on a page of the server."""

    def __init__(
        self, browser: Browser, api: Api, page: Page | None = None, **options: Any
    ) -> None:
        self.api = api
        self.name = ""
        self.expected: list[str] = []
        """What it may have to say in this test."""
        self.complaints: list[str] = []
        """What the browser had to say: errors of scripts, what the policy forbids."""
        self.elsewhere: list[str] = []
        """What was asked for from anywhere but the server."""
        given = {"base_url": api.url, "reduced_motion": "reduce", "service_workers": "block"}
        self.page: Page = page or browser.new_context(**given | options).new_page()
        self.context = self.page.context
        self.page.set_default_timeout(10_000)
        self.page.on("console", self._heard)
        self.page.on("pageerror", self._failed)
        self.page.on("request", self._asked)

    def _heard(self, message: Any) -> None:
        # an answer that says no is no fault of the page, and one that does not come is none either
        blocked = "Service Worker registration blocked by Playwright"
        text, expected = message.text, ("Failed to load resource", blocked, *self.expected)
        if message.type in ("error", "warning") and not any(one in text for one in expected):
            self.complaints.append(text)

    def _failed(self, error: Any) -> None:
        self.complaints.append(error.stack or str(error))

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((self.api.url, "data:", "about:")):
            self.elsewhere.append(request.url)

    def goes_to(self, path: str) -> Page:
        self.page.goto(path)
        return self.page

    def signs_up(self, name: str) -> "Person":
        self.goes_to("/signup")
        self.page.get_by_label("Name", exact=True).fill(name)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.locator("main").get_by_role("button", name="Sign up").click()
        self.page.wait_for_url("/")
        self.name = name
        return self

    def logs_in(self) -> None:
        """Fill the form of the login in that is shown."""
        self.page.get_by_label("Name", exact=True).fill(self.name)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.locator("main").get_by_role("button", name="Log in", exact=True).click()

    # at the form for a new match

    def names(self, *others: str, seat: int | None = None) -> None:
        """Choose opponents by name on the form for a new match, and a seat."""
        self.page.get_by_label("A specific player").check()
        self.page.get_by_label("Name of your opponent").fill(others[0])
        if len(others) > 1:
            self.page.get_by_label("Name of a third player").fill(others[1])
        if seat is not None:
            game = self.page.locator('[name="game"]:checked').get_attribute("value")
            self.page.locator(f'[name="{game}-seat"][value="{seat}"]').check()

    def starts(self) -> None:
        self.page.locator("#new").get_by_role("button", name="Start").click()

    def accepts(self, board: int) -> None:
        """Accept a match on its page."""
        self.goes_to(f"/m/{board}").get_by_role("button", name="Accept", exact=True).click()
        expect(self.page.locator("#turn.asked")).to_have_count(0)

    # at a board

    def chooses(self, place: str, *, plug: bool = False) -> None:
        """Click on a place, or on a plug in a hand."""
        mark = f'.plug[data-plug="{place}"]' if plug else f'[data-place="{place}"]'
        self.page.locator(f"#board-area {mark} .hit").click()

    def picks(self, move: str) -> None:
        """Choose a move place by place, until it is ready to be played."""
        field = self.page.locator("#move")
        self.page.locator("#board-area.choosing").wait_for()
        if move.isalpha():
            label = WORDS.get(move, move)
            self.page.locator("#choices").get_by_role("button", name=label, exact=True).click()
        for at, place in enumerate(_PLACE.findall(move)):
            if field.input_value() == move:
                break  # what was left was forced
            self.chooses(place, plug=at == 0 and self._hands())
        expect(field).to_have_value(move)
        said = WORDS.get(move, f"(Play|Try) {re.escape(move)}")
        asked = re.compile(f"{said}[?,]")
        expect(self.page.locator("#says")).to_contain_text(asked)

    def tries(self, move: str) -> None:
        """Try a move by clicks on the board that is shown in place of the match's own."""
        self.page.locator(".study-frame.choosing").wait_for()
        before = self.page.url
        for place in _PLACE.findall(move):
            if self.page.url != before:
                break  # what was left was forced
            self.page.locator(f'.study-frame [data-place="{place}"] .hit').click()
        self.page.locator(".branch a.now", has_text=move).wait_for()

    def _hands(self) -> bool:
        return self.page.locator('svg[data-game="powerdrain"]').count() > 0

    def plays(self, move: str) -> None:
        """Play a move by clicks, and see it on the board."""
        self.picks(move)
        ply = self.page.locator("#board-area").get_attribute("data-ply")
        self.page.locator("#confirm").click()
        # the board first, because the move before may have been written alike
        self.page.locator(f'#board-area:not([data-ply="{ply}"])').wait_for()
        self.page.locator(".moves a.now", has_text=move).wait_for()

    def waits_for_turn(self) -> None:
        """Wait until the page says that it is this person's turn, without loading it anew."""
        self.page.locator("#turn.yours").wait_for()

    def closes(self) -> None:
        self.context.close()

    def leaves(self) -> Page:
        """Return the page as it was before, but for what its browser has loaded, for somebody else."""
        for other in self.context.pages:
            if other != self.page:
                other.close()
        self.page.unroute_all(behavior="ignoreErrors")
        self.context.set_offline(False)
        self.page.remove_listener("console", self._heard)
        self.page.remove_listener("pageerror", self._failed)
        self.page.remove_listener("request", self._asked)
        self.page.set_viewport_size({"width": 1280, "height": 720})
        self.page.emulate_media(color_scheme="light", reduced_motion="reduce")
        self.page.goto("/robots.txt")  # which runs no scripts
        self.page.evaluate("sessionStorage.clear(); localStorage.clear()")
        self.page.goto("about:blank")
        self.context.clear_cookies()
        return self.page


def pick_any(one: Person) -> None:
    """Choose the first legal move of the page's board, place by place."""
    moves = one.page.evaluate(
        """async () => (await (await fetch(
             document.querySelector("#board-area").dataset.moves)).json()).moves"""
    )
    one.picks(moves[0])


def choices(page: Page) -> list[str]:
    """The names of the places that can be chosen now."""
    marked = page.locator("#board-area .choice")
    return [str(one.get_attribute("data-place")) for one in marked.all()]


def notation_of(page: Page, moves: Sequence[str]) -> list[str]:
    """All moves that can be put together place by place from these, by the page's own script."""
    found: list[str] = page.evaluate(
        """async (moves) => {
          const source = document.querySelector('script[src*="/scripts.js"]').src;
          const { choices, read } = await import(source.replace("scripts.js", "notation.js"));
          const known = moves.map(read);
          const found = new Set(known.filter((one) => one.word).map((one) => one.text));
          const walk = (chosen) => {
            const { next, whole } = choices(known, chosen);
            if (whole) found.add(whole.text);
            for (const place of next) walk([...chosen, place]);
          };
          walk([]);
          return [...found];
        }""",
        list(moves),
    )
    return found


AXE = Path(__file__).parents[1] / "browser" / "axe-4.14.1.min.js"


def faults_of(page: Page) -> list[str]:
    """What axe-core finds on a page, best practices included."""
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate(
        "async () => (await axe.run({ resultTypes: ['violations'], preload: false })).violations"
    )
    return [
        f"{fault['impact']}: {fault['help']}: {[node['html'][:160] for node in fault['nodes'][:3]]}"
        for fault in found
    ]
