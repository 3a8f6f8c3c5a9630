"""The handlers of the command forms, a module for each subject."""
