"""What other programs rely on, gathered from the code: `frozen.json` holds what was promised.

    python -m tests.protocol.protocol

adds to `frozen.json` what is new. Nothing is ever taken out of that file by this program: what other
programs rely on may get more, and never less.
"""

import json
import logging
from argparse import ArgumentParser, _SubParsersAction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

from domain import games
from domain.match import commands
from domain.match.events import Event
from domain.match.history import AnchorLeaf, EventEnvelope, RefusedLeaf
from domain.match.state import MatchState
from domain.records import command_id
from domain.rules import all_rules, rules_id
from domain.sentences import all_templates
from infra.people.rate_limits import SecurityEvent
from infra.process.failpoints import FAILPOINTS
from infra.process.log_context import LoggedWith
from infra.redis import rq_jobs
from infra.redis.key_table import KEYS
from infra.settings.settings import setting_table
from infra.store import outcomes
from services.app.error_codes import CODE_INFO
from services.cli.main import _parsers
from services.language.commands import FORMS
from services.serve.json_log import json_lines
from tests.helpers.api import Api
from tests.helpers.doctor import metric_types

FILE = Path(__file__).with_name("frozen.json")
Protocol = dict[str, Any]
OWN_GAMES = {*games.KEYS}


def gather() -> Protocol:
    """Return everything that other programs rely on, as JSON has it."""
    with TemporaryDirectory() as folder, Api(Path(folder)) as api:
        document = api.http.get("/api/openapi.json").json()
    return {
        "events": tags(Event),
        "leaves": tags(RefusedLeaf | AnchorLeaf),
        "envelope": list(EventEnvelope.__struct_fields__),
        "snapshot": list(MatchState.__struct_fields__),
        "commands": tags(commands.Command),
        "command ids": {
            name: command_id(name, bytes(8), "key").hex()
            for name in ("api", "challenge", "keeper", "mail", "terminal", "vacation", "web")
        },
        "codes": {code.value: [one.exit, one.status] for code, one in CODE_INFO.items()},
        "sentences": {
            key: " ".join(one.names)
            for key, one in all_templates().items()
            if key.partition(".")[0] in OWN_GAMES or "." not in key
        },
        "numbered codes": [str(code) for code in outcomes.NUMBERED_CODES],
        "rules": {rules_id(one): sorted(map(str, one.players)) for one in all_rules()},
        "settings": {row.env: True for row in setting_table()},
        "command lines": {form.rule: form.name for form in FORMS},
        "programs": programs(),
        "queues": {
            rq_jobs.COMMANDS: [rq_jobs.DRAIN],
            rq_jobs.MAIL: [rq_jobs.SEND_MAIL],
            rq_jobs.PROJECTIONS: [rq_jobs.PROJECT],
            rq_jobs.PUBLISHED_LOG: [rq_jobs.PUBLISH],
            rq_jobs.MAINTENANCE: [rq_jobs.REBUILD, rq_jobs.CHECK],
        },
        "log fields": dict.fromkeys(log_line(), True),
        "security events": dict.fromkeys(SecurityEvent, True),
        "fault points": dict.fromkeys(FAILPOINTS, True),
        "keys": dict.fromkeys((key.name for key in KEYS), True),
        "metrics": dict.fromkeys(metric_types(), True),
        "routes": routes(document),
        "schemas": schemas(document),
    }


def tags(union: Any) -> Protocol:
    """Return the fields of each kind in their order, by the tag in front of them."""
    return {
        str(kind.__struct_config__.tag): list(kind.__struct_fields__) for kind in get_args(union)
    }


def log_line() -> Protocol:
    """Return a JSON line of the log with all fields."""
    error = OSError("no disk")
    values = logging.ERROR, "", 0, "text", None, (type(error), error, None)
    with LoggedWith(request_id="r", board=1, command_id=b"c", account=b"a"):
        line: Protocol = json.loads(json_lines("web").format(logging.LogRecord("infra", *values)))
    return line


def programs() -> Protocol:
    """Return the flags of each subcommand of `matchpost`."""
    return {name: flags(parser) for name, parser in subcommands(_parsers()[0]).items()}


def subcommands(parser: ArgumentParser) -> dict[str, ArgumentParser]:
    (action,) = (one for one in parser._actions if isinstance(one, _SubParsersAction))
    return dict(action.choices)


def flags(parser: ArgumentParser) -> Protocol:
    return {word: True for action in parser._actions for word in action.option_strings}


def routes(document: Protocol) -> Protocol:
    """Return each operation: its id, its parameters and the statuses of its answers."""
    return {
        f"{method.upper()} {path}": {
            "id": operation["operationId"],
            "parameters": {one["name"]: one["in"] for one in operation.get("parameters", ())},
            "statuses": dict.fromkeys(operation["responses"], True),
        }
        for path, item in document["paths"].items()
        for method, operation in item.items()
    }


def schemas(document: Protocol) -> Protocol:
    """Return the kind of each property of each schema."""
    return {
        name: {field: kind(of) for field, of in schema.get("properties", {}).items()}
        for name, schema in document["components"]["schemas"].items()
    }


def kind(of: Protocol) -> str:
    """Return what a property holds, in a word or two."""
    if "$ref" in of:
        return str(of["$ref"]).rpartition("/")[2]
    if "anyOf" in of:
        return " or ".join(sorted(kind(one) for one in of["anyOf"]))
    return str(of.get("type", "any"))


def merged(frozen: Any, found: Any) -> Any:
    """Return what was promised, and what is new."""
    if isinstance(frozen, dict) and isinstance(found, dict):
        return {
            name: merged(frozen.get(name), found.get(name, frozen.get(name)))
            for name in sorted({*frozen, *found})
        }
    return found if frozen is None or isinstance(found, list) else frozen


def broken(frozen: Any, found: Any, place: str = "") -> list[str]:
    """Return the places where what was promised is gone or has become something else.

    A list is a record whose fields have an order: it may only get longer.
    """
    if isinstance(frozen, dict):
        if not isinstance(found, dict):
            return [place]
        return [
            wrong
            for name, one in frozen.items()
            for wrong in broken(one, found.get(name), f"{place}/{name}")
        ]
    if isinstance(frozen, list) and isinstance(found, list):
        return [] if found[: len(frozen)] == frozen else [place]
    return [] if frozen == found else [place]


if __name__ == "__main__":
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    FILE.write_text(json.dumps(merged(known, gather()), indent=1, sort_keys=True) + "\n")
