"""The experiments of one program: picks drivers, runs the arms, judges, and tries again where a run was blind.

Each stage publishes what it can tell: a trace with fake tensors first, then aot_eager, then Inductor.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from nonstrict.confirm import cuda_graphs, staleness
from nonstrict.confirm.arms import FAKE, ArmRunner, Limits, Runner
from nonstrict.confirm.attribution import fits
from nonstrict.confirm.belonging import by_own, foreign_calls, own_regions, region_of, without_failing
from nonstrict.confirm.callers import callers_of
from nonstrict.confirm.drivers import DIRECT, GIVEN
from nonstrict.confirm.groups import Groups
from nonstrict.confirm.input_sources import found_drivers, given_drivers, home_of, says_nothing, search_job
from nonstrict.confirm.judging import VARIED, Judgement, foretold, judge, refusals, unexplained
from nonstrict.confirm.measuring import explained, measured, united
from nonstrict.confirm.naming import named_by_text
from nonstrict.confirm.neutralising import neutral
from nonstrict.confirm.obstacles import obstacles
from nonstrict.confirm.opchecking import by_schema, called_on, is_asked, schema_job, seconded
from nonstrict.confirm.other_arguments import differing_calls
from nonstrict.confirm.owners import change_of
from nonstrict.confirm.programs import (
    EAGER,
    INDUCTOR,
    MAX_CALLS,
    Change,
    Program,
    Schedule,
    drivers_for,
    tests_for,
)
from nonstrict.confirm.project import Project
from nonstrict.confirm.scheduling import calls_for, in_region, in_turn, is_idle, is_trial, loadable, varying
from nonstrict.confirm.sensitivity import reached
from nonstrict.confirm.setting import inputs_of
from nonstrict.confirm.told import Told, Unexplained, says_more
from nonstrict.confirm.traces import Arms, returns
from nonstrict.confirm.uncalled import unanswered, without_calls
from nonstrict.confirm.unplaced import held
from nonstrict.findings import Status
from nonstrict.rules.base import COMPILED, CUSTOM_OPERATORS
from nonstrict.rules.expectation import Experiment, Trait

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nonstrict.confirm.drivers import Driver
    from nonstrict.confirm.neutralising import Neutral
    from nonstrict.confirm.suspects import Suspect
    from nonstrict.findings import Measured

#: Calls made where the program makes fewer.
_REPEATS = 3
#: Changes tried in one run: each may cost a compilation, and Dynamo gives up after eight of one function.
_MOST_CHANGES = 6
_MAX_DRIVERS = 4
#: Reasons for which found arguments may tell more, and those for which another driver of the program may.
_SEARCHED = frozenset({"inputs", "load", "needs", "line-not-reached", "eager-raises"})
_OPEN = _SEARCHED | {"not-compiled"}
#: Reasons that say, or may say, that other findings are in the way: how many programs without those are tried.
_DISTURBED = {"blocked": 6, "shared": 6, "insensitive": 2}
#: Reasons for which what other regions do may be in the way, and markers of functions that cannot be compiled alone.
_ELSEWHERE = frozenset({"blocked", "shared", "insensitive", "differs-before", "eager-nondeterministic"})
_NOT_ALONE = COMPILED | CUSTOM_OPERATORS | {"make-fx"}
#: Statements that are left out of one driver because they end it.
_MOST_LEFT_OUT = 3


class Session:
    """The experiments of one program."""

    def __init__(
        self,
        runner: Runner,
        limits: Limits,
        program: Program,
        on_told: Callable[[int, Told], None] | None = None,
        project: Project | None = None,
        *,
        like: Schedule | None = None,
    ) -> None:
        """Remember the program, where jobs go, what they may take, and who hears of each judgement as it sharpens.

        With a `project`, its other files are searched for callers where the program's own file has none. What stands in
        the way of a finding is taken out of the program, unless it is one of which that is done already: then it is
        `like` what a schedule ran.
        """
        self._arms = ArmRunner(runner, limits)
        self._groups = Groups(self.eager)
        self._project = project
        self._program = program
        self._on_told = on_told
        self._like = like
        self._told: dict[int, Told] = {}
        self.unexplained: Unexplained | None = None
        #: What torch made of the regions of the program, as the program compiles them.
        self.measured: list[Measured] = []

    @property
    def files(self) -> set[str]:
        """The user's files that experiments loaded."""
        return self._arms.files

    def eager(self, schedule: Schedule, without: Neutral | None = None) -> dict[str, Any]:
        """The eager trace of a schedule, which may be one of a changed program."""
        return self._arms.trace(self._program if without is None else without.program, schedule, EAGER)

    def shows(self, name: str, text: str) -> bool:
        """Whether a script, run as it stands, shows that compiled code does otherwise than eager code."""
        job = {"kind": "script", "name": name, "text": text, "root": self._program.root}
        answer = self._arms.hand_in(job).result().value
        return answer is not None and bool(answer["shown"])

    def confirm(self, suspects: Sequence[Suspect]) -> dict[int, Told]:
        """The judgements of the suspects of the program, by their numbers."""
        suspects = [named_by_text(self._program, suspect) for suspect in suspects]
        self._told = {suspect.number: Told(unanswered("inputs")) for suspect in suspects}
        suspects = self._runnable(suspects)
        drivers = {suspect.number: self._drivers(suspect) for suspect in suspects}
        for rank in range(max(map(len, drivers.values()), default=0)):
            for driver in self._wanted(drivers, rank):
                self._run(driver, suspects)
        found = self._like is not None and self._like.driver.kind in DIRECT
        # Where others were taken out, it is for the first of what is left.
        asked = suspects if self._like is None else suspects[:1]
        for suspect in asked:
            if self._project is not None and self._open(suspect.number) and not found:
                self._call_from_elsewhere(suspect, suspects, self._project)
        for suspect in asked:
            if self._is_searched(suspect) and (self._like is None or found):
                self._search(suspect, suspects)
            if self._open(suspect.number) or self._is_searched(suspect):
                self._ask_schema(suspect)
        for suspect in suspects if self._like is None else ():
            if self._is_disturbed(suspect):
                self._leave_alone(suspect, suspects)
            self._hold(suspect, suspects)
        if self._arms.tampered:
            self._take_back(suspects)
        return self._told

    def _runnable(self, suspects: Sequence[Suspect]) -> list[Suspect]:
        """The findings of which a run on the device can tell; of the others it is said that none can."""
        left, beyond = cuda_graphs.divided(suspects, device := self._arms.limits.device)
        for suspect in beyond:
            self._tell(suspect.number, Told(unanswered("needs-cuda", cuda_graphs.NEEDS_GPU), device=device))
        return left

    def _hold(self, suspect: Suspect, suspects: Sequence[Suspect]) -> None:
        """Let go of a verdict that rests on an error which comes without the finding too, unless others bring that."""
        for _ in range(2):
            told = self._told[suspect.number]
            if (own := held(told, suspect, self._program, self._arms)) is told:
                return
            self._tell(suspect.number, own)
            if told.without is None:
                self._leave_alone(suspect, suspects)

    def _take_back(self, suspects: Sequence[Suspect]) -> None:
        """Believe nothing of a program that wrote where results are written, at whichever arm it was found out."""
        self.unexplained, self.measured = None, []
        for suspect in suspects:
            self._tell(suspect.number, Told(unanswered("tampered")))

    def _is_disturbed(self, suspect: Suspect) -> bool:
        """Whether other findings are in the way of one, or had the same evidence, which stands at none of them."""
        own = self._told[suspect.number]
        return own.judgement.reason in _DISTURBED or (own.judgement.shared and own.without is None)

    def _leave_alone(self, suspect: Suspect, suspects: Sequence[Suspect]) -> None:
        """Judge a finding where the others of its function do not stand in its way."""
        most = _DISTURBED.get(self._told[suspect.number].judgement.reason, max(_DISTURBED.values()))
        like = self._told[suspect.number].schedule
        if like is None:
            return
        control = self._arms.trace(self._program, like, EAGER, lines=True)
        programs = neutral(self._program, suspect, self._present(like, suspect, suspects), control.get("within"))
        for left in itertools.islice(programs, most):
            project = self._project
            if project is not None and left.program.overlays != self._program.overlays:
                project = Project(project.root, left.program.overlays)
            alone = Session(self._arms.runner, self._arms.limits, left.program, project=project, like=like)
            told = alone.confirm((left.suspect, *left.others))[suspect.number]
            self._arms.take_over(alone._arms)
            if told.judgement.status is Status.INCONCLUSIVE or told.schedule is None:
                continue
            if left.shows_only and told.judgement.status is not Status.CONFIRMED:
                continue
            eager = alone.eager(told.schedule)
            if all(fits(left.suspect, divergence, eager) for _, divergence in told.judgement.proofs):
                self._tell(suspect.number, told._replace(without=left))
                return
        if self._told[suspect.number].judgement.status is Status.CONFIRMED:
            self._tell(suspect.number, Told(unanswered("shared"), schedule=self._told[suspect.number].schedule))

    def _present(self, like: Schedule, suspect: Suspect, suspects: Sequence[Suspect]) -> list[Suspect]:
        """The findings that a run comes to, with what else torch refuses on the way."""
        control = self._arms.trace(self._program, like, EAGER, lines=True)
        present = [one for one in suspects if one.number == suspect.number or reached(one, control)]
        traces = [self._arms.trace(self._program, like, name) for name in (FAKE, *self._arms.limits.backends)]
        own = self._own_regions(like, suspect)
        return [*present, *obstacles(self.eager(like), traces, suspect, suspects, own)]

    def _tell(self, number: int, told: Told) -> None:
        self._told[number] = told
        if self._on_told is not None:
            self._on_told(number, told)

    def _drivers(self, suspect: Suspect) -> list[Driver]:
        program = self._program
        found = drivers_for(program, suspect)[:_MAX_DRIVERS]
        return [*given_drivers(program, suspect), *found, *tests_for(program, suspect)]

    def _wanted(self, drivers: Mapping[int, list[Driver]], rank: int) -> list[Driver]:
        """The drivers of a rank that some suspect without an answer still needs."""
        listed = (found[rank] for number, found in drivers.items() if rank < len(found) and self._open(number))
        return list(dict.fromkeys(listed))

    def _is_searched(self, suspect: Suspect) -> bool:
        told = self._told[suspect.number]
        by_test = told.schedule is not None and is_trial(told.schedule)
        return told.judgement.reason in _SEARCHED or (by_test and told.judgement.status is Status.INCONCLUSIVE)

    def _open(self, number: int) -> bool:
        return self._told[number].judgement.reason in _OPEN

    def _call_from_elsewhere(self, suspect: Suspect, suspects: Sequence[Suspect], project: Project) -> None:
        """Run callers in other files of the project, with the marked function compiled by itself.

        A region is compiled as they have it, and so are those that call an operator. What else these files compile has
        findings of its own, which are no suspects here.
        """
        if not suspect.function:
            return
        related = [other for other in suspects if other.function == suspect.function]
        unloadable: set[str] = set()
        wanted = None if self._like is None or self._like.program is None else self._like.program.path
        for caller in callers_of(self._program, suspect, project):
            if caller.program.path in unloadable or wanted not in {None, caller.program.path}:
                continue
            alone = "" if suspect.marker in COMPILED | CUSTOM_OPERATORS else suspect.function
            schedule = Schedule(caller.driver, alone=alone, program=caller.program)
            schedule = self._try(schedule, related)
            if not self._open(suspect.number):
                return
            if self.eager(schedule).get("failure"):
                unloadable.add(caller.program.path)

    def _search(self, suspect: Suspect, suspects: Sequence[Suspect]) -> None:
        """Search arguments for a marked function that nothing in its file calls, and run it with them."""
        home = home_of(self._program, suspect)
        job = search_job(home, suspect, self._arms.limits.device)
        answer = self._arms.hand_in(job).result().value if job is not None else None
        if answer is None:
            return
        for driver in found_drivers(home, suspect, answer):
            if home is self._program:
                self._run(driver, suspects)
            else:
                self._try(Schedule(driver, program=home), [suspect])
            if not self._is_searched(suspect):
                return
        reason, schedule = self._told[suspect.number].judgement.reason, self._told[suspect.number].schedule
        # That a driver came to nothing says less than why no arguments were found.
        missed = schedule is not None and says_nothing(schedule.driver, suspect, self.eager(schedule))
        if not answer.get("calls") and reason in {"inputs", "line-not-reached" if missed else ""}:
            stage = answer.get("stage")
            reason = stage if stage in {"load", "needs", "needs-cuda"} else "inputs"
            self._told[suspect.number] = Told(unanswered(reason, str(answer.get("failure", ""))))

    def _ask_schema(self, suspect: Suspect) -> None:
        """Judge a finding about a fake by the schema of its operator, which takes no arguments that anyone finds."""
        job = schema_job(self._program, suspect, self._arms.limits.device)
        answer = self._arms.hand_in(job).result() if job is not None else None
        told = by_schema(self._program, suspect, answer.value) if answer is not None and answer.value else None
        if told is not None and answer is not None and not answer.failure:
            self._tell(suspect.number, Told(told, answer.seconds, device=self._arms.limits.device))

    def _run(self, driver: Driver, suspects: Sequence[Suspect]) -> None:
        """Run a driver, judge everything that it reaches, and follow up on what it was blind for."""
        calls = calls_for(suspects)
        schedule = self._try(Schedule(driver, calls=calls), suspects)
        for _ in range(_MOST_LEFT_OUT):
            stop: Mapping[str, Any] = self.eager(schedule).get("stop") or {}
            left = [s for s in suspects if self._told[s.number].judgement.reason in _SEARCHED and not s.is_probe]
            if stop.get("kind") != "raised" or not left:
                return
            shorter = without_failing(self._program, schedule.driver, left, stop["error"])
            if shorter is None:
                return
            schedule = self._try(Schedule(shorter, calls=calls), suspects)

    def _try(self, schedule: Schedule, suspects: Sequence[Suspect]) -> Schedule:
        """The same for a schedule; returns the one that loads."""
        schedule = self._groups.given(loadable(self._arms, self._program, schedule))
        if self.eager(schedule)["calls"]:
            self._judge(schedule, suspects)
        else:
            self._tell_uncalled(schedule, suspects)
        for one in (schedule, *self._follow_own(schedule, suspects)):
            settled = self._change_in_turn(one, suspects)
            for suspect in suspects:
                told = self._told[suspect.number]
                if told.schedule == one and not suspect.is_probe and suspect.number not in settled:
                    self._follow_up(one, suspect, suspects)
        return schedule

    def _follow_own(self, schedule: Schedule, suspects: Sequence[Suspect]) -> list[Schedule]:
        """Judge findings in the regions that run their lines, where what other regions do is in the way.

        Returns the schedules, in which all other regions are left to eager code. Marked functions are compiled by
        themselves instead.
        """
        by_regions: dict[tuple[tuple[str, int], ...], list[Suspect]] = {}
        for suspect in suspects:
            disturbed = self._told[suspect.number].judgement.reason in _ELSEWHERE and not suspect.is_probe
            if disturbed and suspect.marker in _NOT_ALONE and not schedule.alone:
                by_regions.setdefault(self._own_regions(schedule, suspect), []).append(suspect)
        every = {region_of(call) for call in self.eager(schedule)["calls"]}
        followed = {regions: asked for regions, asked in by_regions.items() if regions and every - {*regions}}
        for regions, asked in followed.items():
            self._judge(schedule._replace(follow=regions), suspects, only=asked)
        return [schedule._replace(follow=regions) for regions in followed]

    def _own_regions(self, schedule: Schedule, suspect: Suspect) -> tuple[tuple[str, int], ...]:
        places = suspect.places
        if is_asked(suspect):
            places |= called_on(suspect, self._arms.trace(self._program, schedule._replace(opcheck=True), EAGER))
        return own_regions(self._arms.trace(self._program, schedule, EAGER, lines=True), places)

    def _change_in_turn(self, schedule: Schedule, suspects: Sequence[Suspect]) -> set[int]:
        """Change what several findings of one function are about, each for one call of one run.

        Between two changes is a call with everything as it was, so that what is seen in a call is due to its change.
        Returns the numbers of the suspects for which this was as good as a run of their own.
        """
        settled: set[int] = set()
        by_function: dict[str, dict[Change, list[Suspect]]] = {}
        for suspect in suspects:
            told = self._told[suspect.number]
            if told.schedule == schedule and told.judgement.reason == "insensitive":
                change = self._change_of(schedule, suspect) if suspect.experiment is Experiment.CHANGE else None
                if change is not None:
                    by_function.setdefault(suspect.function, {}).setdefault(change, []).append(suspect)
        for about in by_function.values():
            changes = list(about)
            for first in range(0, len(changes) if len(changes) > 1 else 0, _MOST_CHANGES):
                turns = changes[first : first + _MOST_CHANGES]
                asked = [suspect for change in turns for suspect in about[change]]
                told = self._judge(in_turn(schedule, turns), suspects, only=asked)
                settled |= {number for number, one in told.items() if one.reason in {"", "insensitive"}}
        return settled

    def _change_of(self, schedule: Schedule, suspect: Suspect) -> Change | None:
        direct = bool(schedule.alone) or schedule.driver.kind in DIRECT
        return change_of(self._program, suspect, self.eager(schedule).get("files", ()), direct=direct)

    def _follow_up(self, schedule: Schedule, suspect: Suspect, suspects: Sequence[Suspect]) -> None:
        """Another schedule where the first one was blind for a finding.

        Where others stood in the way, its function is compiled by itself; where eager code showed nothing yet, there
        are more calls, a change of its subject before one of them, and for what only tells the world, all of logging.
        """
        if suspect.experiment in VARIED | cuda_graphs.ASKED:
            self._vary(schedule, suspect, suspects)
            return
        reason = self._told[suspect.number].judgement.reason
        others = {other.function for other in suspects} - {suspect.function}
        uncompiled = reason == "not-compiled" and schedule.driver.kind == "test"
        marked = suspect.function and suspect.marker not in CUSTOM_OPERATORS
        if ((reason in {"blocked", "shared"} and others) or uncompiled) and marked:
            schedule = schedule._replace(alone=suspect.function)
            suspects = [other for other in suspects if other.function == suspect.function]
            self._judge(schedule, suspects, only=(suspect,))
            reason = self._told[suspect.number].judgement.reason
        driver = schedule.driver
        if reason == "blocked" and suspect.has(Trait.OF_RESULTS) and driver.kind == "calls":
            returned = schedule._replace(driver=driver._replace(kind="returned"), alone="")
            self._judge(returned, suspects, only=(suspect,))
        if reason not in {"insensitive", "shared"}:
            return
        if suspect.has(Trait.TELLS):
            # What is told only so, and in another program besides, is none of this one's.
            if self._like is None:
                self._judge(schedule._replace(logged=True, repeat=_REPEATS), suspects, only=(suspect,))
            return
        if suspect.experiment is Experiment.CHANGE:
            # What it is given can only be changed where it is called itself.
            for one in (schedule, schedule._replace(alone=suspect.function)) if marked else (schedule,):
                change = self._change_of(one, suspect)
                if change is not None:
                    self._judge(in_turn(one, [change]), suspects, only=(suspect,))
                    return
        elif suspect.experiment is Experiment.DRAW or len(self.eager(schedule)["calls"]) < _REPEATS:
            self._judge(schedule._replace(repeat=_REPEATS), suspects, only=(suspect,))

    def _vary(self, schedule: Schedule, suspect: Suspect, suspects: Sequence[Suspect]) -> None:
        """More calls of the program's; then as many as torch compiles one function for, with another value in each.

        Where the calls are ours, they differ in what the finding is about alone. Of those the program keeps no results.
        """
        if suspect.experiment in cuda_graphs.ASKED:
            reason = self._told[suspect.number].judgement.reason
            if reason == "few-runs" and suspect.experiment is Experiment.UNGRAPHED:
                self._judge(schedule._replace(repeat=_REPEATS), suspects, only=(suspect,))
            return
        driver = schedule.driver
        own = driver.given if driver.kind in GIVEN else ""
        given = differing_calls(schedule.program or self._program, suspect, own, MAX_CALLS)
        if given and self._told[suspect.number].judgement.reason in {"few-values", "other-guard"}:
            self._judge(schedule._replace(driver=driver._replace(given=given)), suspects, only=(suspect,))
        stop: Mapping[str, Any] = self.eager(schedule).get("stop") or {}
        goes_on = stop.get("kind") == "enough"
        for varied in varying(schedule, self._change_of(schedule, suspect), goes_on=goes_on):
            if self._told[suspect.number].judgement.reason == "few-values":
                self._judge(varied, suspects, only=(suspect,))

    def _judge(
        self, schedule: Schedule, suspects: Sequence[Suspect], only: Sequence[Suspect] = ()
    ) -> Mapping[int, Judgement]:
        """Run the arms of a schedule and publish, backend by backend, every judgement that says more.

        With `only`, the others are there as rivals alone. Returns the last judgements, none if no region was called.
        """
        program, arms = self._program, self._arms
        asked = only or suspects
        backends = arms.limits.backends
        foretelling = (FAKE,) if any(one.expectation.may_be_refused for one in asked) else ()
        # The longest is the last one, and starts before its like: what is left to run then ends soon after it. Where a
        # backend has all slots to itself, the fastest one tells first.
        shares = arms.share(program, schedule)
        plain = ((name, False) for name in (*foretelling, *(backends if shares else reversed(backends))))
        if self._like is not None and not returns(self.eager(schedule)):
            self._tell_uncalled(schedule, asked)
            return {}  # what was left out is needed
        for backend, lines in ((EAGER, False), (EAGER, True), *plain):
            arms.start(program, schedule, backend, lines=lines)
        stale = any(one.experiment in staleness.ASKED for one in asked)
        checked = schedule._replace(opcheck=True) if any(map(is_asked, asked)) else None
        eager = arms.trace(program, schedule, EAGER)
        control = arms.trace(program, schedule, EAGER, lines=True)
        if not eager["calls"] or not control["calls"]:
            self._tell_uncalled(schedule, asked)
            return {}
        foreign = foreign_calls(program, schedule, suspects, eager)
        if foretelling:
            early = foretold(suspects, Arms(eager, control, {FAKE: arms.trace(program, schedule, FAKE)}, foreign))
            self._publish(schedule, {s.number: early[s.number] for s in asked if s.number in early})
        compiled: dict[str, dict[str, Any]] = {}
        told: dict[int, Judgement] = {}
        regions: list[Measured] = []
        for backend in backends:
            compiled[backend] = arms.trace(program, schedule, backend)
            final = len(compiled) == len(backends)
            # Later than the run with the caches, which compiles its kernels.
            without = arms.trace(program, schedule._replace(cached=False), INDUCTOR) if final and stale else None
            places = cuda_graphs.places_of(asked) if final else ()
            graphs = arms.captured(program, schedule, places) if places else None
            judgements = judge(suspects, Arms(eager, control, compiled, foreign, without, graphs))
            told = {
                s.number: by_own(program, schedule, s, in_region(s, schedule, judgements[s.number]), eager)
                for s in asked
                if final or s.experiment not in cuda_graphs.ASKED
            }
            if final and checked is not None:
                second = arms.trace(program, checked, EAGER)
                told = {s.number: seconded(s, told[s.number], second) for s in asked}
            self._publish(schedule, told, final=final)
            regions = united(regions, measured(compiled[backend], backend))
        if not schedule.alone and schedule.follow is None:
            refused = refusals(suspects, Arms(eager, control, compiled, foreign))
            self.measured = united(self.measured, (explained(one, refused, eager) for one in regions), calls=True)
        strange = unexplained(suspects, Arms(eager, control, compiled, foreign))
        if strange is not None and self.unexplained is None and not only and schedule.program is None:
            self.unexplained = Unexplained(suspects[0].number, strange)
        return told

    def _tell_uncalled(self, schedule: Schedule, asked: Sequence[Suspect]) -> None:
        """Publish why a schedule called no region."""
        eager = self.eager(schedule)
        control = self._arms.trace(self._program, schedule, EAGER, lines=True)
        told = {s.number: without_calls(s, eager, control) for s in asked}
        self._publish(schedule, {s.number: by_own(self._program, schedule, s, told[s.number], eager) for s in asked})

    def _publish(self, schedule: Schedule, judgements: Mapping[int, Judgement], *, final: bool = False) -> None:
        """Keep and tell the judgements that say more than those before; the last ones of a schedule replace its own."""
        seconds, files = self._arms.circumstances(self._program, schedule) if final else (0.0, ())
        inputs = inputs_of(self.eager(schedule)) if final else ()
        for number, judgement in judgements.items():
            if is_idle(schedule, judgement):
                continue
            fresh = Told(judgement, seconds, files, self._arms.limits.device, schedule, inputs=inputs)
            known = self._told[number]
            if says_more(fresh, known) or (final and known.schedule == schedule):
                self._tell(number, fresh)
