"""One hardened container and the conversation with its supervisor. Blocking: callers use a thread.

It must not know what is run in it, nor what an answer means.
"""

from __future__ import annotations

import base64
import contextlib
import socket
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from greenloop_sandbox import bundled_hypothesis, payload
from greenloop_sandbox.container import project_metadata
from greenloop_sandbox.container.engine import Engine, container_labels, error_line, is_missing
from greenloop_sandbox.container.hardening import (
    PACKAGES_FOLDER,
    PAYLOAD_FOLDER,
    ContainerConfig,
    create_options,
    folder_modes,
)

START_SECONDS = 30.0
MAX_STDERR = 8192
_FRAME = struct.Struct(">BxxxI")


class ContainerError(Exception):
    """The container or its engine failed; the text is one sentence for the user."""


@dataclass(kw_only=True)
class ContainerConnection:
    """A container owned by this process, and the state of the conversation with it."""

    engine: Engine
    config: ContainerConfig
    container: Any
    attached: Any  # the SDK's file-like object, kept so that its socket is not closed
    socket_: Any  # that socket
    hello: Mapping[str, Any] = field(default_factory=dict)
    ready: Mapping[str, Any] = field(default_factory=dict)
    hash_seed: int | None = None
    has_ended: bool = False
    paused: bool = False
    session: bool = False  # the supervisor has a pytest session that was opened before the fork
    _raw: bytearray = field(default_factory=bytearray)
    _out: bytearray = field(default_factory=bytearray)
    _err: bytearray = field(default_factory=bytearray)

    @classmethod
    def open(cls, engine: Engine, config: ContainerConfig) -> ContainerConnection:
        """Starts a container and waits for the hello of its process 1. Raises `ContainerError`."""
        boot_program = (payload.folder() / "image" / "boot.py").read_text(encoding="utf-8")
        try:
            container = engine.client.containers.create(
                config.image,
                entrypoint=["python3", "-I", "-c", boot_program],
                command=[],
                stdin_open=True,  # with stdin attached once: when this process ends, so does the container's stdin
                auto_remove=True,
                labels=container_labels(),
                **create_options(config, engine.name),
            )
        except engine.errors as error:
            raise ContainerError(_explain_refusal(config, error)) from error
        try:
            attached = container.attach_socket(params={"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1})
            container.start()
        except engine.errors as error:
            with contextlib.suppress(*engine.errors):
                container.remove(force=True, v=True)
            raise ContainerError(_explain_refusal(config, error)) from error
        # For plain HTTP the SDK returns a file-like object; the socket is below it.
        raw_socket = getattr(attached, "_sock", attached)
        connection = cls(engine=engine, config=config, container=container, attached=attached, socket_=raw_socket)
        try:
            connection.hello = connection._receive_hello()
        except BaseException:
            connection.close()
            raise
        return connection

    def supervise(self, hash_seed: int, *, restart: bool = False) -> bool:
        """Starts the supervisor with this hash seed, in place of one with another. Raises `ContainerError`.

        False: it already runs; with `restart` a new one takes its place.
        """
        if self.hash_seed == hash_seed and not restart:
            return False
        hypothesis = {bundled_hypothesis.PATH_VARIABLE: f"{PAYLOAD_FOLDER}/{bundled_hypothesis.NAME}"}
        environ = {**payload.variables(hash_seed), **hypothesis, **self.config.variables}
        message = {"kind": "restart", "environ": environ} if self.ready else self._boot_message(environ)
        self.session, self.hash_seed = False, hash_seed
        self._send(message, time.monotonic() + START_SECONDS)
        self.ready = self._receive(time.monotonic() + START_SECONDS)
        if self.ready["kind"] != "ready":
            raise ContainerError(str(self.ready.get("reason") or "The sandbox's supervisor did not start."))
        return True

    def _boot_message(self, environ: Mapping[str, str]) -> dict[str, Any]:
        files = {**payload.sources(), "bundle": payload.bundle(PAYLOAD_FOLDER)}
        files |= project_metadata.metadata_files(self.config.project)
        files[bundled_hypothesis.NAME] = bundled_hypothesis.archive()
        if not self.hello["pytest"] and not self.hello["packages"]:
            files |= {f"packages/{name}": data for name, data in payload.borrowed_files().items()}
        packages = PACKAGES_FOLDER if self.hello["packages"] else f"{PAYLOAD_FOLDER}/packages"
        return {
            "kind": "boot",
            "argv": ["python3", "-s", "-B", f"{PAYLOAD_FOLDER}/supervisor.py", "--alone", "--packages", packages],
            "environ": environ,
            "files": {name: base64.b64encode(data).decode() for name, data in files.items()},
            "open": folder_modes(self.config.root),
            "empty": [self.config.root],
        }

    def ask(self, message: Mapping[str, Any], kind: str, seconds: float) -> Mapping[str, Any]:
        """Returns the supervisor's answer of that kind. Raises `ContainerError` for any other, and for a late one."""
        deadline = time.monotonic() + seconds
        self._send(message, deadline)
        answer = self._receive(deadline)
        if answer["kind"] != kind:
            raise ContainerError(str(answer.get("reason") or f"The supervisor answered {answer['kind']!r}."))
        return answer

    def pause(self) -> None:
        """Pauses the container, which then uses no processor time until `resume`. Raises `ContainerError`."""
        try:
            self.container.pause()
        except self.engine.errors as error:
            raise ContainerError(self._explain_loss(error)) from error
        self.paused = True

    def resume(self) -> None:
        """Resumes after `pause`. Raises `ContainerError`."""
        if not self.paused:
            return
        try:
            self.container.unpause()
        except self.engine.errors as error:
            raise ContainerError(self._explain_loss(error)) from error
        self.paused = False

    def close(self) -> None:
        """Kills and removes the container, and wakes a thread that waits for an answer. Never raises.

        What is left on an unreachable engine is removed at the next opening.
        """
        self.has_ended = True
        with contextlib.suppress(OSError):
            self.socket_.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(*self.engine.errors):
            self.container.remove(force=True, v=True)
        with contextlib.suppress(OSError):
            self.socket_.close()
            self.attached.close()

    def _receive_hello(self) -> Mapping[str, Any]:
        message = self._receive(time.monotonic() + START_SECONDS)
        if message["kind"] != "hello":
            raise ContainerError(f"Process 1 of the container answered {message['kind']!r} instead of hello.")
        return message

    # -- messages ---------------------------------------------------------------------------------------------------

    def _send(self, message: Mapping[str, Any], deadline: float) -> None:
        protocol = payload.protocol()
        try:
            self._set_timeout(deadline)
            self.socket_.sendall(protocol.pack(message))
        except TimeoutError as error:
            raise ContainerError("The sandbox stopped reading its input and was stopped.") from error
        except (OSError, protocol.ProtocolError) as error:
            raise ContainerError(self._explain_loss(error)) from error

    def _receive(self, deadline: float) -> Mapping[str, Any]:
        protocol = payload.protocol()
        try:
            size = protocol.message_size(bytes(self._read_stdout(4, deadline)))
            message: Mapping[str, Any] = protocol.unpack(self._read_stdout(size, deadline))
        except protocol.ProtocolError as error:
            raise ContainerError(f"The sandbox sent an invalid message ({error}).") from error
        return message

    def _read_stdout(self, size: int, deadline: float) -> bytes:
        """Reads the next bytes of the container's stdout; its stderr is kept separately."""
        while len(self._out) < size:
            try:
                self._set_timeout(deadline)
                data = self.socket_.recv(1 << 16)
            except TimeoutError as error:
                raise ContainerError("The sandbox did not answer in time and was stopped.") from error
            except OSError as error:
                raise ContainerError(self._explain_loss(error)) from error
            if not data:
                raise ContainerError(self._explain_loss(None))
            self._raw += data
            self._split_frames()
        data_read = bytes(self._out[:size])
        del self._out[:size]
        return data_read

    def _split_frames(self) -> None:
        while len(self._raw) >= _FRAME.size:
            stream, size = _FRAME.unpack_from(self._raw)
            if len(self._raw) < _FRAME.size + size:
                return
            content = self._raw[_FRAME.size : _FRAME.size + size]
            del self._raw[: _FRAME.size + size]
            if stream == 1:
                self._out += content
            else:
                self._err += content
                del self._err[:-MAX_STDERR]

    def _set_timeout(self, deadline: float) -> None:
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise TimeoutError
        self.socket_.settimeout(remaining)

    # -- messages for the user --------------------------------------------------------------------------------------

    def stderr(self) -> str:
        """The end of the supervisor's stderr."""
        return self._err.decode("utf-8", "replace")

    def _explain_loss(self, error: Exception | None) -> str:
        """Returns why the conversation ended, as far as the engine knows."""
        if self.has_ended:
            return "The container was stopped."
        try:
            self.container.reload()
            state = self.container.attrs.get("State", {})
        except self.engine.errors as problem:
            if is_missing(problem):
                return f"The sandbox's container is gone: it stopped, or was removed from outside.{self._last_stderr()}"
            return f"The {self.engine.name} engine no longer answers ({error_line(problem)})."
        if state.get("OOMKilled"):
            return "The sandbox's container ran out of memory."
        if state.get("ExitCode") == 137:
            return "The sandbox's container was killed from outside."
        if not state.get("Running"):
            return f"The sandbox's container ended with status {state.get('ExitCode')}.{self._last_stderr()}"
        reason = error_line(error) if error else "closed by the engine"
        return f"The connection to the sandbox's container was lost ({reason})."

    def _last_stderr(self) -> str:
        last_line = self._last_line()
        return f" Last output: {last_line}" if last_line else ""

    def _last_line(self) -> str:
        return next((line.strip()[:300] for line in reversed(self.stderr().splitlines()) if line.strip()), "")


def _explain_refusal(config: ContainerConfig, error: Exception) -> str:
    if is_missing(error):
        return f"The image {config.image} does not exist (any more)."
    text = error_line(error)
    if config.runtime and "runtime" in text.lower():
        return f"The engine does not know the runtime {config.runtime} of `sandbox.runtime`: {text}"
    if "python3" in text and ("not found" in text or "no such file" in text):
        return f"The image {config.image} has no python3."
    return f"The container could not be started: {text}"
