"""How many judgments are enough, and what a fit is guaranteed to do (paper, "Sample complexity").

`sample_size` and `design` look ahead, `generalization` looks back. All rest on embeddings whose
weights take few values: `quantize`.
"""

from pyrovice.bounds.design import Design, design
from pyrovice.bounds.generalization import Bound, generalization
from pyrovice.bounds.quantization import quantize
from pyrovice.bounds.sample_size import sample_size

__all__ = ["Bound", "Design", "design", "generalization", "quantize", "sample_size"]
