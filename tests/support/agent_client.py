"""One life of a random agent: the SDK's own client, in a process of its own, so that it can disappear.

`agent_client.py SEED FIRST LAST DIES COMMAND...` writes one JSON line for each call that was answered or cancelled; it
ends after the last one, or kills itself in the middle of it.
"""

import asyncio
import json
import os
import random
import signal
import sys

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from agent_calls import choose

PATIENCE = 240.0  # seconds for an answer; beside other work a sandbox takes its time
CANCELS, CANCELLED_WITHIN = 0.5, 2.0
DIES_WITHIN = 1.0


async def call(client, tool, arguments):
    """How a call ended, and the text of its error."""
    try:
        async with asyncio.timeout(PATIENCE):
            if tool == "read":
                await client.read_resource(arguments["uri"])
                return "answered", ""
            result = await client.call_tool(tool, arguments)
    except MCPError as error:
        return "error", str(error)
    except TimeoutError:
        return "no answer", ""
    if not result.is_error:
        return "answered", ""
    return "error", "|".join(getattr(each, "text", "?") for each in result.content)


async def call_once(client, seed, index, dies):
    dice = random.Random(f"{seed} {index}")
    kind, tool, arguments = choose(dice)
    row = {"at": index, "kind": kind, "tool": tool, "arguments": arguments, "ended": "killed", "text": ""}
    if dies:
        print(json.dumps(row), flush=True)
        asyncio.get_running_loop().call_later(dice.uniform(0, DIES_WITHIN), os.kill, os.getpid(), signal.SIGKILL)
    task = asyncio.create_task(call(client, tool, arguments))
    moment = dice.uniform(0, CANCELLED_WITHIN) if dice.random() < CANCELS else None
    await asyncio.wait([task], timeout=moment)
    if task.cancel():
        await asyncio.wait([task])
        row["ended"] = "cancelled"
    else:
        row["ended"], row["text"] = task.result()
    if dies:
        await asyncio.Event().wait()
    print(json.dumps(row), flush=True)


async def live(seed, first, last, dies, command):
    dice = random.Random(f"{seed} {first} manners")
    server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    async with Client(stdio_client(server), mode=dice.choice(("legacy", "auto"))) as client:
        index = first
        while index < last:
            # Agents call several tools at once.
            together = min(dice.choice((1, 1, 1, 2, 3)), last - index)
            ends = dies and index + together == last
            await asyncio.gather(
                *(call_once(client, seed, index + beside, ends and not beside) for beside in range(together))
            )
            index += together


if __name__ == "__main__":
    _, seed, first, last, dies, *command = sys.argv
    asyncio.run(live(seed, int(first), int(last), dies == "dies", command))
