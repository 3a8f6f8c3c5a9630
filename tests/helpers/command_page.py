"""The lines of docs/commands.md, as they are typed."""

import re
from pathlib import Path

from services.language.parser import parse

PAGE = (Path(__file__).parents[2] / "docs" / "commands.md").read_text("utf-8")


def lines_of(block: str) -> list[str]:
    """The examples in a block: its lines, or all of them as one where the first is `multiple`."""
    return [block] if block.startswith("multiple") else block.splitlines()


EXAMPLES = [
    line
    for block in re.findall(r"```text\n(.*?)\n```", PAGE, re.DOTALL)
    for line in lines_of(block)
]
WITH_PASSWORD = [line for line in EXAMPLES if parse(line).has("password")]
