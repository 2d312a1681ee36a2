"""Coroutines across the boundary: the code's event loop gets a turn whenever the tests' loop waits for it.

A coroutine of the code is a task of its process. An awaitable of the tests that such a task awaits is a task of the
tests' loop. Each turn is one question with one answer, so that any number of both may wait for one another.
"""

import sys

from apart_rules import CannotCross

MOST_STEPS = 20  # of the code's loop in one turn
PAUSE = 0.02  # seconds until the next turn, where the code may wait for a thread or a socket


def running_loop():
    asyncio = sys.modules.get("asyncio")
    return asyncio._get_running_loop() if asyncio else None


def receivers(kind, values):
    """The object whose method a question calls."""
    if kind == "start":
        kind, *values = values
    is_method = kind == "method" or (kind == "call" and "." in values[1])
    return values[2 if kind == "method" else 3][:1] if is_method else ()


class CodeTasks:
    """The code's part: one event loop, which runs in turns."""

    def prepare_tasks(self):
        self._loop, self._tasks, self._futures, self._started, self._given_up, self._last = None, {}, {}, [], [], 0

    def start(self, make_awaitable, kind, *values):
        """Starts a task for what the question gives; returns its number."""
        import asyncio
        import inspect

        self._loop = self._loop or asyncio.new_event_loop()

        async def run():
            found = make_awaitable(kind, values)
            return await found if inspect.isawaitable(found) else found

        self._last += 1
        self._tasks[self._last] = self._loop.create_task(run()), values
        return self._last

    def values_of_tasks(self):
        return tuple(values for _, values in self._tasks.values())

    def turn(self, outcomes, cancelled):
        """Runs the loop until nothing is left to do without the judge.

        Returns what has ended, what is awaited of the judge, what is no more, and seconds until it wants another turn.
        """
        for number, how, value in outcomes:
            _settle(self._futures.pop(number, None), how, value)
        for number in cancelled:
            if number in self._tasks:
                self._tasks[number][0].cancel()
        ended, loop = [], self._loop
        for _ in range(MOST_STEPS):
            loop.call_soon(loop.stop)
            loop.run_forever()
            ended = [number for number, (task, _) in self._tasks.items() if task.done()]
            if ended or not loop._ready:
                break
        started, self._started, given_up, self._given_up = self._started, [], self._given_up, []
        return [[_outcome(each, self._tasks.pop(each)[0]) for each in ended], started, given_up, self._pause()]

    def _pause(self):
        if self._loop._ready:
            return 0
        timers = [each.when() for each in self._loop._scheduled if not each.cancelled()]
        return max(0.0, min(timers) - self._loop.time()) if timers else PAUSE

    async def await_handle(self, operation, handle, args=()):
        """Has the judge await what this operation of its object gives."""
        import asyncio

        if running_loop() is not self._loop:
            raise CannotCross("a loop of the code's own awaits what the tests have")
        self._last += 1
        number, future = self._last, self._loop.create_future()
        self._futures[number] = future
        self._started.append([number, operation, handle, tuple(args)])
        try:
            return await future
        except asyncio.CancelledError:
            if self._futures.pop(number, None) is not None:
                self._given_up.append(number)
            raise


def _settle(future, how, value):
    import asyncio

    if future is None or future.done():
        return
    if how == "return":
        future.set_result(value)
    elif isinstance(value, asyncio.CancelledError):
        future.cancel()
    else:
        future.set_exception(RuntimeError(str(value)) if isinstance(value, StopIteration) else value)


def _outcome(number, task):
    """[number of an ended task, how, its result or exception]"""
    import asyncio

    error = asyncio.CancelledError() if task.cancelled() else task.exception()
    if isinstance(error, CannotCross):
        raise error
    if error is None:
        return [number, "return", task.result()]
    error.__traceback__ = None
    return [number, "raise", error]
