"""OpenVINO's CPU plugin, from its own conversion from PyTorch, or of decoders from PyTorch's
export."""

import numpy as np
import openvino


def load(case, inputs, prompt, options):
    settings = {
        "INFERENCE_NUM_THREADS": options.threads, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32", "ENABLE_CPU_PINNING": False,
    }
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(options.file), "CPU", settings)
    request = compiled.create_infer_request()
    for index, value in enumerate(inputs.values()):
        request.set_input_tensor(index, openvino.Tensor(np.ascontiguousarray(value), shared_memory=True))

    def call():
        request.infer()
        return request.get_output_tensor(0).data

    return call
