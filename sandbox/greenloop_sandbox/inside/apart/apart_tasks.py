"""Coroutines across the boundary: the code's event loop gets a turn whenever the tests' loop waits for it.

What one side awaits of the other is a future of its own loop and a task of the other's. Each turn is one question with
one answer, both of the same form: what has ended, what is to run, what is given up. So any number of coroutines of both
sides may wait for one another.
"""

import functools
import importlib
import inspect
import sys

from apart_rules import CannotCross, is_failure

MOST_STEPS = 20  # of the code's loop in one turn
PAUSE = 0.02  # seconds until the next turn, where the code may wait for a thread or a socket


class _Asyncio:
    """The module, imported where it is needed first: that takes as long as all of this."""

    def __getattr__(self, name):
        return getattr(importlib.import_module("asyncio"), name)


asyncio = _Asyncio()


def running_loop():
    return asyncio._get_running_loop() if "asyncio" in sys.modules else None


def receivers(kind, values):
    """The object whose method a question calls; none of a static one."""
    owner = values[1].split(".")[-2:-1] if kind == "call" else [values[0].__name__] if kind == "method" else ()
    return [each for each in values[-2][:1] if not {base.__name__ for base in type(each).__mro__}.isdisjoint(owner)]


class Tasks:
    """The part of a peer that awaits the other side's coroutines, and runs its own for it."""

    def prepare_tasks(self):
        self._calls, self._tasks, self._last = {}, {}, 0  # what this side awaits, what it runs for the other one
        self._ended, self._started, self._cancelled = [], [], []

    async def _await(self, loop, context, kind, values, roots=()):
        self._last += 1
        number, future = self._last, (loop or asyncio.new_event_loop()).create_future()
        self._calls[number] = kind, future, (*values, *roots)
        self._started.append([number, context, kind, *values])
        try:
            if loop is None:
                await self._take_turns_alone(future)
                return future.result()
            self.wake()
            return await future
        except asyncio.CancelledError as error:
            if number in self._calls:
                self._cancelled.append(number)
                self.wake()
            elif future.cancelled():
                self.note_end(kind, values, error)  # this side has not asked for it
            raise
        finally:
            self._calls.pop(number, None)

    def _settle(self, number, how, value):
        kind, future, _ = self._calls.pop(number, (None, None, None))
        value = self.taken(kind, how, value)
        if future is None or future.done():
            return
        if how == "return":
            future.set_result(value)
        elif isinstance(value, asyncio.CancelledError):
            future.cancel()
        else:
            future.set_exception(RuntimeError(str(value)) if isinstance(value, StopIteration) else value)

    async def _outcome(self, kind, values):
        try:
            found = self.start(kind, values)
            return "return", await found if inspect.isawaitable(found) else found
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            error.__traceback__ = None
            self.note_left(error)
            return "raise", error

    def _end(self, number, task):
        self._tasks.pop(number, None)
        self._ended.append([number, *(("raise", asyncio.CancelledError()) if task.cancelled() else task.result())])
        self.wake()

    def _news(self):
        """[number, how, value] of what has ended; [number, context, question] of what is to run; what is given up."""
        news = self._ended, self._started, self._cancelled
        self._ended, self._started, self._cancelled = [], [], []
        for _, _, value in news[0]:
            if isinstance(value, CannotCross):
                raise value
        return news

    def _take(self, loop, ended, started, cancelled):
        for outcome in ended:
            self._settle(*outcome)
        for number, context, kind, *values in started:
            create = functools.partial(loop.create_task, self._outcome(kind, values))
            task = self.in_context(context, create) if context else create()  # those of the judge have contexts
            self._tasks[number] = task, values
            task.add_done_callback(functools.partial(self._end, number))
        for number in cancelled:
            if number in self._tasks:
                self._tasks[number][0].cancel()


class CodeTasks(Tasks):
    """The code's part: one event loop, which runs in turns."""

    _loop = None

    def turn(self, *news):
        """Runs the loop until it needs the judge; returns its news, and seconds to the next turn."""
        loop = self._loop = self._loop or asyncio.new_event_loop()
        self._take(loop, *news)
        for _ in range(MOST_STEPS):
            loop.call_soon(loop.stop)
            loop.run_forever()
            if self._ended or not loop._ready:
                break
        timers = [each.when() - loop.time() for each in loop._scheduled if not each.cancelled()]
        return [*self._news(), 0 if loop._ready else max(0.0, min(timers)) if timers else PAUSE]

    async def await_handle(self, operation, handle, args=()):
        """Has the judge await what this operation of its object gives."""
        if running_loop() is not self._loop:
            raise CannotCross("a loop of the code's own awaits what the tests have")
        return await self._await(self._loop, None, "op", (operation, handle, tuple(args)))

    def wake(self, *_error):
        """The judge asks after the code's news itself, and notes what it gets."""

    note_left = note_end = wake

    def taken(self, _kind, _how, value):
        return value


class JudgeTasks(Tasks):
    """The judge's part: gives turns, and notes failed assertions that the code keeps from rising."""

    def prepare_tasks(self):
        super().prepare_tasks()
        self._raised, self._turns, self._event = [], None, None

    async def request_async(self, kind, *values, roots=()):
        """The result of a coroutine of the code; raises what it raises."""
        # Without a loop of `asyncio` it is that of another library: one after the other.
        try:
            result = await self._await(running_loop(), self.context_number(), kind, values, roots)
        except Exception as error:
            if isinstance(error, StopAsyncIteration):
                self.note_end(kind, values, error)
            self.note_kept(kind, values, None, error)
            raise
        self.note_kept(kind, values, result)
        return result

    def receivers_of_calls(self):
        """The objects whose methods have not ended."""
        return tuple(each for kind, _, values in self._calls.values() for each in receivers(kind, values))

    def start(self, kind, values):
        return self.answer(kind, values)

    def note_left(self, error):
        """Notes an exception that an awaitable of the tests has raised in the code."""
        if is_failure(error):
            self._raised.append(error)
            if not self._calls:  # no call is left that could raise it
                self.note_swallowed(self._raised.pop())

    def taken(self, kind, how, value):
        """Takes the outcome of a call of the code."""
        self._raised = [each for each in self._raised if how != "raise" or each is not value]
        while self._raised:  # also where it has become another exception, which the test may expect
            self.note_swallowed(self._raised.pop())
        if how != "raise":
            return value if kind == "op" else self.given("results", self._variation.of_plain(value))
        if not isinstance(value, BaseException):
            raise CannotCross("no exception was raised")
        return value

    def wake(self):
        """Sees to it that the code gets its next turn at once."""
        loop = running_loop()
        if loop is not None and (self._turns is None or self._turns.done() or self._turns.get_loop() is not loop):
            self._event, self._turns = asyncio.Event(), loop.create_task(self._give_turns(loop))
        if self._event is not None:
            self._event.set()

    def _ask_for_news(self):
        return self.request("turn", *self._news(), roots=tuple(values for _, _, values in self._calls.values()))

    async def _give_turns(self, loop):
        try:
            while self._calls or self._cancelled:
                self._event.clear()
                *news, pause = self._ask_for_news()
                self._take(loop, *news)
                try:
                    await asyncio.wait_for(self._event.wait(), min(float(pause), PAUSE))
                except asyncio.TimeoutError:
                    await asyncio.sleep(0)
        except BaseException as error:
            for _, future, _ in self._calls.values():
                if future.done() or future.get_loop().is_closed():
                    continue
                if isinstance(error, asyncio.CancelledError):
                    future.cancel()
                else:
                    future.set_exception(error)
            if not isinstance(error, CannotCross):
                raise

    async def _take_turns_alone(self, future):
        while not future.done():
            ended, started, cancelled, _ = self._ask_for_news()
            self._take(None, ended, (), cancelled)
            for number, _, kind, *values in started:
                self._ended.append([number, *await self._outcome(kind, values)])
