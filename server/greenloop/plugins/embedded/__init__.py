"""Embedded models: chosen, downloaded, served and asked on this machine."""
