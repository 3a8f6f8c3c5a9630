"""Whether an answer is one that the OpenAPI document promises."""

import re
from typing import Any

import httpx
import jsonschema_rs

_PROBLEM = "application/problem+json"

LATER = (202, 429, 503)
"""Statuses of answers that say when to ask again."""

_OPEN_ENDED = ("text/event-stream", "application/x-ndjson")
"""What is not read here: it may have no end."""


class Conformance:
    """Checks answers against a document."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._components = {"components": document["components"]}
        self._validators: dict[str, Any] = {}
        self._operations = [
            (method.upper(), _pattern(path), operation)
            for path, item in document["paths"].items()
            for method, operation in item.items()
        ]

    def check(self, answer: httpx.Response) -> None:
        """Fail for an answer that is not in the document."""
        operation = self._operation(answer.request)
        if operation is None:
            return
        told = operation["responses"].get(str(answer.status_code))
        where = f"{answer.request.method} {answer.request.url}: {answer.status_code}"
        assert told is not None, f"{where} is not in the document"
        if answer.status_code in LATER:
            assert int(answer.headers["Retry-After"]) > 0, where
        media_type = answer.headers.get("content-type", "").partition(";")[0]
        if media_type in _OPEN_ENDED:
            return
        content = answer.read()
        if not content or answer.request.method == "HEAD":
            return
        assert media_type in told["content"], f"{where} is {media_type}"
        if media_type.endswith("json"):
            self._fits(told["content"][media_type]["schema"], answer.json(), where)
        if media_type == _PROBLEM:
            code = answer.json()["code"]
            assert f"`{code}`" in told["description"], f"{where} is {code}: {answer.text}"

    def _operation(self, request: httpx.Request) -> Any:
        method = "GET" if request.method == "HEAD" else request.method
        # the first that fits, and what has no parameter in its place before what has
        fitting = [
            (pattern.pattern.count("["), operation)
            for asked, pattern, operation in self._operations
            if asked == method and pattern.fullmatch(request.url.path)
        ]
        return min(fitting, key=lambda found: found[0])[1] if fitting else None

    def _fits(self, schema: Any, value: Any, where: str) -> None:
        key = repr(schema)
        if key not in self._validators:
            self._validators[key] = jsonschema_rs.Draft202012Validator(
                {**schema, **self._components}
            )
        error = next(self._validators[key].iter_errors(value), None)
        assert error is None, f"{where}: {error}"


def _pattern(path: str) -> re.Pattern[str]:
    """Give what matches the paths of a template."""
    return re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path)))
