# SPDX-License-Identifier: Apache-2.0
"""What doc/control.md, doc/threading.md and include/varve/control.h promise of the order of calls,
as a program that is a few variables: the same calls as tests/programs/modules/control_cell.c, and
what each of them must return and record. Written from those pages, not from src/."""
import collections
import copy

OK, INVALID, NOT_FOUND, EXISTS, STATE = 0, 1, 2, 3, 12

BEGINNINGS = ["nothing", "environment", "keep", "ge", "dynamic", "record", "record-paused",
              "record-schedule", "record-environment", "record-paused-environment",
              "wrong-environment", "session"]
STATES = ["fresh", "recorded", "paused", "child", "recorded-child"]
CALLS = ["init", "init-default", "options", "options-keep", "options-schedule",
         "options-environment", "options-map", "options-wrong",
         "finalize", "config-create", "config-create-wrong", "config-destroy", "start", "stop",
         "stop-config", "in-order", "option", "callback-add", "callback-remove", "poll",
         "session-start",
         "session-start-default", "session-stop", "dump", "dump-default", "layers-all",
         "layers-none"]
BY_ENVIRONMENT = ["environment", "keep", "ge", "dynamic"]
DEFAULT = "control_matrix.varve"
SCHEDULE = (1, 1)  # skip one step, record one


class Program:
    """One process. `ranges` counts what must be in which trace: {(trace, name of the range):
    ranges}."""

    def __init__(self, beginning):
        self.beginning = beginning
        self.ranges, self.dumped = collections.Counter(), []
        self.trace = None              # of the session that runs
        self.owner = None              # "command", "program", "calls"
        # a session of `varve record --paused`: the calls may start and stop it
        self.may_switch = False
        self.recording = self.has_folder = False
        self.schedule, self.steps = None, 0
        self.initialised = self.started = self.configured = self.untouched = self.tells = False
        self.output = DEFAULT
        if beginning in BY_ENVIRONMENT:
            self.initialised = self.untouched = True
            self.started = beginning != "dynamic"
            self.begin("began.varve", "calls", paused=not self.started, folder=not self.started)
        elif beginning.startswith("record"):
            self.may_switch = beginning.startswith("record-paused")
            self.begin("began.varve", "command", paused=self.may_switch, folder=self.may_switch,
                       schedule=SCHEDULE if beginning == "record-schedule" else None)
        elif beginning == "session":
            self.begin("began.varve", "program", folder=True)

    def fork(self):
        """The child: a process of its own, with a folder once it records."""
        child = copy.deepcopy(self)
        child.ranges.clear()
        child.has_folder = False
        return child

    # ---- the session ----

    def begin(self, trace, owner, paused=False, folder=True, schedule=None):
        self.trace, self.owner, self.has_folder = trace, owner, folder
        self.schedule, self.steps = schedule, 0
        self.recording = not paused and schedule is None

    def end(self):
        self.trace = self.owner = self.schedule = None
        self.recording = self.has_folder = False

    def switch(self, on):
        self.schedule = None
        self.recording = on and self.trace is not None

    def is_active(self):
        skip, active = self.schedule
        return self.steps % (skip + active) >= skip

    def record(self, name):
        """A step with three ranges."""
        if self.schedule is not None:
            was_recording, self.recording = self.recording, self.is_active()
            self.steps += 1
            self.tell(0 if was_recording else 1)
        if self.recording:
            self.has_folder = True
            self.ranges[self.trace, name] += 3
        if self.schedule is not None and not self.is_active():
            self.recording = False

    # ---- the calls ----

    def belongs_to_others(self):
        return self.trace is not None and self.owner != "calls" and not self.may_switch

    def tell(self, events=1):
        """A callback records three ranges, and no step."""
        for _ in range(events if self.tells and self.recording else 0):
            self.has_folder = True
            self.ranges[self.trace, "after"] += 3

    def take_over(self):
        if self.owner == "calls":
            self.end()
        self.initialised = self.started = self.configured = self.untouched = False
        self.output = DEFAULT

    def init(self, output=None):
        if (self.initialised and not self.untouched) or self.belongs_to_others():
            return STATE
        self.take_over()
        self.initialised = True
        self.output = output or DEFAULT
        self.tell()
        return OK

    def init_options(self, schedule=None):
        if (self.initialised and not self.untouched) or self.belongs_to_others():
            return STATE
        self.take_over()
        self.initialised = self.started = True
        if self.trace is None:
            self.begin("options.varve", "calls", schedule=schedule)
        else:
            self.switch(True)
            if schedule is not None:
                self.recording, self.schedule, self.steps = False, schedule, 0
        self.tell(2)
        return OK

    def init_of_environment(self):
        if (self.initialised and not self.untouched) or self.belongs_to_others():
            return STATE
        if self.untouched:             # it runs already
            self.untouched = False
        elif self.beginning == "wrong-environment":
            return INVALID
        elif self.beginning == "record-paused-environment":
            return self.init_options()
        elif self.beginning in BY_ENVIRONMENT:
            self.initialised, self.started = True, self.beginning != "dynamic"
            self.begin("began.varve", "calls", paused=not self.started)
        else:
            self.initialised = True
        self.tell(2 if self.started else 1)
        return OK

    def init_wrong(self):
        return STATE if (self.initialised
                         and not self.untouched) or self.belongs_to_others() else INVALID

    def finalize(self):
        if not self.initialised or self.untouched or (self.started and self.configured):
            return STATE
        if self.started:
            self.halt()
        self.take_over()
        self.tell()
        return OK

    def start(self):
        if not self.initialised or self.untouched or self.started or self.belongs_to_others():
            return STATE
        if self.trace is None:
            self.begin(self.output, "calls")
        else:
            self.switch(True)
        self.started = self.configured = True
        self.tell()
        return OK

    def halt(self):
        self.switch(False)
        self.started = self.configured = False
        self.tell()

    def stop(self, with_config=False):
        if not self.started or self.untouched:
            return STATE
        if with_config and not self.configured:
            return INVALID
        self.halt()
        return OK

    def in_order(self):
        codes = [self.init("order.varve")]
        if codes[-1] == OK:
            codes.append(self.start())
        self.record("after")
        for call in (self.stop, self.finalize):
            if codes[-1] == OK:
                codes.append(call())
        return codes[-1]

    def add(self):
        if self.tells:
            return EXISTS
        self.tells = True
        self.tell((1 if self.initialised else 0) + 1)
        return OK

    def take_out(self):
        code = OK if self.tells else NOT_FOUND
        self.tells = False
        return code

    def session_start(self, trace):
        if self.trace is not None:
            return STATE
        self.begin(trace, "program")
        return OK

    def session_stop(self):
        if self.owner != "program":
            return STATE
        self.end()
        return OK

    def dump(self, output):
        if self.trace is None or not self.has_folder:
            return STATE
        if output is None:
            stem = self.trace.removesuffix(".varve") + ".dump"
            number = sum(name.startswith(stem + ".") for name in self.dumped)
            output = stem + (".varve" if number == 0 else f".{number + 1}.varve")
        if output in self.dumped:
            return EXISTS
        self.dumped.append(output)
        for (trace, name), count in list(self.ranges.items()):
            if trace == self.trace:
                self.ranges[output, name] += count
        return OK

    def layers(self, on):
        self.switch(on)
        return OK

    def call(self, name):
        return {
            "init": lambda: self.init("init.varve"), "init-default": self.init,
            "options": self.init_options, "options-keep": self.init_options,
            "options-schedule": lambda: self.init_options(SCHEDULE),
            "options-environment": self.init_of_environment, "options-map": self.init_options,
            "options-wrong": self.init_wrong,
            "finalize": self.finalize, "config-create": lambda: OK,
            "config-create-wrong": lambda: INVALID, "config-destroy": lambda: STATE if self.started
            and self.configured else OK, "start": self.start, "stop": self.stop,
            "stop-config": lambda: self.stop(with_config=True),
            "in-order": self.in_order, "option": lambda: OK, "callback-add": self.add,
            "callback-remove": self.take_out, "poll": lambda: OK,
            "session-start": lambda: self.session_start("session.varve"),
            "session-start-default": lambda: self.session_start(DEFAULT),
            "session-stop": self.session_stop,
            "dump": lambda: self.dump("dump.varve"), "dump-default": lambda: self.dump(None),
            "layers-all": lambda: self.layers(True), "layers-none": lambda: self.layers(False),
        }[name]()


def run_cell(beginning, state, first, second):
    """([what each call must return], {(trace, name): ranges} of all its processes)."""
    program, parent = Program(beginning), None
    if state in ("recorded", "paused", "recorded-child"):
        program.record("before")
    if state == "paused":
        program.layers(False)
    if state.endswith("child"):
        parent, program = program, program.fork()
    codes = []
    for call, name in ((first, "after"), (second, "last")):
        codes.append(program.call(call))
        program.record(name)
    if parent is not None:
        parent.record("last")
        program.ranges += parent.ranges
    return codes, program.ranges
