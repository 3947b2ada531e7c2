/* SPDX-License-Identifier: Apache-2.0 */
/* mlir_match.c — the records that a trace gives for joining with a program, and the operations of a
 * module that they were found on, as JSON, one a line, for tests.
 *
 *     mlir_match [--filter TEXT] [--steps A..B] TRACE [MODULE]
 *                                                {"producer": "XLA", "self_ns": …, "matched_ns": …}
 *                                                {"name": "fusion.3", …, "level": "name", …} …
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/json_write.h"
#include "import/importer.h"
#include "mlir/match/match.h"

static const struct vv_mlir_profile *profile;
static struct vv_mlir_module module;
static struct vv_mlir_matches matches;

static void put_text(const char *key, uint32_t id)
{
    if (id == 0)
        return;
    printf(", \"%s\": ", key);
    vv_json_write_bytes(stdout, vv_mlir_profile_text(profile, id),
                        profile->strings.lengths[id]);
}

static void put_number(const char *key, int64_t value)
{
    printf(", \"%s\": %" PRId64, key, value);
}

static void put_chain(const struct vv_mlir_record *record)
{
    if (record->frame_count == 0)
        return;
    printf(", \"frames\": [");
    for (uint32_t i = 0; i < record->frame_count; i++) {
        const struct vv_mlir_frame *frame = &profile->frames[record->first_frame + i];
        char text[600];
        int length = snprintf(text, sizeof text, "%s:%u",
                              vv_mlir_profile_text(profile, frame->file), frame->line);
        printf("%s", i > 0 ? ", " : "");
        vv_json_write_bytes(stdout, text, (size_t)length);
    }
    printf("]");
}

static void put_inners(const struct vv_mlir_record *record)
{
    if (record->inner_count == 0)
        return;
    printf(", \"inners\": [");
    for (uint32_t i = 0; i < record->inner_count; i++) {
        const struct vv_mlir_inner *inner = &profile->inners[record->first_inner + i];
        printf("%s[%" PRId64 ", ", i > 0 ? ", " : "", inner->tag);
        vv_json_write_bytes(stdout, vv_mlir_profile_text(profile, inner->op_name),
                            profile->strings.lengths[inner->op_name]);
        printf("]");
    }
    printf("]");
}

static uint32_t *line_of; /* by operation */

static void read_lines(void)
{
    const char *at = module.text, *end;
    uint32_t line = 1;
    line_of = calloc(module.op_count + 1, sizeof *line_of);
    for (uint32_t op = 0; line_of != NULL && op < module.op_count; op++) {
        const char *begin = module.text + module.ops[op].text.begin;
        while ((end = memchr(at, '\n', (size_t)(begin - at))) != NULL) {
            at = end + 1;
            line++;
        }
        line_of[op] = line;
    }
}

static void put_op(const char *key, uint32_t op)
{
    const struct vv_mlir_op *row = &module.ops[op];
    printf(", \"%s\": {\"op\": %u, \"type\": ", key, op);
    vv_json_write_text(stdout, vv_mlir_string(&module, row->name));
    if (row->place != VV_MLIR_NONE)
        for (uint32_t i = 0; i < module.places[row->place].part_count; i++) {
            const struct vv_mlir_part *part =
                &module.parts[module.places[row->place].first_part + i];
            const char *text = vv_mlir_string(&module, part->text);
            if (part->kind != VV_MLIR_NAME || text[0] == '\0' || text[strlen(text) - 1] == ':')
                continue;
            printf(", \"name\": ");
            vv_json_write_text(stdout, text);
            break;
        }
    printf(", \"line\": %u}", line_of != NULL ? line_of[op] : 0);
}

static void put_match(size_t record)
{
    const struct vv_mlir_match *match = &matches.of_record[record];
    if (match->group == VV_MLIR_NONE)
        return;
    const struct vv_mlir_group *group = &matches.groups[match->group];
    printf(", \"level\": \"%s\", \"is_type_equal\": %s, \"is_fused\": %s, \"is_ambiguous\": %s",
           vv_mlir_level_words[match->level], match->is_type_equal ? "true" : "false",
           match->is_fused ? "true" : "false", group->is_ambiguous ? "true" : "false");
    put_number("operations", match->operations);
    put_number("group", match->group);
    put_op("primary", group->primary);
    printf(", \"members\": [");
    for (uint32_t i = 0; i < group->member_count; i++)
        printf("%s%u", i > 0 ? ", " : "", matches.members[group->first_member + i]);
    printf("]");
}

static void put_record(size_t row)
{
    const struct vv_mlir_record *record = &profile->records[row];
    printf("{\"place\": %u", record->place);
    put_text("name", record->name);
    put_text("type", record->type);
    put_text("scope", record->scope);
    put_text("function", record->function);
    put_text("path", record->path);
    put_text("symbol", record->symbol);
    put_text("op_name", record->op_name);
    put_text("file", record->file);
    put_number("line", record->line);
    put_number("tag", record->tag);
    put_number("command_index", record->command_index);
    put_number("count", record->count);
    put_number("total_ns", record->total_ns);
    put_number("self_ns", record->self_ns);
    put_number("p50_ns", record->p50_ns);
    put_number("first_ns", record->first_ns);
    put_chain(record);
    put_inners(record);
    if (module.text != NULL)
        put_match(row);
    printf("}\n");
}

static enum varve_code read_module(const char *path, struct varve_error *error)
{
    const struct vv_mlir_match_options options = VV_MLIR_MATCH_ALL;
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) != 0)
        return vv_fail(error, VARVE_NOT_FOUND, "no module '%s'", path);
    const char *text = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (text == MAP_FAILED)
        return vv_fail(error, VARVE_NO_MEMORY, "cannot map '%s'", path);
    VV_TRY(vv_mlir_read(path, text, (uint64_t)status.st_size, &module, error));
    return vv_mlir_match(&module, profile, &options, &matches, error);
}

int main(int argument_count, char **arguments)
{
    struct vv_question question = VV_QUESTION_ALL;
    struct vv_mlir_profile made;
    struct vv_model *model;
    struct varve_error error;
    for (; argument_count > 3 && strncmp(arguments[1], "--", 2) == 0; argument_count -= 2) {
        if (strcmp(arguments[1], "--filter") == 0)
            question.selection.filter = arguments[2];
        else if (vv_selection_steps(&question.selection, arguments[2], &error) != VARVE_OK)
            return 2;
        arguments += 2;
    }
    if (argument_count < 2)
        return 2;
    profile = &made;
    if (vv_import(arguments[1], &model, &error) != VARVE_OK ||
        vv_mlir_profile_make(model, &question, &made, &error) != VARVE_OK ||
        (argument_count > 2 && read_module(arguments[2], &error) != VARVE_OK)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    printf("{\"producer\": \"%s\", \"is_device\": %s, \"steps\": %" PRIu64, made.producer,
           made.is_device ? "true" : "false", made.steps);
    put_number("self_ns", made.self_ns);
    put_number("unnamed_ns", made.unnamed_ns);
    put_number("operations", module.op_count);
    put_number("matched_ns", matches.matched_ns);
    put_number("ambiguous_ns", matches.ambiguous_ns);
    printf("}\n");
    read_lines();
    for (size_t i = 0; i < made.record_count; i++)
        put_record(i);
    free(line_of);
    vv_mlir_matches_deinit(&matches);
    vv_mlir_deinit(&module);
    vv_mlir_profile_deinit(&made);
    vv_model_destroy(model);
    return 0;
}
