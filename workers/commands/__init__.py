"""The command handler: takes commands from the inboxes, decides them, and commits the events."""
