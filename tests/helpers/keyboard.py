"""Somebody who uses the pages with the keyboard alone."""

from playwright.sync_api import Page

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
