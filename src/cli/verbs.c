/* SPDX-License-Identifier: Apache-2.0 */
/* verbs.c — the table of all verbs. A new verb is a row here and a file cmd_NAME.c. */
#include "cli/line/arguments.h"

#define EXAMPLES(...) (const struct vv_example[]) { __VA_ARGS__, { NULL, NULL } }
#define PART                                                                                       \
    VV_OPTION_STEPS, VV_OPTION_STEP_BY, VV_OPTION_WARM_UP, VV_OPTION_THREAD, VV_OPTION_RANK,       \
        VV_OPTION_DEVICE, VV_OPTION_FILTER

vv_run_verb vv_cmd_record, vv_cmd_start, vv_cmd_stop, vv_cmd_status, vv_cmd_dump, vv_cmd_report,
    vv_cmd_steps, vv_cmd_critical, vv_cmd_memory, vv_cmd_idle, vv_cmd_dag, vv_cmd_diff, vv_cmd_info,
    vv_cmd_validate, vv_cmd_export, vv_cmd_pack, vv_cmd_doctor, vv_cmd_help, vv_cmd_version,
    vv_cmd_completions, vv_cmd_annotate, vv_cmd_tag, vv_cmd_hot, vv_cmd_tune,
    vv_cmd_sample;

const struct vv_verb vv_verbs[] = {
    { .name = "record", .group = "Record", .summary = "run a program and record it",
      .operands = "-- PROGRAM [ARG...]", .operand_kind = VV_OPERANDS_PROGRAM,
      .exits_as_program = true,
      .description =
          "Runs the program as it is and records every operator, step, counter and allocation "
          "that it marks. The trace is a folder PROGRAM.varve in the current folder, named after "
          "the script where an interpreter runs one. A former trace of that name becomes "
          "PROGRAM.varve.old. The program keeps its input, its output and its exit code; a "
          "program that cannot be recorded runs just the same. With --pid it switches recording "
          "on in a process that was begun with varve record, or that records itself, and at the "
          "end back to what it was.",
      .takes = VV_TAKES(VV_TAKES_ALWAYS, VV_OPTION_VERBOSE, VV_OPTION_OUTPUT, VV_OPTION_LAYERS,
                        VV_OPTION_COLLECT, VV_OPTION_PYTHON_MODULES, VV_OPTION_PYTHON_DEPTH,
                        VV_OPTION_PAUSED, VV_OPTION_SCHEDULE, VV_OPTION_MAX_SIZE,
                        VV_OPTION_WHEN_FULL, VV_OPTION_KEEP, VV_OPTION_RESERVE, VV_OPTION_SHARE,
                        VV_OPTION_METRICS, VV_OPTION_METRICS_PERIOD, VV_OPTION_DUMP_ON,
                        VV_OPTION_PID, VV_OPTION_DURATION, VV_OPTION_DRY_RUN),
      .output = "the trace folder (PROGRAM.varve); with --pid, a copy of what is recorded there",
      .examples = EXAMPLES({ "varve record -- ./train --epochs 1",
                             "run and record; writes train.varve" },
                           { "varve record -o base.varve -- ./train", "choose the trace's name" },
                           { "varve record -- python3 train.py",
                             "PyTorch and Python programs as they are" },
                           { "varve record --collect +python -- python3 train.py",
                             "each Python call too" },
                           { "varve record --layers STEP,OP -- ./train", "leave the rest out" },
                           { "varve record --paused -- ./train",
                             "record when varve start says so" },
                           { "varve record --schedule skip=10,active=5,repeat=1 -- ./train",
                             "the eleventh step to the fifteenth" },
                           { "varve record --keep 10s -- ./serve",
                             "run for days, keep the last ten seconds" },
                           { "varve record --pid 4711 --duration 5s",
                             "five seconds of a process that runs" }),
      .run = vv_cmd_record },
    { .name = "sample", .group = "Record", .summary = "where processor time goes, line by line",
      .operands = "-- PROGRAM [ARG...]", .operand_kind = VV_OPERANDS_PROGRAM,
      .exits_as_program = true,
      .description =
          "Runs the program as it is and looks 1000 times a second at which instruction each of "
          "its threads is. The samples are text as perf script prints it, with functions and "
          "lines of the source; every verb reads it. This needs no perf and no rights, but "
          "ptrace. For what operators and steps do, use varve record.",
      .takes = VV_TAKES(VV_TAKES_ALWAYS, VV_OPTION_OUTPUT),
      .output = "the samples (samples.txt)",
      .examples = EXAMPLES({ "varve sample -- ./net", "writes samples.txt" },
                           { "varve report --by source samples.txt", "lines with most time first" },
                           { "varve annotate net.mlir samples.txt -o out.mlir",
                             "a program compiled with line tables" }),
      .run = vv_cmd_sample },
    { .name = "start", .group = "Control", .summary = "make a running process record",
      .operands = "PID|NAME", .operand_kind = VV_OPERANDS_PROCESS,
      .description =
          "Switches recording on in a process that was begun with varve record, or that records "
          "itself: by one store into a page that it shares, which it sees at once. A NAME is that "
          "of the program or of the trace, and means every such process. A process begun with "
          "varve record --paused waits for it. Only the user whose process it is may do so. A "
          "schedule of steps ends.",
      .takes = VV_TAKES(VV_TAKES_ALWAYS, VV_OPTION_LAYERS),
      .examples = EXAMPLES({ "varve start 4711", "record what its varve record asked for" },
                           { "varve start train --layers OP,STEP",
                             "these layers only, in every train" }),
      .run = vv_cmd_start },
    { .name = "stop", .group = "Control", .summary = "make it record no more",
      .operands = "PID|NAME", .operand_kind = VV_OPERANDS_PROCESS,
      .description =
          "Switches recording off in a running process, which goes on at the cost of one load and "
          "one branch a call, and may be started again. Ranges that are open end at this instant.",
      .takes = VV_TAKES(VV_TAKES_ALWAYS),
      .examples = EXAMPLES({ "varve stop 4711", "this process" },
                           { "varve stop train", "every process of that name" }),
      .run = vv_cmd_stop },
    { .name = "status", .group = "Control", .summary = "what is being recorded now",
      .operands = "[PID|NAME]", .operand_kind = VV_OPERANDS_PROCESS,
      .description =
          "Lists the processes of this user that are being recorded: which layers, how many "
          "events so far, how many lost, and where.",
      .takes = VV_TAKES(VV_TAKES_ALWAYS, VV_TAKES_FORMS, VV_OPTION_FIELDS),
      .table = "processes",
      .examples = EXAMPLES({ "varve status", "every one" },
                           { "watch varve status", "the same, every two seconds" },
                           { "varve status --json 4711", "this one, for scripts" }),
      .run = vv_cmd_status },
    { .name = "dump", .group = "Control", .summary = "what it has recorded so far, as a trace",
      .operands = "PID|NAME.varve", .operand_kind = VV_OPERANDS_PROCESS,
      .description =
          "Copies what a running process has recorded, at this instant, into a trace of its own, "
          "while it goes on; of a flight recorder, what it still keeps. The process may be busy, "
          "hang, be stopped or have been killed: only its files are read. A PID means that "
          "process, NAME.varve every process in the trace, another NAME every process that runs "
          "that program or is recorded into that trace. Without -o the copy is NAME.dump.varve "
          "beside NAME.varve, then NAME.dump.2.varve, and so on. Only the user whose process it is "
          "may do so.",
      .takes = VV_TAKES(VV_TAKES_ALWAYS, VV_OPTION_OUTPUT),
      .output = "the trace folder to write; a former one becomes OUT.varve.old",
      .examples = EXAMPLES({ "varve dump 4711", "writes train.dump.varve beside train.varve" },
                           { "varve dump train.varve -o stuck.varve",
                             "all processes of the trace" }),
      .run = vv_cmd_dump },
    { .name = "report", .group = "Look", .summary = "where the time went", .operands = "[TRACE...]",
      .description =
          "Says how far the trace can be trusted, how the steps split into phases, and which "
          "operators took the time: self time without what they call, its share, the running sum "
          "of shares, total time, calls, median and 90th percentile. Rows add up to the total; "
          "what is cut off is one row. A TRACE is a file or folder of any known format, a folder "
          "of ranks, a log folder, a .tgz, or - for standard input. Without one it reads the "
          "newest here; several are read as one.",
      .takes = VV_TAKES(VV_TAKES_ALWAYS, VV_TAKES_TABLES, VV_TAKES_READING, PART, VV_OPTION_BY,
                        VV_OPTION_SORT, VV_OPTION_TOP, VV_OPTION_FIELDS, VV_OPTION_COMPAT),
      .table = "operators",
      .examples = EXAMPLES({ "varve report", "the newest trace here" },
                           { "varve report --by shape --top 0", "every operator, by shape" },
                           { "varve report --steps 10..20 train.varve", "these steps only" },
                           { "varve report --filter 'self>1ms' train.varve",
                             "these operators only" },
                           { "varve report ranks/", "every rank in this folder" },
                           { "varve report --compat paddle", "the table of PaddlePaddle Fluid" },
                           { "varve report --json train.varve",
                             "for scripts: integer nanoseconds" }),
      .run = vv_cmd_report },
    { .name = "steps", .group = "Look", .summary = "one line per training step",
      .operands = "[TRACE...]",
      .description =
          "Prints each step with its duration and how it splits into phases, so that the odd one "
          "shows. Without a TRACE it reads the newest one here; several are read as one.",
      .takes = VV_TAKES(VV_TAKES_ALWAYS, VV_TAKES_TABLES, VV_TAKES_READING, PART, VV_OPTION_FIELDS,
                        VV_OPTION_COMPAT),
      .table = "steps",
      .examples = EXAMPLES({ "varve steps", "the newest trace here" },
                           { "varve steps --steps 0..9 train.varve", "the first ten" },
                           { "varve steps --compat msprof", "trace points, in msprof's columns" },
                           { "varve steps --csv -o steps.csv", "for a spreadsheet" }),
      .run = vv_cmd_steps },
    { .name = "critical", .group = "Look",
      .summary = "what the time depends on, and what would pay",
      .operands = "[TRACE...]",
      .description =
          "Finds the longest chain of events that had to wait for each other, over threads, "
          "devices and ranks: what is on it decides how long the step takes, and nothing else "
          "does. Prints what it is spent on, the operators on it, how much shorter it would be if "
          "each were faster, its segments in order, and how much later everything else could "
          "begin. The window is the step of median duration; --steps, --annotation choose another. "
          "Without a TRACE it reads the newest one here; several are read as one.",
      .takes = VV_TAKES(VV_TAKES_ALWAYS, VV_TAKES_TABLES, VV_TAKES_READING, PART, VV_OPTION_TOP,
                        VV_OPTION_FIELDS, VV_OPTION_ANNOTATION, VV_OPTION_INSTANCE, VV_OPTION_SCALE,
                        VV_OPTION_COMPAT),
      .table = "critical_ops",
      .examples = EXAMPLES({ "varve critical", "the median step of the newest trace here" },
                           { "varve critical --steps 7 rank*.json.gz",
                             "step 7 of all ranks as one" },
                           { "varve critical --annotation forward --instance 3",
                             "the fourth forward pass" },
                           { "varve critical --table what_if --scale aten::mm=4",
                             "if this were four times as fast" }),
      .run = vv_cmd_critical },
    { .name = "memory", .group = "Look", .summary = "what memory is held, by whom, and when",
      .operands = "[TRACE...]",
      .description =
          "Prints for each device the most that was live at once, when, and what had allocated "
          "it; what is live at each step's begin and end; call paths that allocate in step after "
          "step what nothing releases; and the weightiest allocations. Without a TRACE it reads "
          "the newest one here; several are read as one.",
      .takes = VV_TAKES(VV_TAKES_ALWAYS, VV_TAKES_TABLES, VV_TAKES_READING, PART, VV_OPTION_BY,
                        VV_OPTION_TOP, VV_OPTION_FIELDS),
      .table = "memory",
      .examples = EXAMPLES({ "varve memory", "the newest trace here" },
                           { "varve memory --table memory_peak --by phase",
                             "who holds the peak, by phase" },
                           { "varve memory --table memory_plan --top 0",
                             "how little would have done" },
                           { "varve memory --table plan_conflicts plan.csv",
                             "buffers of a static plan that overlap" }),
      .run = vv_cmd_memory },
    { .name = "idle", .group = "Look", .summary = "why devices stood still",
      .operands = "[TRACE...]",
      .description =
          "Splits the time in which a device did nothing by what it waited for: the host, and "
          "what its thread did instead of launching; launching itself; other work. Then each such "
          "time, the longest first, and each stream. Rows add up to the idle time of the device. "
          "Without a TRACE it reads the newest one here; several are read as one.",
      .takes = VV_TAKES(VV_TAKES_ALWAYS, VV_TAKES_TABLES, VV_TAKES_READING, PART, VV_OPTION_TOP,
                        VV_OPTION_FIELDS, VV_OPTION_COMPAT),
      .table = "idle_gaps",
      .examples = EXAMPLES({ "varve idle train.json.gz", "every device of the trace" },
                           { "varve idle --device cuda:0 --steps 3 train.json.gz",
                             "one device, one step" },
                           { "varve idle --json rank*.json.gz",
                             "for scripts: integer nanoseconds" }),
      .run = vv_cmd_idle },
    { .name = "dag", .group = "Look", .summary = "the graph of what ran, and pictures of it",
      .operands = "[TRACE...]",
      .description =
          "Prints how large the graph of what ran is, what its edges are known from, and its "
          "nodes, those with most time first. With -o it writes the graph: .svg, .png and .html "
          "are pictures; .json, .dot and .graphml are for other tools, and --form names further "
          "ones. Executions are folded to one node by what --by says: module and name, unless "
          "told. Every file that it writes can be read again. Without a TRACE it reads the "
          "newest one here; several are read as one.",
      .takes = VV_TAKES(VV_TAKES_ALWAYS, VV_TAKES_TABLES, VV_TAKES_READING, PART, VV_OPTION_BY,
                        VV_OPTION_SORT, VV_OPTION_TOP, VV_OPTION_FIELDS, VV_OPTION_COMPAT,
                        VV_OPTION_OF, VV_OPTION_EDGES, VV_OPTION_AROUND, VV_OPTION_HOPS,
                        VV_OPTION_BREAK_CYCLES, VV_OPTION_SCALE, VV_OPTION_FORM,
                        VV_OPTION_METRIC, VV_OPTION_COLOURS, VV_OPTION_THEME),
      .output = "the graph as a file; with --table, --json, --csv or --md the tables",
      .table = "graph_nodes",
      .examples = EXAMPLES({ "varve dag", "the newest trace here, as tables" },
                           { "varve dag -o graph.dot train.json.gz", "for Graphviz" },
                           { "varve dag --by phase,name --top 20",
                             "the twenty heaviest, by phase" },
                           { "varve dag --around aten::mm --hops 2",
                             "what is near one operator" },
                           { "varve dag --compat mlirgraph -o graph.json x.pb",
                             "as the thesis' traceReader.py writes it" }),
      .run = vv_cmd_dag },
    { .name = "diff", .group = "Look", .summary = "two traces, with confidence",
      .operands = "[BASE] [NEW]",
      .description =
          "Says whether the steps of the new trace are faster or slower than those of the base, "
          "by how much, and whether that is more than their own spread; which operators and "
          "kernels the change comes from, in rows that add up to it; and where the calls of the "
          "two median steps differ. Without BASE it compares with NEW.old, the trace that varve "
          "record kept; without both, the newest trace here. One trace is compared with itself "
          "where --rank, --device or --steps names two parts: 0,1 or 0..9,10..19.",
      .takes = VV_TAKES(VV_TAKES_ALWAYS, VV_TAKES_TABLES, VV_TAKES_READING, PART, VV_OPTION_BY,
                        VV_OPTION_TOP, VV_OPTION_FIELDS, VV_OPTION_LINK, VV_OPTION_FAIL_OVER,
                        VV_OPTION_OUTPUT),
      .output = "with --table offload: the base program, with marks on what goes to the new one",
      .table = "diff_operators",
      .examples = EXAMPLES({ "varve diff", "the newest trace here and the one before it" },
                           { "varve diff base.varve new.varve --fail-over 5%",
                             "for scripts: exit code 1 if slower" },
                           { "varve diff --rank 0,1 job.varve", "two ranks of one job" },
                           { "varve diff --steps 0..9,10..19 train.varve",
                             "two stretches of one run" }),
      .run = vv_cmd_diff },
    { .name = "info", .group = "Look", .summary = "what is in this trace, is it whole",
      .operands = "[TRACE...]",
      .description =
          "Prints what was read, what was run, where and when, how many events were recorded and "
          "lost, each process and thread, and everything odd that was found while reading. "
          "Without a TRACE it reads the newest one here; several are read as one.",
      .takes = VV_TAKES(VV_TAKES_ALWAYS, VV_TAKES_TABLES, VV_TAKES_READING),
      .examples = EXAMPLES({ "varve info", "the newest trace here" },
                           { "varve info rank*.json.gz", "traces of several ranks as one" },
                           { "varve info --strict train.varve",
                             "exit code 1 if events were lost" }),
      .run = vv_cmd_info },
    { .name = "validate", .group = "Look", .summary = "what its readers would not like",
      .operands = "[TRACE...]",
      .description =
          "Holds a Chrome trace, such as PyTorch writes, against the rules of the programs that "
          "read it: HTA, the TensorBoard plug-in, Perfetto and the validator of PyTorch. Each "
          "broken rule is one row: who refuses the file, loses events or shows them otherwise, "
          "how often, and where first. Of any other trace it prints what reading it found. Of "
          "several, each is looked at alone. The exit code is 1 if one of them would refuse a "
          "file.",
      .takes = VV_TAKES(VV_TAKES_ALWAYS, VV_TAKES_TABLES, VV_TAKES_READING, VV_OPTION_FOR),
      .examples = EXAMPLES({ "varve validate train.json", "every rule" },
                           { "varve validate --for perfetto train.json", "those of Perfetto" },
                           { "varve validate rank*.pt.trace.json.gz", "each of several" },
                           { "varve validate --json rank0.pt.trace.json.gz", "for scripts" }),
      .run = vv_cmd_validate },
    { .name = "export", .group = "Carry", .summary = "give it to another tool",
      .operands = "[TRACE...]",
      .description =
          "Writes the trace in another tool's form. chrome is JSON for Perfetto (ui.perfetto.dev), "
          "chrome://tracing and HTA. pgle is what each instruction of XLA's programs took on a "
          "GPU or TPU, which XLA's scheduler reads: text, or binary if FILE ends in .pb. Without a "
          "TRACE it reads the newest one here; several are read as one.",
      .takes = VV_TAKES(VV_TAKES_ALWAYS, VV_OPTION_TO, VV_OPTION_OUTPUT, VV_TAKES_READING),
      .output = "the file to write; - is standard output",
      .examples = EXAMPLES({ "varve export --to chrome -o train.json",
                             "the newest trace, for Perfetto" },
                           { "varve export --to pgle -o costs.pbtxt",
                             "costs for XLA's scheduler, as text" }),
      .run = vv_cmd_export },
    { .name = "pack", .group = "Carry", .summary = "make a finished trace small",
      .operands = "[TRACE]",
      .description =
          "Rewrites a trace in a compressed form that every verb reads: about a twentieth of its "
          "size. Every record is compared with the original before it takes its place; with -o "
          "the original stays. Other readers of CTF need --unpack first. Without a TRACE it packs "
          "the newest one here.",
      .takes = VV_TAKES(VV_TAKES_ALWAYS, VV_OPTION_OUTPUT, VV_OPTION_UNPACK),
      .output = "the trace folder to write; without it the trace is replaced",
      .examples = EXAMPLES({ "varve pack", "the newest trace here" },
                           { "varve pack -o small.varve train.varve", "keep train.varve as it is" },
                           { "varve pack --unpack train.varve && babeltrace2 train.varve",
                             "for other readers of CTF" }),
      .run = vv_cmd_pack },
    { .name = "annotate", .group = "MLIR", .summary = "what was measured, into the module",
      .operands = "MODULE [TRACE...]",
      .description =
          "Writes what a trace measured into the operations of the module that it was measured "
          "of, and prints how much of the time was found there. It goes into locations, which "
          "change no code; with --attr into attributes. Varve's earlier annotations are replaced. "
          "Without -o nothing is written, only found. Without a TRACE it reads the newest one "
          "here; several are read as one. A profile of another module, or of another version of "
          "it, is refused; --require-coverage 0 writes what was found all the same. With --read it "
          "prints what a module, lowered to any level, or a program of IREE (.vmfb) carries: so a "
          "loop, an operation of LLVM or a dispatch names the operator that it came from.",
      .takes = VV_TAKES(VV_TAKES_ALWAYS, VV_TAKES_TABLES, VV_TAKES_READING, PART, VV_OPTION_FIELDS,
                        VV_OPTION_TOP, VV_OPTION_READ, VV_OPTION_ATTR, VV_OPTION_REQUIRE_COVERAGE,
                        VV_OPTION_COMPAT, VV_OPTION_MIN_LEVEL, VV_OPTION_KEY_ATTR, VV_OPTION_EMIT,
                        VV_OPTION_NO_RANGES, VV_OPTION_ENGINE, VV_OPTION_MLIR_LIB),
      .output = "the module to write; - is standard output",
      .fields = "what is written, such as ts,dur or count,total; with --read the columns",
      .table = "annotations",
      .examples = EXAMPLES({ "varve annotate net.mlir -o out.mlir",
                             "from the newest trace here" },
                           { "varve annotate net.mlir train.json.gz --require-coverage 80%",
                             "is enough of it found?" },
                           { "varve annotate net.mlir x.csv --compat mlirgraph -o out.mlir",
                             "as mlirgraph does" },
                           { "varve annotate --read lowered.mlir", "what a module carries" }),
      .run = vv_cmd_annotate },
    { .name = "tag", .group = "MLIR", .summary = "number the operations of a module",
      .operands = "MODULE",
      .description =
          "Writes the module with the name varve#N: around the location of each operation. "
          "Compilers keep it: XLA as the op_type of what it makes of the operation, IREE in the "
          "location of each dispatch. So a profile of the compiled program names operations one "
          "by one. The code does not change, and a module that has tags gets them anew.",
      .takes = VV_TAKES(VV_TAKES_ALWAYS, VV_OPTION_OUTPUT, VV_OPTION_EMIT, VV_OPTION_NO_RANGES,
                        VV_OPTION_ENGINE, VV_OPTION_MLIR_LIB),
      .output = "the module to write; - is standard output",
      .examples = EXAMPLES({ "varve tag net.mlir -o tagged.mlir", "then compile and profile it" },
                           { "varve tag net.mlirbc --mlir-lib python --emit bytecode -o t.mlirbc",
                             "bytecode in, bytecode out" }),
      .run = vv_cmd_tag },
    { .name = "hot", .group = "MLIR", .summary = "the few operations that take the time",
      .operands = "MODULE [TRACE...]",
      .description =
          "Lists the operations of a program in MLIR that take most of its time: by what traces "
          "measured, or else by the profile that the program carries. With -o it writes the "
          "program with the attribute varve.hot on them, and with --script a script for mlir-opt "
          "that exchanges loops, tiles or vectorizes the marked operations alone. For a program of "
          "IREE it writes files that give the hot dispatches other tiles. varve annotate writes a "
          "profile into a program.",
      .takes = VV_TAKES(VV_TAKES_ALWAYS, VV_OPTION_TOP_SHARE, VV_OPTION_OUTPUT, VV_OPTION_SCRIPT,
                        VV_OPTION_CONFIGURATIONS, VV_OPTION_SUBSTITUTES, VV_OPTION_TUNING_SPEC,
                        VV_OPTION_FORMAT, VV_OPTION_JSON, VV_OPTION_CSV, VV_OPTION_MD,
                        VV_OPTION_UNIT, VV_OPTION_FIELDS, VV_TAKES_READING, PART,
                        VV_OPTION_ENGINE, VV_OPTION_MLIR_LIB),
      .output = "write the program there, with marks on its hot operations",
      .table = "hot",
      .examples = EXAMPLES({ "varve hot annotated.mlir", "80 % of the time" },
                           { "varve hot net.mlir train.json.gz", "by what a trace measured" },
                           { "varve hot annotated.mlir -o hot.mlir",
                             "the program, with marks" },
                           { "varve hot flow.mlir p.ireeprof --configurations dump --substitutes t",
                             "for IREE" }),
      .run = vv_cmd_hot },
    { .name = "tune", .group = "MLIR", .summary = "make a program of IREE faster, and prove it",
      .operands = "MODULE",
      .description =
          "Compiles an MLIR module with IREE for this processor, profiles it, and tries what could "
          "make it faster: flags of the compiler, and other tiles for the dispatches that take "
          "most of the time. Each candidate's outputs are compared with those of the module as it "
          "is. At the end the best ones take turns with \"no change\", which wins unless another "
          "is faster in four of five turns. What did not help stands in the report like what did. "
          "A compiler or program that fails, crashes or takes longer than --limit is a candidate "
          "that failed. The answer is the line that compiles the module. It is kept in answer.txt "
          "of the folder --work, with the files that this line names. The same command goes on "
          "with what the folder holds. Needs iree-base-compiler and iree-base-runtime.",
      .takes = VV_TAKES(VV_TAKES_ALWAYS, VV_TAKES_TABLES, VV_OPTION_FIELDS, VV_OPTION_IREE,
                        VV_OPTION_IREE_FLAGS, VV_OPTION_FUNCTION, VV_OPTION_INPUT, VV_OPTION_WORK,
                        VV_OPTION_LIMIT, VV_OPTION_TOLERANCE, VV_OPTION_TILES, VV_OPTION_TURNS),
      .table = "tune",
      .examples = EXAMPLES({ "varve tune net.mlir --input @x.npy", "with an input from a file" },
                           { "varve tune net.mlir --input '1x64xi64=7' --tiles 8 --turns 15",
                             "search longer" },
                           { "varve tune net.mlir --input @x.npy --tiles 0",
                             "flags of the compiler only" },
                           { "varve tune net.mlir --input @x.npy --json -o tune.json",
                             "the report for a program" }),
      .run = vv_cmd_tune },
    { .name = "doctor", .group = "Prepare",
      .summary = "what can be recorded and read on this machine", .operands = "[PYTHON]",
      .description =
          "Says what this machine and this build of varve can do: record programs, with which "
          "clock, write traces here, read which compressed and foreign files; and what to do "
          "about what is lacking. Of a Python, the one that is named, else that of the active "
          "environment, of the one that varve is installed in, or python3, it says what programs "
          "are recorded from: its PyTorch, their calls. With --peaks it measures how many "
          "floating-point operations its processors and how many bytes its memory can do in a "
          "second, which tables roofline and mfu hold operators of the host against; that is kept "
          "for this machine in $XDG_CACHE_HOME/varve.",
      .takes = VV_TAKES(VV_TAKES_ALWAYS, VV_TAKES_TABLES, VV_OPTION_PEAKS),
      .examples = EXAMPLES({ "varve doctor", "what there is and what is lacking" },
                           { "varve doctor -- venv/bin/python",
                             "what that Python's programs are recorded from" },
                           { "varve doctor --peaks",
                             "measure this machine once, while nothing else runs" }),
      .run = vv_cmd_doctor },
    { .name = "help", .group = "Prepare", .summary = "what the verbs do and take",
      .operands = "[VERB|TABLE|tables|rules|filter]",
      .operand_kind = VV_OPERANDS_VERB,
      .description = "Prints the help of one verb, with --all that of every verb; what tables and "
                     "rules there are; the columns of one table with their units and meanings; or "
                     "what --filter understands. A verb goes before a table of the same name: "
                     "varve help table steps.",
      .takes = VV_TAKES(VV_TAKES_ALWAYS, VV_OPTION_ALL, VV_OPTION_MAN),
      .examples = EXAMPLES({ "varve help report", "the same as varve report --help" },
                           { "varve help tables", "what report --table can print" },
                           { "varve help kernels", "the columns of table kernels" },
                           { "varve help rules", "what LOOK FIRST looks for, and why so" },
                           { "varve help filter", "what --filter understands" },
                           { "varve help --all", "everything" }),
      .run = vv_cmd_help },
    { .name = "version", .group = "Prepare", .summary = "which varve this is", .operands = "",
      .operand_kind = VV_OPERANDS_NONE,
      .description = "Prints the version of the command and of the trace format it writes.",
      .takes = VV_TAKES(VV_TAKES_ALWAYS),
      .examples = EXAMPLES({ "varve version", "one line" }),
      .run = vv_cmd_version },
    { .name = "completions", .group = "Prepare", .summary = "completion script for a shell",
      .operands = "bash|zsh|fish", .operand_kind = VV_OPERANDS_SHELL,
      .description = "Prints a script that teaches the shell to complete verbs, options and their "
                     "values: tables, columns of the table that is named, layers, collectors, "
                     "processes that are being recorded.",
      .takes = VV_TAKES(VV_TAKES_ALWAYS),
      .examples = EXAMPLES({ "source <(varve completions bash)", "in this bash" },
                           { "varve completions zsh > ~/.zfunc/_varve",
                             "in a folder of zsh's fpath" },
                           { "varve completions fish | source", "in this fish" }),
      .run = vv_cmd_completions },
    { .name = NULL },
};
