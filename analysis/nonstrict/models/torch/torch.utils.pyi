"""What `torch.utils` does: the documentation of torch 2.13."""

from torch import to_dlpack

from nonstrict.models import does
from nonstrict.models.terms import submodule

@submodule
class cpp_extension:
    @does.native("builds and loads native code")
    def load(name, sources): ...
    load_inline = load

@submodule
class tensorboard:
    class SummaryWriter:
        @does.io("writes a TensorBoard event")
        def add_scalar(self, tag, scalar_value): ...
        add_audio = add_embedding = add_figure = add_graph = add_histogram = add_histogram_raw = add_scalar
        add_hparams = add_image = add_image_with_boxes = add_images = add_mesh = add_pr_curve = add_scalars = add_scalar
        add_tensor = add_text = add_video = close = flush = add_scalar

tensorboard.writer.SummaryWriter = tensorboard.SummaryWriter
dlpack.to_dlpack = to_dlpack
