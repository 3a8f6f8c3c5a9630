"""Tournaments: tables, schedules, brackets, divisions and ladders, judged by pure functions.

Players are numbers from 0, in the order of their rating at the start.
"""
