/* SPDX-License-Identifier: Apache-2.0 */
/* code.c — keeps the site of a code object in a slot of that object. If a code object is freed and
 * another takes its address, nothing is mixed up: the slot's content is freed with its object. */
#include "collect/python/code.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_BYTES 1024u
#define MODULE_BYTES 256u

intptr_t vv_python_slot = -1;
struct vv_python_api vv_python;

static char modules[512]; /* globs with commas between, "/" in place of "."; "" = all            */
static struct vv_python_code unknown = { .site = { "<function>", NULL, 0, VARVE_LAYER_PYTHON, 0,
                                                   0 } };

/* A function of the module `varve` was called. */
static _Atomic bool is_own_met;

bool vv_python_any_left_out(void)
{
    return modules[0] != '\0' || is_own_met;
}

bool vv_python_code_begin(const struct vv_python_api *api)
{
    const char *wanted = getenv("VARVE_PYTHON_MODULES");
    vv_python = *api;
    snprintf(modules, sizeof modules, "%s", wanted != NULL ? wanted : "");
    for (char *at = modules; *at != '\0'; at++)
        *at = *at == '.' ? '/' : *at;
    if (vv_python_slot < 0)
        vv_python_slot = vv_python.extra_index(free);
    return vv_python_slot >= 0;
}

/* ---- names ---- */

/* Returns the part of the path behind the longest entry of sys.path that leads to it: the name of
 * the module in its package. PyTorch's profiler cuts the path in the same way. */
static const char *shorten(const char *path)
{
    static char here[PATH_MAX]; /* guarded by the interpreter's lock */
    void *entries = vv_python.sys_object("path");
    size_t longest = 0;
    intptr_t count = entries != NULL ? vv_python.list_size(entries) : 0;
    for (intptr_t i = 0; i < count; i++) {
        const char *entry = vv_python.utf8(vv_python.list_item(entries, i));
        if (entry != NULL && *entry == '\0') /* "" is the working folder */
            entry = getcwd(here, sizeof here);
        size_t length = entry != NULL ? strlen(entry) : 0;
        if (length > longest && strncmp(path, entry, length) == 0 && path[length] == '/')
            longest = length;
    }
    return longest != 0 ? path + longest + 1 : path;
}

/* Makes "torch/nn" from "torch/nn/__init__.py". */
static void name_module(const char *file, char out_module[MODULE_BYTES])
{
    size_t length = strlen(file);
    if (length > 3 && strcmp(file + length - 3, ".py") == 0)
        length -= 3;
    if (length > 9 && strncmp(file + length - 9, "/__init__", 9) == 0)
        length -= 9;
    snprintf(out_module, MODULE_BYTES, "%.*s",
             (int)(length < MODULE_BYTES ? length : MODULE_BYTES - 1), file);
}

/* What the module `varve` does while it switches is none of the program's work. */
static bool is_own(const char *file)
{
    return strncmp(file, "varve/", 6) == 0;
}

/* Is the module, or a package that contains it, among the wanted modules? */
static bool is_wanted(const char *file)
{
    char module[MODULE_BYTES], globs[sizeof modules], *rest = NULL;
    if (modules[0] == '\0')
        return true;
    memcpy(globs, modules, sizeof globs);
    name_module(file, module);
    for (char *glob = strtok_r(globs, ",", &rest); glob != NULL; glob = strtok_r(NULL, ",", &rest))
        if (fnmatch(glob, module, FNM_LEADING_DIR) == 0)
            return true;
    return false;
}

struct facts {
    void *name, *file, *line;
};

static struct vv_python_code *describe(const struct facts *facts)
{
    const char *name = vv_python.utf8(facts->name), *file = vv_python.utf8(facts->file);
    long line = vv_python.integer(facts->line);
    char text[NAME_BYTES];
    name = name != NULL ? name : "?"; /* a Python text may have no UTF-8 form */
    file = file != NULL ? file : "?";
    const char *short_file = shorten(file);
    int length = snprintf(text, sizeof text, "%s(%ld): %s", short_file, line, name);
    size_t name_bytes = (size_t)length < sizeof text ? (size_t)length + 1 : sizeof text;
    size_t file_bytes = strlen(file) + 1;
    struct vv_python_code *made = malloc(sizeof *made + name_bytes + file_bytes);
    if (made == NULL)
        return NULL;
    memcpy(made->texts, text, name_bytes);
    memcpy(made->texts + name_bytes, file, file_bytes);
    made->site = (struct varve_site){
        made->texts, made->texts + name_bytes, (uint32_t)line, VARVE_LAYER_PYTHON, 0, 0
    };
    made->is_left_out = is_own(short_file) || !is_wanted(short_file);
    if (is_own(short_file))
        is_own_met = true;
    return made;
}

static struct vv_python_code *describe_code(void *code)
{
    struct facts facts = { vv_python.attribute(code, "co_name"),
                           vv_python.attribute(code, "co_filename"),
                           vv_python.attribute(code, "co_firstlineno") };
    struct vv_python_code *made = NULL;
    if (facts.name != NULL && facts.file != NULL && facts.line != NULL)
        made = describe(&facts);
    if (made != NULL && vv_python.set_extra(code, vv_python_slot, made) != 0) {
        free(made);
        made = NULL;
    }
    vv_python.drop(facts.name);
    vv_python.drop(facts.file);
    vv_python.drop(facts.line);
    return made;
}

struct vv_python_code *vv_python_code_meet(void *code)
{
    int saved_errno = errno;
    void *type, *value, *traceback;
    vv_python.take_error(&type, &value, &traceback);
    struct vv_python_code *made = describe_code(code);
    vv_python.clear_error();
    vv_python.restore_error(type, value, traceback);
    errno = saved_errno;
    return made != NULL ? made : &unknown;
}
