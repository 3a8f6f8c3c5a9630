"""The style sheet of the drawings: one accent colour, light and dark, by custom properties.

Below, `@paper` stands for a colour. It is written out as a plain colour, for viewers without custom
properties, and after it as `var(--board-paper, ...)`, which pages may set.
"""

import re
from collections.abc import Mapping
from typing import Final

_BRIGHT: Final = {
    "paper": "#f8f4ec",
    "plate": "#fffdf9",
    "line": "#b3a591",
    "edge": "#7d6f5c",
    "ink": "#2a2520",
    "muted": "#75695b",
    "accent": "#d9480f",
    "light": "#fffefa",
    "light-rim": "#3b332b",
    "dark": "#2b2f3d",
    "dark-rim": "#f1eadd",
    "third": "#9cc5c1",
    "third-rim": "#24514d",
}
_DIM: Final = {
    "paper": "#1c1e23",
    "plate": "#262930",
    "line": "#565b66",
    "edge": "#8c919c",
    "ink": "#eeeae2",
    "muted": "#a3a6ad",
    "accent": "#ff8a3d",
    "light": "#efe9dd",
    "light-rim": "#14161a",
    "dark": "#0d0e12",
    "dark-rim": "#b9bcc4",
    "third": "#3f7f7a",
    "third-rim": "#d5efec",
}

_RULES: Final = """
.board{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
.board text{fill:@ink;text-anchor:middle;dominant-baseline:central;user-select:none}
.board .paper{fill:@paper}
.board .hit{fill:none;pointer-events:all}
.board .line{fill:none;stroke:@line;stroke-width:1.5;stroke-linecap:round}
.board .edge{stroke:@edge;stroke-width:2.5}
.board .full{stroke:@ink;stroke-width:2.25}
.board .over{stroke:@accent;stroke-width:2.5;stroke-dasharray:1 5}
.board .label{fill:@muted;font-size:14px}
.board .large{font-size:20px}
.board .mark{fill:@muted;font-size:24px;font-family:Georgia,"Times New Roman",serif;letter-spacing:1px}
.board .spot{fill:@edge}
.board .trail{fill:none;stroke:@accent;stroke-width:6;stroke-opacity:.45;stroke-linecap:round;\
stroke-linejoin:round}
.board .thrown{stroke-width:3;stroke-opacity:.8;stroke-dasharray:1 7}
.board .ring{fill:none;stroke:@accent;stroke-width:3}
.board .ring.gone{stroke-width:2.25;stroke-dasharray:4 4}
.board .piece,.board .ring,.board .spot{pointer-events:none}
.board .body{stroke-width:2}
.board .light .body{fill:@light;stroke:@light-rim}
.board .dark .body{fill:@dark;stroke:@dark-rim}
.board .third .body{fill:@third;stroke:@third-rim}
.board .pool .body{fill:@plate;stroke:@muted}
.board .hole{fill:@paper;stroke-width:2}
.board .light .hole{stroke:@light-rim}
.board .dark .hole{stroke:@dark-rim}
.board .light .core{fill:@light-rim}
.board .light text{fill:@light-rim}
.board .dark text{fill:@dark-rim}
.board .third text{fill:@third-rim}
.board .letter{font-size:18px;font-weight:700}
.board .number{font-size:23px;font-weight:600}
.board .free .number{fill:@muted;font-weight:400}
.board .motif{fill:none;stroke-width:2.5;stroke-linecap:round}
.board .dotted .motif{stroke:@dark-rim;stroke-dasharray:0 6.5}
.board .dashed .motif{stroke:@third-rim;stroke-dasharray:7 6}
.board .vacant{fill:none;stroke:@edge;stroke-width:1.5;stroke-dasharray:3 4}
.board .ghost{fill:none;stroke:@line;stroke-width:1;stroke-opacity:.45}
.board .frame{fill:none;stroke:@edge;stroke-width:2.5}
.board .section{stroke:@line;stroke-width:1.5}
.board .edge-digit{font-size:25px;font-weight:600}
.board .digit{font-size:23px;font-weight:600}
.board .value{font-size:13px}
.board .light .pointer{fill:@light-rim}
.board .dark .pointer{fill:@dark-rim}
.board .drained .body{fill-opacity:.18;stroke:@edge;stroke-dasharray:5 4}
.board .drained text,.board .drained .pointer{fill:@ink;opacity:.85}
.board .left{font-size:17px;font-weight:700}
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


def _custom_properties(colours: Mapping[str, str]) -> str:
    return ";".join(f"--board-{name}:{colour}" for name, colour in colours.items())


STYLE: Final = f"{_with_colours(_RULES.strip())}\n@media (prefers-color-scheme:dark){{.board{{{_custom_properties(_DIM)}}}}}\n"
"""The style sheet, for pages with drawings that are not standalone."""
