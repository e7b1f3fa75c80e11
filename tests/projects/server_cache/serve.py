"""Answer a few requests from a queue: python serve.py --workers 2"""

import argparse
import queue
import threading

import torch

from serving import engine as engine_module
from serving.engine import Engine, embed_only
from serving.settings import settings


def worker(engine, requests, answers):
    while True:
        item = requests.get()
        if item is None:
            return
        name, prompt = item
        answers[name] = engine.generate(prompt, name)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--ban", type=int, nargs="*", default=[3])
    args = parser.parse_args(argv)

    torch.manual_seed(0)
    engine = Engine()
    requests, answers = queue.Queue(), {}
    threads = [threading.Thread(target=worker, args=(engine, requests, answers)) for _ in range(args.workers)]
    for thread in threads:
        thread.start()
    for number in range(4):
        requests.put((f"r{number}", [1, 2, 3 + number]))
    for _ in threads:
        requests.put(None)
    for thread in threads:
        thread.join()
    settings.temperature = 0.3
    mask = torch.zeros(32)
    mask[args.ban] = 1.0
    engine_module.banned = mask
    print(answers, engine.generate([1, 2, 3], "last"))
    for start in range(10):
        print(embed_only(engine.model, torch.tensor([[start, start + 1]])).norm().item())


if __name__ == "__main__":
    main()
