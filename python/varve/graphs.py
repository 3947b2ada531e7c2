# SPDX-License-Identifier: Apache-2.0
"""NetworkX's graphs, which a notebook shows as a picture. Imported by who asks for a graph."""
from typing import Any

import networkx

from . import shown


class Graph(networkx.DiGraph):
    """What ran, and what followed from what."""
    draw: Any = None  # writes its picture to a path, from the trace that it is of

    def _repr_html_(self) -> str:
        return shown.graph_html(self)


class MultiGraph(networkx.MultiDiGraph):
    """The same, with an edge for each kind."""
    draw: Any = None

    def _repr_html_(self) -> str:
        return shown.graph_html(self)
