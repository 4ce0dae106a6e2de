"""PyTorch as it comes, without compilation."""

import modules
import torch


def load(case, inputs, prompt, options):
    torch.set_num_threads(options.threads)
    net = modules.load_case(case, options.models)
    tensors = [torch.from_numpy(value) for value in inputs.values()]

    def call():
        with torch.inference_mode():
            result = net(*tensors)
        return (result[0] if isinstance(result, tuple) else result).numpy()

    return call
