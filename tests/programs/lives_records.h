/* SPDX-License-Identifier: Apache-2.0 */
/* lives_records.h — records of ten kinds, each of which carries a number that a reader finds
 * again. */
#ifndef VV_TESTS_LIVES_RECORDS_H
#define VV_TESTS_LIVES_RECORDS_H

#include <stdio.h>
#include <varve/varve.h>

enum { SITES = 12, DESCRIPTION = 8 };
static struct varve_site sites[SITES];
static const uint32_t all_layers[] = { VARVE_LAYER_API, VARVE_LAYER_OP, VARVE_LAYER_HOST,
                                       VARVE_LAYER_RUNTIME };

static void make_sites(void)
{
    static char names[SITES][16];
    for (unsigned i = 0; i < SITES; i++) {
        snprintf(names[i], sizeof names[i], "site %u", i);
        sites[i] = (struct varve_site){ names[i], i % 3 != 0 ? "lives.c" : NULL,
                                        i,        all_layers[i % 4],
                                        0,        0 };
    }
}

static void emit_named(uint64_t value)
{
    char name[32];
    snprintf(name, sizeof name, "entry %llu", (unsigned long long)value);
    varve_begin_name(name, VARVE_LAYER_OP);
    varve_end();
}

static void emit_op(uint64_t value)
{
    const int64_t dims[] = { 2, 3 };
    const struct varve_tensor inputs[] = { { 1, 2, dims }, { 2, 1, dims } };
    struct varve_op_info info = VARVE_OP_INFO_INIT;
    info.flop = value;
    info.inputs = inputs;
    info.input_count = 2;
    varve_op(&info);
}

static void emit(uint32_t kind, struct varve_site *site, uint64_t value)
{
    switch (kind) {
    case 0: varve_counter(site, (double)value); break;
    case 1: varve_async_begin(site, value); break;
    case 2: varve_async_end(site, value); break;
    case 3: varve_flow_out(site, value); break;
    case 4: varve_flow_in(site, value); break;
    case 5: varve_alloc((void *)(uintptr_t)value, 1, 0); break;
    case 6: varve_free((void *)(uintptr_t)value, 0); break;
    case 7: emit_named(value); break;
    case DESCRIPTION:
        varve_begin(site); /* without a range it would be nobody's */
        emit_op(value);
        varve_end();
        break;
    default:
        varve_step_begin((int64_t)value);
        varve_step_end();
        break;
    }
}

#endif
