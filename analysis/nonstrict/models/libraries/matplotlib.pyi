"""What `matplotlib` does: its API reference."""

from nonstrict.models import does
from nonstrict.models.terms import submodule

@submodule
class pyplot:
    @does.io("draws or saves a figure")
    def bar(*args): ...
    close = draw = figure = hist = imsave = imshow = legend = pause = plot = savefig = scatter = show = bar
    subplots = title = xlabel = ylabel = bar
