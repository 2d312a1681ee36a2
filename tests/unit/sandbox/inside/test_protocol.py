"""The protocol between host and supervisor: what it says is heard, and rubbish is named as such."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenloop_sandbox import payload

protocol = payload.protocol()
KEY = bytes(range(32))

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), json_values, max_size=5))
def test_what_is_packed_is_read(fields):
    message = {**fields, "kind": "x"}
    assert protocol.read_message(io.BytesIO(protocol.pack(message))) == message


@given(st.binary(max_size=64))
def test_rubbish_is_named_or_the_end(data):
    try:
        message = protocol.read_message(io.BytesIO(data), limit=1000)
    except protocol.ProtocolError:
        return
    assert message is None or isinstance(message["kind"], str)


@given(st.data())
def test_a_message_cut_off_is_named(data):
    whole = protocol.pack({"kind": "x", "text": "é" * 20})
    count = data.draw(st.integers(1, len(whole) - 1))
    with pytest.raises(protocol.ProtocolError):
        protocol.read_message(io.BytesIO(whole[:count]))


def test_limits_hold_on_both_sides():
    with pytest.raises(protocol.ProtocolError):
        protocol.pack({"kind": "x", "text": "y" * 100}, limit=50)
    with pytest.raises(protocol.ProtocolError):
        protocol.read_message(io.BytesIO(b"\xff\xff\xff\xff"))


@pytest.mark.parametrize("path", ["", "/a", "a/../b", "..", "a//b", "./a", "a/", "a\0b", "a\\b"])
def test_paths_that_could_leave_are_refused(path):
    with pytest.raises(protocol.ProtocolError):
        protocol.encode_files({path: b""})
    with pytest.raises(protocol.ProtocolError):
        protocol.decode_files({path: ""})


@given(st.dictionaries(st.sampled_from(["a", "b/c.py", "d e/ü#.py"]), st.binary()))
def test_files_travel_unchanged(files):
    assert protocol.decode_files(json.loads(json.dumps(protocol.encode_files(files)))) == files


def line(record):
    body = json.dumps(record).encode()
    return protocol.sign(body, KEY) + b" " + body + b"\n"


def test_a_report_is_opened():
    records = [{"kind": "start", "seq": 0}, {"kind": "finished", "seq": 1, "status": 0}]
    assert protocol.open_report(b"".join(map(line, records)), KEY) == records


@given(st.binary(max_size=80))
def test_no_line_without_the_key_is_a_record(data):
    for record in protocol.open_report(data, KEY):
        assert record == {"kind": "forged", "seq": -1}


def test_every_changed_bit_is_seen():
    whole = line({"kind": "phase", "seq": 0, "outcome": "failed"})
    for place in range(len(whole) - 1):
        changed = bytearray(whole)
        changed[place] ^= 1
        assert {"kind": "forged", "seq": -1} in protocol.open_report(bytes(changed), KEY)


def test_a_killed_workers_last_line_may_be_cut():
    whole = line({"kind": "start", "seq": 0})
    cut = whole + line({"kind": "begin", "seq": 1})[:-5]
    assert [record["kind"] for record in protocol.open_report(cut, KEY, complete=False)] == ["start"]
    assert [record["kind"] for record in protocol.open_report(cut, KEY)] == ["start", "forged"]


def test_a_run_request_survives_the_wire():
    request = protocol.run_request(
        key=KEY,
        root="/w",
        selectors=("a",),
        seconds=1,
        memory=2,
        disk=3,
        output=4,
        processes=5,
        files={"a": b"\xff"},
        uid=7,
    )
    heard = protocol.read_message(io.BytesIO(protocol.pack(request)))
    assert heard == json.loads(json.dumps(request))
    assert protocol.decode_files(heard["files"]) == {"a": b"\xff"}
    assert (bytes.fromhex(heard["key"]), heard["uid"]) == (KEY, 7)
