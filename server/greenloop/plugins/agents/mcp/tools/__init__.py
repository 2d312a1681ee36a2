"""The tools, one file each; the function's name is the tool's, and its docstring is what the client reads."""
