"""SGLang's padding of ragged batches, and back."""

from __future__ import annotations

import pytest

from tests.upstream.witness import filled, launched, made, piece

PAD = "sglang/kernels/ops/attention/pad.py"


@pytest.mark.drives(PAD, "pad_sequence_with_mask")
def test_pad_sequence_launches_one_program_per_sequence(load, witness):
    embedded = witness.tensor("embedded", "bfloat16", (11, 96))
    offsets = witness.tensor("offsets", "int32", (3,))
    lengths = witness.tensor("lengths", "int32", (3,))
    returned = load().pad_sequence_with_mask(embedded, offsets, lengths, 5)
    witness.saw(
        made("padded", "torch.zeros", "bfloat16", (3, 5, 96)),
        made("mask", "torch.empty", "bool", (15,)),  # flat: 3 sequences of 5
        launched(
            "pad_sequence_with_mask_kernel",
            (3, 1, 1),  # one block covers any sequence: BLOCK_M >= max_len
            input_ptr=piece("embedded", "bfloat16", (11, 96)),
            offsets_ptr=piece("offsets", "int32", (3,)),
            lengths_ptr=piece("lengths", "int32", (3,)),
            output_ptr=piece("padded", "bfloat16", (3, 5, 96)),
            mask_ptr=piece("mask", "bool", (15,)),
            max_len=5,
            hidden_dim=96,
            BLOCK_M=8,  # next power of 2 of 5
            BLOCK_D=128,  # next power of 2 of 96
        ),
    )
    assert witness.of(returned) == (
        3,
        piece("padded", "bfloat16", (3, 5, 96)),
        piece("mask", "bool", (15,)),
    )


@pytest.mark.drives(PAD, "pad_draft_extend_query")
def test_pad_query_launches_a_block_of_64_heads_by_64_elements(load, witness):
    q = witness.tensor("q", "bfloat16", (7, 96, 192))
    padded = witness.tensor("padded", "bfloat16", (2, 4, 96, 192))
    lens = witness.tensor("lens", "int32", (2,))
    starts = witness.tensor("starts", "int32", (3,))
    returned = load().pad_draft_extend_query(q, padded, lens, starts)
    witness.saw(
        launched(
            "pad_draft_extend_query_kernel",
            (8, 2, 3),  # 2 sequences x 4 places, ceil(96 / 64), ceil(192 / 64)
            q_ptr=piece("q", "bfloat16", (7, 96, 192)),
            padded_q_ptr=piece("padded", "bfloat16", (2, 4, 96, 192)),
            seq_lens_q_ptr=piece("lens", "int32", (2,)),
            cumsum_ptr=piece("starts", "int32", (3,)),
            batch_size=2,  # one less than the starts
            max_seq_len=4,
            num_heads=96,
            head_dim=192,
            BLOCK_SIZE=64,
        )
    )
    assert returned is padded


def unpad_launch(output):
    return launched(
        "unpad_draft_extend_output_kernel",
        (8, 2, 8),  # 2 sequences x 4 places, ceil(96 / 64), 512 / 64
        raw_out_ptr=piece("raw", "bfloat16", (2, 4, 96, 512)),
        output_ptr=output,
        num_accept_tokens_ptr=piece("lens", "int32", (2,)),
        cumsum_ptr=piece("starts", "int32", (3,)),
        batch_size=2,
        token_per_batch=4,
        tp_q_head_num=96,
        v_head_dim=512,
        BLOCK_SIZE=64,
    )


def unpad(module, witness, buffer=None):
    raw = witness.tensor("raw", "bfloat16", (2, 4, 96, 512))
    starts = witness.tensor("starts", "int32", (3,))
    lens = witness.tensor("lens", "int32", (2,))
    return module.unpad_draft_extend_output(raw, starts, lens, 6, buffer)


@pytest.mark.drives(PAD, "unpad_draft_extend_output")
def test_unpad_allocates_as_many_rows_as_were_accepted(load, witness):
    returned = unpad(load(), witness)
    whole = piece("rows", "bfloat16", (6, 96, 512))
    witness.saw(
        made("rows", "torch.empty", "bfloat16", (6, 96, 512)),
        unpad_launch(whole),
    )
    assert witness.of(returned) == whole


@pytest.mark.drives(PAD, "unpad_draft_extend_output")
def test_unpad_writes_into_the_front_of_a_buffer_of_its_own_dtype(load, witness):
    buffer = witness.tensor("buffer", "bfloat16", (32, 96, 512))
    returned = unpad(load(), witness, buffer)
    front = piece("buffer", "bfloat16", (6, 96, 512))
    witness.saw(unpad_launch(front))
    assert witness.of(returned) == front


@pytest.mark.drives(PAD, "unpad_draft_extend_output")
def test_unpad_leaves_a_buffer_of_another_dtype_alone(load, witness):
    buffer = witness.tensor("buffer", "float32", (32, 96, 512))
    returned = unpad(load(), witness, buffer)
    witness.saw(
        made("converted", "Tensor.to", "bfloat16", (6, 96, 512)),
        unpad_launch(piece("converted", "bfloat16", (6, 96, 512))),
    )
    assert witness.of(returned) == piece("converted", "bfloat16", (6, 96, 512))


@pytest.mark.drives(PAD, "seqlens_expand_triton")
def test_seqlens_expand_puts_the_running_sum_behind_a_zero(load, witness):
    extended = witness.values("extended", "int32", [2, 3, 1])
    lens = witness.tensor("lens", "int32", (3,))
    returned = load().seqlens_expand_triton(extended, lens, 6, 3)
    witness.saw(
        made("offsets", "torch.zeros", "int32", (4,)),
        made("sums", "torch.cumsum", "int64", (3,)),  # sums of int32 are int64
        filled("__setitem__", piece("offsets", "int32", (3,), first_byte=4)),
        made("expanded", "torch.empty", "int32", (6,)),
        launched(
            "seqlens_expand_kernel",
            (3,),
            extend_seq_lens_ptr=piece("extended", "int32", (3,)),
            seq_lens_ptr=piece("lens", "int32", (3,)),
            offsets_ptr=piece("offsets", "int32", (4,)),
            output_ptr=piece("expanded", "int32", (6,)),
            N=3,
            BLOCK=4,  # next power of 2 of 3
        ),
    )
    assert witness.of(returned) == piece("expanded", "int32", (6,))
