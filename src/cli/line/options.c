/* SPDX-License-Identifier: Apache-2.0 */
/* options.c — the table of all options. Parser, help, man pages and completions read it. */
#include "cli/line/arguments.h"
#include "question/question.h"

static const char *const colors[] = { "auto", "always", "never", NULL };
static const char *const formats[] = { "text", "json", "csv", "md", NULL };
static const char *const units[] = { "auto", "ns", "us", "ms", "s", NULL };
static const char *const sort_keys[] = { "self",        "total",        "calls", "mean",
                                         "deviation",   "median",       "p90",   "min",  "max",
                                         "device_self", "device_total", "flop",  "name", NULL };
static const char *const fulls[] = { "drop-newest", "grow", "drop-oldest", NULL };
static const char *const consumers[] = { "all", "hta", "tensorboard", "perfetto", "pytorch", NULL };
static const char *const graphs[] = { "operators", "python", "calls", "kernels", "memory",
                                      "registered", NULL };
static const char *const edge_kinds[] = { "data", "flow", "nesting", "stream", "sync", "order",
                                          NULL };
static const char *const forms[] = { "json", "dot", "graphml", "node-link", "model-explorer",
                                     "mlirgraph", "svg", "png", "html", NULL };
static const char *const metrics[] = { "total", "self", "mean", "share", "memory", "count",
                                      NULL };
static const char *const colour_scales[] = { "linear", "log", "rank", NULL };
static const char *const themes[] = { "auto", "light", "dark", NULL };
static const char *const targets[] = { "chrome", "pgle", NULL };
static const char *const readers[] = { "perfetto", "chrome",      "tensorboard", "chrome",
                                       "json",     "chrome",      "xla",         "pgle",
                                       "jax",      "pgle",        NULL };

static const char *const emitted[] = { "text", "generic", "bytecode", NULL };
static const char *const engines[] = { "auto", "text", "library", "llvm", NULL };

#define ROW(row) [VV_OPTION_##row] = {
#define AT(member) .offset = offsetof(struct vv_arguments, member) }

const struct vv_option vv_options[VV_OPTION_COUNT] = {
    ROW(HELP) .name = "help", .letter = 'h', .kind = VV_VALUE_FLAG,
        .help = "print this and do nothing", AT(help),
    ROW(QUIET) .name = "quiet", .letter = 'q', .kind = VV_VALUE_FLAG,
        .help = "print results and errors only", AT(quiet),
    ROW(VERBOSE) .name = "verbose", .letter = 'v', .kind = VV_VALUE_FLAG,
        .help = "say where the trace and the library are", AT(verbose),
    ROW(COLOR) .name = "color", .kind = VV_VALUE_CHOICE, .value = "WHEN", .choices = colors,
        .standard = "auto", .help = "use colour", AT(color),
    ROW(FORMAT) .name = "format", .kind = VV_VALUE_CHOICE, .value = "FORM", .choices = formats,
        .help = "the form of the result; without it the extension of -o decides, else text",
        AT(format),
    ROW(JSON) .name = "json", .kind = VV_VALUE_FLAG, .help = "short for --format json", AT(json),
    ROW(CSV) .name = "csv", .kind = VV_VALUE_FLAG, .help = "short for --format csv", AT(csv),
    ROW(MD) .name = "md", .kind = VV_VALUE_FLAG, .help = "short for --format md, a Markdown table",
    AT(md),
    ROW(UNIT) .name = "unit", .kind = VV_VALUE_CHOICE, .value = "UNIT", .choices = units,
        .standard = "auto", .help = "unit of times in text; auto: each has its own", AT(unit),
    ROW(OUTPUT) .name = "output", .letter = 'o', .kind = VV_VALUE_FILE, .value = "FILE",
        .help = "write the result there; - is standard output", AT(output),
    ROW(STRICT) .name = "strict", .kind = VV_VALUE_FLAG,
        .help = "exit with 1 if the trace lost events", AT(strict),
    ROW(TABLE) .name = "table", .kind = VV_VALUE_TEXT, .value = "NAME", .words = "tables",
        .help = "print this table only; varve help tables lists them", AT(table),
    ROW(MAX_MEMORY) .name = "max-memory", .kind = VV_VALUE_TEXT, .value = "SIZE",
        .help = "most that reading may take, such as 4GB; without it three quarters of all there "
                "is",
        AT(max_memory),
    ROW(CACHE) .name = "cache", .kind = VV_VALUE_FLAG,
        .help = "keep what was read as FILE.vcache, to open at once next time, however small it is",
        AT(cache),
    ROW(NO_CACHE) .name = "no-cache", .kind = VV_VALUE_FLAG,
        .help = "neither use nor write FILE.vcache", AT(no_cache),
    ROW(FOR) .name = "for", .kind = VV_VALUE_CHOICE, .value = "READER", .choices = consumers,
        .standard = "all", .help = "the rules of this one only", AT(consumer),
    ROW(STEPS) .name = "steps", .also = "step", .kind = VV_VALUE_TEXT, .value = "A..B",
        .help = "these steps only: A, A..B, A.. or ..B", AT(steps),
    ROW(STEP_BY) .name = "step-by", .kind = VV_VALUE_TEXT, .value = "NAME",
        .help = "the ranges of that name are the steps; ..NAME: each step lasts up to the end of "
                "one", AT(step_by),
    ROW(WARM_UP) .name = "warm-up", .kind = VV_VALUE_FLAG,
        .help = "count the slow first steps too, as --steps does", AT(warm_up),
    ROW(THREAD) .name = "thread", .kind = VV_VALUE_TEXT, .value = "THREAD",
        .help = "this thread only, by name or number; all for every one", AT(thread),
    ROW(RANK) .name = "rank", .kind = VV_VALUE_TEXT, .value = "LIST",
        .help = "these ranks only: A, A..B or A,B,C", AT(rank),
    ROW(DEVICE) .name = "device", .kind = VV_VALUE_TEXT, .value = "DEVICE",
        .help = "the work of this device only: cuda:0, or 0 for the first of each kind", AT(device),
    ROW(FILTER) .name = "filter", .kind = VV_VALUE_TEXT, .value = "EXPR", .words = "filter",
        .help = "operators and device work for which this holds, such as self>1ms; more in "
                "varve help filter", AT(filter),
    ROW(BY) .name = "by", .kind = VV_VALUE_CHOICES, .value = "KEY",
        .choices = vv_question_groupings, .standard = "op",
        .help = "what one row of operators stands for; step is for counters and memory, use for "
                "memory; a graph is folded by several with commas: module,block,phase,name",
        AT(by),
    ROW(SORT) .name = "sort", .kind = VV_VALUE_TEXT, .value = "COLUMN", .words = "sort",
        .choices = sort_keys,
        .standard = "self", .help = "the column that orders the rows", AT(sort),
    ROW(TOP) .name = "top", .kind = VV_VALUE_INT, .value = "N", .standard = "10",
        .help = "print N rows and sum up the rest; 0 prints all, as JSON and CSV do unless told",
        AT(top),
    ROW(TOP_SHARE) .name = "top", .kind = VV_VALUE_TEXT, .value = "SHARE", .standard = "80%",
        .help = "the hot operations are the fewest that have this share of the time",
        AT(top_share),
    ROW(SCRIPT) .name = "script", .kind = VV_VALUE_FILE, .value = "FILE",
        .help = "write there a script for mlir-opt that changes the hot operations",
        AT(script),
    ROW(CONFIGURATIONS) .name = "configurations", .kind = VV_VALUE_FILE, .value = "FOLDER",
        .help = "what iree-compile has written with --iree-hal-dump-executable-configurations-to",
        AT(configurations),
    ROW(SUBSTITUTES) .name = "substitutes", .kind = VV_VALUE_FILE, .value = "FOLDER",
        .help = "write there the configurations of the hot dispatches with other tiles, for "
                "iree-compile --iree-hal-substitute-executable-configurations-from",
        AT(substitutes),
    ROW(TUNING_SPEC) .name = "tuning-spec", .kind = VV_VALUE_FILE, .value = "FILE",
        .help = "write there a tuning spec with other tiles for the hot dispatches, for "
                "iree-compile --iree-codegen-tuning-spec-path",
        AT(tuning_spec),
    ROW(FIELDS) .name = "fields", .kind = VV_VALUE_TEXT, .value = "LIST", .words = "columns",
        .help = "columns: a,b are these, +c,-d change the usual ones", AT(fields),
    ROW(COMPAT) .name = "compat", .kind = VV_VALUE_CHOICE, .value = "TOOL",
        .choices = vv_question_rules,
        .help = "by the rules of this tool, to compare with its answers: hta for devices and the "
                "critical path, paddle for the report of Fluid, msprof for its step_trace, "
                "mlirgraph for the graph of a thesis",
        AT(compat),
    ROW(FAIL_OVER) .name = "fail-over", .kind = VV_VALUE_TEXT, .value = "SHARE",
        .help = "exit with 1 if the steps are slower by more than that, such as 5%, beyond the "
                "noise", AT(fail_over),
    ROW(ANNOTATION) .name = "annotation", .kind = VV_VALUE_TEXT, .value = "NAME",
        .help = "the time of a range of this name, or with it in its name; an empty NAME means all "
                "there is", AT(annotation),
    ROW(INSTANCE) .name = "instance", .kind = VV_VALUE_INT, .value = "N", .standard = "0",
        .help = "which of the ranges that --annotation names, counted from 0", AT(instance),
    ROW(SCALE) .name = "scale", .kind = VV_VALUE_TEXT, .value = "OP=K", .standard = "2",
        .help = "what if OP were K times as fast; K alone for each operator; several with "
                "semicolons between", AT(scale),
    ROW(LINK) .name = "link", .kind = VV_VALUE_TEXT, .value = "RATE[,LATENCY]",
        .help = "for table offload: how fast data goes between the devices: 16GB/s,10us",
        AT(link),
    ROW(OF) .name = "of", .kind = VV_VALUE_CHOICE, .value = "GRAPH", .choices = graphs,
        .standard = "operators", .help = "which graph: of all that ran, or of a part of it", AT(of),
    ROW(EDGES) .name = "edges", .kind = VV_VALUE_CHOICES, .value = "LIST", .choices = edge_kinds,
        .help = "only edges that are known from this: data, flow, nesting, stream, sync, order, or "
                "several with commas", AT(edges),
    ROW(AROUND) .name = "around", .kind = VV_VALUE_TEXT, .value = "NODE",
        .help = "only nodes and groups of this name or id, and what is near", AT(around),
    ROW(HOPS) .name = "hops", .kind = VV_VALUE_INT, .value = "N", .standard = "1",
        .help = "how many edges away is near", AT(hops),
    ROW(BREAK_CYCLES) .name = "break-cycles", .kind = VV_VALUE_FLAG,
        .help = "leave out edges that lead back, instead of refusing the graph", AT(break_cycles),
    ROW(FORM) .name = "form", .kind = VV_VALUE_TEXT, .value = "FORM", .choices = forms,
        .help = "the form of the file; its extension says it otherwise", AT(form),
    ROW(METRIC) .name = "metric", .kind = VV_VALUE_CHOICE, .value = "WHAT", .choices = metrics,
        .standard = "total", .help = "what colours say", AT(metric),
    ROW(COLOURS) .name = "colours", .also = "colors", .kind = VV_VALUE_CHOICE, .value = "SCALE",
        .choices = colour_scales, .standard = "log", .help = "the scale of colours", AT(colours),
    ROW(THEME) .name = "theme", .kind = VV_VALUE_CHOICE, .value = "THEME", .choices = themes,
        .standard = "auto", .help = "the ground of a picture", AT(theme),
    ROW(READ) .name = "read", .kind = VV_VALUE_FLAG,
        .help = "print the annotations that the module carries, and change nothing", AT(read),
    ROW(ATTR) .name = "attr", .kind = VV_VALUE_TEXT, .value = "NAME",
        .help = "as an attribute of this name, such as varve.profile, and not in locations",
        AT(attr),
    ROW(REQUIRE_COVERAGE) .name = "require-coverage", .kind = VV_VALUE_TEXT, .value = "SHARE",
        .help = "exit with 1 if less of the recorded time is found in the module, such as 80%",
        AT(require_coverage),
    ROW(MIN_LEVEL) .name = "min-level", .kind = VV_VALUE_TEXT, .value = "LEVEL",
        .help = "find operations no more weakly than so, such as name or source-line",
        AT(min_level),
    ROW(KEY_ATTR) .name = "key-attr", .kind = VV_VALUE_TEXT, .value = "NAME",
        .help = "the attribute that holds the name that an operation has in the profile",
        AT(key_attr),
    ROW(EMIT) .name = "emit", .kind = VV_VALUE_CHOICE, .value = "FORM", .choices = emitted,
        .standard = "text",
        .help = "the form of the module that is written; the others need --mlir-lib or LLVM 19",
        AT(emit),
    ROW(NO_RANGES) .name = "no-ranges", .kind = VV_VALUE_FLAG,
        .help = "write places of the source without their ends, which LLVM 19 does not read",
        AT(no_ranges),
    ROW(ENGINE) .name = "engine", .kind = VV_VALUE_CHOICE, .value = "ENGINE", .choices = engines,
        .standard = "auto",
        .help = "who reads the module: text is Varve, library is --mlir-lib, llvm is LLVM 19",
        AT(engine),
    ROW(MLIR_LIB) .name = "mlir-lib", .kind = VV_VALUE_FILE, .value = "FILE",
        .help = "a library with the C interface of MLIR, for bytecode; python is that of the "
                "active environment", AT(mlir_lib),
    ROW(TO) .name = "to", .kind = VV_VALUE_CHOICE, .value = "TOOL", .choices = targets,
        .meant = readers,
        .standard = "chrome",
        .help = "the tool that is to read it", AT(to),
    ROW(UNPACK) .name = "unpack", .kind = VV_VALUE_FLAG,
        .help = "make a packed trace plain again, for readers of CTF", AT(unpack),
    ROW(LAYERS) .name = "layers", .kind = VV_VALUE_TEXT, .value = "LIST", .words = "layers",
        .standard = "all",
        .help = "record these layers only: OP,STEP,MEMORY and so on, or names of GE, Paddle and "
                "PyTorch such as kTaskTime", AT(layers),
    ROW(COLLECT) .name = "collect", .kind = VV_VALUE_TEXT, .value = "LIST", .words = "collectors",
        .standard = "auto",
        .help = "record from these sources: auto, none, torch,memory, or +python, +modules, "
                "-shapes", AT(collect),
    ROW(PYTHON_MODULES) .name = "python-modules", .kind = VV_VALUE_TEXT, .value = "LIST",
        .help = "with --collect +python: calls of these modules and packages only, such as train,"
                "model.*", AT(python_modules),
    ROW(PYTHON_DEPTH) .name = "python-depth", .kind = VV_VALUE_INT, .value = "N", .standard = "0",
        .help = "with --collect +python: calls nested no deeper than N; 0 is any depth",
        AT(python_depth),
    ROW(PAUSED) .name = "paused", .kind = VV_VALUE_FLAG,
        .help = "record nothing until varve start asks for it", AT(paused),
    ROW(SCHEDULE) .name = "schedule", .kind = VV_VALUE_TEXT, .value = "STEPS",
        .help = "record some steps only, such as skip=1,warmup=1,active=3,repeat=2", AT(schedule),
    ROW(MAX_SIZE) .name = "max-size", .kind = VV_VALUE_TEXT, .value = "SIZE",
        .help = "most that a process may record, such as 2GB; the rest is counted as lost",
        AT(max_size),
    ROW(WHEN_FULL) .name = "when-full", .kind = VV_VALUE_CHOICE, .value = "POLICY",
    .choices = fulls,
        .help = "what happens at --max-size; drop-newest unless said", AT(when_full),
    ROW(KEEP) .name = "keep", .kind = VV_VALUE_TEXT, .value = "AMOUNT",
        .help = "flight recorder: keep the last of each process only, such as 10s or 64MB",
        AT(keep),
    ROW(RESERVE) .name = "reserve", .kind = VV_VALUE_TEXT, .value = "SIZE",
        .help = "record nothing while less of the disk is free, such as 2GB, 10%; 0 takes all",
        AT(reserve),
    ROW(SHARE) .name = "share", .kind = VV_VALUE_FLAG,
        .help = "other users may read the trace, as far as umask lets them", AT(share),
    ROW(METRICS) .name = "metrics", .kind = VV_VALUE_TEXT, .value = "LIST",
        .help = "a group of hardware counters, such as PipeUtilization, L2Cache, Custom:0x3c: what "
                "each range uses, with processor time and page faults; and metrics of GPUs "
                "of NVIDIA, over the time: gpu (all), or power, clocks, temperature, used_memory, "
                "utilization, nvlink, pcie, throttling; and hardware counters: hardware (all), or "
                "sm_active, occupancy, tensor_cores, dram",
        AT(metrics),
    ROW(METRICS_PERIOD) .name = "metrics-period", .kind = VV_VALUE_TEXT, .value = "TIME",
        .help = "between two readings of metrics of GPUs; 100ms unless said, 200us for hardware "
                "counters", AT(metrics_period),
    ROW(DUMP_ON) .name = "dump-on", .kind = VV_VALUE_TEXT, .value = "SIGNAL",
        .help = "a process that gets it writes NAME.dump.varve, and goes on", AT(dump_on),
    ROW(PID) .name = "pid", .kind = VV_VALUE_TEXT, .value = "PID", .words = "processes",
        .help = "record this process, which runs already, instead of a program", AT(pid),
    ROW(DURATION) .name = "duration", .kind = VV_VALUE_TEXT, .value = "TIME",
        .help = "with --pid: end after so long, such as 5s; else at Ctrl-C", AT(duration),
    ROW(DRY_RUN) .name = "dry-run", .kind = VV_VALUE_FLAG,
        .help = "print what would be run and its environment", AT(dry_run),
    ROW(PEAKS) .name = "peaks", .kind = VV_VALUE_FLAG,
        .help = "measure what its processors and memory can do, about two seconds, and keep it for "
                "roofline and mfu",
        AT(peaks),
    ROW(IREE) .name = "iree", .kind = VV_VALUE_FILE, .value = "FOLDER",
        .help = "where iree-compile, iree-run-module and iree-benchmark-module are; without it the "
                "active environment, then PATH",
        AT(iree),
    ROW(IREE_FLAGS) .name = "iree-flags", .kind = VV_VALUE_TEXT, .value = "FLAGS",
        .help = "flags of iree-compile for every candidate, with blanks between; without it those "
                "of llvm-cpu for this processor",
        AT(iree_flags),
    ROW(FUNCTION) .name = "function", .kind = VV_VALUE_TEXT, .value = "NAME", .standard = "main",
        .help = "the function of the module that is run", AT(function),
    ROW(INPUT) .name = "input", .kind = VV_VALUE_TEXT, .value = "VALUES",
        .help = "its inputs as --input of IREE takes them, with ; between: @x.npy;4xf32=1",
        AT(inputs),
    ROW(WORK) .name = "work", .kind = VV_VALUE_FILE, .value = "FOLDER",
        .help = "for everything that is made, to go on from later; without it MODULE.tune here",
        AT(work),
    ROW(LIMIT) .name = "limit", .kind = VV_VALUE_TEXT, .value = "TIME", .standard = "300s",
        .help = "end a compiler or a program that takes longer; that candidate has failed",
        AT(limit),
    ROW(TOLERANCE) .name = "tolerance", .kind = VV_VALUE_TEXT, .value = "SHARE",
        .standard = "1e-4",
        .help = "refuse candidates whose outputs differ by more than this share of the largest "
                "value",
        AT(tolerance),
    ROW(TILES) .name = "tiles", .kind = VV_VALUE_INT, .value = "N", .standard = "4",
        .help = "how many other tiles to try for each hot dispatch; each is one compilation",
        AT(tiles),
    ROW(TURNS) .name = "turns", .kind = VV_VALUE_INT, .value = "N", .standard = "9",
        .help = "how often the finalists take turns at the end", AT(turns),
    ROW(ALL) .name = "all", .kind = VV_VALUE_FLAG, .help = "every verb with its options", AT(all),
    ROW(MAN) .name = "man", .kind = VV_VALUE_FLAG, AT(man),
};

bool vv_verb_takes(const struct vv_verb *verb, int row)
{
    const enum vv_option_row *taken = verb->takes;
    while (*taken != VV_OPTION_NONE && (int)*taken != row)
        taken++;
    return *taken != VV_OPTION_NONE;
}

bool vv_verb_shows(const struct vv_verb *verb, int row)
{
    return vv_options[row].help != NULL && vv_verb_takes(verb, row);
}

bool vv_option_is_shared(const struct vv_verb *verb, int row)
{
    static const enum vv_option_row shared[] = { VV_TAKES_ALWAYS, VV_TAKES_READING, VV_TAKES_FORMS,
                                                 VV_OPTION_UNIT };
    bool is_own_output = row == VV_OPTION_OUTPUT && verb->output != NULL;
    for (size_t i = 0; i < sizeof shared / sizeof *shared && !is_own_output; i++)
        if ((int)shared[i] == row)
            return true;
    return false;
}

const char *vv_verb_option_help(const struct vv_verb *verb, int row)
{
    const char *own = row == VV_OPTION_OUTPUT ? verb->output
                      : row == VV_OPTION_FIELDS ? verb->fields : NULL;
    return own != NULL ? own : vv_options[row].help;
}
