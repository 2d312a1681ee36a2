"""The real engine and sandbox for the random editor; only what the model writes is thrown by seed."""

import asyncio
import re

from chaos_engine import VALUE, Dice
from greenloop.api import engine as real_engine
from greenloop.core.records.model import Reply, Usage
from greenloop.engine.testing import run_tests


class Copyist:
    """A model that answers with the function it was shown, another value in it: right or wrong by seed."""

    name = "copyist"

    def __init__(self, dice):
        self.dice = dice

    async def complete(self, request, on_token):
        shown = "\n".join(message.content for message in request.messages)
        found = re.findall(r"(?ms)^def f\d\(x\):.*?^    return [^\n]*$", shown)
        value = 5 if self.dice.random() < 0.4 else self.dice.randrange(100, 999)
        await asyncio.sleep(self.dice.choice((0, 0.02, 0.2)))
        body = VALUE.sub(rf"\g<1>{value}", found[-1], count=1) if found else "pass"
        text = f"```python\n{body}\n```"
        on_token(text)
        return Reply(text=text, usage=Usage(prompt_tokens=300, completion_tokens=40), model=self.name)

    def count_tokens(self, text):
        return len(text) // 4

    async def close(self):
        """Holds nothing."""


class Real(Dice):
    """The real engine and sandbox with the copyist."""

    async def warm(self, root, settings, pool):
        await real_engine.warm(root, settings, pool)

    async def prepare(self, root, settings, pool):
        await run_tests.prepare(root, settings, pool)

    async def run_tests(self, root, selectors, **how):
        return await run_tests.run_tests(root, selectors, **how)

    async def reverify(self, problem, files, *, settings):
        return await real_engine.reverify(problem, files, settings=settings)

    async def refine(self, request, **more):
        dice = self.dice(getattr(request.target, "selector", request.target))
        return await real_engine.refine(request, **{**more, "model": Copyist(dice)})
