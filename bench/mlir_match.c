/* SPDX-License-Identifier: Apache-2.0 */
/* mlir_match.c — what it costs to find the records of a profile in a large module.
 *
 * The module has operations of TensorFlow with a name each. Of the records most have such a name;
 * others are patterns that lead back over operands, paths behind a name, ends of names, and names
 * behind a path. The same with a quarter of both: the times should be as 4 to 1.
 * Usage: mlir_match [OPERATIONS] [RECORDS]  (default: a million, a tenth of it) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mlir/match/match.h"

#define ROUNDS 3
#define LINE_BYTES 256

static const char *const kinds[] = { "MatMul", "BiasAdd", "Relu", "AddV2", "Mul", "Conv2D" };

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void end(const char *what)
{
    fprintf(stderr, "mlir_match: %s\n", what);
    exit(1);
}

static int name_of(char *text, size_t bytes, uint32_t op)
{
    return snprintf(text, bytes, "model/layer%u/block%u/%s_%u", op / 1000, op / 60, kinds[op % 6],
                    op);
}

static char *write_module(uint32_t operations, uint64_t *out_bytes)
{
    size_t bytes = (size_t)operations * LINE_BYTES + LINE_BYTES, length = 0;
    char *text = malloc(bytes), name[100];
    if (text == NULL)
        end("no memory");
    for (uint32_t op = 0; op < operations; op++) {
        name_of(name, sizeof name, op);
        length += (size_t)snprintf(
            text + length, bytes - length,
            "%%%u = \"tf.%s\"(%%%u, %%arg0) : (t, t) -> t loc(callsite(\"%s\"(\"model.py\":%u:1) "
            "at \"train.py\":7:1))\n",
            op + 1, kinds[op % 6], op, name, op % 5000 + 1);
    }
    *out_bytes = length;
    return text;
}

static uint32_t add_text(struct vv_mlir_profile *profile, const char *text)
{
    uint32_t id;
    if (vv_intern_add(&profile->strings, text, strlen(text), &id, NULL) != VARVE_OK)
        end("no memory");
    return id;
}

/* Of twenty records two are patterns, two are paths behind a name, one is an end, and one a name
 * behind a path. */
static void write_profile(struct vv_mlir_profile *profile, uint32_t operations, uint32_t records)
{
    uint64_t random = 1;
    memset(profile, 0, sizeof *profile);
    profile->records = calloc(records, sizeof *profile->records);
    if (profile->records == NULL || vv_intern_init(&profile->strings, NULL) != VARVE_OK)
        end("no memory");
    for (; profile->record_count < records; profile->record_count++) {
        char name[120] = "nowhere/";
        unsigned turn = (unsigned)(profile->record_count % 20);
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint32_t op = (uint32_t)(random >> 33) % operations;
        size_t skip = turn == 5 ? 8 : 0;
        int length = name_of(name + skip, 100, op);
        if (turn == 2 || turn == 3)
            memcpy(name + length, "/Fusion", sizeof "/Fusion");
        profile->records[profile->record_count] = (struct vv_mlir_record){
            .name = add_text(profile, turn == 4 ? strstr(name, "block") : name),
            .type = add_text(profile, turn < 2 ? "_FusedMatMul" : kinds[op % 6]), .tag = -1,
            .command_index = -1, .count = 1, .self_ns = 5,
        };
        profile->self_ns += 5;
    }
}

static void measure(uint32_t operations, uint32_t records)
{
    static const struct vv_mlir_match_options options = VV_MLIR_MATCH_ALL;
    double read_s = 1e9, match_s = 1e9, share = 0;
    struct vv_mlir_profile profile;
    uint64_t bytes;
    char *text = write_module(operations, &bytes);
    write_profile(&profile, operations, records);
    for (int round = 0; round < ROUNDS; round++) {
        struct vv_mlir_module module;
        struct vv_mlir_matches matches;
        double begin = now_s();
        if (vv_mlir_read("bench.mlir", text, bytes, &module, NULL) != VARVE_OK)
            end("the module cannot be read");
        double middle = now_s();
        if (vv_mlir_match(&module, &profile, &options, &matches, NULL) != VARVE_OK)
            end("no match");
        double last = now_s();
        read_s = middle - begin < read_s ? middle - begin : read_s;
        match_s = last - middle < match_s ? last - middle : match_s;
        share = (double)matches.matched_ns / (double)profile.self_ns;
        vv_mlir_matches_deinit(&matches);
        vv_mlir_deinit(&module);
    }
    printf("mlir_match: %u operations (%.0f MB), %u records: read %.3f s, match %.3f s, %.1f %% "
           "found\n",
           operations, (double)bytes / 1e6, records, read_s, match_s, 100 * share);
    vv_mlir_profile_deinit(&profile);
    free(text);
}

int main(int argument_count, char **arguments)
{
    uint32_t operations = argument_count > 1 ? (uint32_t)strtoul(arguments[1], NULL, 10) : 1000000;
    uint32_t records = argument_count > 2 ? (uint32_t)strtoul(arguments[2], NULL, 10)
                                          : operations / 10;
    if (operations < 4 || records < 4)
        end("usage: mlir_match [OPERATIONS] [RECORDS], 4 or more of each");
    measure(operations / 4, records / 4);
    measure(operations, records);
    return 0;
}
