"""What is stored of people: accounts, tokens, sessions, messages, blocks, drafts, challenges."""
