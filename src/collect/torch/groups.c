/* SPDX-License-Identifier: Apache-2.0 */
/* groups.c — sees a process group when it is made and when it gets its name. This library defines
 * the same functions of c10d, which torch.distributed calls through the dynamic linker, and passes
 * each call on. That works only if this library was loaded before PyTorch (LD_PRELOAD), and from
 * PyTorch 2.0 on: before, only Python knew the names.
 *
 * A collective holds its group in a box, an ivalue::Object with one slot. The offset of the slot is
 * found when a box holds the address of a known group for the first time. A later value, too,
 * counts as a group only if it is the address of a known group. */
#include "collect/torch/groups.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

#include "collect/process/modules.h"
#include "collect/process/peek.h"
#include "record/stream/recorder.h"
#include "varve/varve.h"

#define SET_NAME                                                                                   \
    _ZN4c10d12ProcessGroup12setGroupNameERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE
#define SET_NAME_OLD _ZN4c10d12ProcessGroup12setGroupNameERKSs
#define MAKE                                                                                       \
    _ZN4c10d12ProcessGroupC1EN3c1013intrusive_ptrINS_5StoreENS1_6detail34intrusive_target_default_null_typeIS3_EEEEii
#define MAKE_OLD                                                                                   \
    _ZN4c10d12ProcessGroupC1ERKN3c1013intrusive_ptrINS_5StoreENS1_6detail34intrusive_target_default_null_typeIS3_EEEEiiNS2_INS0_7OptionsENS5_ISA_EEEE
#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

#define GROUPS_MAX 256u
#define BOX_BYTES 160u
#define SEARCHES_MAX 1024 /* most searches in values while no group was found */

/* A std::string of either ABI begins with the address of its text, which ends in a 0. */
VARVE_API void SET_NAME(void *group, const char *const *name);
VARVE_API void SET_NAME_OLD(void *group, const char *const *name);
VARVE_API void MAKE(void *group, void *store, int rank, int size);
VARVE_API void MAKE_OLD(void *group, void *store, int rank, int size, void *options);

static struct vv_torch_group groups[GROUPS_MAX];
static uint32_t group_count; /* atomic */
static uint64_t found;       /* tag << 32 | offset of the slots in a box; 0 = not yet; atomic */
static int searches;         /* atomic */

/* ---- groups ---- */

static struct vv_torch_group *find(const void *self)
{
    uint32_t count = __atomic_load_n(&group_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++)
        if (__atomic_load_n(&groups[i].self, __ATOMIC_ACQUIRE) == self)
            return &groups[i];
    return NULL;
}

/* Returns a row for a new group. If a row has the same address, its group is gone, and the row is
 * used again. When the table is full, further groups are not known. Lock held. */
static struct vv_torch_group *add(void *self)
{
    struct vv_torch_group *group = find(self);
    uint32_t count = group_count;
    if (group != NULL || count == GROUPS_MAX)
        return group;
    groups[count] = (struct vv_torch_group){ .self = self, .rank = -1 };
    __atomic_store_n(&group_count, count + 1, __ATOMIC_RELEASE);
    return &groups[count];
}

static void note_group(void *self, const char *name, int rank, int size)
{
    if (!vv_recorder_lock())
        return;
    struct vv_torch_group *group = add(self);
    if (group != NULL) {
        snprintf(group->name, sizeof group->name, "%s", name);
        group->rank = size > 0 ? rank : group->rank;
        group->size = size > 0 ? size : group->size;
    }
    vv_recorder_unlock();
}

/* ---- functions that stand before PyTorch's ---- */

/* Finds the function that c10d would call without this library: in c10d's own library, or, if that
 * has another name, in one of global scope. NULL: there is none; then nothing calls this library's
 * function. */
static void *next_of(const char *symbol)
{
    int saved_errno = errno;
    struct vv_module library;
    void *handle = vv_module_find("libtorch_cpu.so", &library) ? vv_module_open(&library) : NULL;
    void *next = dlsym(handle != NULL ? handle : RTLD_NEXT, symbol);
    errno = saved_errno;
    return next;
}

void SET_NAME(void *group, const char *const *name)
{
    void (*next)(void *, const char *const *);
    *(void **)&next = next_of(TEXT(SET_NAME));
    note_group(group, *name, -1, 0);
    if (next != NULL)
        next(group, name);
}

void SET_NAME_OLD(void *group, const char *const *name)
{
    void (*next)(void *, const char *const *);
    *(void **)&next = next_of(TEXT(SET_NAME_OLD));
    note_group(group, *name, -1, 0);
    if (next != NULL)
        next(group, name);
}

void MAKE(void *group, void *store, int rank, int size)
{
    void (*next)(void *, void *, int, int);
    *(void **)&next = next_of(TEXT(MAKE));
    note_group(group, "", rank, size);
    if (next != NULL)
        next(group, store, rank, size);
}

void MAKE_OLD(void *group, void *store, int rank, int size, void *options)
{
    void (*next)(void *, void *, int, int, void *);
    *(void **)&next = next_of(TEXT(MAKE_OLD));
    note_group(group, "", rank, size);
    if (next != NULL)
        next(group, store, rank, size, options);
}

/* ---- boxes ---- */

/* Searches the box for a vector with one value that is the address of a group. Remembers the
 * vector's offset. */
static const struct vv_torch_group *search(const struct vv_torch_value *value)
{
    uint64_t box[BOX_BYTES / 8];
    if (!vv_peek((const void *)(uintptr_t)value->payload, box, sizeof box))
        return NULL;
    for (uint32_t i = 2; i + 1 < BOX_BYTES / 8; i++) {
        struct vv_torch_value slot;
        if (box[i + 1] - box[i] != sizeof slot ||
            !vv_peek((const void *)(uintptr_t)box[i], &slot, sizeof slot))
            continue;
        const struct vv_torch_group *group = find((const void *)(uintptr_t)slot.payload);
        if (group != NULL) {
            __atomic_store_n(&found, (uint64_t)value->tag << 32 | 8 * i, __ATOMIC_RELAXED);
            return group;
        }
    }
    return NULL;
}

/* While no offset is known, each search asks the system about many places. So the number of
 * searches is limited. */
static const struct vv_torch_group *try_search(const struct vv_torch_value *value)
{
    if (__atomic_load_n(&group_count, __ATOMIC_RELAXED) == 0 ||
        __atomic_load_n(&searches, __ATOMIC_RELAXED) >= SEARCHES_MAX)
        return NULL;
    __atomic_add_fetch(&searches, 1, __ATOMIC_RELAXED);
    return search(value);
}

const struct vv_torch_group *vv_torch_group_of(const struct vv_torch_value *value)
{
    uint64_t known = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (known == 0)
        return try_search(value);
    if (value->tag != known >> 32)
        return NULL;
    const uint8_t *slots = (const uint8_t *)(uintptr_t)value->payload + (known & 0xff);
    uint64_t begin = vv_torch_word(slots, 0), end = vv_torch_word(slots, 8);
    if (end - begin != sizeof(struct vv_torch_value))
        return NULL;
    return find((const void *)(uintptr_t)vv_torch_word((const void *)(uintptr_t)begin, 0));
}
