"""`matchpost acl`: the lines of the file of users for a server, one user a role.

Exit codes: 0 printed; 1 a password is missing.
"""

import sys
from pathlib import Path

from infra.redis.access import ROLES, USER_PREFIX, acl_lines
from services.app.error_codes import EXIT_OK, EXIT_REFUSED


def run(server: str, passwords: Path) -> int:
    """Print the lines for the servers of the `data` or of the `queue`; return the exit code.

    `passwords` is a folder with a file for each role, named after it.
    """
    names = [*ROLES, "replica"]
    found: dict[str, str] = {}
    for name in names:
        try:
            found[name] = (passwords / name).read_text("utf-8").strip()
        except OSError as error:
            print(f"matchpost: no password for {USER_PREFIX}{name}: {error}", file=sys.stderr)
            return EXIT_REFUSED
    if short := [name for name in names if not found[name]]:
        print(f"matchpost: the password of {USER_PREFIX}{short[0]} is empty", file=sys.stderr)
        return EXIT_REFUSED
    print("\n".join(acl_lines(found, queue=server == "queue")))
    return EXIT_OK
