"""Devices that extensions bring to torch, and what they add to tensors.

An extension gives the device `privateuse1` a name of its own, and tensors a method and a property of that name:
`x.npu()`, `x.is_npu` (`torch/utils/backend_registration.py` of torch 2.13, `generate_methods_for_privateuse1_backend`).
They are put on the class, so that the stand-ins of tracing have them too.
"""

from __future__ import annotations

#: Names that extensions in use give to their devices.
EXTENSIONS = frozenset(
    {
        "dipu",
        "gcu",
        "hpu",
        "maca",
        "mlu",
        "musa",
        "neuron",
        "npu",
        "openreg",
        "privateuseone",
        "sdaa",
        "spyre",
        "supa",
        "tpu",
    }
)

#: Devices that operators and their kernels are registered for, as dispatch keys name them: those of extensions as well.
#: Source: the message by which `torch.device("")` of torch 2.13 lists types of devices.
DEVICES = EXTENSIONS | {"cpu", "cuda", "mps", "xpu", "mtia", "ipu", "xla", "privateuse1"}


def is_extension_property(name: str) -> bool:
    """Whether an attribute of a tensor asks if it is on the device of an extension, as `is_npu` does."""
    return name.startswith("is_") and name.removeprefix("is_") in EXTENSIONS
