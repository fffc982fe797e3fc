"""A training step of a transformer, dense or of experts: who sends what to whom, and when.

# Source
Narayanan and others, Efficient Large-Scale Language Model Training on GPU Clusters Using
Megatron-LM (2021), for tensor and pipeline parallelism and 1F1B; Korthikanti and others, Reducing
Activation Recomputation in Large Transformer Models (2022), for sequence parallelism; Rajbhandari
and others, ZeRO (2020); Liu and others, Ring Attention (2023), for context parallelism; Lepikhin
and others, GShard (2020), for experts.
"""

from __future__ import annotations

from deroute.trace.transformer.layout import ORDER, Layout
from deroute.trace.transformer.model import MODELS, Model
from deroute.trace.transformer.program import Step, Training

__all__ = ["MODELS", "ORDER", "Layout", "Model", "Step", "Training"]
