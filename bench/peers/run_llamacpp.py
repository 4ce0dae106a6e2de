"""llama.cpp through llama-cpp-python; its cache stays f16, as it does unless told."""

import ctypes

import llama_cpp as llama
import numpy as np


@ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
def quiet(level, text, user):
    pass


def load(case, inputs, prompt, options):
    llama.llama_log_set(quiet, None)
    llama.llama_backend_init()
    model = llama.llama_model_load_from_file(options.gguf.encode(), llama.llama_model_default_params())
    if not model:
        raise RuntimeError(f"cannot load {options.gguf}")
    params = llama.llama_context_default_params()
    params.n_ctx, params.n_batch, params.n_ubatch = 1024, 512, 512
    params.n_threads = params.n_threads_batch = options.threads
    context = llama.llama_init_from_model(model, params)
    memory = llama.llama_get_memory(context)
    vocabulary = llama.llama_vocab_n_tokens(llama.llama_model_get_vocab(model))

    def extend(tokens, position):
        """Logits of the last of the tokens, which begin at this position."""
        llama.llama_memory_seq_rm(memory, 0, position, -1)
        array = (llama.llama_token * len(tokens))(*tokens)
        if llama.llama_decode(context, llama.llama_batch_get_one(array, len(tokens))):
            raise RuntimeError("llama_decode failed")
        return np.ctypeslib.as_array(llama.llama_get_logits_ith(context, -1), (1, vocabulary))

    if prompt is not None:
        state, count = f"{options.work}/llama.cpp.state".encode(), ctypes.c_size_t()
        kept = (llama.llama_token * case.context)(*prompt.ravel().tolist())
        if options.only_first:
            llama.llama_state_load_file(context, state, kept, case.context, ctypes.byref(count))
        else:
            extend(list(kept), 0)
            llama.llama_state_save_file(context, state, kept, case.context)
    tokens = inputs["x"].ravel().tolist()
    return lambda: extend(tokens, case.context)
