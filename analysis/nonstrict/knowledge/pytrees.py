"""By which functions classes are registered with torch's pytrees, as what, and which classes need no registration.

Sources: `torch/utils/_pytree.py`, `torch/export/__init__.py` and `torch/_library/opaque_object.py` of torch 2.13.
"""

from __future__ import annotations

from nonstrict.knowledge.standard_library import EVER

_PYTREE = ("torch.utils._pytree", "torch.utils.pytree", "torch.utils.pytree.python", "torch.utils._pytree.python")
_OTHER_TREES = ("torch.utils._cxx_pytree", "torch.utils.pytree.cxx", "optree", "jax.tree_util")

#: What a registration makes of a class: fields are inputs (`dataclass`), the object is a constant that is guarded by
#: its `__eq__` (`constant`), two functions take it apart and rebuild it (`node`), it is handed on as it is (`opaque`),
#: or it is known to another library, whose trees torch may or may not be told of (`other`).
REGISTRARS: dict[str, str] = {
    **{f"{module}.register_dataclass": "dataclass" for module in _PYTREE},
    "torch.export.register_dataclass": "dataclass",
    **{f"{module}.register_constant": "constant" for module in _PYTREE},
    **{
        f"{module}.{name}": "node"
        for module in _PYTREE
        for name in ("register_pytree_node", "_register_pytree_node", "_private_register_pytree_node", "register_node")
    },
    "torch._library.opaque_object.register_opaque_type": "opaque",
    **{
        f"{module}.{name}": "other"
        for module in _OTHER_TREES
        for name in (
            "register_pytree_node",
            "_register_pytree_node",
            "register_pytree_node_class",
            "register_node",
            "register_dataclass",
            "register_pytree_with_keys",
            "register_pytree_with_keys_class",
            "register_static",
        )
    },
    "optree.dataclasses.dataclass": "other",
}
#: The last part of every name above.
WORDS = frozenset(name.rpartition(".")[2] for name in REGISTRARS) - {"dataclass"}

#: Classes of the standard library whose subclasses are something else to torch than objects of a class.
_SPECIAL_BASES = frozenset(
    {
        *("typing.NamedTuple", "typing.TypedDict", "builtins.str", "builtins.int", "builtins.float", "builtins.bool"),
        *("builtins.bytes", "builtins.complex", "builtins.type"),
    }
)
#: Other classes outside the program that change nothing about whether pytrees know a class.
_PLAIN_BASES = frozenset(
    {
        *("typing_extensions.Generic", "typing_extensions.Protocol", "torch.autograd.Function"),
        *("torch.utils.data.Dataset", "torch.utils.data.IterableDataset", "torch._library.opaque_object.OpaqueBase"),
    }
)


def is_plain_base(name: str) -> bool:
    """Whether a class with this base, from outside the program, is registered only if it is registered itself.

    Measured on torch 2.13.0: objects of classes derived from abstract, generic and container classes of the standard
    library are refused.
    """
    if name in _PLAIN_BASES:
        return True
    root = name.partition(".")[0]
    return root in EVER and root != "enum" and name not in _SPECIAL_BASES


#: Decorators of classes that register nothing.
PLAIN_DECORATORS = frozenset(
    {
        "dataclasses.dataclass",
        "functools.total_ordering",
        "typing.final",
        "typing_extensions.final",
        "typing.runtime_checkable",
        "typing_extensions.runtime_checkable",
        "typing.no_type_check",
        "enum.unique",
        "attr.s",
        "attr.attrs",
        "attr.define",
        "attr.frozen",
        "attr.dataclass",
        "attrs.define",
        "attrs.frozen",
        "attrs.mutable",
    }
)
