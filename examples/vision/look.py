#!/usr/bin/env python3
"""Says what a vision transformer that Hexad compiled sees in an image file: the
likeliest classes of a classifier, or the beginning of the embedding. With --map
draws over the image where the class token looks."""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from safetensors.numpy import load_file, save_file


def get_pair(value):
    """Height and width of what checkpoints write as a number or as an object."""
    if isinstance(value, dict):
        return value["height"], value["width"]
    return tuple(value) if isinstance(value, list) else (value, value)


def load_image(path, config, preprocessor, size):
    """The image as the model was trained on it, as a picture and as its input."""
    image = Image.open(path).convert("RGB")
    resample = preprocessor.get("resample", Image.Resampling.BILINEAR)
    resize = preprocessor.get("size", {})
    height, width = size or get_pair(config["image_size"])
    if isinstance(resize, dict) and "shortest_edge" in resize and not size:
        # The short edge to a size, then the middle.
        height, width = get_pair(preprocessor.get("crop_size", [height, width]))
        scale = resize["shortest_edge"] / min(image.size)
        image = image.resize([round(edge * scale) for edge in image.size], resample)
        left, top = (image.width - width) // 2, (image.height - height) // 2
        image = image.crop((left, top, left + width, top + height))
    else:
        image = image.resize((width, height), resample)
    pixels = np.asarray(image, np.float32) / 255
    mean = np.array(preprocessor.get("image_mean", [0.5] * 3), np.float32)
    deviation = np.array(preprocessor.get("image_std", [0.5] * 3), np.float32)
    pixels = (pixels - mean) / deviation
    return image, np.ascontiguousarray(pixels.transpose(2, 0, 1)[None])


def run(hexad, library, pixels):
    with tempfile.TemporaryDirectory() as folder:
        input_file = Path(folder) / "inputs.safetensors"
        output_file = Path(folder) / "outputs.safetensors"
        save_file({"pixel_values": pixels}, input_file)
        command = [hexad, "run", library, "--inputs", input_file, "--outputs", output_file]
        subprocess.run(command, check=True)
        return load_file(output_file)


def print_classes(logits, labels, count):
    probabilities = np.exp(logits - logits.max())
    probabilities /= probabilities.sum()
    for number in np.argsort(-probabilities, kind="stable")[:count]:
        label = labels.get(str(number), f"class {number}")
        print(f"{probabilities[number]:6.1%}  {label}")


def draw_map(image, outputs, patch):
    """The image, darkened where the class token of the last layer does not look
    (the mean over its heads)."""
    maps = [name for name in outputs if name.startswith("attention.")]
    if not maps:
        raise SystemExit("the library has no attention maps: compile with --outputs=attention")
    last = max(maps, key=lambda name: int(name.split(".")[1]))
    rows, columns = image.height // patch[0], image.width // patch[1]
    # Patches stand behind the class token and the registers.
    looks = outputs[last][0, :, 0, -rows * columns :].mean(axis=0)
    looks = (looks - looks.min()) / max(np.ptp(looks), 1e-12)
    grid = Image.fromarray(np.uint8(255 * looks.reshape(rows, columns)))
    weight = np.asarray(grid.resize(image.size, Image.Resampling.BICUBIC), np.float32) / 255
    pixels = np.asarray(image, np.float32) * (0.15 + 0.85 * weight[..., None])
    return Image.fromarray(np.uint8(pixels))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", help="the compiled model, e.g. libvit.so")
    parser.add_argument("image", help="a PNG or JPEG file")
    parser.add_argument("--model", required=True, help="the checkpoint folder")
    parser.add_argument("--hexad", default="hexad", help="the program `hexad`")
    parser.add_argument("--size", help="HEIGHTxWIDTH if compiled with --image-size")
    parser.add_argument("--map", help="PNG file for the attention over the image")
    parser.add_argument("--top", type=int, default=5, help="number of classes")
    args = parser.parse_args()

    folder = Path(args.model)
    config = json.loads((folder / "config.json").read_text())
    file = folder / "preprocessor_config.json"
    preprocessor = json.loads(file.read_text()) if file.exists() else {}
    size = tuple(map(int, args.size.split("x"))) if args.size else None
    image, pixels = load_image(args.image, config, preprocessor, size)
    outputs = run(args.hexad, args.library, pixels)
    if "logits" in outputs:
        print_classes(outputs["logits"][0], config.get("id2label", {}), args.top)
    else:
        embedding = outputs["pooler_output"][0]
        shown = " ".join(f"{value:.3f}" for value in embedding[:8])
        print(f"embedding of size {len(embedding)}: {shown} …")
    if args.map:
        draw_map(image, outputs, get_pair(config["patch_size"])).save(args.map)
        print(f"wrote {args.map}")


if __name__ == "__main__":
    main()
