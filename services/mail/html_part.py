"""The HTML part of a mail about a match: the same texts as in plain, with the board as a picture.

Mail programs know little of HTML: the picture is a PNG in the mail itself, styles stand at the elements, and
the colours for dark screens are all that a style sheet adds, for the programs that read one.
"""

from collections.abc import Sequence
from html import escape
from typing import Final

from infra.mail.email import PICTURE

_LINES: Final = "margin:0 0 16px;overflow-wrap:anywhere"
_BUTTON: Final = (
    "display:inline-block;padding:11px 20px;border-radius:8px;background:#2f5d50;color:#fff;"
    "font-weight:600;text-decoration:none"
)
_DARK: Final = (
    "@media(prefers-color-scheme:dark){body,.sheet{background:#1b1a18!important;color:#ece7dd!important}"
    ".quiet{color:#b5ada0!important}a.plain{color:#9fd3c2!important}}"
)
_WIDTHS: Final = {False: 480, True: 300}
"""The width at which a picture is shown at most, in pixels, by whether the player chose a small board."""


def html_part(
    above: Sequence[str],
    below: Sequence[str],
    foot: str,
    *,
    alternative: str,
    language: str,
    link: tuple[str, str] = ("", ""),
    small: bool = False,
) -> str:
    """Return the HTML of a mail: texts above and below its picture, and the `link` as URL and words."""
    width, (url, words) = _WIDTHS[small], (escape(part) for part in link)
    picture = (
        f'<img src="cid:{PICTURE}" width="{width}" alt="{escape(alternative)}" style="display:block;'
        f'width:100%;max-width:{width}px;height:auto;border:0;border-radius:8px">'
    )
    shown = f'<a href="{url}">{picture}</a>' if url else picture
    button = f'<p style="margin:0 0 16px"><a href="{url}" style="{_BUTTON}">{words}</a></p>'
    first, *rest = above
    return (
        f'<!DOCTYPE html>\n<html lang="{language}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
        f"<style>:root{{color-scheme:light dark}}{_DARK}</style></head>\n"
        '<body style="margin:0;padding:0;background:#fbf8f3;color:#2b2823"><div class="sheet" '
        'style="max-width:560px;margin:0 auto;padding:20px 16px;background:#fbf8f3;color:#2b2823;'
        'font:16px/1.5 -apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif">\n'
        f'<p style="{_LINES};font-size:18px;font-weight:600">{_in_lines(first)}</p>\n'
        f"{''.join(map(_paragraph, rest))}"
        f'<div style="margin:0 0 16px">{shown}</div>\n'
        f"{button if url else ''}\n"
        f"{''.join(map(_paragraph, below))}"
        f'<p class="quiet" style="{_LINES};font-size:13px;color:#6b645a">{_in_lines(foot)}</p>\n'
        "</div></body></html>\n"
    )


def _paragraph(text: str) -> str:
    return f'<p style="{_LINES}">{_in_lines(text)}</p>\n'


def _in_lines(text: str) -> str:
    # not by a style, because Outlook knows none that keeps lines
    return escape(text).replace("\n", "<br>\n")
