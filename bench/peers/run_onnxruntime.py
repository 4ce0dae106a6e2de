"""ONNX Runtime on the CPU, from PyTorch's export; inputs and outputs stay where they are."""

import numpy as np
import onnxruntime


def load(case, inputs, prompt, options):
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads, settings.inter_op_num_threads = options.threads, 1
    settings.log_severity_level = 3
    # Its threads wait actively during a call, not behind it, where others are measured.
    settings.add_session_config_entry("session.force_spinning_stop", "1")
    session = onnxruntime.InferenceSession(options.file, settings, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    present = {value.name for value in session.get_inputs()}
    for name, value in inputs.items():
        if name in present:
            binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(value)))
    for value in session.get_outputs():
        binding.bind_output(value.name, "cpu")

    def call():
        session.run_with_iobinding(binding)
        return binding.get_outputs()[0].numpy()

    return call
