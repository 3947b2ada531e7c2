# SPDX-License-Identifier: Apache-2.0
"""torch_truth.py — the exported program of a PyTorch net, node by node, under the profiler.

    torch_truth.py FOLDER gpt|resnet small|large        nodes.json

Around each node lies a range called varve.node MODULE/NODE, as varve.mlir.torch_names calls the
operation of the node: which operation an event is of is said by the profile itself.
"""
import pathlib
import sys

import torch
from torch.profiler import ProfilerActivity

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "python"))

import varve.mlir  # noqa: E402
from torch_nets import net_of  # noqa: E402


class Named(torch.fx.Interpreter):
    def run_node(self, n):
        with torch.profiler.record_function(f"varve.node {varve.mlir.torch_path(n)}"):
            return super().run_node(n)


def main():
    folder, name, size = pathlib.Path(sys.argv[1]), *sys.argv[2:4]
    torch.set_num_threads(1)
    net, data = net_of(name, size)
    program = torch.export.export(net, (data,))
    named = Named(program.graph_module)
    placeholders = [node.target for node in program.graph.nodes if node.op == "placeholder"]
    held = {spec.arg.name: program.state_dict.get(spec.target, program.constants.get(spec.target))
            for spec in program.graph_signature.input_specs if spec.target is not None}
    arguments = [held.get(target, data) for target in placeholders]
    with torch.no_grad():
        torch.testing.assert_close(named.run(*arguments)[0], net(data))
        with torch.profiler.profile(activities=[ProfilerActivity.CPU], record_shapes=True,
                                    with_stack=True) as prof:
            with torch.profiler.record_function("ProfilerStep#0"):
                named.run(*arguments)
    prof.export_chrome_trace(str(folder / "nodes.json"))


if __name__ == "__main__":
    main()
