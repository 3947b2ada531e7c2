/* SPDX-License-Identifier: Apache-2.0 */
/* nn_names.c — finds modules by their address while they live. A weak reference takes a module's
 * row out of the table before another object can get the module's address. Making a weak reference
 * may run Python code (the garbage collector), which may call modules. So the reference is made
 * first, and the table is read again afterwards. */
#include "collect/torch/nn_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/os.h"
#include "record/text_hash.h"

#define NAME_BYTES 512u
#define SITES_MAX 32768u /* number of names; a trace has at most 131,064 sites                    */
#define SITE_BUCKETS 4096u
#define SEARCHED_MAX 1024u /* modules that are searched for one module */

struct vv_torch_nn_class {
    struct vv_torch_nn_class *next;
    uint64_t *taken; /* one bit for each number */
    uint32_t words;
    char name[];
};

struct named_site {
    struct named_site *next;
    struct varve_site site;
    char text[];
};

struct vv_torch_nn **vv_torch_nn_buckets;
static struct vv_torch_nn *free_rows;
static struct vv_torch_nn_class *classes;
static struct named_site *sites[SITE_BUCKETS];
static uint32_t site_count;
static const struct vv_python_api *python;
static void *members_word; /* "_modules" */

bool vv_torch_nn_begin(const struct vv_python_api *api)
{
    python = api;
    if (members_word == NULL)
        members_word = python->text_of("_modules");
    if (vv_torch_nn_buckets == NULL)
        vv_torch_nn_buckets = vv_os_reserve(VV_TORCH_NN_BUCKETS * sizeof *vv_torch_nn_buckets);
    return vv_torch_nn_buckets != NULL && members_word != NULL;
}

/* ---- numbers ---- */

static struct vv_torch_nn_class *class_of(const char *name)
{
    struct vv_torch_nn_class *class = classes;
    while (class != NULL && strcmp(class->name, name) != 0)
        class = class->next;
    if (class != NULL)
        return class;
    size_t bytes = strlen(name) + 1;
    class = calloc(1, sizeof *class + bytes);
    if (class == NULL)
        return NULL;
    memcpy(class->name, name, bytes);
    class->next = classes;
    return classes = class;
}

/* Takes the least number that is free. */
static bool take_number(struct vv_torch_nn_class *class, uint32_t *out_number)
{
    uint32_t word = 0;
    while (word < class->words && class->taken[word] == UINT64_MAX)
        word++;
    if (word == class->words) {
        uint32_t words = class->words == 0 ? 1 : 2 * class->words;
        uint64_t *taken = realloc(class->taken, words * sizeof *taken);
        if (taken == NULL)
            return false;
        memset(taken + class->words, 0, (words - class->words) * sizeof *taken);
        class->taken = taken;
        class->words = words;
    }
    uint32_t bit = (uint32_t)__builtin_ctzll(~class->taken[word]);
    class->taken[word] |= UINT64_C(1) << bit;
    *out_number = 64 * word + bit;
    return true;
}

static void give_number(struct vv_torch_nn_class *class, uint32_t number)
{
    class->taken[number / 64] &= ~(UINT64_C(1) << number % 64);
}

/* ---- names ---- */

static struct varve_site others = { "nn.Module: others", NULL, 0, VARVE_LAYER_PYTHON, 0, 0 };

static struct varve_site *site_of(const char *text)
{
    size_t bytes = strlen(text) + 1;
    uint32_t hash = vv_text_hash(text, (uint32_t)bytes - 1, 0);
    struct named_site **bucket = &sites[hash % SITE_BUCKETS], *known = *bucket;
    while (known != NULL && strcmp(known->text, text) != 0)
        known = known->next;
    if (known != NULL)
        return &known->site;
    known = site_count < SITES_MAX ? malloc(sizeof *known + bytes) : NULL;
    if (known == NULL)
        return &others;
    memcpy(known->text, text, bytes);
    known->site = (struct varve_site){ known->text, NULL, 0, VARVE_LAYER_PYTHON, 0, 0 };
    known->next = *bucket;
    *bucket = known;
    site_count++;
    return &known->site;
}

/* Returns the name of a class, without the name of its module. */
static const char *name_of(void *type, void **out_text)
{
    *out_text = python->attribute(type, "__name__");
    const char *name = *out_text != NULL ? python->utf8(*out_text) : NULL;
    python->clear_error();
    return name != NULL ? name : "?";
}

/* ---- paths: the same as from Module.named_modules(), but read in _modules ---- */

struct searched {
    void *module;
    uint32_t from;    /* index of the module that has it as a member */
    const char *name; /* in the dictionary, which does not change meanwhile */
};

/* Prints "layer1.0.conv1": the path of `around`, which is searched[0], and the steps from there to
 * `last`. */
static void print_path(const struct searched *searched, uint32_t last,
                       const struct vv_torch_nn *around, char *out_path)
{
    char text[NAME_BYTES] = "";
    size_t start = sizeof text - 1;
    for (uint32_t at = last; at != 0; at = searched[at].from) {
        size_t length = strlen(searched[at].name);
        bool is_last = at == last;
        if (length + 1 > start)
            break;
        if (!is_last)
            text[--start] = '.';
        start -= length;
        memcpy(text + start, searched[at].name, length);
    }
    snprintf(out_path, NAME_BYTES, "%.*s%s%.300s", (int)around->path_bytes, around->path,
             around->path_bytes != 0 ? "." : "", text + start);
}

/* Adds the members of searched[at] behind the others. Returns true if one of them is `wanted`; that
 * member is then the last. */
static bool add_members(struct searched *searched, uint32_t at, uint32_t *count, const void *wanted)
{
    void *members = python->plain_attribute(searched[at].module, members_word), *key, *member;
    intptr_t place = 0;
    bool is_found = false;
    while (!is_found && members != NULL && *count < SEARCHED_MAX &&
           python->dict_next(members, &place, &key, &member)) {
        const char *name = python->utf8(key);
        if (member == python->none || name == NULL)
            continue;
        searched[(*count)++] = (struct searched){ member, at, name };
        is_found = member == wanted;
    }
    python->drop(members); /* the module holds them */
    python->clear_error();
    return is_found;
}

/* Finds the path from `around` to `self` among the members of `around`, and their members; nearest
 * first. The path is "" if `self` is not among them. */
static void find_path(void *self, const struct vv_torch_nn *around, char *out_path)
{
    static struct searched searched[SEARCHED_MAX]; /* guarded by the interpreter's lock */
    static bool is_searching;
    uint32_t count = 1;
    bool is_found = false;
    out_path[0] = '\0';
    if (around == NULL || is_searching)
        return;
    is_searching = true;
    searched[0] = (struct searched){ around->self, 0, "" };
    for (uint32_t at = 0; at < count && !is_found; at++)
        is_found = add_members(searched, at, &count, self);
    if (is_found)
        print_path(searched, count - 1, around, out_path);
    is_searching = false;
}

/* ---- modules that come and go ---- */

static struct vv_torch_nn *find_module(const void *self)
{
    struct vv_torch_nn *module = vv_torch_nn_buckets[vv_torch_nn_bucket(self)];
    while (module != NULL && module->self != self)
        module = module->next;
    return module;
}

/* The function that a weak reference calls. `self` is the address of the row. The reference itself
 * is in use now; it is dropped when the row gets another module. */
static void *forget(void *self, void *const *arguments, intptr_t count)
{
    struct vv_torch_nn *gone = python->pointer(self);
    (void)arguments;
    (void)count;
    struct vv_torch_nn **link = &vv_torch_nn_buckets[vv_torch_nn_bucket(gone->self)];
    while (*link != NULL && *link != gone)
        link = &(*link)->next;
    if (*link == gone) {
        *link = gone->next;
        give_number(gone->class, gone->number);
        gone->self = NULL;
        gone->next = free_rows;
        free_rows = gone;
    }
    python->keep(python->none);
    return python->none;
}

static struct vv_torch_nn *take_row(void)
{
    struct vv_torch_nn *row = free_rows;
    if (row == NULL)
        return calloc(1, sizeof *row);
    free_rows = row->next;
    void *old = row->reference;
    row->reference = NULL;
    python->drop(old);
    return row;
}

static void leave_row(struct vv_torch_nn *row)
{
    void *reference = row->reference;
    row->reference = NULL;
    row->next = free_rows;
    free_rows = row;
    python->drop(reference); /* now it calls nothing */
}

static void *refer(void *self, struct vv_torch_nn *row)
{
    static struct vv_python_method method = { "varve", forget, VV_PYTHON_FAST_CALL, NULL };
    void *address = python->number_of(row);
    void *told = address != NULL ? python->new_function(&method, address, NULL) : NULL;
    void *reference = told != NULL ? python->reference(self, told) : NULL;
    python->drop(told);
    python->drop(address);
    return reference;
}

static bool name_row(struct vv_torch_nn *row, void *self, const struct vv_torch_nn *around)
{
    char path[NAME_BYTES], text[2 * NAME_BYTES];
    void *type = python->type_of(self), *word;
    const char *name = name_of(type, &word);
    row->class = class_of(name);
    bool is_named = row->class != NULL && take_number(row->class, &row->number);
    python->drop(word);
    python->drop(type);
    if (!is_named)
        return false;
    find_path(self, around, path);
    size_t path_bytes = strlen(path);
    int length = snprintf(text, sizeof text, "nn.Module: %.400s_%u", row->class->name, row->number);
    if (path_bytes != 0)
        snprintf(text + length, sizeof text - (size_t)length, " (%s)", path);
    row->site = site_of(text);
    bool has_path = path_bytes != 0 && row->site != &others;
    row->path = has_path ? row->site->name + length + 2 : "";
    row->path_bytes = has_path ? (uint32_t)path_bytes : 0;
    return true;
}

static struct vv_torch_nn *remember_module(void *self, struct vv_torch_nn *around)
{
    struct vv_torch_nn *row = take_row(), *known;
    if (row == NULL)
        return NULL;
    row->reference = refer(self, row);
    known = find_module(self);
    if (row->reference == NULL || known != NULL || !name_row(row, self, around)) {
        leave_row(row);
        return known;
    }
    row->self = self;
    row->next = vv_torch_nn_buckets[vv_torch_nn_bucket(self)];
    return vv_torch_nn_buckets[vv_torch_nn_bucket(self)] = row;
}

struct vv_torch_nn *vv_torch_nn_meet(void *self, struct vv_torch_nn *around)
{
    int saved_errno = errno;
    void *type, *value, *traceback;
    python->take_error(&type, &value, &traceback);
    struct vv_torch_nn *module = remember_module(self, around);
    python->clear_error();
    python->restore_error(type, value, traceback);
    errno = saved_errno;
    return module;
}
