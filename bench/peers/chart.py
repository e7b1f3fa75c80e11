"""Charts as SVG: dots on a logarithmic scale, which shows ratios; in the colors of the site, in its two schemes."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from html import escape
from pathlib import Path

COLORS = Path(__file__).parents[2] / "site" / "assets" / "colors.css"
SCHEMES = {"light": "default", "dark": "slate"}
#: The colors of the site that a chart uses.
NAMES = ("card", "line", "text", "quiet", "link")
WIDTH = 520
_LEFT, _RIGHT, _TOP, _EDGE = 128, 62, 30, 16
_ROW, _TITLE, _AXIS = 24, 30, 26
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"


@dataclass(frozen=True)
class Panel:
    """A part of a chart: its title, the unit, and the figures by tool."""

    title: str
    unit: str
    figures: dict[str, float]


def colors(css: str, scheme: str) -> dict[str, str]:
    """The colors of a scheme, as the style sheet of the site declares them."""
    for selector, block in re.findall(r'\[data-md-color-scheme="(\w+)"\] \{([^}]*)\}', css):
        found = dict(re.findall(r"--(\w+): (#\w+);", block))
        if selector == scheme and set(NAMES) <= set(found):
            return {name: found[name] for name in NAMES}
    raise ValueError(f"the site has no colors for {scheme}")


def style(css: str) -> str:
    """The style of a chart: light, and dark where that is preferred."""
    rules = {
        scheme: f".card{{fill:{c['card']};stroke:{c['line']}}}.line{{stroke:{c['line']}}}.text{{fill:{c['text']}}}"
        f".quiet{{fill:{c['quiet']}}}.own{{fill:{c['link']}}}"
        for scheme, c in ((name, colors(css, named)) for name, named in SCHEMES.items())
    }
    fonts = f"text{{font:13px {_FONT}}}.title{{font-weight:600}}.head{{font-size:15px;font-weight:650}}"
    return f"{fonts}{rules['light']}@media (prefers-color-scheme: dark){{{rules['dark']}}}"


def told(value: float) -> str:
    """A figure in three significant digits, without exponents."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}" if value > 0 else "0"


def scale(figures: list[float]) -> tuple[int, int]:
    """The powers of ten between which all figures are, of which there are at least two."""
    least, most = math.floor(math.log10(min(figures))), math.ceil(math.log10(max(figures)))
    return least, max(most, least + 1)


def _x(value: float, bounds: tuple[int, int]) -> float:
    least, most = bounds
    share = (math.log10(value) - least) / (most - least)
    return _LEFT + share * (WIDTH - _LEFT - _RIGHT)


def _panel(panel: Panel, top: float) -> tuple[list[str], float]:
    """The elements of a panel, and where it ends."""
    figures = {name: value for name, value in panel.figures.items() if value > 0}
    bounds = scale(list(figures.values()))
    first = top + _TITLE
    end = first + _ROW * len(figures)
    parts = [f'<text class="text title" x="{_EDGE}" y="{top + 14:g}">{escape(panel.title)}</text>']
    for power in range(bounds[0], bounds[1] + 1):
        x = _x(10.0**power, bounds)
        parts.append(f'<line class="line" x1="{x:.1f}" x2="{x:.1f}" y1="{first - 6:g}" y2="{end:g}"/>')
        label = f"{told(10.0**power) if power >= 2 else f'{10.0**power:g}'} {panel.unit}"
        parts.append(f'<text class="quiet" x="{x:.1f}" y="{end + 16:g}" text-anchor="middle">{label}</text>')
    for number, (name, value) in enumerate(sorted(figures.items(), key=lambda item: item[1])):
        parts += _row(name, value, first + _ROW * number + _ROW / 2, _x(value, bounds))
    return parts, end + _AXIS


def _row(name: str, value: float, y: float, x: float) -> list[str]:
    own = name == "nonstrict"
    named = "text title" if own else "text"
    return [
        f'<text class="{named}" x="{_LEFT - 12}" y="{y + 4:g}" text-anchor="end">{escape(name)}</text>',
        f'<circle class="{"own" if own else "quiet"}" cx="{x:.1f}" cy="{y:g}" r="{6 if own else 5}"/>',
        f'<text class="{named}" x="{x + 11:.1f}" y="{y + 4:g}">{told(value)}</text>',
    ]


def drawn(title: str, panels: list[Panel], css: str) -> str:
    """A chart of panels below one another; each has a scale of its own."""
    parts: list[str] = []
    top = float(_EDGE + _TOP)
    for panel in panels:
        elements, top = _panel(panel, top)
        parts += elements
        top += 14
    height = round(top)
    told_all = "; ".join(
        f"{panel.title}: " + ", ".join(f"{name} {told(value)} {panel.unit}" for name, value in panel.figures.items())
        for panel in panels
    )
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title description">',
        f'<title id="title">{escape(title)}</title>',
        f'<desc id="description">{escape(told_all)}</desc>',
        f"<style>{style(css)}</style>",
        f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="6"/>',
        f'<text class="text head" x="{_EDGE}" y="{_EDGE + 12}">{escape(title)}</text>',
    ]
    return "\n".join([*head, *parts, "</svg>"]) + "\n"
