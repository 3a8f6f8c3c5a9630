"""`matchpost prepare`: everything that a server on several machines needs before its first process.

It may be repeated: what is there stays. Exit codes: 0 done; 2 a server does not answer, is not as durable as
the settings say, or has other secrets than this machine.
"""

import sys
from pathlib import Path

from infra.durability.durability import DurabilityNotes, Occasion, verify
from infra.health.secrets import Secret, SecretRecord
from infra.log.key_files import keys_folder
from infra.people.account_macs import AccountMacs
from infra.people.accounts import create_robot_accounts
from infra.redis.addresses import redact_url
from infra.settings.settings import Settings
from infra.store.layout import initial_layout
from services.app.context import App
from services.app.error_codes import EXIT_OK, EXIT_UNKNOWN
from services.lane_texts import division
from services.secret_checks import check_secret
from services.serve.log_keys import make_shared_keys, record_published_sizes


def run(settings: Settings) -> int:
    """Create the layout, the keys and the robots' accounts; print where they are. Return the exit code."""
    if settings.redis_url is None:
        sentence = (
            "set MATCHPOST_REDIS_URL to the server of the data; `matchpost serve` prepares its own"
        )
        print(f"matchpost: {sentence}", file=sys.stderr)
        return EXIT_UNKNOWN
    with App(settings) as parts:
        # it notes the servers' settings, so that the roles can be started in any order
        notes = DurabilityNotes(parts.queue)
        verify(parts.data, settings.durability, settings.replicas, notes, Occasion.WATCH)
        lanes = settings.workers
        layout = parts.store.create(initial_layout(parts.data, settings.shards, lanes))
        print(f"The data is on the server at {redact_url(settings.redis_url)}: {division(layout)}")
        make_shared_keys(settings, parts.data, _report_made)
        record = SecretRecord(parts.data)
        for secret in Secret:
            copy = check_secret(settings, record, secret)
            if copy is not None and not copy.missing:
                print(f"{secret}: {copy.place}")
        create_robot_accounts(parts.data, AccountMacs(keys_folder(settings)))
        if settings.durability.durable:
            record_published_sizes(settings, parts.data, parts.queue, layout)
    return EXIT_OK


def _report_made(file: Path) -> None:
    print(f"made {file}; back it up, and let nobody else read it")
