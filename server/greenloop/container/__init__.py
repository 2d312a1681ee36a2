"""Containers, for the back end `sandboxes/docker.py`: the image, one hardened container, the files that travel into it.

Nothing here imports the Docker SDK: every function is given the engine it works on.
"""
