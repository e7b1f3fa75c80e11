"""Experiment tracking."""

import wandb


class Tracker:
    def __init__(self, project: str):
        self.run = wandb.init(project=project)

    def log(self, **metrics: float) -> None:
        wandb.log(metrics)


def log_table(name, rows):
    wandb.log({name: wandb.Table(data=rows)})
