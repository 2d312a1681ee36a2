"""The judge's part of coroutines across the boundary: gives the code's tasks turns, and awaits what they wait for."""

from apart_rules import CannotCross
from apart_tasks import PAUSE, receivers, running_loop


class JudgeTasks:
    """The judge's part: gives turns, and awaits what the code's tasks wait for."""

    def prepare_tasks(self):
        self._calls, self._awaiting, self._outcomes, self._cancelled, self._raised = {}, {}, [], [], []
        self._turns, self._event = None, None

    async def request_async(self, kind, *values, roots=()):
        """The result of a coroutine of the code; raises what it raises."""
        import asyncio

        number, loop = self.request("start", kind, *values, roots=roots), running_loop()
        future = asyncio.Future(loop=loop or asyncio.new_event_loop())
        self._calls[number] = kind, future, (*values, *roots)
        if loop is None:  # that of another library: one after the other
            await self._take_turns_alone(number)
            return future.result()
        self._note_event(loop)
        try:
            result = await future
        except asyncio.CancelledError:
            self._cancelled.append(number)
            self._note_event(loop)
            raise
        finally:
            self._calls.pop(number, None)
        if result and kind in ("call", "method") and values[1].endswith("__aexit__"):
            self.note_swallowed(values[3 if kind == "call" else 2][2])
        return result

    def receivers_of_calls(self):
        """The objects whose methods have not ended."""
        return tuple(each for kind, _, values in self._calls.values() for each in receivers(kind, values))

    def _note_event(self, loop):
        import asyncio

        if self._turns is None or self._turns.done() or self._turns.get_loop() is not loop:
            self._event, self._turns = asyncio.Event(), loop.create_task(self._give_turns())
        self._event.set()

    async def _give_turns(self):
        import asyncio

        try:
            while self._calls or self._cancelled:
                self._event.clear()
                started, pause = self._take_turn()
                for number, *asked in started:
                    self._awaiting[number] = asyncio.ensure_future(self._wait_for(number, *asked))
                if pause:
                    event = asyncio.ensure_future(self._event.wait())
                    await asyncio.wait([event], timeout=pause)
                    event.cancel()
                else:
                    await asyncio.sleep(0)
        except BaseException as error:
            self._fail(error)
            if not isinstance(error, CannotCross):
                raise

    async def _take_turns_alone(self, number):
        try:
            while number in self._calls and not self._calls[number][1].done():
                for asked in self._take_turn()[0]:
                    await self._wait_for(*asked)
        finally:
            self._calls.pop(number, None)

    def _take_turn(self):
        """Returns [number, operation, object, arguments] of what the code awaits, and seconds to the next turn."""
        outcomes, self._outcomes, cancelled, self._cancelled = self._outcomes, [], self._cancelled, []
        roots = tuple(values for _, _, values in self._calls.values())
        finished, started, given_up, pause = self.request("turn", outcomes, cancelled, roots=roots)
        for number, how, value in finished:
            self._finish(number, how, value)
        for number in given_up:
            if number in self._awaiting:
                self._awaiting.pop(number).cancel()
        return started, min(float(pause), PAUSE)

    def _finish(self, number, how, value):
        import asyncio

        kind, future, _ = self._calls.get(number, (None, None, None))
        if how == "raise":
            if not isinstance(value, BaseException):
                raise CannotCross("no exception was raised")
            self._raised = [each for each in self._raised if each is not value]
        else:
            while self._raised:
                self.note_swallowed(self._raised.pop())
        if future is None or future.done():
            return
        if how != "raise":
            future.set_result(value if kind == "await" else self.given("results", value))
        elif isinstance(value, asyncio.CancelledError):
            future.cancel()
        else:
            future.set_exception(RuntimeError(str(value)) if isinstance(value, StopIteration) else value)

    async def _wait_for(self, number, operation, value, args):
        try:
            outcome = [number, "return", await self._operate(operation, value, args)]
        except CannotCross as error:
            self._fail(error)
            return
        except BaseException as error:
            error.__traceback__, outcome = None, [number, "raise", error]
            if isinstance(error, AssertionError):
                self._raised.append(error)
                if not self._calls:  # no call is left that could raise it
                    self.note_swallowed(self._raised.pop())
        self._awaiting.pop(number, None)
        self._outcomes.append(outcome)
        if self._event is not None:
            self._event.set()

    def _fail(self, error):
        import asyncio

        for _, future, _ in self._calls.values():
            if future.done() or future.get_loop().is_closed():
                continue
            if isinstance(error, asyncio.CancelledError):
                future.cancel()
            else:
                future.set_exception(error)
