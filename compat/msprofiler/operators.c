/* SPDX-License-Identifier: Apache-2.0 */
/* operators.c — ranges of operators with their tensors, for programs that mark them themselves. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl_prof.h"
#include "ascend/tensor_words.h"
#include "ascend/vendor.h"
#include "varve/varve.h"

#define EXPORT __attribute__((visibility("default")))
#define TENSORS_MAX 64u
#define DIMS_MAX 8u
#define BUCKETS 1024u

/* Texts by number: a number is the place in the order in which they came. Only added to. */
struct text {
    struct text *next;
    uint64_t id;
    char text[];
};

static struct text *by_text[BUCKETS], *by_id[BUCKETS];
static uint64_t text_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t bucket_of(const char *text)
{
    uint32_t hash = 2166136261u;
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash % BUCKETS;
}

/* A text is in two lists, once by itself and once by its number. */
static uint64_t add_text(const char *text, uint32_t bucket)
{
    size_t bytes = sizeof(struct text) + strlen(text) + 1;
    struct text *named = malloc(bytes), *numbered = malloc(bytes);
    if (named == NULL || numbered == NULL) {
        free(named);
        free(numbered);
        return 0;
    }
    named->id = numbered->id = ++text_count;
    strcpy(named->text, text);
    strcpy(numbered->text, text);
    named->next = by_text[bucket];
    by_text[bucket] = named;
    numbered->next = by_id[named->id % BUCKETS];
    by_id[named->id % BUCKETS] = numbered;
    return named->id;
}

static uint64_t id_of(const char *text)
{
    if (text == NULL || *text == '\0')
        return UINT64_MAX;
    uint32_t bucket = bucket_of(text);
    pthread_mutex_lock(&lock);
    const struct text *found = by_text[bucket];
    while (found != NULL && strcmp(found->text, text) != 0)
        found = found->next;
    uint64_t id = found != NULL ? found->id : add_text(text, bucket);
    pthread_mutex_unlock(&lock);
    return id;
}

static const char *text_of(uint64_t id)
{
    pthread_mutex_lock(&lock);
    const struct text *found = by_id[id % BUCKETS];
    while (found != NULL && found->id != id)
        found = found->next;
    pthread_mutex_unlock(&lock);
    return found != NULL ? found->text : NULL;
}

EXPORT uint64_t aclprofStr2Id(const char *message)
{
    return VV_PASS_ON(id_of(message), aclprofStr2Id, message);
}

static void tell_inputs(const aclprofTensorInfo *info)
{
    struct varve_tensor inputs[TENSORS_MAX];
    int64_t dims[TENSORS_MAX][DIMS_MAX];
    struct varve_op_info op = VARVE_OP_INFO_INIT;
    op.inputs = inputs;
    for (uint32_t i = 0; i < info->tensorNum && i < TENSORS_MAX; i++) {
        const aclprofTensor *tensor = &info->tensors[i];
        if (tensor->type != 0) /* what it writes has no place among its inputs */
            continue;
        uint32_t at = op.input_count++;
        inputs[at].dtype = vv_tensor_dtype(tensor->dataType);
        inputs[at].rank = tensor->shapeDim < DIMS_MAX ? tensor->shapeDim : DIMS_MAX;
        inputs[at].dims = dims[at];
        for (uint32_t d = 0; d < inputs[at].rank; d++)
            dims[at][d] = tensor->shape[d];
    }
    varve_op(&op);
}

static aclError push(const aclprofEventAttributes *attr)
{
    if (attr == NULL || attr->version != 1 || attr->size < sizeof *attr ||
        attr->message.tensorInfo == NULL)
        return ACL_ERROR_INVALID_PARAM;
    const aclprofTensorInfo *info = attr->message.tensorInfo;
    if (info->tensorNum > 0 && info->tensors == NULL)
        return ACL_ERROR_INVALID_PARAM;
    const char *name = text_of(info->opTypeId);
    if (name == NULL)
        name = text_of(info->opNameId);
    varve_begin_name(name != NULL ? name : "(operator)", VARVE_LAYER_OP);
    if (varve_layers() != 0)
        tell_inputs(info);
    return ACL_SUCCESS;
}

EXPORT aclError aclprofRangePushEx(aclprofEventAttributes *attr)
{
    return VV_PASS_ON(push(attr), aclprofRangePushEx, attr);
}

static aclError pop(void)
{
    varve_end();
    return ACL_SUCCESS;
}

EXPORT aclError aclprofRangePop(void)
{
    return VV_PASS_ON(pop(), aclprofRangePop);
}
