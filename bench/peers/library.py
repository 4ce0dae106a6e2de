"""A library that Hexad compiled, called through its C interface (docs/Sessions.md, and the
header beside the library). Needs NumPy alone."""

import ctypes
import re
from ctypes import byref, c_char_p, c_int, c_size_t, c_void_p
from pathlib import Path

import numpy as np

LAST_LOGITS = 1


class ContextOptions(ctypes.Structure):
    _fields_ = [(name, c_size_t) for name in ("max_tokens", "max_segments", "max_elements", "max_logits", "threads")]
    _fields_ += [("caller_threads", c_int), ("memory", c_void_p), ("memory_size", c_size_t)]
    _fields_ += [("message", c_char_p), ("message_size", c_size_t)]


class SessionOptions(ctypes.Structure):
    _fields_ = [("capacity", c_size_t), ("slack", c_size_t), ("memory", c_void_p), ("memory_size", c_size_t)]
    _fields_ += [("message", c_char_p), ("message_size", c_size_t)]


def address(array):
    return c_void_p(array.ctypes.data)


class Library:
    def __init__(self, path, threads, tokens, segments=1):
        path = Path(path)
        self.name = path.stem.removeprefix("lib")
        header = (path.parent / f"{self.name}.h").read_text()
        arguments = re.search(r"typedef struct \w+_arguments \{(.*?)\} \w+_arguments;", header, re.S).group(1)
        arguments = re.sub(r"/\*.*?\*/", "", arguments, flags=re.S)
        pointers = re.findall(r"\*(\w+);", arguments)
        fields = [("batch", c_size_t), ("seq", c_size_t)] + [(name, c_void_p) for name in pointers]
        self.Arguments = type("Arguments", (ctypes.Structure,), {"_fields_": fields})
        columns = re.search(r"#define \w+_LOGITS_COLUMNS (\d+)", header)
        self.logits = np.empty((1, int(columns.group(1))), np.float32) if columns else None

        self.library = ctypes.CDLL(str(path))
        self.model, self.context = c_void_p(), c_void_p()
        self.check("model_create", None, byref(self.model))
        message = ctypes.create_string_buffer(400)
        options = ContextOptions(max_tokens=tokens, max_segments=segments, max_logits=1, threads=threads)
        options.message, options.message_size = ctypes.cast(message, c_char_p), len(message)
        self.check("context_create", self.model, byref(options), byref(self.context))

    def function(self, name):
        return getattr(self.library, f"{self.name}_{name}")

    def check(self, name, *arguments):
        status = self.function(name)(*arguments)
        if status:
            text = self.function("status_text")
            text.restype = c_char_p
            raise RuntimeError(f"{self.name}_{name}: {text(status).decode()}")

    def forward(self, batch, seq, **arrays):
        """A callable that runs the model on these arrays, inputs and outputs by name."""
        call = self.Arguments(batch=batch, seq=seq, **{name: address(array) for name, array in arrays.items()})
        function, context = self.function("forward"), self.context

        def run(kept=arrays):
            if function(context, byref(call)):
                message = self.function("context_message")
                message.restype = c_char_p
                raise RuntimeError(message(context).decode())

        return run

    def session(self, capacity):
        session = c_void_p()
        self.check("session_create", self.model, byref(SessionOptions(capacity=capacity)), byref(session))
        return session

    def extend(self, session, position, tokens):
        """Logits of the last of the tokens, which come to stand at this position."""
        self.check("session_rewind", session, c_size_t(position))
        self.check("extend", self.context, session, address(tokens), c_size_t(len(tokens)), LAST_LOGITS,
                   address(self.logits))
        return self.logits

    def resume(self, session, path, prompt, saved):
        """Brings a session behind the prompt: from a saved state, or by reading the prompt, which
        is then saved."""
        if saved:
            state = np.fromfile(path, np.uint8)
            return self.check("session_load", session, address(state), c_size_t(state.nbytes))
        self.extend(session, 0, prompt)
        size = c_size_t()
        self.check("session_saved_size", session, byref(size))
        state = np.empty(size.value, np.uint8)
        self.check("session_save", session, address(state), size)
        state.tofile(path)
