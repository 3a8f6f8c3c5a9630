"""JSON schemas of request and answer types, with the descriptions of fields from the sources."""

import ast
import inspect
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, Final

import msgspec
from litestar.params import ParameterKwarg

REFERENCE: Final = "#/components/schemas/{name}"

_PARAMETER_BOUNDS: Final = {
    "ge": "minimum",
    "le": "maximum",
    "min_length": "minLength",
    "max_length": "maxLength",
    "pattern": "pattern",
}


def schemas(kinds: Sequence[Any]) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """Return a schema for each type, and by name the schemas that they refer to."""
    found, named = msgspec.json.schema_components(kinds, ref_template=REFERENCE)
    for struct in _structs(kinds):
        _describe(named[struct.__name__], struct)
    return [*found], named


def parameter_schema(kind: Any, about: ParameterKwarg | None, default: Any) -> dict[str, Any]:
    """Return the schema of a parameter; an optional one is omitted, never null."""
    schema = dict(msgspec.json.schema(_without_none(kind)))
    schema = schema.pop("$defs", {}).get(kind.__name__, schema) if "$ref" in schema else schema
    for name, word in _PARAMETER_BOUNDS.items():
        value = getattr(about, name, None)
        if value is not None:
            schema[word] = int(value) if isinstance(value, float) else value
    if default not in (None, inspect.Parameter.empty):
        schema["default"] = default
    return schema


def _without_none(kind: Any) -> Any:
    """Return a type without None."""
    info = msgspec.inspect.type_info(kind)
    if not isinstance(info, msgspec.inspect.UnionType):
        return kind
    (rest,) = (one for one in kind.__args__ if one is not type(None))
    return rest


def _describe(schema: dict[str, Any], struct: type[msgspec.Struct]) -> None:
    """Add the descriptions of fields."""
    descriptions = _field_descriptions(struct)
    for name, field in schema.get("properties", {}).items():
        if name in descriptions:
            field["description"] = descriptions[name]


@cache
def _field_descriptions(struct: type[msgspec.Struct]) -> Mapping[str, str]:
    """Return the strings below the fields of a class and of its bases, by field."""
    found: dict[str, str] = {}
    for base in reversed(struct.__mro__):
        if issubclass(base, msgspec.Struct) and base is not msgspec.Struct:
            found |= _own_field_descriptions(base)
    return found


def _own_field_descriptions(struct: type[msgspec.Struct]) -> dict[str, str]:
    body = _bodies(struct.__module__)[struct.__name__]
    return {
        field.target.id: inspect.cleandoc(below.value.value)
        for field, below in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    }


@cache
def _bodies(module: str) -> Mapping[str, list[ast.stmt]]:
    """Return what is in each class of a module; `inspect` would parse the module again for each of them."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {one.name: one.body for one in tree.body if isinstance(one, ast.ClassDef)}


def _structs(kinds: Iterable[Any]) -> set[type[msgspec.Struct]]:
    """Return all structs that occur in these types."""
    found: set[type[msgspec.Struct]] = set()
    waiting: list[Any] = list(msgspec.inspect.multi_type_info(kinds))
    while waiting:
        info = waiting.pop()
        if isinstance(info, msgspec.inspect.StructType):
            if info.cls in found:
                continue
            found.add(info.cls)
            waiting += [field.type for field in info.fields]
        waiting += _nested_types(info)
    return found


def _nested_types(info: Any) -> list[Any]:
    """Return the types that a type consists of."""
    several = (*getattr(info, "types", ()), *getattr(info, "item_types", ()))
    names = ("item_type", "key_type", "value_type", "type")
    single = [getattr(info, name) for name in names if hasattr(info, name)]
    return [one for one in (*several, *single) if isinstance(one, msgspec.inspect.Type)]
