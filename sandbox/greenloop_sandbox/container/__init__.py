"""Containers for `backends/docker.py`: images, one hardened container, the files uploaded into it.

Nothing here imports the Docker SDK: every function takes the engine that it works on.
"""
