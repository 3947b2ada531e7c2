/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recording/doctor_sources.h"

#include <stdio.h>
#include <string.h>

#include "cli/recording/interpreter.h"
#include "settings/sources.h"

enum { SOURCE, STATE, STANDARD, DETAIL };

const struct vv_sheet_column vv_doctor_sources_columns[VV_DOCTOR_SOURCES_COLUMNS] = {
    { "source", "source", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "state", "state", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "standard", "standard", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "detail", "detail", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
};

/* The oldest version that is known to work. */
#define TORCH_MAJOR 1
#define TORCH_MINOR 13
#define PYTHON_MINOR 9

static bool has_hooks(const struct vv_interpreter *python, char *detail, size_t bytes)
{
    bool is_cpython = strcmp(python->kind, "cpython") == 0;
    bool is_new = python->major > 3 || (python->major == 3 && python->minor >= PYTHON_MINOR);
    if (python->why[0] != '\0')
        snprintf(detail, bytes, "%.140s%s%.300s. Name one:  varve doctor -- PYTHON", python->path,
                 python->path[0] != '\0' ? " " : "", python->why);
    else if (!is_cpython)
        snprintf(detail, bytes,
                 "%.300s is %s: only CPython has the hooks that tell of imports and calls",
                 python->path, python->kind);
    else if (!is_new)
        snprintf(detail, bytes, "Python %s is older than 3.9, and left alone: %.300s",
                 python->version, python->path);
    return python->why[0] == '\0' && is_cpython && is_new;
}

static bool check_torch(const struct vv_interpreter *python, char *detail, size_t bytes)
{
    int major = 0, minor = 0;
    if (!has_hooks(python, detail, bytes))
        return false;
    if (python->torch_folder[0] == '\0') {
        snprintf(detail, bytes, "no PyTorch in %.300s:  %.300s -m pip install torch", python->path,
                 python->path);
        return false;
    }
    bool is_known = sscanf(python->torch_version, "%d.%d", &major, &minor) == 2;
    bool is_new =
        !is_known || major > TORCH_MAJOR || (major == TORCH_MAJOR && minor >= TORCH_MINOR);
#if defined(__x86_64__)
    bool is_machine = true;
#else
    bool is_machine = false;
#endif
    if (!is_machine)
        snprintf(detail, bytes, "PyTorch %s: its callbacks are known for x86-64 only",
                 python->torch_version);
    else
        snprintf(detail, bytes, "PyTorch %s%s, %.400s", python->torch_version,
                 is_new ? "" : " is older than 1.13, and untried", python->torch_folder);
    return is_machine && is_new;
}

static bool check_python(const struct vv_interpreter *python, char *detail, size_t bytes)
{
    bool is_there = has_hooks(python, detail, bytes);
    if (is_there)
        snprintf(detail, bytes, "Python %s, %.400s", python->version, python->path);
    return is_there;
}

/* If the source is a part of another one, the detail names that one. */
static bool check_source(const struct vv_interpreter *python,
                         const struct vv_collect_source *source, char *detail, size_t bytes)
{
    bool is_there = source->needs == VV_NEEDS_PYTHON  ? check_python(python, detail, bytes)
                    : source->needs == VV_NEEDS_TORCH ? check_torch(python, detail, bytes)
                                                      : true;
    if (source->needs == VV_NEEDS_NOTHING)
        snprintf(detail, bytes, "in any program");
    if (source->whole != NULL)
        snprintf(detail, bytes, "%s %s", is_there ? "with" : "not without", source->whole);
    return is_there;
}

enum varve_code vv_doctor_sources_put(struct vv_sheet *sheet, const char *python,
                                      struct varve_error *error)
{
    static struct vv_interpreter interpreter;
    vv_interpreter_ask(python, &interpreter);
    for (size_t i = 0; i < vv_collect_source_count; i++) {
        const struct vv_collect_source *source = &vv_collect_sources[i];
        char detail[800], asked[1000];
        size_t row;
        bool is_there = check_source(&interpreter, source, detail, sizeof detail);
        bool must_ask = is_there && !source->is_standard;
        snprintf(asked, sizeof asked, "%s%s%s", detail,
                 must_ask ? "; ask for it:  varve record --collect +" : "",
                 must_ask ? source->name : "");
        VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
        VV_TRY(vv_sheet_text(sheet, row, SOURCE, source->name, error));
        VV_TRY(vv_sheet_text(sheet, row, STATE, is_there ? "yes" : "no", error));
        VV_TRY(vv_sheet_text(sheet, row, STANDARD, source->is_standard ? "yes" : "no", error));
        VV_TRY(vv_sheet_text(sheet, row, DETAIL, asked, error));
    }
    return vv_sheet_policy(sheet, error, "what programs of %s are recorded from",
                           interpreter.path[0] != '\0' ? interpreter.path : "a Python");
}
