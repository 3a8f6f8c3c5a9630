"""Somebody who uses the pages with the keyboard alone."""

import re

from playwright.sync_api import Page, expect

from tests.helpers.browser import WORDS

_PLACE = re.compile(r"[a-z]*\d+")
_FOCUSED = "() => document.activeElement.dataset.place ?? document.activeElement.dataset.plug"

_WAY = """(name) => {
  const middle = (one) => {
    const box = (one.querySelector(".hit") ?? one).getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  const target = document.querySelector(
    `#board-area .choice[data-place="${name}"], #board-area .choice[data-plug="${name}"]`);
  const [[x, y], [a, b]] = [middle(document.activeElement), middle(target)];
  const across = a > x ? "ArrowRight" : "ArrowLeft", down = b > y ? "ArrowDown" : "ArrowUp";
  return Math.abs(a - x) > Math.abs(b - y) ? [across, down] : [down, across];
}"""
"""The arrow keys that lead towards a place, the better one first."""


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until something has the focus."""
    for _ in range(200):
        if page.evaluate("(wanted) => document.activeElement.matches(wanted)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {selector}")


def walk_to(page: Page, name: str) -> None:
    """Press the arrow keys until the focus is on a place or plug, as somebody does who sees the board."""
    page.wait_for_function("() => document.activeElement.matches('.choice')")
    seen: set[str] = set()
    for _ in range(60):
        here = page.evaluate(_FOCUSED)
        if here == name:
            return
        better, other = page.evaluate(_WAY, name)
        # the same place again: the better key leads round in a circle
        page.keyboard.press(other if here in seen else better)
        seen.add(here)
    raise AssertionError(f"the arrow keys do not lead to {name}")


def choose_by_keys(page: Page, move: str) -> None:
    """Choose a move with the keyboard, until it is ready to be played."""
    page.locator("#board-area.choosing").wait_for()
    field = page.locator("#move")
    if move.isalpha():
        tab_to(page, "#move")
        page.keyboard.type(move)
    else:
        tab_to(page, "#board-area .choice")
    for place in () if move.isalpha() else _PLACE.findall(move):
        if field.input_value() == move:
            break  # what was left was forced
        walk_to(page, place)
        page.keyboard.press("Enter")
    expect(field).to_have_value(move)


def choose_from_list(page: Page, move: str) -> None:
    """Choose a move from the list of choices, until it is ready to be played."""
    page.locator("#board-area.choosing").wait_for()
    field, listed = page.locator("#move"), page.locator("#listed details")
    if move.isalpha():
        press_button(page, "#choices button", WORDS.get(move, move))
    elif listed.get_attribute("open") is None:
        tab_to(page, "#listed summary")
        page.keyboard.press("Enter")
    for place in () if move.isalpha() else _PLACE.findall(move):
        if field.input_value() == move:
            break  # what was left was forced
        press_button(page, "#listed button", place)
    expect(field).to_have_value(move)


def press_button(page: Page, selector: str, text: str) -> None:
    """Press Tab until one of some buttons has the focus, which has this text, and press it."""
    for _ in range(200):
        here = page.evaluate(
            "(wanted) => document.activeElement.matches(wanted) && document.activeElement.textContent",
            selector,
        )
        if here == text:
            page.keyboard.press("Enter")
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {text}")


def play_by_keys(page: Page, move: str, *, listed: bool = False) -> None:
    """Play a move with the keyboard, on the board or from the list, and see the board after it."""
    (choose_from_list if listed else choose_by_keys)(page, move)
    ply = page.locator("#board-area").get_attribute("data-ply")
    tab_to(page, "#confirm")
    page.keyboard.press("Enter")
    page.locator(f'#board-area:not([data-ply="{ply}"])').wait_for()
    page.wait_for_function(
        "() => document.activeElement !== document.body"
    )  # the focus is not lost
