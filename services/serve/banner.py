"""The text that `serve` prints once it runs: where the data is, and what to type next."""

import shlex
import shutil
from typing import Final

from infra.durability.durability import Mode
from infra.redis.addresses import redact_url
from infra.settings.settings import Settings
from services.serve.processes import console_script

_EXAMPLES: Final = (
    'matchpost do "signup alice mad-hatter"',
    'matchpost do "signup bob yes-we-can"',
    'matchpost do "pow2 challenge alice bob"',
    'matchpost do "help"',
)


def banner(settings: Settings, url: str, http: str | None = None, first: str = "") -> str:
    """Return the lines, the last of them the word `ready`.

    `url` is the address of the Redis server, `http` that of the API, or None without an API. `first` is the text of
    the link that makes the first operator; empty if there is one.
    """
    if settings.redis_url is None:
        place = f"The data is in {settings.data}"
    else:
        place = f"The data is on the server at {redact_url(url)}"
    typed = [f"  {line}" for line in (*_preparation(settings), *_EXAMPLES)]
    return "\n".join(
        [
            place,
            *([f"Open {http}/ in a browser", f"The API is at {http}/api/"] if http else []),
            *(_first_operator(settings.site or http, first) if http and first else []),
            "In another terminal, type for example",
            *typed,
            "Ctrl-C stops the server; nothing is lost.",
            "ready",
        ]
    )


def _first_operator(site: str, text: str) -> list[str]:
    """Return the lines with the link that makes the first operator."""
    return [
        "Nobody is an operator yet. To be the one, open this link, which works once, until the next start:",
        f"  {site}/admin/first?key={text}",
    ]


def _preparation(settings: Settings) -> list[str]:
    """Return the lines to type first in a new terminal, in any directory."""
    lines = []
    script = console_script()
    activate = script.with_name("activate")
    if shutil.which("matchpost") != str(script) and activate.exists():
        lines.append(f". {shlex.quote(str(activate))}")
    if settings.redis_url is None:
        lines.append(f"export MATCHPOST_DATA={shlex.quote(str(settings.data))}")
    else:
        # the URL may hold a password
        lines.append("export MATCHPOST_REDIS_URL=...   (as for this server)")
    if settings.durability is not Mode.FSYNC:
        lines.append(f"export MATCHPOST_DURABILITY={settings.durability}")
    if settings.durability is Mode.REPLICATED:
        lines.append(f"export MATCHPOST_REPLICAS={settings.replicas}")
    return lines
