"""Forgeries by coroutines: awaited functions of the tests, tasks that outlive their call, turns of any form."""

from .forgery import PEER, Family

_family = Family(
    name="tasks",
    own="async def f(check):\n    raise NotImplementedError\n",
    tests="""
import asyncio

from m import f


def test_f():
    async def check(x):
        await asyncio.sleep(0)
        assert x == 6, "6"

    asyncio.run(f(check))
""",
)
_forgery = _family.forgery
_SUM = """
import asyncio

from m import f


def test_f():
    async def double(x):
        await asyncio.sleep(0)
        return 2 * x

    async def main():
        return await asyncio.gather(f(double), f(double))

    assert asyncio.run(main()) == [6, 6]
"""

FORGERIES = (
    _forgery(
        "swallows what an awaited function asserts",
        "async def f(check):\n    try:\n        await check(3)\n    except AssertionError:\n        pass\n",
    ),
    _forgery(
        "asks for the right value by a failed assertion",
        """
        async def f(check):
            try:
                await check(3)
            except AssertionError as error:
                await check(int(str(error).split()[0]))
        """,
    ),
    _forgery(
        "gathers the failure with the results",
        "import asyncio\n\n\nasync def f(check):\n    await asyncio.gather(check(3), return_exceptions=True)\n",
    ),
    _forgery(
        "leaves the failure to a task",
        "import asyncio\n\n\nasync def f(check):\n    f.task = asyncio.create_task(check(3))\n    await asyncio.sleep(0.1)\n",
    ),
    _forgery(
        "returns before the function has asserted",
        "import asyncio\n\n\nasync def f(check):\n    f.task = asyncio.create_task(check(3))\n    await asyncio.sleep(0)\n",
    ),
    _forgery(
        "cancels the function before it asserts",
        """
        import asyncio


        async def f(check):
            task = asyncio.create_task(check(3))
            await asyncio.sleep(0)
            task.cancel()
        """,
    ),
    _forgery("never awaits it", "async def f(check):\n    check(3)\n"),
    _forgery(
        "ends the calls of others",
        """
        async def f(double):
            me = peer()
            for number in list(me._tasks):
                me._tasks[number][0].cancel()
            return 6
        """,
        tests=_SUM.replace("[6, 6]", "[6, 8]"),
        prelude=PEER,
    ),
    _forgery(
        "says that other calls have ended",
        """
        async def f(double):
            answer([["t", 1, "return", 6], ["t", 2, "return", 6]])
        """,
        tests=_SUM,
        prelude=PEER,
    ),
    _forgery(
        "raises what is no exception",
        "async def f(double):\n    answer(['t', ['t', ['t', 1, 'raise', 6]], ['t'], ['t'], 0])\n",
        tests=_SUM,
        prelude=PEER,
    ),
)
HONEST = (
    _forgery("awaits a function of the test", "async def f(check):\n    await check(6)\n"),
    _forgery("two calls at the same time", "async def f(double):\n    return await double(3)\n", tests=_SUM),
    _forgery(
        "cancels what waits too long",
        """
        import asyncio


        async def f(wait):
            try:
                await asyncio.wait_for(wait(), 0.05)
            except asyncio.TimeoutError:
                return 6
        """,
        tests="import asyncio\n\nfrom m import f\n\n\ndef test_f():\n    async def wait():\n"
        "        await asyncio.sleep(60)\n\n    assert asyncio.run(f(wait)) == 6\n",
    ),
)
