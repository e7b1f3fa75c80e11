import torch

from textenc.model import Encoder, encode_batch


def test_vectors_have_length_one():
    hidden, mask = torch.randn(2, 8, 16), torch.ones(2, 8, dtype=torch.bool)
    vectors = encode_batch(Encoder().eval(), hidden, mask)
    torch.testing.assert_close(vectors.norm(dim=-1), torch.ones(2))
