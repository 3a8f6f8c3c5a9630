"""The list of the files of the dump."""

from domain.errors import Code
from services.app.dump import DumpIndex, read_dump
from services.http.api.auth import Context
from services.http.api.declared import ANYBODY, ApiRoutes, refuses

api = ApiRoutes("matches")


@api.get(
    "/api/dump",
    "Files with all finished matches",
    ANYBODY,
    description="One for each month, game and format, written once a day where the operator has set an hour for it: "
    "docs/dump.md. A file is at the path `/dump/` and its `name`.",
)
@refuses(Code.UNAVAILABLE)
def list_dump(context: Context) -> DumpIndex:
    """Return the files of the last dump; none if there is none."""
    return read_dump(context.app.objects)
