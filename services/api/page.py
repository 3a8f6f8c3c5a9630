"""The OpenAPI document as a page for people: HTML without scripts, and nothing from elsewhere."""

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, Final

import msgspec

Document = Mapping[str, Any]

_STYLE: Final = """
:root{color-scheme:light dark;--line:#8884;--soft:#8881;--ink:#06c}
@media(prefers-color-scheme:dark){:root{--ink:#6bf}}
body{font:16px/1.55 system-ui,sans-serif;margin:0 auto;max-width:80rem;padding:1rem;display:grid;
grid-template-columns:15rem minmax(0,1fr);gap:2rem}
nav{position:sticky;top:1rem;align-self:start;max-height:calc(100vh - 2rem);overflow:auto}
nav ul{list-style:none;margin:0 0 1rem;padding:0;font-size:.875rem}
nav b{text-transform:capitalize}
a{color:var(--ink);text-decoration:none}a:hover{text-decoration:underline}
h2{text-transform:capitalize;margin:3rem 0 0}h2+p{margin-top:0}
article{border-top:1px solid var(--line);margin-top:1.5rem;padding-top:1rem}
h3{margin:0;font-size:1.1rem}h4{margin:1rem 0 .25rem;font-size:.95rem}
code,pre{font:.875rem/1.5 ui-monospace,monospace}
pre{background:var(--soft);border:1px solid var(--line);border-radius:.375rem;padding:.75rem;
overflow:auto;max-height:24rem;margin:.25rem 0}
.m{display:inline-block;min-width:4.5rem;font-weight:700}
table{border-collapse:collapse;width:100%;font-size:.9rem}
td,th{border-bottom:1px solid var(--line);padding:.25rem .75rem .25rem 0;text-align:left;
vertical-align:top}td:first-child{white-space:nowrap}
small{opacity:.75}details{margin-top:.75rem}summary{cursor:pointer}
@media(max-width:50rem){body{display:block}nav{position:static;max-height:none}
td:first-child{white-space:normal}}
"""

_METHODS: Final = ("get", "post", "put", "patch", "delete")

_SHOWN: Final = 4_000
"""Characters of an example."""


def make_page(document: Document) -> str:
    """Return the page of a document."""
    groups = [(tag, list(_operations_of(document, tag["name"]))) for tag in document["tags"]]
    contents = "".join(_contents(tag["name"], operations) for tag, operations in groups)
    schemas = document["components"]["schemas"]
    return (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        '<meta name=viewport content="width=device-width"><title>matchpost API</title>'
        f"<style>{_STYLE}</style><nav>{contents}</nav><main>"
        f"<h1>matchpost API {escape(document['info']['version'])}</h1>"
        f"<p>{_prose(document['info']['description'])}</p>"
        "<p>Send a token as <code>Authorization: Bearer mp_...</code>; "
        "<a href=#make_token><code>POST /api/tokens</code></a> makes one. "
        "The document for programs: <a href=/api/openapi.json>openapi.json</a>.</p>"
        f"{''.join(_group(tag, operations, schemas) for tag, operations in groups)}"
        f"{_all_schemas(schemas)}</main></html>"
    )


def _operations_of(document: Document, tag: str) -> Iterator[tuple[str, str, Document]]:
    for path, item in document["paths"].items():
        for method in _METHODS:
            if method in item and tag in item[method]["tags"]:
                yield method, path, item[method]


def _contents(tag: str, operations: Sequence[tuple[str, str, Document]]) -> str:
    links = "".join(
        f"<li><a href=#{one['operationId']}>{escape(one['summary'])}</a>"
        for _, _, one in operations
    )
    return f"<b>{escape(tag)}</b><ul>{links}</ul>"


def _group(
    tag: Document, operations: Sequence[tuple[str, str, Document]], schemas: Document
) -> str:
    shown = "".join(_operation(*operation, schemas) for operation in operations)
    return f"<h2>{escape(tag['name'])}</h2><p>{escape(tag['description'])}.</p>{shown}"


def _operation(method: str, path: str, operation: Document, schemas: Document) -> str:
    return (
        f"<article id={operation['operationId']}>"
        f"<h3><code><span class=m>{method.upper()}</span>{escape(path)}</code></h3>"
        f"<p><b>{escape(operation['summary'])}.</b> {_prose(operation['description'])}"
        f"{_scope(operation)}</p>{_parameters(operation)}{_body(operation, schemas)}"
        f"{_responses(operation)}</article>"
    )


def _scope(operation: Document) -> str:
    if not operation["security"]:
        return ""
    scopes = operation["security"][0]["token"]
    kind = f"the scope <code>{escape(scopes[0])}</code>" if scopes else "any scope"
    return f" <small>Needs a token with {kind}.</small>"


def _parameters(operation: Document) -> str:
    rows = "".join(
        f"<tr><td><code>{escape(one['name'])}</code><td>{_kind(one['schema'])}"
        f" <small>in the {one['in']}</small><td>{_prose(one.get('description', ''))}"
        for one in operation["parameters"]
    )
    return f"<table>{rows}</table>" if rows else ""


def _body(operation: Document, schemas: Document) -> str:
    if "requestBody" not in operation:
        return ""
    ((media_type, content),) = operation["requestBody"]["content"].items()
    told = f"<h4>Body, <code>{escape(media_type)}</code></h4>"
    names = _names(content["schema"])
    fields = "".join(f"<p><b>{name}.</b>{_fields(schemas[name])}" for name in names)
    return f"{told}{fields}{_example(content)}"


def _responses(operation: Document) -> str:
    told, refused = [], []
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            told.append(_success(status, response))
        else:
            refused.append(f"<tr><td>{status}<td>{_prose(response['description'])}")
    table = f"<details><summary>Refusals</summary><table>{''.join(refused)}</table></details>"
    return "".join(told) + table


def _success(status: str, response: Document) -> str:
    contents = response.get("content", {})
    kinds = "".join(
        f" <code>{escape(media_type)}</code> {_kind(content['schema'])}"
        for media_type, content in contents.items()
    )
    examples = "".join(map(_example, contents.values()))
    return f"<h4>{status}, {_prose(response['description'])}{kinds}</h4>{examples}"


def _example(content: Document) -> str:
    if "example" not in content:
        return ""
    example = content["example"]
    if not isinstance(example, str):
        example = msgspec.json.format(msgspec.json.encode(example), indent=2).decode()
    cut = example if len(example) <= _SHOWN else f"{example[:_SHOWN]}\n..."
    return f"<pre>{escape(cut)}</pre>"


def _all_schemas(schemas: Document) -> str:
    shown = "".join(
        f"<article id=schema-{name}><h4>{name}</h4><p>{_fields(schemas[name])}</article>"
        for name in sorted(schemas)
    )
    return f"<h2>the parts of bodies and answers</h2>{shown}"


def _fields(schema: Document) -> str:
    """Show what an object is and its fields, or a list of words."""
    head = f" {_prose(schema.get('description', ''))}</p>"
    needed = schema.get("required", ())
    rows = "".join(
        f"<tr><td><code>{escape(field)}</code><td>{_kind(one)}"
        f"{'' if field in needed else ' <small>optional</small>'}"
        f"<td>{_prose(one.get('description', ''))}"
        for field, one in schema.get("properties", {}).items()
    )
    words = ", ".join(f"<code>{escape(str(word))}</code>" for word in schema.get("enum", ()))
    return f"{head}{f'<table>{rows}</table>' if rows else words}"


def _kind(schema: Document) -> str:
    """Say in a few words what a schema allows."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"<a href=#schema-{escape(name)}>{escape(name)}</a>"
    if "anyOf" in schema:
        return " or ".join(map(_kind, schema["anyOf"]))
    if "enum" in schema:
        return " or ".join(f"<code>{escape(str(word))}</code>" for word in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    return escape(f"{schema.get('type', 'any')}{_bounds(schema)}")


def _bounds(schema: Document) -> str:
    if "maxLength" in schema:
        return f", up to {schema['maxLength']} characters"
    if "maximum" in schema:
        return f", {schema.get('minimum', '')} to {schema['maximum']}"
    return ""


def _names(schema: Document) -> list[str]:
    """Return the names of the schemas that a body may be of."""
    several = schema.get("anyOf", [schema])
    return [one["$ref"].rpartition("/")[2] for one in several if "$ref" in one]


def _prose(text: str) -> str:
    """Return text with what stands between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(" ".join(text.split())))
