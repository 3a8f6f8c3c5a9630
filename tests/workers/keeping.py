"""Months of many matches, by hand; what does not come out as it must is raised.

    .venv/bin/python tests/workers/keeping.py [--matches N] [--days N] [--seeds N]

`trials/testing.md` has the figures of a run.
"""

import argparse
import logging
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[2]))

from infra.valkey.server import EmbeddedServer
from tests.workers.month import Month


def main() -> None:
    """Run months of several seeds, and print their figures, added up."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--matches", type=int, default=200)
    parser.add_argument("--days", type=int, default=31)
    parser.add_argument("--seeds", type=int, default=10)
    asked = parser.parse_args()
    logging.disable(logging.CRITICAL)  # drains and keepers that are killed have much to say
    figures: Counter[str] = Counter()
    with (
        TemporaryDirectory() as folder,
        EmbeddedServer(Path(folder) / "data", durable=False) as server,
        server.client(blocking_timeout=5) as client,
    ):
        for seed in range(1, asked.seeds + 1):
            month = Month(client, Path(folder) / f"seeds-{seed}", asked.matches, seed)
            month.run(asked.days)
            figures += month.figures
            sys.stdout.write(f"seed {seed}: as it must be\n")
            sys.stdout.flush()
    for figure, count in sorted(figures.items()):
        sys.stdout.write(f"{count:8,}  {figure}\n")


if __name__ == "__main__":
    main()
