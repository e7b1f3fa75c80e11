from data import batches, load


def test_every_reading_is_in_one_batch():
    x, y = load()
    assert sum(len(rows) for rows, _ in batches(x, y, 5)) == len(x)
