"""The move of a server to another one, a pair or a cluster: nothing is lost, play goes on, and one server at most has the data."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from infra.redis import keys
from infra.redis.clients import make_client
from tests.helpers.clusters import DURABLE, Cluster, Node, SentinelPair, running
from tests.helpers.forked import SCRIPT
from tests.helpers.served import Served, all_play, matches, until

ENV = {"MATCHPOST_SHARDS": "2", "MATCHPOST_HTTP": "127.0.0.1:0"}

pytestmark = [pytest.mark.long, pytest.mark.slow]
