/* SPDX-License-Identifier: Apache-2.0 */
/* builtin.c — finds the site of a function of C by its PyMethodDef. Method objects come and go; the
 * PyMethodDef that they are made from stays. If one goes and another takes its address, the name
 * tells them apart. */
#include <stdio.h>
#include <string.h>

#include "base/system/os.h"
#include "collect/process/peek.h"
#include "collect/python/code.h"
#include "record/stream/recorder.h"

#define ROWS_MAX 16384u
#define SLOTS (2 * ROWS_MAX)
#define TEXT_BYTES (UINT64_C(2) << 20)

struct row {
    const void *method; /* a PyMethodDef                                                         */
    const char *plain;  /* a copy of its name                                                    */
    struct varve_site site;
};

static size_t type_offset;  /* offset of ob_type; larger in a build without the lock */
static struct row *rows;
static uint32_t *slots;     /* row + 1; 0 = free; atomic */
static uint32_t row_count;
static char *texts;
static uint64_t texts_used;

static const void *word_at(const void *object, size_t offset)
{
    const void *word;
    memcpy(&word, (const char *)object + offset, sizeof word);
    return word;
}

/* ---- where objects keep their names ---- */

static size_t method_offset(bool is_descriptor)
{
    /* PyDescr_COMMON has a type, a name and a qualified name. */
    return type_offset + 8 + (is_descriptor ? 24 : 0);
}

static bool leads_to(void *object, bool is_descriptor, const char *expected)
{
    const void *method;
    const char *name;
    char text[16] = "";
    return object != NULL &&
           vv_peek((const char *)object + method_offset(is_descriptor), &method, sizeof method) &&
           vv_peek(method, &name, sizeof name) && vv_peek(name, text, strlen(expected) + 1) &&
           strcmp(text, expected) == 0;
}

static bool is_as_expected(void)
{
    static const size_t offsets[] = { 8, 24 };
    const void *word = NULL;
    for (size_t i = 0; i < 2 && word != vv_python.type_type; i++) {
        type_offset = offsets[i];
        (void)vv_peek((const char *)vv_python.list_type + type_offset, &word, sizeof word);
    }
    void *function = vv_python.sys_object("getrefcount"),
         *descriptor = vv_python.attribute(vv_python.list_type, "append");
    bool is_right = word == vv_python.type_type && leads_to(function, false, "getrefcount") &&
                    leads_to(descriptor, true, "append");
    vv_python.drop(descriptor);
    vv_python.clear_error();
    return is_right;
}

bool vv_python_builtin_begin(void)
{
    if (!is_as_expected())
        return false;
    rows = vv_os_reserve(ROWS_MAX * sizeof *rows);
    slots = vv_os_reserve(SLOTS * sizeof *slots);
    texts = vv_os_reserve(TEXT_BYTES);
    return rows != NULL && slots != NULL && texts != NULL;
}

/* ---- the table ---- */

static struct row *find_method(const void *method, const char *plain, uint32_t *out_slot)
{
    uint64_t hash = (uint64_t)(uintptr_t)method * UINT64_C(0x9E3779B97F4A7C15);
    for (uint32_t slot = (uint32_t)(hash >> 49) & (SLOTS - 1);; slot = (slot + 1) & (SLOTS - 1)) {
        uint32_t number = __atomic_load_n(&slots[slot], __ATOMIC_ACQUIRE);
        *out_slot = slot;
        if (number == 0)
            return NULL;
        struct row *row = &rows[number - 1];
        if (row->method == method && strcmp(row->plain, plain) == 0)
            return row;
    }
}
_Static_assert(SLOTS == 1u << 15, "the highest 15 bits of the product");

/* Prints the callable like its repr(), without the address. Names the type that it is a method of,
 * unless that is a module. */
static int print(char *to, size_t capacity, void *callable, const char *plain)
{
    const void *type = word_at(callable, type_offset);
    const void *owner =
        word_at(callable, method_offset(false) + (type == vv_python.descriptor_type ? 0 : 8));
    if (owner != NULL && type != vv_python.descriptor_type)
        owner = word_at(owner, type_offset);
    const char *owner_name = owner != NULL ? word_at(owner, type_offset + 16) : NULL; /* tp_name */
    if (owner_name == NULL || strcmp(owner_name, "module") == 0)
        return snprintf(to, capacity, "<built-in function %s>", plain);
    return snprintf(to, capacity, "<built-in method %s of %s object>", plain, owner_name);
}

static struct row *add(const void *method, const char *plain, void *callable)
{
    uint32_t slot;
    struct row *row = find_method(method, plain, &slot);
    size_t bytes = strlen(plain) + 1, room = TEXT_BYTES - texts_used;
    if (row != NULL || row_count >= ROWS_MAX || bytes > room)
        return row;
    char *kept = texts + texts_used, *name = memcpy(kept, plain, bytes);
    name += bytes;
    int length = print(name, room - bytes, callable, plain);
    if (length < 0 || (size_t)length >= room - bytes)
        return NULL;
    texts_used += bytes + (size_t)length + 1;
    row = &rows[row_count];
    *row = (struct row){ method, kept, { name, NULL, 0, VARVE_LAYER_PYTHON, 0, 0 } };
    __atomic_store_n(&slots[slot], ++row_count, __ATOMIC_RELEASE);
    return row;
}

struct varve_site *vv_python_builtin(void *callable)
{
    static struct varve_site others = { "<built-in function>", NULL, 0, VARVE_LAYER_PYTHON, 0, 0 };
    const void *type = word_at(callable, type_offset);
    if (type != vv_python.function_type && type != vv_python.method_type &&
        type != vv_python.descriptor_type)
        return NULL;
    const void *method = word_at(callable, method_offset(type == vv_python.descriptor_type));
    const char *plain = word_at(method, 0);
    uint32_t slot;
    struct row *row = find_method(method, plain, &slot);
    if (VARVE_UNLIKELY(row == NULL) && vv_recorder_lock()) {
        row = add(method, plain, callable);
        vv_recorder_unlock();
    }
    return row != NULL ? &row->site : &others;
}
