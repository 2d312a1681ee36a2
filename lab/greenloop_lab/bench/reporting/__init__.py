"""Figures of finished task-runs, computed from the records alone, and the reports that show them."""
