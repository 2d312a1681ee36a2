"""The engine as tools for agents, by the Model Context Protocol (https://modelcontextprotocol.io).

`tools/` has one file for each tool. It must not know how a result is found.
"""
