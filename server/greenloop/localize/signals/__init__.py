"""Signals: each file says by one kind of evidence how suspicious a function is."""
