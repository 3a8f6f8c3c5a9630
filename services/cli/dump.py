"""`matchpost dump FOLDER`: write all finished matches to files in a folder, as the daily job does for download.

Run again on the same folder, it writes what has changed. The file `dump/index` there lists all files; a file is never written
again under its name, so nobody reads half of one.

Exit codes: 0 written; 2 the folder or the archive can't be used now.
"""

import sys
from pathlib import Path

from infra.objects.files import FileObjects
from infra.objects.port import ObjectStoreError
from infra.settings.settings import Settings
from services.app.context import App
from services.app.dump import make_dump
from services.app.error_codes import EXIT_OK, EXIT_UNKNOWN


def run(folder: Path, settings: Settings) -> int:
    """Write the dump, print its files, and return the exit code."""
    with App(settings) as app:
        try:
            index = make_dump(app, FileObjects(folder))
        except ObjectStoreError as error:
            print(error, file=sys.stderr)
            return EXIT_UNKNOWN
    for file in index.files:
        print(f"{file.sha256}  {folder / file.object}  ({file.matches} matches)")
    return EXIT_OK
