"""Compiled templates, kept beside compiled modules, so that a server that starts again need not compile the first page.

As with modules, a template is compiled again when it has changed, and nothing is kept where Python keeps none: with
`PYTHONDONTWRITEBYTECODE`, or in a folder that this user may not write to.
"""

import sys
from contextlib import suppress
from hashlib import sha256
from importlib.util import cache_from_source
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket


class CompiledTemplates(jinja2.FileSystemBytecodeCache):
    """Those of templates that the code in the file `compiler` compiles, in one language.

    What it compiles depends on nothing but that code and the template: none of our filters is called at that time.
    """

    def __init__(self, compiler: str) -> None:
        super().__init__(str(Path(cache_from_source(compiler)).parent), "%s.template")
        code = Path(compiler).read_bytes()
        self._compiler = sha256(jinja2.__version__.encode() + code).hexdigest()

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """Return the name of the file of a template; names are unique."""
        del filename
        return name

    def get_source_checksum(self, source: str) -> str:
        """Return what another text, or another compiler, changes."""
        return sha256(f"{self._compiler}{source}".encode()).hexdigest()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a compiled template if that is possible."""
        if not sys.dont_write_bytecode:
            with suppress(OSError):
                super().dump_bytecode(bucket)
