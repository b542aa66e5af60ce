"""The picture of a plan as inline SVG: a box for each operator, a frame around what ran as one generated loop.

Looks are classes of `web/sql/sql.css`, so that the pages' policy can forbid inline styles; every text is escaped. Ids
begin with `plan-<execution>`, so that findings and other plans' operators can be linked to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Final

from markupsafe import Markup

from emberscope.report.plan_layout import ROW_GAP_PX, Layout, tidy
from emberscope.report.plan_tree import Code, Operator, Plan
from emberscope.report.plan_words import shortened, telling, width_px
from emberscope.report.visible import visible
from emberscope.units import format_bytes, format_count, format_ms, format_ratio

_NAME_PX, _SMALL_PX = 12.5, 11.0
_LINE_PX: Final = 16.0
_PAD_PX: Final = 9.0
_LEAST_PX: Final = 118.0
_FRAME_PX: Final = 8.0
_HEADER_PX: Final = 20.0
_MOST_CHARACTERS: Final = 36
_MOST_DETAIL: Final = 600
_HEAT: Final = (0.01, 0.05, 0.15, 0.3, 0.5)
# Thickness of the lines: rows that flow, in steps of ten thousand.
_FLOWS: Final = (1e4, 1e6, 1e8, 1e10)


@dataclass(frozen=True, slots=True)
class Links:
    """What a plan's words lead to. `task_ms` is the execution's task time, `samples` its samples, None where it was not
    recorded; `findings` the numbers of the findings about each node."""

    prefix: str
    task_ms: float = 0
    samples: int | None = None
    findings: Mapping[int, Sequence[int]] = field(default_factory=dict)
    stage: Callable[[int], str] = "#stage={}".format
    code: Callable[[int], str] = "".format


@dataclass(frozen=True, slots=True)
class _Words:
    """A piece of a line: its text, its class, where it leads."""

    text: str
    look: str = ""
    href: str = ""


@dataclass(frozen=True, slots=True)
class _Box:
    operator: Operator
    lines: tuple[tuple[_Words, ...], ...]
    header: tuple[_Words, ...]
    width: float
    height: float
    heat: int

    @property
    def top_px(self) -> float:
        """What of the height the header of the frame takes."""
        return _HEADER_PX if self.header else 0.0


def plan_svg(plan: Plan, links: Links, label: str) -> Markup:
    """The picture. `label` says in words what it is of."""
    headed: set[int] = set()
    shown = {operator.node_id for operator in plan.operators}
    boxes = []
    for operator in plan.operators:
        code = operator.code
        header = _header(plan.codes[code], links) if code is not None and code not in headed else ()
        if code is not None:
            headed.add(code)
        boxes.append(_box(operator, header, links, shown))
    boxes = _aligned(plan, boxes)
    layout = tidy([o.parent for o in plan.operators], [b.width for b in boxes], [b.height for b in boxes])
    drawing = _Drawing(plan, boxes, layout, links)
    # Frames reach beyond their boxes, and their border beyond them.
    edge = int(_FRAME_PX) + 2
    width, height = ceil(layout.width) + 2 * edge, ceil(layout.height) + 2 * edge
    head = Markup(
        '<svg class="plan-picture" width="{w}" height="{h}" viewBox="{o} {o} {w} {h}" role="group" '
        'aria-label="{label}">'
    ).format(w=width, h=height, o=-edge, label=visible(label))
    return head + Markup("\n").join(drawing.parts()) + Markup("</svg>")


def _aligned(plan: Plan, boxes: Sequence[_Box]) -> list[_Box]:
    """Boxes straight below one another in one frame made equally wide, so that the frame is a rectangle."""
    first_child: dict[int, int] = {}
    for place, operator in enumerate(plan.operators):
        if operator.parent is not None:
            first_child.setdefault(operator.parent, place)
    chains: list[int] = []
    widths: dict[int, float] = {}
    for place, operator in enumerate(plan.operators):
        parent = operator.parent
        joins = parent is not None and first_child[parent] == place and operator.code is not None
        chain = (
            chains[parent] if joins and parent is not None and plan.operators[parent].code == operator.code else place
        )
        chains.append(chain)
        widths[chain] = max(widths.get(chain, 0), boxes[place].width)
    return [replace(box, width=widths[chain]) for box, chain in zip(boxes, chains, strict=True)]


def heat_of(share: float) -> int:
    """The step of shade for a share, 0 to 5."""
    return sum(share >= step for step in _HEAT)


def _header(code: Code, links: Links) -> tuple[_Words, ...]:
    words = [_Words(f"WholeStageCodegen ({code.number})", "code-name")]
    if code.time_ms is not None:
        words.append(_Words(format_ms(code.time_ms)))
    if code.samples and links.samples:
        words.append(_Words(f"CPU {format_ratio(code.samples / links.samples)}", "", links.code(code.number)))
    words.extend(_Words(f"stage {stage}", "", links.stage(stage)) for stage in code.stages[:2])
    return tuple(words)


def _box(operator: Operator, header: tuple[_Words, ...], links: Links, shown: Set[int]) -> _Box:
    name = operator.name.removeprefix("Execute ")
    lines: list[tuple[_Words, ...]] = [(_Words(shortened(name, _MOST_CHARACTERS - 4), "name"),)]
    detail = shortened(telling(operator.name, operator.detail), _MOST_CHARACTERS)
    if detail:
        lines.append((_Words(detail, "detail"),))
    lines.extend(_figure_lines(operator))
    last = [
        _Words(f"finding {number}", "bad", f"#finding-{number}") for number in links.findings.get(operator.node_id, ())
    ]
    if operator.code is None:
        last += [_Words(f"stage {stage}", "", links.stage(stage)) for stage in operator.stages[:3]]
        if len(operator.stages) > 3:
            last.append(_Words(f"and {len(operator.stages) - 3} more"))
    if operator.same_as in shown:
        lines.append((_Words("see where it is drawn", "", f"#{links.prefix}-{operator.same_as}"),))
    elif operator.same_as is not None:
        lines.append((_Words("used again; not drawn"),))
    if last:
        lines.append(tuple(last))
    if operator.left_out:
        lines.append((_Words(f"{format_count(operator.left_out)} operators below not shown", "bad"),))
    width = max([_LEAST_PX, *(_width(line) for line in lines), _width(header) if header else 0]) + 2 * _PAD_PX
    height = len(lines) * _LINE_PX + 2 * _PAD_PX - 3 + (_HEADER_PX if header else 0)
    counted = operator.figures
    share = (counted.time_ms or 0) / links.task_ms if links.task_ms > 0 and counted.in_tasks else 0
    return _Box(operator, tuple(lines), header, round(width), round(height), heat_of(share))


def _figure_lines(operator: Operator) -> list[tuple[_Words, ...]]:
    counted = operator.figures
    words = counted.words()
    if counted.partitions and operator.name.endswith(("ShuffleRead", "ShuffleReader")):
        words.insert(0, f"{format_count(counted.partitions)} partition{'' if counted.partitions == 1 else 's'}")
    lines: list[tuple[_Words, ...]] = []
    line = ""
    for word in words:
        if line and len(line) + len(word) + 3 > _MOST_CHARACTERS:
            lines.append((_Words(line, "figures"),))
            line = ""
        line = f"{line} · {word}" if line else word
    if line:
        lines.append((_Words(line, "figures"),))
    if counted.spilled_bytes:
        lines.append((_Words(f"spilled {format_bytes(counted.spilled_bytes)} of memory", "bad"),))
    return lines


def _width(line: Sequence[_Words]) -> float:
    widths = [
        width_px(words.text, _SMALL_PX, fixed=True)
        if words.look == "detail"
        else width_px(words.text, _NAME_PX if words.look == "name" else _SMALL_PX)
        * (1.13 if words.look == "name" else 1)
        for words in line
    ]
    return sum(widths) + 14 * (len(line) - 1)


class _Drawing:
    """The parts of a picture in the order in which they are drawn: frames, lines, boxes."""

    def __init__(self, plan: Plan, boxes: Sequence[_Box], layout: Layout, links: Links) -> None:
        self._plan, self._boxes, self._layout, self._links = plan, boxes, layout, links
        self._places = {operator.node_id: place for place, operator in enumerate(plan.operators)}

    def parts(self) -> list[Markup]:
        members: list[list[int]] = [[] for _ in self._plan.codes]
        for place, operator in enumerate(self._plan.operators):
            if operator.code is not None:
                members[operator.code].append(place)
        frames = [self._frame(code, places) for code, places in zip(self._plan.codes, members, strict=True) if places]
        return [*frames, *self._lines(), *self._reuses(), *map(self._drawn, range(len(self._boxes)))]

    def _frame(self, code: Code, places: Sequence[int]) -> Markup:
        """Around all members and the lines between them: drawn twice, so that the first looks out as a border."""
        rects, ways = [], []
        for place in places:
            box, x, y = self._boxes[place], self._layout.left[place], self._layout.top[place]
            parent, lower = box.operator.parent, y + box.height
            if parent is not None and self._boxes[parent].operator.code == box.operator.code:
                if self._is_straight(place):
                    y = self._layout.top[parent] + self._boxes[parent].height
                else:
                    ways.append(self._way(place))
            x, y, w, h = x - _FRAME_PX, y - _FRAME_PX, box.width + 2 * _FRAME_PX, lower - y + 2 * _FRAME_PX
            rects.append(f"M{x:.0f} {y:.0f}h{w:.0f}v{h:.0f}h{-w:.0f}z")
        share = (code.samples or 0) / self._links.samples if self._links.samples else 0
        return Markup(
            '<g class="plan-code heat-{heat}" id="{prefix}-code-{id}"><title>{title}</title>'
            '<path class="rim" d="{rects}"/><path class="rim way" d="{ways}"/><path class="ground" d="{rects}"/>'
            '<path class="ground way" d="{ways}"/></g>'
        ).format(
            heat=heat_of(share),
            prefix=self._links.prefix,
            id=code.node_id,
            title=f"Ran as one generated loop, WholeStageCodegen ({code.number})",
            rects="".join(rects),
            ways="".join(ways) or "M0 0",
        )

    def _is_straight(self, place: int) -> bool:
        parent = self._boxes[place].operator.parent
        return parent is not None and abs(self._centre(place) - self._centre(parent)) < 0.5

    def _centre(self, place: int) -> float:
        return self._layout.left[place] + self._boxes[place].width / 2

    def _way(self, place: int) -> str:
        """From an operator up to the one that consumes it; the bend lies half way between the rows."""
        box = self._boxes[place]
        parent = box.operator.parent
        assert parent is not None
        # A line into a frame ends at its border, so that it does not cross the words there.
        x, y, to = self._centre(place), self._layout.top[place] - (_FRAME_PX if box.header else 0), self._centre(parent)
        end = self._layout.top[parent] + self._boxes[parent].height
        if self._is_straight(place):
            return f"M{x:.1f} {y:.1f}V{end:.1f}"
        return f"M{x:.1f} {y:.1f}V{self._layout.top[place] - ROW_GAP_PX / 2:.1f}H{to:.1f}V{end:.1f}"

    def _lines(self) -> list[Markup]:
        return [
            Markup('<path class="plan-line flow-{}" d="{}"/>').format(
                sum((box.operator.figures.rows or 0) >= step for step in _FLOWS), self._way(place)
            )
            for place, box in enumerate(self._boxes)
            if box.operator.parent is not None
        ]

    def _reuses(self) -> list[Markup]:
        """Dashed lines from what is used again to where it stands."""
        found = []
        for place, box in enumerate(self._boxes):
            target = self._places.get(box.operator.same_as) if box.operator.same_as is not None else None
            if target is None:
                continue
            right = self._centre(target) > self._centre(place)
            x = self._layout.left[place] + (box.width if right else 0)
            to = self._layout.left[target] + (0 if right else self._boxes[target].width)
            y = self._layout.top[place] + box.top_px + 12
            end = self._layout.top[target] + self._boxes[target].top_px + 12
            middle = (x + to) / 2
            found.append(
                Markup(
                    '<path class="plan-reuse" d="M{:.0f} {:.0f}C{:.0f} {:.0f} {:.0f} {:.0f} {:.0f} {:.0f}"/>'
                ).format(x, y, middle, y, middle, end, to, end)
            )
        return found

    def _drawn(self, place: int) -> Markup:
        box, x, y = self._boxes[place], self._layout.left[place], self._layout.top[place]
        operator, top = box.operator, self._layout.top[place] + box.top_px
        lines = [
            _line(words, x + _PAD_PX, top + _PAD_PX + 9 + number * _LINE_PX) for number, words in enumerate(box.lines)
        ]
        header = _line(box.header, x + 1, y + 9, "plan-code-head") if box.header else Markup()
        return header + Markup(
            '<g class="plan-box heat-{heat}{again}" id="{prefix}-{id}"><title>{title}</title>'
            '<rect x="{x:.1f}" y="{y:.1f}" width="{w:.0f}" height="{h:.0f}" rx="4"/>{lines}</g>'
        ).format(
            heat=box.heat,
            again=" again" if operator.same_as is not None else "",
            prefix=self._links.prefix,
            id=operator.node_id,
            title=title_of(operator),
            x=x,
            y=top,
            w=box.width,
            h=box.height - box.top_px,
            lines=Markup().join(lines),
        )


def title_of(operator: Operator) -> str:
    """The operator with its arguments and all that it counted, a line each."""
    counted = [f"{visible(metric.name)}: {metric.words}" for metric in operator.metrics]
    return "\n".join([shortened(operator.detail or operator.name, _MOST_DETAIL), *counted])


def _line(words: Sequence[_Words], x: float, y: float, look: str = "") -> Markup:
    pieces = []
    for number, piece in enumerate(words):
        text = Markup('<tspan class="{}" dx="{}">{}</tspan>').format(
            piece.look, 10 if number else 0, visible(piece.text)
        )
        pieces.append(Markup('<a href="{}">{}</a>').format(piece.href, text) if piece.href else text)
    start = (
        Markup('<text x="{:.1f}" y="{:.1f}" class="{}">').format(x, y, look)
        if look
        else Markup('<text x="{:.1f}" y="{:.1f}">').format(x, y)
    )
    return start + Markup().join(pieces) + Markup("</text>")
