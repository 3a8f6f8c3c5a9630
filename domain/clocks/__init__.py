"""Time controls, clocks, the calendar and vacations."""
