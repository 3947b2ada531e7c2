/* SPDX-License-Identifier: Apache-2.0 */
#include "meaning/collective_name.h"

#include <ctype.h>
#include <string.h>

/* The first word that the name holds counts. Names are compared in lower case, without '_'. */
static const struct word { const char *part; uint8_t operation; } words[] = {
    { "send", VV_COLLECTIVE_OTHER },
    { "recv", VV_COLLECTIVE_OTHER },
    { "allreduce", VV_ALL_REDUCE },
    { "reducescatter", VV_REDUCE_SCATTER },
    { "allgather", VV_ALL_GATHER },
    { "alltoall", VV_ALL_TO_ALL },
    { "barrier", VV_BARRIER },
    { "broadcast", VV_BROADCAST },
    { "bcast", VV_BROADCAST },
    { "scatter", VV_SCATTER },
    { "gather", VV_GATHER },
    { "reduce", VV_REDUCE },
};

static const char asking[] = "c10d::";

/* Backends whose collectives run on a device: the host's range only starts them. And what PyTorch
 * has around c10d's operators. */
static const char *const others[] = { "nccl", "rccl", "hccl", "xccl", "_c10d_functional::",
                                      "c10d_functional::", "record_param_comms" };
#define DEVICE_BACKENDS 4

static void simplify(const char *name, char *text, size_t bytes)
{
    size_t length = 0;
    for (; *name != '\0' && length + 1 < bytes; name++)
        if (*name != '_')
            text[length++] = (char)tolower((unsigned char)*name);
    text[length] = '\0';
}

struct vv_collective_name vv_collective_name(const char *name)
{
    struct vv_collective_name found = { .asks = strncmp(name, asking, sizeof asking - 1) == 0 };
    char text[80];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(name, others[i], strlen(others[i])) == 0) {
            found.starts = i < DEVICE_BACKENDS;
            return found;
        }
    simplify(name, text, sizeof text);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(text, words[i].part) != NULL) {
            found.operation = words[i].operation;
            break;
        }
    return found;
}

bool vv_is_point_to_point(const char *name, bool *out_sends)
{
    char text[80];
    simplify(name, text, sizeof text);
    *out_sends = strstr(text, "send") != NULL;
    return *out_sends || strstr(text, "recv") != NULL;
}
