"""Writes a llama model of random weights, half a megabyte: `PYTHON tiny_llama.py FILE`.

Run by the interpreter that has llama-cpp-python and gguf, not by the suite's. It speaks nonsense, but a
grammar makes whole JSON of it, and prompts, limits, streams and stops are those of a real server.
"""

from __future__ import annotations

import sys

import gguf  # type: ignore[import-not-found]  # only there
import numpy as np

WIDTH, HEADS, BLOCKS, INNER, CONTEXT = 64, 4, 2, 128, 2048
SPECIAL = ("<unk>", "<s>", "</s>")


def write(path: str) -> None:
    """A llama of two blocks whose vocabulary is the 256 bytes."""
    random = np.random.default_rng(1)
    tokens = [*(name.encode() for name in SPECIAL), *(f"<0x{byte:02X}>".encode() for byte in range(256))]
    tokens += [bytes([byte]) for byte in range(32, 127)]
    kinds = [2, 3, 3] + [6] * 256 + [1] * 95
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(BLOCKS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_file_type(0)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)

    def weights(name: str, *shape: int) -> None:
        data = (
            random.normal(0, 0.05, shape).astype(np.float32) if len(shape) > 1 else np.ones(shape, np.float32)
        )
        writer.add_tensor(name, data)

    weights("token_embd.weight", len(tokens), WIDTH)
    for block in range(BLOCKS):
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            weights(f"blk.{block}.{name}.weight", WIDTH, WIDTH)
        weights(f"blk.{block}.attn_norm.weight", WIDTH)
        weights(f"blk.{block}.ffn_norm.weight", WIDTH)
        weights(f"blk.{block}.ffn_gate.weight", INNER, WIDTH)
        weights(f"blk.{block}.ffn_up.weight", INNER, WIDTH)
        weights(f"blk.{block}.ffn_down.weight", WIDTH, INNER)
    weights("output_norm.weight", WIDTH)
    # Only printable characters are ever likely: an end, or half a character, comes by chance otherwise.
    spoken = random.normal(0, 1.0, (len(tokens), WIDTH)).astype(np.float32)
    spoken[: len(SPECIAL) + 256] = 0
    writer.add_tensor("output.weight", spoken)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


write(sys.argv[1])
