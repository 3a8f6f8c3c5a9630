"""The pages of those who run the server: a section each, with a module and a template of its own."""
