"""The front ends and programs that people use: command language, terminal, pages, API, mail."""

__version__ = "0.2.0"
