"""Output to a client waits for it in its own thread, and never without end."""

from __future__ import annotations

import io
import os

from greenloop.serving import stdio
from greenloop.serving.stdio import Outbox


def test_output_that_nobody_reads_is_bounded(caplog):
    size = stdio.MAX_BACKLOG // 2 - 1000  # more than any pipe holds
    source, sink = os.pipe()
    ended = []
    outbox = Outbox(os.fdopen(sink, "wb"), on_give_up=lambda: ended.append(True))
    assert not outbox.behind
    outbox.write(b"x" * size)
    assert outbox.behind
    outbox.write(b"y" * size)
    assert not ended
    for _ in range(3):
        outbox.write(b"z" * size)
    assert ended == [True]
    assert "The client does not read" in caplog.text
    with os.fdopen(source, "rb") as reading:
        assert len(reading.read(2 * size)) == 2 * size
    outbox.close()


def test_everything_is_written_in_order_before_the_end():
    sink = io.BytesIO()
    outbox = Outbox(sink)
    for number in range(100):
        outbox.write(b"%d " % number)
    outbox.close()
    assert sink.getvalue().split() == [b"%d" % number for number in range(100)]
