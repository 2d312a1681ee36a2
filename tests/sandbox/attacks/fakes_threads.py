"""Faked passes by threads, some of which outlive their test."""

from .attack import Fake, Promise, Twin, text


def _fake(family: str, name: str, code: str, twin: Twin, promise: Promise = Promise.TAMPERED, **more) -> Fake:
    return Fake(family=family, name=name, code=text(code), twin=twin, promise=promise, **more)


LASTING_THREAD = Twin(
    code=text("""
    import queue
    import threading

    asked, answered = queue.Queue(), queue.Queue()


    def serve():
        while True:
            answered.put(asked.get() * 2)


    threading.Thread(target=serve, daemon=True).start()


    def double(x):
        asked.put(x)
        return answered.get()
    """)
)

FAKES = (
    _fake(
        "threads",
        "a thread that outlives the test ends the process",
        """
        import os
        import threading
        import time


        def late():
            time.sleep(0.02)
            os._exit(0)


        def double(x):
            threading.Thread(target=late, daemon=True).start()
            time.sleep(0.5)
            return x + 1
        """,
        LASTING_THREAD,
    ),
    _fake(
        "threads",
        "a thread that calls every failure none",
        """
        import sys
        import threading

        sys.setswitchinterval(0.000001)


        def watch(session):
            while True:
                session.testsfailed = 0


        def double(x):
            frame = sys._getframe()
            while frame and not hasattr(frame.f_locals.get("session"), "testsfailed"):
                frame = frame.f_back
            threading.Thread(target=watch, args=(frame.f_locals["session"],), daemon=True).start()
            return x + 1
        """,
        LASTING_THREAD,
        Promise.REJECTED,
    ),
    _fake(
        "threads",
        "a thread of the first test answers for the second",
        """
        import sys
        import threading
        import time


        def lie():
            while True:
                for frame in sys._current_frames().values():
                    while frame:
                        if frame.f_code.co_name.startswith("test_"):
                            frame.f_globals["double"] = lambda x: Always()
                        frame = frame.f_back
                time.sleep(0.0001)


        class Always:
            def __eq__(self, other):
                return True


        threading.Thread(target=lie, daemon=True).start()


        def double(x):
            time.sleep(0.05)
            return Always()
        """,
        LASTING_THREAD,
    ),
)
