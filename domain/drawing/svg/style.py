"""The style sheet of the drawings: one accent colour, light and dark, by custom properties.

Below, `@paper` stands for a colour. It is written out as a plain colour, for viewers without custom
properties, and after it as `var(--board-paper, ...)`, which pages may set.
"""

import re
from collections.abc import Mapping
from typing import Final

_BRIGHT: Final = {
    "paper": "#f3ecdf",
    "plate": "#fffdf9",
    "line": "#b09f85",
    "edge": "#7a6a53",
    "ink": "#2a2520",
    "muted": "#6a5f51",
    "accent": "#b0400c",
    "last": "#e0aa2a",
    "motif": "#a8452c",
    "light": "#f3e8d0",
    "light-rim": "#8b7654",
    "light-ink": "#4a3b28",
    "dark": "#33343d",
    "dark-rim": "#15161b",
    "dark-ink": "#f4ecdd",
    "third": "#74aba4",
    "third-rim": "#2c5f59",
    "third-ink": "#0f3430",
}
_DIM: Final = {
    "paper": "#2c2d32",
    "plate": "#26282e",
    "line": "#62656e",
    "edge": "#9a9da6",
    "ink": "#eeeae2",
    "muted": "#b3b4ba",
    "accent": "#ff9a57",
    "last": "#c79a2c",
    "motif": "#b8614a",
    "light": "#e3d7bd",
    "light-rim": "#a28f6f",
    "light-ink": "#3a2f20",
    "dark": "#0f1013",
    "dark-rim": "#8f929c",
    "dark-ink": "#e6e1d6",
    "third": "#4f8f88",
    "third-rim": "#a9d6d0",
    "third-ink": "#06201d",
}

_RULES: Final = """
.board{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
.board text{fill:@ink;text-anchor:middle;dominant-baseline:central;user-select:none}
.board .paper{fill:@paper}
.board .hit{fill:none;pointer-events:all}
.board .line{fill:none;stroke:@line;stroke-width:1.5;stroke-linecap:round}
.board .edge{stroke:@edge;stroke-width:2.5}
.board .full{stroke:@ink;stroke-width:2.5}
.board .over{stroke:@accent;stroke-width:2.5;stroke-dasharray:1 5}
.board .of-light{stroke:@light-rim;stroke-width:4.5}
.board .of-dark{stroke:@dark-rim;stroke-width:5}
.board .inlay{stroke-width:2.5;stroke-linecap:round}
.board .inlay.light{stroke:@light}
.board .inlay.dark{stroke:@dark}
.board .label{fill:@muted;font-size:14px}
.board .large{font-size:20px}
.board .mark{fill:@muted;font-size:24px;font-family:Georgia,"Times New Roman",serif;letter-spacing:1px}
.board .spot{fill:@edge}
.board .trail{fill:none;stroke:@last;stroke-width:7;stroke-opacity:.6;stroke-linecap:round;\
stroke-linejoin:round}
.board .thrown{stroke-width:4;stroke-opacity:.9;stroke-dasharray:1 8}
.board .ring{fill:@last;fill-opacity:.4;stroke:@last;stroke-width:2}
.board path.ring{fill:none;stroke-width:4}
.board .ring.gone{fill:none;stroke-width:2.75;stroke-dasharray:4 4}
.board .piece,.board .ring,.board .spot,.board .well{pointer-events:none}
.board .body{stroke-width:1.5}
.board .shade{fill:#000;fill-opacity:.22}
.board .shine{fill:#fff;fill-opacity:.42}
.board .dark .shine{fill-opacity:.11}
.board .glint{fill:none;stroke:#fff;stroke-opacity:.35;stroke-width:2;stroke-linecap:round}
.board .dark .glint{stroke-opacity:.2}
.board .light .body{fill:@light;stroke:@light-rim}
.board .dark .body{fill:@dark;stroke:@dark-rim}
.board .third .body{fill:@third;stroke:@third-rim}
.board .pool .body{fill:@plate;stroke:@muted}
.board .groove,.board .crack{fill:none;stroke-width:1.75;stroke-linejoin:round;stroke-linecap:round}
.board .light .groove,.board .light .crack{stroke:@light-ink}
.board .dark .groove,.board .dark .crack{stroke:@dark-ink}
.board .light .core{fill:@light-ink}
.board .light text{fill:@light-ink}
.board .dark text{fill:@dark-ink}
.board .third text{fill:@third-ink}
.board .letter{font-size:18px;font-weight:700;font-family:Georgia,"Times New Roman",serif}
.board .number{font-size:23px;font-weight:600}
.board .free .number{fill:@muted;font-weight:400}
.board .motif{fill:none;stroke-width:2.5;stroke-linecap:round}
.board .dotted .motif{stroke:@dark-ink;stroke-dasharray:0 6.5}
.board .dashed .motif{stroke:@third-ink;stroke-dasharray:7 6}
.board .vacant{fill:none;stroke:@edge;stroke-width:1.5;stroke-dasharray:3 4}
.board .ghost{fill:none;stroke:@line;stroke-width:1;stroke-opacity:.45}
.board .cross{fill:none;stroke:@last;stroke-width:5;stroke-linecap:round}
.board .frame{fill:none;stroke:@edge;stroke-width:2.5}
.board .section{stroke:@line;stroke-width:1.5}
.board .edge-digit{font-size:25px;font-weight:600}
.board .digit{font-size:23px;font-weight:600}
.board .value{font-size:13px}
.board .light .pointer{fill:@light-ink}
.board .dark .pointer{fill:@dark-ink}
.board .drained .shade,.board .drained .glint{display:none}
.board .drained .body{fill-opacity:.18;stroke:@edge;stroke-dasharray:5 4}
.board .drained text,.board .drained .pointer{fill:@ink;opacity:.85}
.board .left{font-size:17px;font-weight:700}
.board .star{fill:@motif;fill-opacity:.13;stroke:@motif;stroke-width:2;stroke-linejoin:round}
.board .koru{fill:none;stroke:@motif;stroke-width:6;stroke-linecap:round;stroke-opacity:.7}
.board .band{fill:none;stroke:@motif;stroke-width:2}
.board .well{fill:@paper;stroke:@edge;stroke-width:1.5}
.board .plate{fill:@plate;stroke:@line;stroke-width:1.5}
.board .turn .plate,.board .won .plate{stroke:@accent;stroke-width:2.5}
.board .tag{fill:@accent}
.board .tag-words{fill:@plate;font-size:12px;font-weight:700}
.board .name{text-anchor:start;font-size:16px;font-weight:600}
.board .long{font-size:13px}
.board .counts{text-anchor:start;fill:@muted;font-size:13px}
.board .ending{font-size:16px;font-weight:600}
"""


def _with_colours(rule: str) -> str:
    """Return a rule with each colour written out, in both forms."""
    return re.sub(
        "([a-z-]+):@([a-z-]+)",
        lambda found: "{0}:{2};{0}:var(--board-{1},{2})".format(*found.groups(), _BRIGHT[found[2]]),
        rule,
    )


def _with_names(rule: str) -> str:
    """Return a rule with the custom property of each colour alone."""
    return re.sub("@([a-z-]+)", r"var(--board-\1)", rule)


def _custom_properties(colours: Mapping[str, str]) -> str:
    return ";".join(f"--board-{name}:{colour}" for name, colour in colours.items())


STYLE: Final = f"{_with_colours(_RULES.strip())}\n@media (prefers-color-scheme:dark){{.board{{{_custom_properties(_DIM)}}}}}\n"
"""The style sheet, for pages with drawings that are not standalone."""

PAGE_STYLE: Final = _with_names(_RULES.lstrip())
"""The same for pages that set all custom properties themselves, which makes it much shorter."""
