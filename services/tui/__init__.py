"""A board in the terminal, which knows the server by its HTTP API only.

`run_board` imports textual, which is slow; the other modules don't.
"""
