"""The scrubber: it checks slowly, all the time, all that is stored, and raises alarms."""
