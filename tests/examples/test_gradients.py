# SPDX-License-Identifier: Apache-2.0
"""examples/train: each backward function is the derivative of its forward one (gradients.c says
how)."""
import shutil
import subprocess

import pytest

from example_build import build_program

SOURCES = ["layers.c", "network.c", "operator.c", "buffer.c", "digits.c"]

# One wrong line each; a comparison that does not notice it would prove nothing.
MISTAKES = {
    "conv2d keeps one sample's weights": ("1.0f, layer->weight_gradient",
                                          "0.0f, layer->weight_gradient"),
    "col2im keeps one window's pixels": ("image[overlap.image + i] +=",
                                         "image[overlap.image + i] ="),
    "relu passes all": ("input[i] > 0.0f ? output_gradient[i]",
                        "output_gradient[i] != 0.0f ? output_gradient[i]"),
    "maxpool2d forgets where": ("out_input_gradient[greatest_in_window(layer, input, i)]",
                                "out_input_gradient[i]"),
    "linear forgets the bias": ("layer->bias_gradient[i] +=", "layer->bias_gradient[i] -="),
    "cross_entropy forgets the mean": ("- target) / (float)batch", "- target)"),
}


@pytest.fixture(scope="module")
def check_gradients(root, build, tmp_path_factory):
    """check_gradients(folder) builds gradients.c with the example's sources in the folder, and runs
    it."""
    def run(folder):
        program = tmp_path_factory.mktemp("gradients") / "gradients"
        sources = [root / "tests/examples/gradients.c", *(folder / name for name in SOURCES)]
        build_program(root, build, sources, program, f"-I{folder}")
        return subprocess.run([program], capture_output=True, text=True, check=False)
    return run


def verdicts(done):
    return [line.split()[-1] for line in done.stdout.splitlines()]


def test_every_backward_is_the_derivative_of_its_forward(root, check_gradients):
    done = check_gradients(root / "examples/train")
    assert (done.returncode, verdicts(done)) == (0, ["right"] * 13), done.stdout


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_derivative_is_noticed(root, check_gradients, tmp_path, mistake):
    right, wrong = MISTAKES[mistake]
    folder = shutil.copytree(root / "examples/train", tmp_path / "train")
    text = (folder / "layers.c").read_text()
    assert text.count(right) == 1, "the mistake no longer fits the source"
    (folder / "layers.c").write_text(text.replace(right, wrong))
    done = check_gradients(folder)
    assert done.returncode == 1 and "WRONG" in verdicts(done), done.stdout
