import torch

from serving.cache import KVCache, kv_cache
from serving.engine import Engine, Model
from serving.rope import rope_table


def test_cache_grows_and_forgets():
    cache = KVCache()
    part = torch.ones(1, 2, 4)
    cache.extend("a", part, part)
    key, _ = cache.extend("a", part, part)
    assert key.shape == (1, 4, 4)
    assert cache.hits == 1
    cache.drop("a")
    assert not cache.entries


def test_generation_cleans_up():
    rope_table(3, 16)
    torch.manual_seed(0)
    engine = Engine(Model())
    assert len(engine.generate([1, 2, 3], "x")) == 2
    assert "x" not in kv_cache.entries
