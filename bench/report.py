"""The result of a benchmark, as JSON and as a table."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The results of one run."""

    rate: float
    """The main figure, in `unit` a second."""
    unit: str
    peers: Mapping[str, float]
    """Rates of the baselines, in the same unit a second."""
    details: Mapping[str, Any]

    def to_json(self) -> str:
        """Return the JSON object that `--json` prints."""
        return msgspec.json.encode(
            {
                "rate": _rounded(self.rate),
                "unit": self.unit,
                "peers": {name: _rounded(rate) for name, rate in self.peers.items()},
                "ratios": {
                    name: _rounded(self.rate / rate, 2) for name, rate in self.peers.items()
                },
                "details": self.details,
            }
        ).decode()

    def print(self, name: str) -> None:
        """Print a readable table."""
        table = Table(title=f"bench {name}: {self.unit} a second")
        table.add_column("what")
        table.add_column("rate", justify="right")
        table.add_column("ratio", justify="right")
        table.add_row("matchpost", f"{self.rate:,.0f}", "")
        for peer, rate in self.peers.items():
            table.add_row(peer, f"{rate:,.0f}", f"{_rounded(self.rate / rate, 1)} x")
        console = Console()
        console.print(table)
        for line in detail_lines(self.details):
            console.print(line, highlight=False, soft_wrap=True)


def _rounded(figure: float, places: int = 1) -> float:
    """Return a figure with so many decimal places; a small one has three digits that say something."""
    return round(figure, places) if figure >= 1 else float(f"{figure:.3g}")


def detail_lines(details: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """Yield the details as lines; what holds several figures is indented below its name."""
    for key, value in details.items():
        parts = value if isinstance(value, list) else [value]
        if not all(isinstance(part, Mapping) for part in parts) or not parts:
            yield f"{indent}{key}: {value}"
            continue
        yield f"{indent}{key}:"
        for part in parts:
            if any(isinstance(one, Mapping | list) for one in part.values()):
                yield from detail_lines(part, f"{indent}  ")
            else:
                yield f"{indent}  " + ", ".join(f"{name} {one}" for name, one in part.items())


def median_and_p99(seconds: Sequence[float]) -> dict[str, float]:
    """Return the median and the 99th percentile in microseconds."""
    ordered = sorted(seconds)
    return {
        "median": round(1e6 * statistics.median(ordered), 1),
        "p99": round(1e6 * ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)], 1),
    }
