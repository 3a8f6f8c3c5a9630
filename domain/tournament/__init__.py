"""Tournaments: an aggregate beside matches, which starts and counts matches by ordinary commands.

Tables, schedules, brackets, divisions and ladders are judged by pure functions, for a server and for `matchpost
referee`. Players are numbers from 0, in the order of their rating at the start.
"""
