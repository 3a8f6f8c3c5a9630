"""The passwords that are tried first: the most frequent ones that are long enough to be allowed.

`common_passwords.txt.gz` has one a line, in lower case and sorted: the 10,000 most frequent of ten ASCII characters
and more among ten million that were published in 2015 for research, without rights reserved (CC0). The order
of frequency is that of SecLists (Daniel Miessler, MIT License).
"""

import gzip
from functools import cache
from importlib.resources import files


@cache
def common_passwords() -> frozenset[str]:
    """Return the list, in lower case; about 1 MB, read when it is first asked for."""
    packed = files("infra.people.accounts").joinpath("common_passwords.txt.gz").read_bytes()
    return frozenset(gzip.decompress(packed).decode("ascii").splitlines())
