"""The board themes in pictures that are files: their colours are those of the pages' style sheet.

A browser draws such a picture in the light or dark colours of the page that shows it.
"""

import re
from importlib.resources import files
from typing import Final

from services.http.web.display_settings import BoardTheme

_THEME: Final = re.compile(r'\[data-board="(\w+)"\] \.board:not\(\.sample\)[^{]*\{([^}]*)\}')
_THEME_STYLE: Final = (
    "<style>:root{{color-scheme:light dark}}"
    ".board{{{} --board-accent:var(--accent);--board-last:var(--last)}}</style>"
)


def _read_themes() -> dict[str, str]:
    """Return the colours of each board theme but the usual one, from the style sheet of the pages."""
    sheet = files("services.http.web").joinpath("static", "styles", "board.css").read_text("utf-8")
    return dict(_THEME.findall(sheet))


_THEMES: Final = _read_themes()


def with_board_theme(svg: str, theme: BoardTheme) -> str:
    """Return a standalone drawing in the colours of a board theme."""
    if theme not in _THEMES:
        return svg
    return svg.replace("</style>", f"</style>{_THEME_STYLE.format(_THEMES[theme])}", 1)
