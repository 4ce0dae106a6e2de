"""Hexad: the compiled library, with a session where there is a cache."""

import numpy as np
from library import Library


def load(case, inputs, prompt, options):
    x = inputs["x"]
    library = Library(options.library, options.threads, case.batch * max(case.tokens, case.context), case.batch)
    if case.kind == "rows":
        tokens = "pixel_values" if x.ndim == 4 else "input_ids"
        x = np.ascontiguousarray(x, np.float32 if x.ndim == 4 else np.int32)
        rows = np.empty((case.batch, case.tokens, case.shape()[0]), np.float32)
        run = library.forward(case.batch, case.tokens, **{tokens: x, "last_hidden_state": rows})

        def call():
            run()
            return rows

        return call
    session = library.session(case.context + case.tokens)
    if prompt is not None:
        library.resume(session, f"{options.work}/hexad.state", np.ascontiguousarray(prompt.ravel(), np.int32),
                       options.only_first)
    tokens = np.ascontiguousarray(x.ravel(), np.int32)
    return lambda: library.extend(session, case.context, tokens)
