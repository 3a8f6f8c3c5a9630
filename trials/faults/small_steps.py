"""`matchpost` in small steps, so that a short run passes each fault point of the published log often.

Trimming leaves 256 leaves, a restore writes eight at a time, and what was killed is started again soon.
Nothing else is changed. As a program it takes the arguments of `matchpost`.
"""

import os
import sys
from functools import partial
from typing import Any

from services.cli.main import main

RESTORED_TOGETHER = 8
MAX_DELAY_SECONDS = 0.2


def _change_serve() -> None:
    from infra.valkey.process import spawn  # noqa: PLC0415 - only what the role needs
    from services.serve import main as serve  # noqa: PLC0415
    from services.serve import processes, supervisor  # noqa: PLC0415

    started = processes.ProcessChild

    def child(name: str, argv: list[str], **options: Any) -> Any:
        return started(name, [sys.executable, __file__, *argv[1:]], **options)

    processes.ProcessChild = child  # type: ignore[assignment, misc]
    # each role begins as this program, and so the publisher has a process of its own
    serve.fork_command = spawn  # type: ignore[attr-defined, assignment]
    os.environ["MATCHPOST_GATHER"] = "off"
    supervisor.MAX_DELAY = MAX_DELAY_SECONDS  # type: ignore[misc]


def _change_publisher() -> None:
    from infra.log.tiles import WIDTH  # noqa: PLC0415
    from workers.log import job, restore  # noqa: PLC0415

    job.trim = partial(job.trim, kept=WIDTH)
    restore.STEP = RESTORED_TOGETHER


if __name__ == "__main__":
    {"serve": _change_serve, "publisher": _change_publisher}.get(sys.argv[1], lambda: None)()
    sys.exit(main())
