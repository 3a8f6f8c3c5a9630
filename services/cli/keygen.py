"""`matchpost keygen`: make the keys that sign the published log."""

import sys

from infra.log.key_files import FOLDER_NAME, LogKeyError, generate_keys, read_public_keys
from infra.log.names import shard_key
from infra.settings import Settings
from services.app.error_codes import EXIT_OK, EXIT_REFUSED


def run(settings: Settings, host: str | None) -> int:
    """Write the keys that are missing, print where, and the public keys; return the exit code."""
    folder = settings.keys or settings.data / FOLDER_NAME
    try:
        made = generate_keys(folder, host or settings.mail_domain)
        public = read_public_keys(folder)[0]
    except LogKeyError as error:
        print(f"matchpost: {error}", file=sys.stderr)
        return EXIT_REFUSED
    for file in made:
        print(f"made {file}; back it up, and let nobody else read it")
    print(f"The logs are named {public.name}/s00 and so on; auditors verify them by")
    for shard in range(settings.shards):
        print(shard_key(public, shard))
    return EXIT_OK
