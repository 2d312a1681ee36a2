"""The engine as an agent of an editor, by the Agent Client Protocol (https://agentclientprotocol.com).

It must not know how a result is found.
"""
