"""Train the classifier: python train.py --config config.json --out runs/first"""

import argparse
import json
import logging
from pathlib import Path

import torch
import torch.nn.functional as F

import losses
from data import batches, load
from losses import centred, mixup, weighted_loss
from model import Classifier, penalty

log = logging.getLogger("train")
HERE = Path(__file__).parent


@torch.compile(fullgraph=True)
def objective(x, logits, target):
    return weighted_loss(logits, target) + 0.001 * mixup(x).pow(2).mean()


@torch.compile(fullgraph=True)
def regularise(model, x):
    return 0.1 * penalty(model, x)


@torch.compile(fullgraph=True)
def prepare(x, running):
    return centred(x, running) * 1.0


def evaluate(network, model, x, y):
    model.eval()
    with torch.no_grad():
        hits = (network(x).argmax(-1) == y).float().mean()
        shake = regularise(model, x)
    model.train()
    return hits.item(), shake.item()


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=Path, default=HERE / "config.json")
    parser.add_argument("--out", type=Path, default=Path("runs/last"))
    parser.add_argument("--resume", type=Path)
    return parser.parse_args()


def main():
    args = parse_args()
    config = json.loads(args.config.read_text())
    logging.basicConfig(level=logging.INFO)
    torch.manual_seed(1)
    x, y = load()
    counts = torch.bincount(y, minlength=3)
    losses.CLASS_WEIGHTS = counts.sum() / (3.0 * counts)

    model = Classifier(config["hidden"])
    network = torch.compile(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"])
    if args.resume:
        model.load_state_dict(torch.load(args.resume)["model"])
    running = {}
    for epoch in range(config["epochs"]):
        losses.smoothing = config["smoothing"] / (epoch + 1)
        for rows, target in batches(x, y, config["batch_size"]):
            rows = prepare(rows, running)
            loss = objective(rows, network(rows), target) + regularise(model, rows)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            model.step += 1
        hits, shake = evaluate(network, model, x, y)
        log.info("epoch %d: %d batches, accuracy %.2f, %.4f", epoch, running["count"], hits, shake)
    args.out.mkdir(parents=True, exist_ok=True)
    torch.save({"model": network.state_dict(), "losses": losses.history}, args.out / "model.pt")  # expect: NST802


if __name__ == "__main__":
    main()
