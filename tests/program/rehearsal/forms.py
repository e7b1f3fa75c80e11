"""Expressions that make tensors, one a line: what a rehearsal says of each is held against torch itself.

The names stand for what `SETUP` makes.
"""

from __future__ import annotations

SETUP = """
import torch
from torch import nn
import torch.nn.functional as F
x = torch.randn(2, 3, 8)
image = torch.randn(2, 3, 8, 8)
ids = torch.randint(0, 10, (2, 5))
weight = nn.Parameter(torch.randn(6, 8))
linear = nn.Linear(8, 5)
frozen = nn.Linear(8, 5).requires_grad_(False)
embedding = nn.Embedding(10, 4)
"""

EXPRESSIONS = """
torch.zeros(3, 4)
torch.zeros((3, 4), dtype=torch.float16)
torch.full((2, 2), 3)
torch.full((2, 2), 0.5)
torch.arange(5)
torch.arange(2, 10, 3)
torch.linspace(0, 1, 7)
torch.randint(0, 5, (3, 2))
torch.tensor([[1, 2], [3, 4]])
torch.tensor([0.5, 1])
torch.tensor(True)
torch.zeros_like(x)
torch.randn(2, 3, requires_grad=True)
x + 1
x + image[:, :, 0]
ids + 1
ids + 0.5
ids / 2
ids * torch.ones(1, dtype=torch.float16)
x > 0
-x
x @ weight.T
torch.matmul(x, weight.t())
linear(x)
frozen(x)
frozen(linear(x).relu() @ torch.ones(5, 8))
embedding(ids)
F.linear(x, weight)
x.sum()
x.mean(-1)
x.mean(dim=1, keepdim=True)
x.argmax(-1)
x.softmax(-1)
F.softmax(x, dim=-1)
F.relu(x)
x.view(2, -1)
x.reshape(6, 8)
x.flatten(1)
x.transpose(1, 2)
x.permute(2, 0, 1)
x.unsqueeze(0)
x.unsqueeze(-1)
x[:, :1].squeeze(1)
x[0]
x[:, 1:]
x[..., :4]
x[:, None]
x[:, -1:]
x.chunk(2, -1)[0]
x.split(3, dim=-1)[2]
x.unbind(1)[0]
torch.cat([x, x], 1)
torch.stack([x, x], dim=-1)
x.expand(4, 2, 3, 8)
x.repeat(1, 2, 1)
x.to(torch.bfloat16)
x.half()
x.long()
x.clone()
x.detach()
weight.detach()
weight.data
weight * 2
weight.new_zeros(2, 2)
F.pad(x, (1, 2))
F.cross_entropy(linear(x).flatten(0, 1), torch.zeros(6, dtype=torch.long))
F.scaled_dot_product_attention(x, x, x)
nn.Conv2d(3, 6, 3, stride=2, padding=1)(image)
nn.ConvTranspose2d(3, 4, 4, stride=2, padding=1)(image)
nn.MaxPool2d(2)(image)
nn.AdaptiveAvgPool2d(1)(image)
nn.LayerNorm(8)(x)
nn.GroupNorm(3, 3)(image)
nn.Sequential(nn.Linear(8, 4), nn.GELU(), nn.Dropout(0.1))(x)
nn.Flatten()(image)
nn.Upsample(scale_factor=2)(image)
nn.GRUCell(8, 6)(x[:, 0], torch.zeros(2, 6))
x.unfold(-1, 4, 2)
torch.where(x > 0, x, torch.zeros_like(x))
""".strip().splitlines()
