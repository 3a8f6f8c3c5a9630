"""What people touch: the command language, the terminal, the server."""

__version__ = "0.1.0"
