"""What users run: a model's directory, read and verified, answering on ONNX Runtime.

No PyTorch here. `ModelDirectory` reads and checks the files, `OnnxScorer`
answers the search's questions, `selftest` parses a model's own test sentences.
Importing this package loads NumPy; ONNX Runtime is loaded with the first model.
"""

from cleft.runtime.directory import ModelDirectory, write_checksums
from cleft.runtime.manifest import FORMAT, Manifest, ModelScorer, PieceRules, SelfTest
from cleft.runtime.scorer import OnnxScorer

__all__ = [
    "FORMAT", "Manifest", "ModelDirectory", "ModelScorer", "OnnxScorer", "PieceRules",
    "SelfTest", "write_checksums",
]  # fmt: skip
