"""What torch's reasons for a graph break mean that no construct of the measured table breaks with, family by family."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.rules.break_reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Iterator

_PLAIN = "write it with plain functions and classes, or do it outside the region"
_FAMILIES = (
    (
        "0039",
        Reason(
            "A function was compiled again and again, for other values or shapes, until torch gave it up.",
            "find the guard that fails each time with `TORCH_LOGS=recompiles`; keep that value the same, or hold it in "
            "a tensor",
        ),
    ),
    (
        "0239 0269 6210 2520",
        Reason(
            "A function that is marked (`nonstrict_trace`, `leaf_function`, `assume_constant_result`) cannot be used "
            "like this in a region.",
            "mark it outside of regions; give it, and return from it, tensors, plain values, containers of these and "
            "registered classes",
        ),
    ),
    (
        "0017 0040 0041 0042 0073 0074 0301-0345 0349-0351 0353 0355 0356 1177 6017 2977",
        Reason(
            "A higher-order operator (`torch.cond`, `while_loop`, `scan`, `map`, `checkpoint`) gets a function or "
            "operands that it does not take.",
            "let its functions take and return tensors of the same shape and dtype, and change nothing outside of them",
        ),
    ),
    (
        "0019 0085 0138-0140 0144 0145 0346-0348 0352 2019 2464 4372 6297",
        Reason(
            "A `torch.autograd.Function` uses a part of its context or a form that Dynamo does not trace.",
            "keep `forward` and `backward` static methods over tensors with `save_for_backward`, or make it a "
            "`torch.library.custom_op` with `register_autograd`",
        ),
    ),
    (
        (
            "0029 0104 0165 0166 0181 0358 0371-0373 0442 1042 1140 1381 1501 1724 4927 5748 6663 7054 7299 7444 8985 "
            "0100 0101"
        ),
        Reason(
            "Gradients, hooks or the engine of autograd are used in the region in a way that Dynamo does not trace.",
            "compile the forward pass; call `backward()`, and register hooks, outside of it",
        ),
    ),
    (
        "0058 0072 0126-0130 0220 4197 7489 6270",
        Reason(
            "The storage or an attribute of a tensor is changed in a way that a graph cannot record.",
            "do it before or after the region is called, or make a new tensor",
        ),
    ),
    (
        "0226-0229 0235 0237 0244 0119",
        Reason(
            "A parameter is made in the region, or a module whose parameters are not made yet is called.",
            "build it once, outside the region (a module in `__init__`)",
        ),
    ),
    (
        "0018 0034 0035 0037 0038 0070 0171 0360 5565 7596",
        Reason(
            "A decision, an index or a shape follows from the data of a tensor. At trace time there is no data.",
            "keep it in tensors (`torch.where`, `index_select`), or decide outside the region",
        ),
    ),
    (
        "0002 0043 0048 0049 0064 0080 0081 0111 0112 2922 5173 0022 0196",
        Reason(
            "The code, or an operator, raises an error when Dynamo runs it with fake tensors.",
            "see whether it fails in eager code too; give an operator of yours a `register_fake`",
        ),
    ),
    (
        (
            "0004-0006 0009 0031 0032 0054 0071 0084 0103 0113 0121 0131 0150 0161-0164 0188 0189 0194 0202 0211 0217 "
            "0252 0254-0256 0261 0271 0272 0276 0280 0281 0283 0287 0368 0369 1319 2404 3241 3383 3697 4271 5458 5849 "
            "6012 6999 7502 7637 9277 9522 9672 0153 0026 0182 0198 0135"
        ),
        Reason(
            "An object of a class of yours is made, read or changed in a way that Dynamo does not model: "
            "`__getattr__`, `super()`, a descriptor, a metaclass, a subclass of a type that is written in C.",
            _PLAIN,
        ),
    ),
    (
        "0023 0027 0141 0176 0191 0214 0215 0364-0367 0682 0871 1220 2861 4608 4749 6622 6890 9316 9648",
        Reason(
            "Objects are compared, hashed or told apart by identity, and Dynamo cannot tell the answer at trace time.",
            "compare plain values, use plain keys, or compare outside the region",
        ),
    ),
    (
        "0184 0459 1275 1584 2483 2852 5380 6053 7968 8315 9198",
        Reason(
            "A text is made of an object that Dynamo knows in part only.",
            "make the text outside the region, or guard it with `if not torch.compiler.is_compiling()`",
        ),
    ),
    (
        "0024 0094 0114 0115 0118 0120 0132 0133 0152 0154 0155 0160 0192 0253 0268 1752 2549 6025 7230 8335",
        Reason(
            "An iterator, a generator or a function of `itertools` is used in a way that Dynamo does not step through.",
            "make a list of it outside the region, and pass the list",
        ),
    ),
    (
        "0092 0093 0199 0209 0212 0274 0279 0370 1297 2533 3343 4501 4778 9528 0097",
        Reason(
            "Something that was made while tracing is still needed after a graph, and Dynamo cannot rebuild it there: "
            "mostly behind another break of the graph.",
            "mend the earlier break, or return tensors and plain values only",
        ),
    ),
    (
        "0105 0106 0159 0185 0231 0232 0250 0290 0293 0298 0300",
        Reason(
            "NumPy is used in a way that Dynamo does not trace.",
            "use the function of torch that computes the same, or convert with `torch.from_numpy` outside the region",
        ),
    ),
    (
        "0015 0016 0044 0233 0245",
        Reason(
            "A sparse or nested tensor comes into the region.",
            "make it dense before, or compute with it outside the region",
        ),
    ),
    (
        "0053 0172 0210 0282 1750 2696 9300 9860",
        Reason(
            "Communication between processes is used in a form that Dynamo does not trace.",
            "use functional collectives without `async_op`, or communicate outside the region",
        ),
    ),
    (
        "0230 0234 0248 0249 0285 0286",
        Reason(
            "A state or a device of torch is set or asked in the region.",
            "set it once, before the compiled function is called",
        ),
    ),
    (
        "0216 0361 3326 4026 6735",
        Reason(
            "A Triton kernel is called with what Dynamo does not trace.",
            "wrap the kernel with `torch.library.triton_op`, or in a `torch.library.custom_op` with a `register_fake`",
        ),
    ),
    (
        "0265-0267 0357 0362 1739 2078 4695 7685 8656 8843 9567",
        Reason(
            "An object of TorchScript or of a class that is opaque to torch is used in the region.",
            "call it outside the region, or register what is used of it",
        ),
    ),
    (
        "0030 0060 0068 0102 1380 0149 9741 0173 0328 0263 0221",
        Reason(
            "The code uses a mode or a transform of torch (functorch, export, strict mode) that Dynamo does not trace.",
            "apply the transform outside the region, or compile what it is applied to",
        ),
    ),
    (
        "0240 0241",
        Reason(
            "Operators write to `out=` tensors that do not fit.",
            "give each `out=` the shape of its result and a contiguous layout, or leave it out",
        ),
    ),
    (
        "0288 9840",
        Reason(
            "Dynamo cannot make the message of `torch._check` at trace time.",
            "let the message lambda capture only numbers and strings, bound before the call",
        ),
    ),
    (
        "0275 4636",
        Reason(
            "The code calls `torch._dynamo.step_unsupported()`, which is for tests of torch.",
            "remove the call",
        ),
    ),
    (
        "0065 0066 0096 7000",
        Reason(
            "A break of the graph lies where torch cannot resume: in a loop, in a `with` block, in a function that was "
            "called. Another reason says what breaks.",
            "remove what breaks; the message above or below this one names it",
        ),
    ),
    (
        "2669 5696 6276 7425 9898",
        Reason(
            "A break of the graph lies in a comprehension, which torch cannot resume.",
            "remove what breaks, or write the comprehension as a loop",
        ),
    ),
    (
        "0010-0012 0076 0091 0169 0354",
        Reason(
            "A name is read that has no value there, or a captured variable cannot be written.",
            "see whether it fails in eager code too; bind the name on every path",
        ),
    ),
    (
        "0000 0020 0021 0028 0047 0050-0052 0057 0061-0063 0077 0079 0089 0095 0136 0137 0143 0151 0167 0168 0174 0175",
        Reason(
            "A statement or a builtin gets a value that Dynamo does not expect there.",
            "see whether it fails in eager code too; else write it in a simpler way",
        ),
    ),
    (
        "0086 0110 0178 0179 0183 0186 0187 0190 0195 0201 0203 0204 0218 0222 0224 0243 0257-0260 0270 0273 0278 0289",
        Reason(
            "A function of Python or torch gets arguments for which Dynamo's rule does not hold. It needs constants.",
            "compute the argument outside the region, as a plain number, text or tuple, or call it there",
        ),
    ),
    (
        "0755 0781 2544 3006 3775 3934 4240 4411 4880 5195 5904 7286 7510 7786 7906 8435 9458 9548 9561",
        Reason(
            "An operator (`len`, `in`, `[]`, `+`, `int()`) is applied to an object for which Dynamo has no rule.",
            "use a list, a dict or a tensor in its place, or do it outside the region",
        ),
    ),
    (
        "0219",
        Reason(
            "The graph was made, and the backend failed to compile it.",
            'try `backend="aot_eager"`: if that works, the backend is at fault',
        ),
    ),
    (
        "0223",
        Reason("`torch.compile` is called in a region with more than a function.", "compile outside of regions"),
    ),
    (
        "0296",
        Reason(
            "A function that only tells people something cannot be moved behind the graph.",
            "call it outside the region, or guard it with `if not torch.compiler.is_compiling()`",
        ),
    ),
)
_OTHERS = Reason(
    "Dynamo has no rule for what the code does here, or its rule does not hold for these arguments.",
    "write it in a simpler way, or do it outside the region",
)


def _numbers(ids: str) -> Iterator[int]:
    for one in ids.split():
        first, _, last = one.partition("-")
        yield from range(int(first), int(last or first) + 1)


_BY_ID = {f"GB{number:04}": reason for ids, reason in _FAMILIES for number in _numbers(ids)}


def family_of(identifier: str) -> Reason:
    """What a reason of torch's means, by its family."""
    return _BY_ID.get(identifier, _OTHERS)
