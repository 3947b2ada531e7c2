/* SPDX-License-Identifier: Apache-2.0 */
/* standin_rocm_records.h — the records of three generations of rocprofiler-sdk, as its headers
 * declare them (standin_rocprofiler.c says which), in structs of the tests' own. */
#ifndef STANDIN_ROCM_RECORDS_H
#define STANDIN_ROCM_RECORDS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "standin_rocm.h"

#define FILLED(type, bytes) _Static_assert(sizeof(type) == (bytes), #type " as the headers say")

struct record_header { uint32_t category, kind; void *payload; };

struct event_6_2 {
    uint64_t context, thread, internal, external;
    uint32_t kind;
    int32_t operation;
    uint32_t phase;
    void *payload;
};
struct event_7_0 {
    uint64_t context, thread, internal, external, ancestor;
    uint32_t kind;
    int32_t operation;
    uint32_t phase;
    void *payload;
};
FILLED(struct event_6_2, 56);
FILLED(struct event_7_0, 64);

struct symbol_6_2 {
    uint64_t size, kernel_id, code_object_id;
    const char *name;
    uint64_t object;
    uint32_t kernarg_bytes, kernarg_alignment, group_bytes, private_bytes, sgprs, vgprs, accum;
};
FILLED(struct symbol_6_2, 72);

struct dispatch {
    uint64_t size, kind_and_operation, internal, external, thread, start, end;
    uint64_t info_size, agent, queue, kernel, number;
    uint32_t private_bytes, group_bytes, block[3], grid[3];
    uint8_t reserved[56];
};
FILLED(struct dispatch, 184);

struct copy_6_2 {
    uint64_t size, kind_and_operation, internal, external, thread, start, end, to, from, bytes;
};
struct copy_7_0 { struct copy_6_2 is; uint64_t to_address, from_address; };
FILLED(struct copy_7_0, 96);

struct allocation_6_4 {
    uint64_t size, kind_and_operation, internal, external, thread, start, end, agent, address,
        bytes;
};
struct allocation_7_0 {
    uint64_t size, kind_and_operation, internal, external, ancestor, thread, start, end, agent,
        address, bytes;
};
FILLED(struct allocation_7_0, 88);

struct scratch_6_2 {
    uint64_t size, kind_and_operation, agent, queue, thread, start, end, internal, external;
    uint32_t flags;
};
struct scratch_6_4 {
    uint64_t size, kind_and_operation, internal, external, agent, queue, thread, start, end;
    uint32_t flags;
};
struct scratch_7_0 {
    uint64_t size, kind_and_operation, internal, external, ancestor, agent, queue, thread, start,
        end;
    uint32_t flags;
    uint64_t bytes;
};
FILLED(struct scratch_6_2, 80);
FILLED(struct scratch_7_0, 96);

union standin_record {
    uint64_t size;
    struct dispatch dispatch;
    struct copy_7_0 copy;
    struct allocation_6_4 allocation_6_4;
    struct allocation_7_0 allocation_7_0;
    struct scratch_6_2 scratch_6_2;
    struct scratch_6_4 scratch_6_4;
    struct scratch_7_0 scratch_7_0;
};

struct bank { uint32_t heap, flags, width, clock; uint64_t bytes; };

struct agent_6_2 { /* what the collector reads; the rest is padding                              */
    uint64_t size, id;
    uint32_t type, cores, simds, bank_count;
    uint8_t to_units[72 - 32];
    uint32_t units;
    uint8_t to_version[100 - 76];
    uint32_t gfx_version;
    uint8_t to_clock[140 - 104];
    uint32_t clock_mhz;
    uint8_t to_banks[224 - 144];
    const struct bank *banks;
    const void *caches, *links;
    const char *name, *vendor, *product, *model;
    uint32_t node;
    int32_t logical, logical_of_type;
    uint32_t visible;
};
struct agent_7_0 { struct agent_6_2 is; uint64_t unique[2]; };
FILLED(struct agent_6_2, 296);
FILLED(struct agent_7_0, 312);

/* Numbers of kinds; -1: the version has none. */
struct standin_kinds { int scratch, allocation, stream; };

static inline const struct standin_kinds *standin_kinds_of(uint32_t version)
{
    static const struct standin_kinds old = { 13, -1, -1 }, middle = { 13, 17, -1 },
                                      new = { 12, 16, 20 };
    return version < 600 ? &old : version < 10000 ? &middle : &new;
}

/* A CPU and two GPUs; the machine's GPUs in an order that is not that of its nodes. */
static inline const void *standin_agent(uint32_t version, uint32_t number)
{
    static const struct bank banks[] = { { 0, 0, 0, 0, 1u << 30 },
                                         { 1, 0, 8192, 1300, 192000000000 } };
    static struct agent_7_0 agents[3];
    struct agent_7_0 *agent = &agents[number];
    memset(agent, 0, sizeof *agent);
    agent->is.size = version < 600 ? 296 : version < 10000 ? 304 : 312;
    agent->is.id = 100 + number;
    agent->is.type = number == 0 ? 1 : 2;
    agent->is.bank_count = 2;
    agent->is.banks = banks;
    agent->is.units = number == 0 ? 0 : 304;
    agent->is.gfx_version = 90402;
    agent->is.clock_mhz = 2100;
    agent->is.name = agent->is.vendor = agent->is.model = "gfx942";
    agent->is.product = number == 0 ? "a CPU" : "AMD Instinct MI300X";
    agent->is.logical_of_type = number == 0 ? 0 : (int32_t)number - 1;
    agent->unique[0] = 0xabc0 + number;
    return agent;
}

struct standin_common { uint64_t internal, external, thread, start, end, kernel; };

static inline uint64_t operation_of(uint32_t kind, uint32_t operation)
{
    return kind | (uint64_t)operation << 32;
}

static inline int write_memory(uint32_t version, const struct standin_did *what,
                               const struct standin_common *c, union standin_record *out)
{
    int kind = standin_kinds_of(version)->allocation;
    uint64_t head = operation_of((uint32_t)kind, what->operation);
    if (version >= 10000)
        out->allocation_7_0 = (struct allocation_7_0){
            sizeof out->allocation_7_0, head, c->internal, 0, 0, c->thread, c->start, c->end,
            what->device + 100, what->address, what->bytes
        };
    else
        out->allocation_6_4 = (struct allocation_6_4){
            sizeof out->allocation_6_4, head, c->internal, 0, c->thread, c->start, c->end,
            what->device + 100, what->address, what->bytes
        };
    return kind;
}

static inline int write_scratch(uint32_t version, const struct standin_did *what,
                                const struct standin_common *c, union standin_record *out)
{
    int kind = standin_kinds_of(version)->scratch;
    uint64_t head = operation_of((uint32_t)kind, what->operation), agent = what->device + 100;
    if (version >= 10000)
        out->scratch_7_0 = (struct scratch_7_0){ sizeof out->scratch_7_0, head, c->internal, 0, 0,
                                                 agent, what->queue, c->thread, c->start, c->end,
                                                 0, what->bytes };
    else if (version >= 600)
        out->scratch_6_4 = (struct scratch_6_4){ sizeof out->scratch_6_4, head, c->internal, 0,
                                                 agent, what->queue, c->thread, c->start, c->end,
                                                 0 };
    else
        out->scratch_6_2 = (struct scratch_6_2){ sizeof out->scratch_6_2, head, agent, what->queue,
                                                 c->thread, c->start, c->end, c->internal, 0, 0 };
    return kind;
}

/* Returns the number of the kind, or -1 if the version has no such record. */
static inline int standin_write(uint32_t version, const struct standin_did *what,
                                const struct standin_common *c, union standin_record *out)
{
    if (what->sort == STANDIN_MEMORY)
        return write_memory(version, what, c, out);
    if (what->sort == STANDIN_SCRATCH)
        return write_scratch(version, what, c, out);
    if (what->sort == STANDIN_COPIED) {
        out->copy.is = (struct copy_6_2){
            version >= 10000 ? sizeof out->copy : sizeof out->copy.is,
            operation_of(10, what->operation), c->internal, c->external, c->thread, c->start,
            c->end, what->device + 100, what->other + 100, what->bytes
        };
        return 10;
    }
    out->dispatch = (struct dispatch){
        sizeof out->dispatch, operation_of(11, 2), c->internal, c->external, c->thread, c->start,
        c->end, offsetof(struct dispatch, reserved) - offsetof(struct dispatch, info_size),
        what->device + 100, what->queue, c->kernel, 1, 16, 2048, { 128, 1, 1 }, { 1000, 4, 1 },
        { 0 }
    };
    return 11;
}

#endif
