/* SPDX-License-Identifier: Apache-2.0 */
#include "points/types.h"

#include <ctype.h>
#include <string.h>

#include "points/flat/flat_graph.h"

static const char *const fetches[] = {
    "GetNext", "DynamicGetNext", "DynamicGetNextV2", "IteratorV2", /* GE */
    "IteratorGetNext", "IteratorGetNextSync", "IteratorGetNextAsOptional", "QueueDequeueV2",
    "QueueDequeueManyV2", "QueueDequeueUpToV2", "InfeedDequeue", "InfeedDequeueTuple",
    "infeed", "read", "DataLoader", NULL,
};
static const char *const inputs[] = {
    "Data", "RefData", "AippData", "AnnData", "Placeholder", "PlaceholderWithDefault", "_Arg",
    "feed", "Input", NULL,
};
static const char *const outputs[] = { "NetOutput", "_Retval", "fetch", "Output", NULL };

static const struct vv_collective_type all_reduce = { "all_reduce", true, false },
                                       ge_all_reduce = { "all_reduce", true, true },
                                       reduce_scatter = { "reduce_scatter", true, false },
                                       reduce = { "reduce", true, false },
                                       all_gather = { "all_gather", false, false },
                                       broadcast = { "broadcast", false, false },
                                       all_to_all = { "all_to_all", false, false },
                                       gather = { "gather", false, false },
                                       scatter = { "scatter", false, false },
                                       barrier = { "barrier", false, false },
                                       send = { "send", false, false },
                                       receive = { "recv", false, false },
                                       permute = { "permute", false, false };

/* A type in lower case, without what is no letter or digit, is one of these prefixes (the first
 * that fits, or none), a word, and one of the suffixes. `bare`: it is a collective without a
 * prefix, too: "gather" alone is an operator on one device. */
static const char *const prefixes[] = {
    "c10dfunctional", "c10d", "torchdistributed", "dist", "hcom", "hccl", "horovod", "nccl",
    "rccl", "oneccl", "mpi", "collective", "xlamlir", "xla", "stablehlo", "mhlo", "ncclasync",
    "host", "cpartial", "c", NULL,
};
static const struct word {
    const char *text;
    const struct vv_collective_type *type;
    bool bare;
} words[] = {
    { "allreduce", &all_reduce, true },
    { "reducescatter", &reduce_scatter, true },
    { "allgather", &all_gather, true },
    { "alltoall", &all_to_all, true },
    { "broadcast", &broadcast, false },
    { "bcast", &broadcast, true },
    { "collectivepermute", &permute, true },
    { "collectivebroadcast", &broadcast, true },
    { "collectivereduce", &all_reduce, true }, /* TensorFlow's names for what all ranks get */
    { "collectivegather", &all_gather, true },
    { "reduce", &reduce, false },
    { "gather", &gather, false },
    { "scatter", &scatter, false },
    { "barrier", &barrier, false },
    { "send", &send, true },
    { "isend", &send, true },
    { "sendrecv", &send, true },
    { "recv", &receive, true },
    { "irecv", &receive, true },
    { "receive", &receive, false },
};
static const char *const suffixes[] = {
    "", "v", "w", "vc", "v2", "v3", "sum", "max", "min", "prod", "avg", "start", "async", "base",
    "coalesced", "intotensor", "tensor", "single", "op", "fusion", "send", "recv", NULL,
};

static bool is_in(const char *const *list, const char *text)
{
    for (; text != NULL && *list != NULL; list++)
        if (strcmp(*list, text) == 0)
            return true;
    return false;
}

static const struct vv_collective_type *word_of(const char *text, bool has_prefix)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i].text);
        if ((has_prefix || words[i].bare) && strncmp(text, words[i].text, length) == 0 &&
            is_in(suffixes, text + length))
            return words[i].type;
    }
    return NULL;
}

static const struct vv_collective_type *collective_of(const char *type)
{
    char text[64];
    size_t length = 0;
    for (; *type != '\0'; type++) {
        if (!isalnum((unsigned char)*type))
            continue;
        if (length + 1 == sizeof text) /* longer than any that is known */
            return NULL;
        text[length++] = (char)tolower((unsigned char)*type);
    }
    text[length] = '\0';
    const struct vv_collective_type *found = word_of(text, false);
    for (const char *const *prefix = prefixes; *prefix != NULL && found == NULL; prefix++)
        if (strncmp(text, *prefix, strlen(*prefix)) == 0)
            found = word_of(text + strlen(*prefix), true);
    return found;
}

const struct vv_collective_type *vv_collective_type(const struct varve_graph_node *node)
{
    static const char *const ges[] = { "HcomAllReduce", "HorovodAllreduce", NULL };
    const char *type = vv_graph_node_type(node);
    if (is_in(ges, type))
        return &ge_all_reduce;
    const struct vv_collective_type *found = collective_of(type);
    return found == NULL && node->framework_type != NULL ? collective_of(node->framework_type)
                                                         : found;
}

static bool has_type(const struct varve_graph_node *node, const char *const *list)
{
    return is_in(list, vv_graph_node_type(node)) || is_in(list, node->framework_type);
}

bool vv_is_fetch(const struct varve_graph_node *node)
{
    return has_type(node, fetches);
}

bool vv_is_source(const struct varve_graph_node *node)
{
    return (has_type(node, inputs) && node->parent_input < 0) || vv_is_fetch(node);
}

bool vv_is_output(const struct varve_graph_node *node)
{
    return has_type(node, outputs);
}
