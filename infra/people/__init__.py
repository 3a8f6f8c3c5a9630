"""Stored data of people: accounts, tokens, sessions, messages, blocks, drafts, challenges."""
