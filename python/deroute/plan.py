"""What is known before anything runs: that everything is possible, and what it will cost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from deroute import advice, cost, figures, reference, rules, warmup
from deroute.analysis import SEED
from deroute.api import Footprint
from deroute.errors import DocumentPath, InputError, Problem, SpecError
from deroute.experiment import Experiment, Point
from deroute.figures import FigureError, FigureTable
from deroute.files import read_document
from deroute.machine import cores
from deroute.reader import Label
from deroute.spec import canonical, in_order
from deroute.telling import Told, nobody

#: Problems shown at once.
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Checked:
    """An experiment in which everything is possible."""

    experiment: Experiment
    #: Points that differ in their spec.
    points: Sequence[Point]
    #: Further points, with which these are compared.
    references: Sequence[Point]
    #: The largest of them; it says what all of them leave to the engine.
    footprint: Footprint
    #: What is possible and yet doubtful.
    warnings: Sequence[Problem]
    #: Relative cost of each point, by its key.
    weights: Mapping[str, float]

    @property
    def runs(self) -> list[Point]:
        """All that is to be simulated."""
        return [*self.points, *self.references]

    def part(self, points: Sequence[Point]) -> Checked:
        """The same with some of its points."""
        kept = {point.key for point in points}
        return replace(
            self,
            points=[point for point in self.points if point.key in kept],
            references=[point for point in self.references if point.key in kept],
        )


def check_file(file: Path, told: Told = nobody) -> Checked:
    """Check an experiment file. Raises `InputError` with all that is wrong.

    `told(done, of)` hears how many specs have been checked.
    """
    document, text = read_document(file)
    draft = Experiment.draft(document, path=file, text=text)
    if not draft.skips_read:
        others = _figures(draft.experiment)[1] if draft.axes_read else []
        raise InputError(_at_most([*draft.problems, *others]))
    return check_experiment(draft.experiment, draft.problems, told)


def check_experiment(
    experiment: Experiment,
    known: Sequence[Problem] = (),
    told: Told = nobody,
) -> Checked:
    """Check every spec and every figure. Raises `InputError` with all that is wrong, and with what
    is already known to be. `told` as in `check_file`.
    """
    problems = list(known)
    if not experiment.points:
        raise InputError(_at_most([*problems, experiment.problem(("skip",), "skips every point")]))
    tables, wrong_figures = _figures(experiment)
    problems += wrong_figures
    problems += [*rules.figure_problems(experiment, tables), *rules.seed_problems(experiment)]
    points = list({point.key: point for point in _canonical_points(experiment)}.values())
    distinct, results = list(_distinct(points)), []
    with ThreadPoolExecutor(cores()) as pool:
        for result in pool.map(_check, distinct):
            results.append(result)
            told(len(results), len(distinct))
    wrong = {key: result for key, result in results if isinstance(result, SpecError)}
    problems += _spec_problems(experiment, points, wrong)
    others = [] if wrong else reference.distinct(reference.references(experiment, points))
    if not wrong:
        problems += _reference_problems(experiment, others)
        problems += rules.base_problems(experiment)
        problems += rules.group_problems(experiment, tables)
    if problems:
        raise InputError(_at_most(problems))
    known_prints = {key: each for key, each in results if isinstance(each, Footprint)}
    prints = list(known_prints.values())
    worst = [each.worst_bytes for each in prints]
    largest = Footprint(
        max(each.fixed_bytes for each in prints),
        max(each.flowing_bytes for each in prints),
        max(each.saturated_bytes for each in prints),
        None if None in worst else max(each for each in worst if each is not None),
        max(each.message_phits for each in prints),
        max(each.flows for each in prints),
        max(each.packet_phits for each in prints),
        max(each.file_bytes for each in prints),
        filled=tuple(dict.fromkeys(entry for each in prints for entry in each.filled)),
    )
    of_points = [(point, known_prints[_without_seed(point)]) for point in points]
    ramps = [(point, footprint.ramp) for point, footprint in of_points]
    sizes = [(point, footprint.packet_phits) for point, footprint in of_points]
    throttles = [(point, footprint.throttles) for point, footprint in of_points]
    warnings = [
        *warmup.short_warmups(experiment, ramps),
        *advice.idle_speed_ups(experiment, sizes),
        *advice.hasty_flags(experiment, sizes),
        *advice.hasty_hosts(experiment, points),
        *advice.small_buffers(experiment, throttles),
    ]
    weights = {point.key: cost.weight(point, footprint) for point, footprint in of_points}
    weights |= {each.key: cost.weight(each, Footprint.of(each.canonical)) for each in others}
    return Checked(experiment, points, others, largest, warnings, weights)


def _at_most(problems: Sequence[Problem]) -> list[Problem]:
    shown = list(problems[:_SHOWN])
    if len(problems) > _SHOWN:
        shown.append(Problem(f"and {len(problems) - _SHOWN} more"))
    return shown


def _figures(experiment: Experiment) -> tuple[dict[int, FigureTable], list[Problem]]:
    """Figures that can be read, by their place in the file, and what is wrong with the others."""
    tables: dict[int, FigureTable] = {}
    problems = []
    names: list[str] = []
    for index, table in enumerate(experiment.figures):
        try:
            (tables[index],) = figures.read_figures([table], experiment.axes)
        except FigureError as error:
            # Its path is `figure 'name'.key`, or `figure[0].key` while the name is unknown.
            known = f"figure {table.get('name')!r}"
            below = error.path.removeprefix("figure[0]").removeprefix(known)
            steps: DocumentPath = ("figure", index, *(key for key in below.split(".") if key))
            problems.append(experiment.problem(steps, error.message, error.choices))
            continue
        name = tables[index].name
        if name in names:
            message = f"{name!r} is used twice"
            problems.append(experiment.problem(("figure", index, "name"), message))
        names.append(name)
    return tables, problems


def _canonical_points(experiment: Experiment) -> Iterable[Point]:
    for point in experiment.points:
        try:
            _ = point.canonical
        except SpecError as error:
            raise InputError([_spec_problem(experiment, point, error)]) from error
        yield point


def _without_seed(point: Point) -> str:
    spec = dict(point.spec)
    run = spec.get("run")
    if isinstance(run, Mapping) and isinstance(run.get("seed"), int):
        spec["run"] = {key: value for key, value in run.items() if key != "seed"}
    return canonical(spec)


def _distinct(points: Sequence[Point]) -> list[tuple[str, str]]:
    """One spec, as JSON, for each group of points that differ only in their seed."""
    return list({_without_seed(point): in_order(point.spec) for point in points}.items())


def _check(item: tuple[str, str]) -> tuple[str, Footprint | SpecError]:
    group, spec = item
    try:
        footprint = Footprint.of(spec)
        rules.check_changes(json.loads(spec))
        return group, footprint
    except SpecError as error:
        return group, error


def _spec_problems(
    experiment: Experiment, points: Sequence[Point], wrong: Mapping[str, SpecError]
) -> list[Problem]:
    """One problem for each mistake, however many points have it."""
    found: dict[tuple[DocumentPath, str], list[Point]] = {}
    errors: dict[tuple[DocumentPath, str], SpecError] = {}
    for point in points if wrong else ():
        error = wrong.get(_without_seed(point))
        if error is not None:
            place = (_place(experiment, point, error), rules.kind(error))
            found.setdefault(place, []).append(point)
            errors.setdefault(place, error)
    problems = {
        place: _spec_problem(
            experiment, hit[0], errors[place], f"in {len(hit)} of {len(points)} points"
        )
        for place, hit in found.items()
    }
    for place, hit in found.items():
        for point in _every_label(hit):
            if len(problems) > _SHOWN:
                break
            for error in rules.further_mistakes(point.spec, errors[place]):
                other = (_place(experiment, point, error), rules.kind(error))
                problems.setdefault(other, _spec_problem(experiment, point, error))
    return list(problems.values())


def _reference_problems(experiment: Experiment, points: Sequence[Point]) -> list[Problem]:
    """What keeps references from running, each mistake once."""
    problems = {}
    for _, spec in _distinct(points):
        result = _check(("", spec))[1]
        if isinstance(result, SpecError):
            message = f"the reference of a point is impossible: {result.path}: {result.message}"
            problems[message] = experiment.problem(("reference",), message, result.choices)
    return list(problems.values())


def _every_label(points: Sequence[Point]) -> Iterator[Point]:
    """Points that have every label of all of them, but not every combination."""
    seen: set[tuple[str, Label]] = set()
    for point in points:
        labels = {label for label in point.labels.items() if label[0] != SEED}
        if not labels <= seen or not seen:
            seen |= labels
            yield point


def _place(experiment: Experiment, point: Point, error: SpecError) -> DocumentPath:
    """Where in the file a mistake of a point stands."""
    place = experiment.origin(point.labels, error.path)
    if error.message.startswith("unknown field"):
        return experiment.setter(point.labels, error.path) or place
    # Of the names where one is wanted, that which the last axis adds.
    names = reversed(rules.alternatives(point.spec, error))
    setters = (experiment.setter(point.labels, f"{error.path}.{name}") for name in names)
    return next((setter for setter in setters if setter is not None), place)


def _spec_problem(
    experiment: Experiment, point: Point, error: SpecError, note: str = ""
) -> Problem:
    seen = f"{note}, first {point}" if note else f"seen in {point}"
    note = seen if point.labels else ""
    place = _place(experiment, point, error)
    if place[0] != "base" and error.path:
        note = f"sets {error.path}; {note}"
    return experiment.problem(place, error.message, error.choices, note)
