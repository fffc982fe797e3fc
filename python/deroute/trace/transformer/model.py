"""Transformers: how many parameters they have, and what a layer computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Model:
    """A transformer of equal layers."""

    hidden: int
    #: Width of the feed-forward network, of each expert if there are some.
    ffn: int
    layers: int
    heads: int
    #: Heads of keys and values.
    kv_heads: int
    vocabulary: int
    #: Three matrices instead of two.
    gated: bool = True
    experts: int = 1
    #: Experts that see a token.
    top: int = 1
    #: The first and the last matrix are the same.
    tied: bool = False

    @property
    def attention(self) -> int:
        """Parameters of the attention of a layer: queries and results, keys and values."""
        return 2 * self.hidden**2 + 2 * self.hidden**2 * self.kv_heads // self.heads

    @property
    def expert(self) -> int:
        """Parameters of an expert, or of the feed-forward network."""
        return (3 if self.gated else 2) * self.hidden * self.ffn

    @property
    def embedding(self) -> int:
        """Parameters of the embedding."""
        return self.vocabulary * self.hidden

    @property
    def parameters(self) -> int:
        """All of them; those of the norms are left out."""
        layer = self.attention + self.experts * self.expert
        return self.layers * layer + self.embedding * (1 if self.tied else 2)

    def forward_flops(self, tokens: int, sequence: int) -> float:
        """Of a layer: two for each parameter and token, and the attention of tokens to others."""
        seen = self.attention + self.top * self.expert
        return 2.0 * seen * tokens + 4.0 * tokens * sequence * self.hidden

    def logits_flops(self, tokens: int) -> float:
        """Of the last matrix."""
        return 2.0 * self.embedding * tokens


#: Models as they were published.
MODELS: Mapping[str, Model] = {
    "gpt3-175b": Model(12288, 49152, 96, 96, 96, 50257, gated=False, tied=True),
    "llama-7b": Model(4096, 11008, 32, 32, 32, 32000),
    "llama-70b": Model(8192, 28672, 80, 64, 8, 32000),
    "mixtral-8x7b": Model(4096, 14336, 32, 32, 8, 32000, experts=8, top=2),
}
