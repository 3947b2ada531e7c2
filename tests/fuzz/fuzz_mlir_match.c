/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_mlir_match.c — any module, and any records: what they are found on keeps the laws of groups,
 * whatever is the weakest level that is tried.
 *
 * Behind a line "// -----" come the records. Each line says one thing by its first letter: 'n'
 * begins a record with its name, other letters add to it (say). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../support/mlir_match_laws.h"
#include "base/array.h"

#define HOLDS(condition) ((condition) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RECORDS_MAX = 400, LINE_BYTES = 400 };

static struct vv_mlir_profile profile;

static uint32_t add_text(const char *text)
{
    uint32_t id = 0;
    HOLDS(vv_intern_add(&profile.strings, text, strlen(text), &id, NULL) == VARVE_OK);
    return id;
}

/* "file.py:12": 12, and the text ends before it. */
static uint32_t cut_number(char *text)
{
    char *colon = strrchr(text, ':');
    if (colon == NULL)
        return 0;
    *colon = '\0';
    return (uint32_t)strtoul(colon + 1, NULL, 10);
}

static void add_frame(struct vv_mlir_record *record, char *text)
{
    uint32_t line = cut_number(text);
    HOLDS(vv_array_reserve(&profile.frames, &profile.frame_capacity, profile.frame_count + 1,
                           sizeof *profile.frames, NULL) == VARVE_OK);
    if (record->frame_count++ == 0)
        record->first_frame = (uint32_t)profile.frame_count;
    profile.frames[profile.frame_count++] =
        (struct vv_mlir_frame){ .file = add_text(text), .line = line };
}

/* "jit(f)/dot:7": an inner instruction, and its tag. */
static void add_inner(struct vv_mlir_record *record, char *text)
{
    int64_t tag = (int64_t)cut_number(text) - 1;
    HOLDS(vv_array_reserve(&profile.inners, &profile.inner_capacity, profile.inner_count + 1,
                           sizeof *profile.inners, NULL) == VARVE_OK);
    if (record->inner_count++ == 0)
        record->first_inner = (uint32_t)profile.inner_count;
    profile.inners[profile.inner_count++] =
        (struct vv_mlir_inner){ .op_name = add_text(text), .tag = tag };
}

/* "3 7": an instruction of the last record, and the arguments that it is made from. */
static void add_arguments(struct vv_mlir_record *record, const char *text)
{
    struct vv_mlir_arguments arguments = { .near = { 0 } };
    char *rest;
    arguments.near[0] = strtoull(text, &rest, 10);
    arguments.far[0] = strtoull(rest, NULL, 10);
    vv_mlir_add_part(arguments.parts, arguments.far);
    HOLDS(vv_array_reserve(&profile.arguments, &profile.arguments_capacity,
                           profile.arguments_count + 1, sizeof *profile.arguments, NULL) ==
          VARVE_OK);
    if (record->arguments_count++ == 0)
        record->first_arguments = (uint32_t)profile.arguments_count;
    profile.arguments[profile.arguments_count++] = arguments;
}

static void add_record(const char *name)
{
    HOLDS(vv_array_reserve(&profile.records, &profile.record_capacity, profile.record_count + 1,
                           sizeof *profile.records, NULL) == VARVE_OK);
    int64_t self_ns = 1 + (int64_t)(profile.record_count * 37 % 11);
    profile.records[profile.record_count++] = (struct vv_mlir_record){
        .name = add_text(name), .tag = -1, .command_index = -1, .device = VV_NONE,
        .count = 1, .total_ns = self_ns, .self_ns = self_ns,
    };
    profile.self_ns += self_ns;
}

/* One thing about the last record. */
static void say(char letter, char *text)
{
    struct vv_mlir_record *record = &profile.records[profile.record_count - 1];
    switch (letter) {
    case 't': record->type = add_text(text); break;
    case 's': record->scope = add_text(text); break;
    case 'u': record->function = add_text(text); break;
    case 'p': record->path = add_text(text); break;
    case 'y': record->symbol = add_text(text); break;
    case 'o': record->op_name = add_text(text); break;
    case 'f': record->line = cut_number(text); record->file = add_text(text); break;
    case '|': record->column = (uint32_t)strtoul(text, NULL, 10); break;
    case '#': record->tag = strtoll(text, NULL, 10); break;
    case 'c': record->command_index = strtoll(text, NULL, 10); break;
    case 'r': record->process = (uint32_t)strtoul(text, NULL, 10); break;
    case 'd': record->device = (uint32_t)strtoul(text, NULL, 10); break;
    case '@': add_frame(record, text); break;
    case 'i': add_inner(record, text); break;
    case 'a': add_arguments(record, text); break;
    }
}

static void read_records(const uint8_t *data, size_t size)
{
    const uint8_t *end = data + size;
    HOLDS(vv_intern_init(&profile.strings, NULL) == VARVE_OK);
    while (data < end && profile.record_count < RECORDS_MAX) {
        const uint8_t *line_end = memchr(data, '\n', (size_t)(end - data));
        line_end = line_end != NULL ? line_end : end;
        size_t bytes = (size_t)(line_end - data);
        char line[LINE_BYTES] = "";
        memcpy(line, data, bytes < sizeof line ? bytes : sizeof line - 1);
        data = line_end + (line_end < end);
        if (line[0] == 'n')
            add_record(line + 1);
        else if (line[0] != '\0' && profile.record_count > 0)
            say(line[0], line + 1);
    }
}

static void match(const struct vv_mlir_module *module)
{
    static const struct vv_mlir_match_options ways[] = {
        VV_MLIR_MATCH_ALL, { "key", VV_MLIR_LEVEL_COUNT }, { NULL, VV_MLIR_LEVEL_NAME },
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct vv_mlir_matches matches;
        HOLDS(vv_mlir_match(module, &profile, &ways[i], &matches, NULL) == VARVE_OK);
        const char *flaw = mlir_match_flaw(module, &profile, &matches);
        for (size_t row = 0; row < profile.record_count && flaw == NULL; row++)
            if (matches.of_record[row].level > ways[i].weakest &&
                matches.of_record[row].group != VV_MLIR_NONE)
                flaw = "a weaker level than was asked for";
        if (flaw != NULL) {
            fprintf(stderr, "matching breaks a law: %s\n", flaw);
            abort();
        }
        vv_mlir_matches_deinit(&matches);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char rule[] = "\n// -----\n";
    const uint8_t *found = memmem(data, size, rule, sizeof rule - 1);
    size_t text_bytes = found != NULL ? (size_t)(found - data) + 1 : size;
    size_t head = found != NULL ? text_bytes + sizeof rule - 2 : size;
    struct vv_mlir_module module;
    if (vv_mlir_read("net.mlir", (const char *)data, text_bytes, &module, NULL) != VARVE_OK)
        return 0;
    memset(&profile, 0, sizeof profile);
    read_records(data + head, size - head);
    match(&module);
    vv_mlir_profile_deinit(&profile);
    vv_mlir_deinit(&module);
    return 0;
}
