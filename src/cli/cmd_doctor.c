/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_doctor.c — varve doctor: what can be recorded and read on this machine, and its peak
 * values. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/perf_counter.h"
#include "cli/line/arguments.h"
#include "cli/reading/output.h"
#include "cli/reading/peak_measure.h"
#include "cli/doctor/doctor_sources.h"
#include "cli/recording/program.h"
#include "graph/forms/librsvg.h"
#include "graph/layout/graphviz.h"
#include "import/sqlite/sqlite.h"
#include "machine/machine.h"
#include "machine/peak_file.h"
#include "settings/sources.h"
#include "sheet/number.h"

/* ---- table "doctor" ---- */

enum { CHECK, STATE, DETAIL, COLUMNS };

static const struct vv_sheet_column doctor_columns[COLUMNS] = {
    { "check", "check", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "state", "state", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "detail", "detail", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_WRAPPED },
};

/* Writes what was found, or what to do. Returns whether all is well. */
typedef bool check_fn(char *detail, size_t bytes);

static bool check_library(char *detail, size_t bytes)
{
    char *path = vv_program_library();
    bool is_found = path != NULL;
    snprintf(
        detail, bytes, "%s",
        is_found
            ? path
            : "libvarve.so is neither beside varve nor installed: VARVE_LIBRARY=/path/libvarve.so");
    free(path);
    return is_found;
}

static bool check_clock(char *detail, size_t bytes)
{
    vv_clock_init();
    const char *refusal = access(VV_CLOCK_SOURCE_FILE, R_OK) == 0
                              ? "the kernel does not trust the processor's counter"
                              : "/sys is not here to say whether the kernel trusts the "
                                "processor's counter: mount it";
    if (vv_clock_is_counter)
        snprintf(detail, bytes, "the processor's counter");
    else
        snprintf(detail, bytes, "%s; each record asks the kernel for the time", refusal);
    return vv_clock_is_counter;
}

/* The recorder writes through shared mappings of files. If the file system refuses these, it writes
 * to the files instead. */
static bool check_folder(char *detail, size_t bytes)
{
    char name[] = "varve-doctor-XXXXXX", room[VV_NUMBER_BYTES];
    struct statvfs status;
    int file = mkstemp(name);
    if (file < 0) {
        snprintf(detail, bytes,
                 "no trace can be written in this folder (%s): record -o FOLDER elsewhere",
                 strerror(errno));
        return false;
    }
    unlink(name);
    bool is_long = ftruncate(file, 4096) == 0;
    void *mapping =
        is_long ? mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    bool is_mapped = mapping != MAP_FAILED;
    if (is_mapped)
        munmap(mapping, 4096);
    if (fstatvfs(file, &status) != 0)
        status.f_bavail = status.f_frsize = 0;
    close(file);
    vv_number_bytes((int64_t)(status.f_bavail * status.f_frsize), room, sizeof room);
    snprintf(detail, bytes, "%s free%s", room,
             is_mapped ? "" : "; no shared mappings here, so records cost more");
    return is_mapped;
}

/* For varve record --metrics. Counters of software are always there. */
static bool check_counters(char *detail, size_t bytes)
{
    struct perf_event_mmap_page *page;
    int failure = vv_perf_counter_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, &page);
    if (failure == 0)
        vv_perf_counter_close(page);
    snprintf(detail, bytes, "%s%s",
             failure == 0 ? "the processor's" : "software counters alone: ",
             failure == 0 ? "" : vv_perf_counter_reason(failure));
    return failure == 0;
}

/* GPUs and similar devices, by the files that their drivers make. */
static bool check_devices(char *detail, size_t bytes)
{
    static const struct { const char *pattern, *name, *source, *otherwise; } drivers[] = {
        { "/dev/nvidia[0-9]*", "NVIDIA", "cuda", "torch.profiler, nsys" },
        { "/dev/kfd", "AMD", "rocm", "torch.profiler, rocprofv3" },
        { "/dev/davinci[0-9]*", "Ascend", "ascend", "msprof" },
    };
    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++) {
        glob_t found;
        int failure = glob(drivers[i].pattern, 0, NULL, &found);
        size_t count = failure == 0 ? found.gl_pathc : 0;
        bool is_source = vv_collect_bit(drivers[i].source) != 0;
        globfree(&found);
        if (count == 0)
            continue;
        if (is_source)
            snprintf(detail, bytes, "%zu of %s: varve record records their work", count,
                     drivers[i].name);
        else
            snprintf(detail, bytes,
                     "%zu of %s. Their work is not recorded: record it with %s, and read it with "
                     "varve report",
                     count, drivers[i].name, drivers[i].otherwise);
        return is_source;
    }
    snprintf(detail, bytes, "no GPU on this machine, so none is missed");
    return true;
}

static bool check_peaks(char *detail, size_t bytes)
{
    char machine[256];
    struct vv_peaks peaks;
    vv_machine_name(machine, sizeof machine);
    bool is_known = vv_peak_file_load(machine, vv_machine_cpus(), &peaks);
    snprintf(detail, bytes, "%s", is_known ? "measured" : "not measured: varve doctor --peaks");
    return is_known;
}

#define BUILT_WITH(function, is_there, without)                           \
    static bool function(char *detail, size_t bytes)                      \
    {                                                                     \
        snprintf(detail, bytes, "%s", (is_there) ? "built in" : without); \
        return is_there;                                                  \
    }
#ifdef VV_HAVE_ZLIB
BUILT_WITH(check_gzip, true, "")
#else
BUILT_WITH(check_gzip, false, "this build lacks zlib (zlib1g-dev)")
#endif
#ifdef VV_HAVE_ZSTD
BUILT_WITH(check_zstd, true, "")
#else
BUILT_WITH(check_zstd, false, "this build lacks zstd (libzstd-dev): no .zst, no varve pack")
#endif
#ifdef VV_HAVE_SQLITE
static bool check_sqlite(char *detail, size_t capacity)
{
    struct varve_error error = { .message = "" };
    bool is_there = vv_sqlite_open(&error) == VARVE_OK;
    snprintf(detail, capacity, "%s", is_there ? "installed" : error.message);
    return is_there;
}
#else
BUILT_WITH(check_sqlite, false,
           "this build lacks SQLite (libsqlite3-dev): no Nsight Systems exports, no .rpd")
#endif

static bool check_graphviz(char *detail, size_t capacity)
{
    bool is_there = vv_graphviz_find(detail, capacity);
    if (!is_there)
        snprintf(detail, capacity, "Graphviz is not installed (graphviz): Varve places the nodes "
                                   "of small graphs by its own rules, too");
    return is_there;
}

static bool check_librsvg(char *detail, size_t capacity)
{
    struct varve_error error = { .message = "" };
    bool is_there = vv_librsvg_open(&error) == VARVE_OK;
    snprintf(detail, capacity, "%s", is_there ? "installed" : error.message);
    return is_there;
}

static const struct { const char *name; check_fn *check; bool is_extra; } checks[] = {
    { "record programs", check_library, false },
    { "clock", check_clock, false },
    { "write traces here", check_folder, false },
    { "read .gz", check_gzip, false },
    { "read .zst, pack", check_zstd, false },
    { "read .sqlite", check_sqlite, false },
    { "Graphviz", check_graphviz, true },
    { "dag -o .png", check_librsvg, true },
    { "record --metrics", check_counters, true },
    { "GPU work", check_devices, false },
    { "peaks of this machine", check_peaks, true },
};

static enum varve_code put_checks(struct vv_sheet *sheet, struct varve_error *error)
{
    size_t lacking = 0, extras = 0;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        char detail[600];
        size_t row;
        bool is_well = checks[i].check(detail, sizeof detail);
        lacking += !is_well && !checks[i].is_extra;
        extras += !is_well && checks[i].is_extra;
        VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
        VV_TRY(vv_sheet_text(sheet, row, CHECK, checks[i].name, error));
        VV_TRY(vv_sheet_text(sheet, row, STATE, is_well ? "yes" : "no", error));
        VV_TRY(vv_sheet_text(sheet, row, DETAIL, detail, error));
    }
    return vv_sheet_policy(sheet, error, "%s",
                           lacking > 0  ? "see the rows that say no"
                           : extras > 0 ? "all is here; the rows that say no are extras"
                                        : "nothing is lacking");
}

/* ---- table "peaks" ---- */

enum { MACHINE, CPUS, F32, F64, BYTES, PEAK_COLUMNS };

static const struct vv_sheet_column peak_columns[PEAK_COLUMNS] = {
    { "machine", "machine", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "cpus", "processors", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "f32_flop_per_s", "32 bits", VV_CELL_REAL, VV_UNIT_FLOP_PER_S, false, false },
    { "f64_flop_per_s", "64 bits", VV_CELL_REAL, VV_UNIT_FLOP_PER_S, false, false },
    { "bytes_per_s", "memory", VV_CELL_REAL, VV_UNIT_BYTES_PER_S, false, false },
};

/* Keeps the peaks of other machines. */
static enum varve_code store_peaks(const char *machine, int64_t cpus, const struct vv_peaks *peaks,
                                   struct vv_sheet *sheet, struct varve_error *error)
{
    struct vv_output output = { .folder = -1 };
    char *path;
    VV_TRY(vv_peak_file_place(&path, error));
    enum varve_code code = vv_output_open(&output, path, error);
    if (code == VARVE_OK) {
        vv_peak_file_put(machine, cpus, peaks, output.stream);
        code = vv_output_commit(&output, error);
    }
    if (code == VARVE_OK)
        code = vv_sheet_policy(sheet, error, "all processors together, kept in %s", path);
    free(path);
    return code;
}

static enum varve_code put_peaks(struct vv_sheet *sheet, bool is_wanted, struct varve_error *error)
{
    char machine[256];
    struct vv_peaks peaks;
    int64_t cpus = vv_machine_cpus();
    size_t row;
    vv_machine_name(machine, sizeof machine);
    if (is_wanted) {
        VV_TRY(vv_peaks_measure(&peaks, error));
        VV_TRY(store_peaks(machine, cpus, &peaks, sheet, error));
    } else if (!vv_peak_file_load(machine, cpus, &peaks)) {
        return vv_sheet_policy(sheet, error, "not measured: varve doctor --peaks");
    }
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, MACHINE, machine, error));
    vv_sheet_int(sheet, row, CPUS, cpus);
    vv_sheet_real(sheet, row, F32, peaks.vector_f32);
    vv_sheet_real(sheet, row, F64, peaks.vector_f64);
    vv_sheet_real(sheet, row, BYTES, peaks.bytes);
    return VARVE_OK;
}

vv_run_verb vv_cmd_doctor;

int vv_cmd_doctor(const struct vv_arguments *arguments)
{
    struct vv_sheet doctor, sources, peaks;
    const struct vv_sheet *const sheets[] = { &doctor, &sources, &peaks };
    const char *python = arguments->operand_count > 0 ? arguments->operands[0] : NULL;
    struct varve_error error;
    enum varve_code code = VARVE_OK;
    vv_sheet_init(&doctor, "doctor", "THIS MACHINE", doctor_columns, COLUMNS);
    vv_sheet_init(&sources, "sources", "PYTHON", vv_doctor_sources_columns,
                  VV_DOCTOR_SOURCES_COLUMNS);
    vv_sheet_init(&peaks, "peaks", "PEAKS", peak_columns, PEAK_COLUMNS);
    if (arguments->operand_count > 1)
        code = vv_fail(&error, VARVE_INVALID, "doctor takes one Python: '%.60s' is too many",
                       arguments->operands[1]);
    if (code == VARVE_OK)
        code = put_peaks(&peaks, arguments->peaks, &error);
    if (code == VARVE_OK)
        code = put_checks(&doctor, &error);
    if (code == VARVE_OK)
        code = vv_doctor_sources_put(&sources, python, &error);
    int status = code == VARVE_OK ? vv_cli_print(arguments, "doctor", NULL, sheets, 3)
                                  : vv_print_error(&error);
    vv_sheet_deinit(&doctor);
    vv_sheet_deinit(&sources);
    vv_sheet_deinit(&peaks);
    return status;
}
