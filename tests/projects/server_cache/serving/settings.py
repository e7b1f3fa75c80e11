"""Settings from the environment."""

import os
from dataclasses import dataclass, field


@dataclass
class Settings:
    max_batch: int = 4
    max_length: int = 32
    temperature: float = field(default_factory=lambda: float(os.environ.get("SERVING_TEMPERATURE", "1.0")))
    trace_requests: bool = False


settings = Settings()
