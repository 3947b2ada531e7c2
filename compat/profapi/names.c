/* SPDX-License-Identifier: Apache-2.0 */
/* names.c — hash tables whose chains grow at their head: a reader always sees a whole chain. */
#include "profapi/names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "profiling/aprof_pub.h"

#define BUCKETS 16384u /* a power of 2 */

struct name {
    struct name *next;
    uint64_t id;
    char text[];
};

struct names {
    struct name *buckets[BUCKETS];
};

static struct names hashes, types;

static struct name **bucket_of(struct names *names, uint64_t id)
{
    return &names->buckets[(id * UINT64_C(0x9e3779b97f4a7c15)) >> 50];
}

static struct name *find(struct names *names, uint64_t id)
{
    struct name *name = __atomic_load_n(bucket_of(names, id), __ATOMIC_ACQUIRE);
    while (name != NULL && name->id != id)
        name = name->next;
    return name;
}

static bool add(struct names *names, uint64_t id, const char *text, size_t length)
{
    struct name **bucket = bucket_of(names, id);
    struct name *name = malloc(sizeof *name + length + 1);
    if (name == NULL)
        return false;
    name->id = id;
    memcpy(name->text, text, length);
    name->text[length] = '\0';
    name->next = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
    while (!__atomic_compare_exchange_n(bucket, &name->next, name, false, __ATOMIC_RELEASE,
                                        __ATOMIC_ACQUIRE)) {
    }
    return true;
}

/* Two polynomials over the bytes. */
static uint64_t hash_of(const char *text, size_t length)
{
    uint32_t high = 0, low = 0;
    for (size_t i = 0; i < length; i++) {
        high = high * 29u + (uint32_t)(int32_t)text[i];
        low = low * 131u + (uint32_t)(int32_t)text[i];
    }
    return (uint64_t)high << 32 | low;
}

uint64_t vv_hash_keep(const char *text, size_t length)
{
    if (text == NULL || length == 0)
        return MSPROF_HASH_INVALID;
    uint64_t id = hash_of(text, length);
    if (find(&hashes, id) == NULL)
        (void)add(&hashes, id, text, length); /* without memory the id has no text              */
    return id;
}

void vv_hash_learn(uint64_t id, const char *text, size_t length)
{
    if (text != NULL && length > 0 && find(&hashes, id) == NULL)
        (void)add(&hashes, id, text, length);
}

char *vv_hash_text(uint64_t id)
{
    struct name *name = find(&hashes, id);
    return name != NULL ? name->text : NULL;
}

/* ---- types ---- */

/* What types are called that nobody registers. */
static const struct { uint32_t level, type; const char *name; } usual[] = {
    { MSPROF_REPORT_NODE_LEVEL, 5, "launch" },
    { MSPROF_REPORT_NODE_LEVEL, 8, "host_op_exec" },
    { MSPROF_REPORT_NODE_LEVEL, 0x10001, "InferShape" },
    { MSPROF_REPORT_NODE_LEVEL, 0x10002, "CompatibleInferShape" },
    { MSPROF_REPORT_NODE_LEVEL, 0x10003, "Tiling" },
    { MSPROF_REPORT_NODE_LEVEL, 0x10004, "CompatibleTiling" },
    { MSPROF_REPORT_NODE_LEVEL, 0x10005, "StreamSync" },
    { MSPROF_REPORT_NODE_LEVEL, 0x10006, "step_info" },
    { MSPROF_REPORT_MODEL_LEVEL, 1, "ModelExecute" },
    { MSPROF_REPORT_MODEL_LEVEL, 2, "ModelLoad" },
    { MSPROF_REPORT_MODEL_LEVEL, 3, "InputCopy" },
    { MSPROF_REPORT_MODEL_LEVEL, 4, "OutputCopy" },
    { MSPROF_REPORT_ACL_LEVEL, 0xA0001, "isGraphNeedRebuild" },
    { MSPROF_REPORT_ACL_LEVEL, 0xA0002, "RemoveGraph" },
    { MSPROF_REPORT_ACL_LEVEL, 0xA0003, "AddGraph" },
    { MSPROF_REPORT_ACL_LEVEL, 0xA0004, "BuildGraph" },
    { MSPROF_REPORT_ACL_LEVEL, 0xA0005, "RunGraphAsync" },
    { MSPROF_REPORT_ACL_LEVEL, 0xA0006, "GEInitialize" },
    { MSPROF_REPORT_ACL_LEVEL, 0xA0007, "GEFinalize" },
    { MSPROF_REPORT_HCCL_NODE_LEVEL, 0x10001, "master" },
    { MSPROF_REPORT_HCCL_NODE_LEVEL, 0x10002, "slave" },
};

int vv_type_keep(uint32_t level, uint32_t type, const char *name)
{
    return add(&types, (uint64_t)level << 32 | type, name, strlen(name));
}

const char *vv_type_name(uint32_t level, uint32_t type)
{
    struct name *name = find(&types, (uint64_t)level << 32 | type);
    if (name != NULL)
        return name->text;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (usual[i].level == level && usual[i].type == type)
            return usual[i].name;
    return NULL;
}
