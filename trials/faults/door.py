"""A door as a program: sends the command given in hex and prints code, seq and log index."""

import sys

from domain.match import commands
from infra.settings.settings import load
from services.app.context import App

if __name__ == "__main__":
    with App(load()) as parts:
        outcome = parts.gateway.send(commands.decode_command(bytes.fromhex(sys.argv[1])), 0)
    print(outcome.code, outcome.seq, outcome.index, sep=",")
