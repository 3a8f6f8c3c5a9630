"""Results of the runs: one JSON file each, and the table in trials/faults.md made from them."""

from pathlib import Path
from typing import Any

import msgspec

FOLDER = Path(__file__).parents[1] / "results"
PAGE = Path(__file__).parents[1] / "faults.md"
KEPT_VIOLATIONS = 10
BEGIN, END = "<!-- results: begin -->\n", "<!-- results: end -->\n"


class Outcome(msgspec.Struct, kw_only=True):
    """What a run of one fault came to."""

    name: str
    what: str
    """The fault, for a reader."""
    wanted: int
    """How many faults were asked for."""
    faults: int
    """How many were really done."""
    acknowledged: int = 0
    """Commands with an outcome that a client knew."""
    violations: list[str] = []
    """All of them; a file keeps the first few."""
    violated: int = 0
    """How many they were, in a file."""
    late: list[str] = []
    """What took longer than a machine with nothing else to do may take; a test asserts none of it."""
    expected_to_fail: bool = False
    """A control: the test is tested by it."""
    seconds: float = 0.0
    """The longest time to an outcome after the fault, where that was measured."""
    details: dict[str, Any] = {}

    @property
    def good(self) -> bool:
        """Whether it came out as it must."""
        return bool(self.violations) == self.expected_to_fail and self.faults >= self.wanted


def save(outcome: Outcome, folder: Path = FOLDER) -> Path:
    """Write a result, in place of one of the same name."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{outcome.name}.json"
    kept = msgspec.structs.replace(
        outcome, violated=len(outcome.violations), violations=outcome.violations[:KEPT_VIOLATIONS]
    )
    path.write_bytes(msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")
    return path


def load(folder: Path = FOLDER) -> list[Outcome]:
    return [
        msgspec.json.decode(path.read_bytes(), type=Outcome)
        for path in sorted(folder.glob("*.json"))
    ]


def table(outcomes: list[Outcome]) -> str:
    """Return the table: what was run, nothing else."""
    lines = [
        "| run | fault | done | acknowledged | violations | slowest outcome |",
        "|---|---|---|---|---|---|",
    ]
    for found in outcomes:
        violations = f"{found.violated}{' (must fail)' if found.expected_to_fail else ''}"
        slowest = f"{found.seconds:.1f} s" if found.seconds else ""
        short = f" of {found.wanted}" if found.faults < found.wanted else ""
        done = f"{found.faults:,}{short}"
        lines.append(
            f"| `{found.name}` | {found.what} | {done} | {found.acknowledged:,} | {violations} "
            f"| {slowest} |"
        )
    return "\n".join(lines) + "\n"


def write_table(page: Path = PAGE, folder: Path = FOLDER) -> None:
    """Put the table into its page."""
    text = page.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n{table(load(folder))}\n{END}{after}")
