"""Tools by which a model may look at the project, one file each: `SPEC` and `async look(arguments, project)`.

A look reads and runs, and changes nothing. A new file in this folder is a new tool.
"""
