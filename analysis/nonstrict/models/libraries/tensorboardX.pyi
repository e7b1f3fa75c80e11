"""What tensorboardX does: its API reference. It writes what `torch.utils.tensorboard` writes."""

from torch.utils.tensorboard import SummaryWriter as SummaryWriter
