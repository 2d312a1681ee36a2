"""Reads what an execution reports; pure functions that judge nothing.

inside/protocol.py describes the kinds of records. A record of an unknown form counts as absent.
`cases.py` is about the tests, `traces.py` about the code that they run; `schema.py` checks the form of a record.
"""
