"""Makes what the cases need: checkpoint folders, inputs with PyTorch's outputs, and files of
ONNX and of OpenVINO. `compare.py` calls it; what is there is not made again."""

import argparse
import time
import warnings
from pathlib import Path

import cases
import modules
import numpy as np
import torch
import transformers

warnings.filterwarnings("ignore")
transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()


def export_onnx(case, net, inputs, outputs, path):
    if case.model == "moe":  # what torch exports; its default does not
        net.model.set_experts_implementation("batched_mm")
    names = ["y"] + [f"new_{i}" for i in range(outputs - 1)]
    torch.onnx.export(net, tuple(map(torch.from_numpy, inputs.values())), path, dynamo=True, external_data=True,
                      input_names=list(inputs), output_names=names, verbose=False)


def export_openvino(case, net, inputs, outputs, path):
    import openvino

    tensors = tuple(map(torch.from_numpy, inputs.values()))
    model = openvino.convert_model(net, example_input=tensors, input=[list(t.shape) for t in tensors])
    openvino.save_model(model, path, compress_to_fp16=False)


EXPORTS = {"onnx": export_onnx, "xml": export_openvino}


def prepare(case, models, formats):
    work = models / "cases" / case.name
    work.mkdir(parents=True, exist_ok=True)
    missing = [f for f in formats if not (work / f"model.{f}").exists() and not (work / f"{f}.failed").exists()]
    if (work / "io.npz").exists() and not missing:
        return
    modules.make_model(case.model, models / case.model)
    net = modules.load_case(case, models)
    inputs, prompt = modules.make_inputs(case, net)
    with torch.inference_mode():
        result = net(*map(torch.from_numpy, inputs.values()))
    result = result if isinstance(result, tuple) else (result,)
    more = {} if prompt is None else {"prompt": prompt}
    np.savez(work / "io.npz", **inputs, **more, expected=result[0].numpy())
    for format in missing:
        start = time.monotonic()
        try:
            with torch.no_grad():
                EXPORTS[format](case, net, inputs, len(result), work / f"model.{format}")
            print(f"{case.name}: {format} in {time.monotonic() - start:.1f} s", flush=True)
        except Exception as error:
            (work / f"{format}.failed").write_text(f"{type(error).__name__}: {error}"[:2000])
            print(f"{case.name}: no {format}: {str(error)[:200]}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", type=Path)
    parser.add_argument("--cases", default="*")
    parser.add_argument("--formats", default="", help="onnx, xml, with commas between")
    arguments = parser.parse_args()
    for case in cases.matching(arguments.cases):
        prepare(case, arguments.models, [f for f in arguments.formats.split(",") if f])


if __name__ == "__main__":
    main()
