/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/nccl/layouts.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define NONE 0
#define PARENT 8
#define RANK 16

/* Places from the event's begin; NONE: this version has no such field. */
struct fields {
    uint8_t name, hash, number, function, count, peer, dtype, channels, algorithm, protocol;
};

static const struct {
    bool has_numbers; /* functions, types … are NCCL's numbers and no texts                      */
    struct fields collective, point_to_point, call;
} layouts[VV_NCCL_VERSIONS] = {
    { true,
      { 24, 32, 40, 48, 72, 80, 84, 104, 106, 107 },
      { 24, 32, NONE, 40, 64, 72, 56, NONE, NONE, NONE },
      { NONE } },
    { false,
      { 24, 32, 40, 48, 72, 80, 88, 104, 112, 120 },
      { 24, 32, NONE, 40, 64, 72, 56, NONE, NONE, NONE },
      { NONE } },
    { false,
      { 24, 32, 40, 48, 72, 80, 88, 96, 104, 112 },
      { 24, 32, NONE, 40, 64, 72, 56, NONE, NONE, NONE },
      { NONE } },
    { false,
      { NONE, NONE, 24, 32, 56, 64, 72, 80, 88, 96 },
      { NONE, NONE, NONE, 24, 48, 56, 40, 60, NONE, NONE },
      { NONE } },
    { false,
      { NONE, NONE, 24, 32, 56, 64, 72, 80, 88, 96 },
      { NONE, NONE, NONE, 24, 48, 56, 40, 60, NONE, NONE },
      { .function = 24, .count = 32, .dtype = 40 } },
};

/* NCCL's numbers, of version 1 alone. */
static const char *const functions[] = { "Broadcast",     "Reduce",    "AllGather", "ReduceScatter",
                                         "AllReduce",     "SendRecv",  "Send",      "Recv" };
static const char *const dtypes[] = { "ncclInt8",    "ncclUint8",   "ncclInt32",   "ncclUint32",
                                      "ncclInt64",   "ncclUint64",  "ncclFloat16", "ncclFloat32",
                                      "ncclFloat64", "ncclBfloat16" };
static const char *const algorithms[] = { "TREE", "RING",      "COLLNET_DIRECT", "COLLNET_CHAIN",
                                          "NVLS", "NVLS_TREE", "PAT" };
static const char *const protocols[] = { "LL", "LL128", "SIMPLE" };

struct words { const char *const *items; size_t count; };
#define WORDS(array) (struct words){ array, sizeof(array) / sizeof *(array) }

struct source { const uint8_t *event; bool has_numbers; };

static uint64_t number_at(const struct source *source, uint8_t place, size_t bytes)
{
    uint64_t number = 0;
    if (place != NONE)
        memcpy(&number, source->event + place, bytes);
    return number;
}

static const char *text_at(const struct source *source, uint8_t place)
{
    return (const char *)(uintptr_t)number_at(source, place, sizeof(char *));
}

static void copy_word(const struct source *source, uint8_t place, struct words words, char *out,
                      size_t bytes)
{
    const char *text = NULL;
    if (place != NONE && source->has_numbers) {
        uint64_t number = number_at(source, place, 1);
        text = number < words.count ? words.items[number] : NULL;
    } else {
        text = text_at(source, place);
    }
    snprintf(out, bytes, "%s", text != NULL ? text : "");
}

void vv_nccl_event_read(unsigned version, const void *event, struct vv_nccl_event *out_event)
{
    const struct source source = { event, layouts[version - 1].has_numbers };
    *out_event = (struct vv_nccl_event){ .kind = number_at(&source, RANK, 4), .number = -1 };
    memcpy(&out_event->parent, source.event + PARENT, sizeof out_event->parent);
    out_event->rank = (int32_t)out_event->kind;
    out_event->kind = 0;
    memcpy(&out_event->kind, event, version < 5 ? 1 : 8);
    const struct fields *fields =
        out_event->kind == VV_NCCL_COLLECTIVE        ? &layouts[version - 1].collective
        : out_event->kind == VV_NCCL_POINT_TO_POINT  ? &layouts[version - 1].point_to_point
        : out_event->kind == VV_NCCL_COLLECTIVE_CALL ? &layouts[version - 1].call
                                                     : NULL;
    if (fields == NULL || fields->function == NONE)
        return;
    out_event->name = text_at(&source, fields->name);
    out_event->hash = number_at(&source, fields->hash, 8);
    if (fields->number != NONE)
        out_event->number = (int64_t)number_at(&source, fields->number, 8);
    out_event->count = number_at(&source, fields->count, 8);
    out_event->peer = fields->peer != NONE ? (int32_t)number_at(&source, fields->peer, 4) : -1;
    out_event->channels = (uint32_t)number_at(&source, fields->channels, 1);
    copy_word(&source, fields->function, WORDS(functions), out_event->function,
              sizeof out_event->function);
    copy_word(&source, fields->dtype, WORDS(dtypes), out_event->dtype, sizeof out_event->dtype);
    copy_word(&source, fields->algorithm, WORDS(algorithms), out_event->algorithm,
              sizeof out_event->algorithm);
    copy_word(&source, fields->protocol, WORDS(protocols), out_event->protocol,
              sizeof out_event->protocol);
}
