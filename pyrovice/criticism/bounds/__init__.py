"""How many judgments are enough, and what a fit is guaranteed to do (paper, "Sample complexity").

`sample_size` and `design` look ahead, `generalization` looks back. All rest on embeddings whose
weights take few values: `quantize`.
"""

from pyrovice.criticism.bounds.experiment import Design, design
from pyrovice.criticism.bounds.prospective import sample_size
from pyrovice.criticism.bounds.quantization import quantize
from pyrovice.criticism.bounds.retrospective import Bound, generalization

__all__ = ["Bound", "Design", "design", "generalization", "quantize", "sample_size"]
