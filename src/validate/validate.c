/* SPDX-License-Identifier: Apache-2.0 */
/* validate.c — makes table "findings": which rules of which consumers a trace breaks.
 * doc/validate.md has the rules and their origin. */
#include "validate/validate.h"

#include <stdio.h>
#include <string.h>

#include "question/question.h"
#include "validate/bytes.h"
#include "validate/check.h"

enum consumer { HTA = 1, TENSORBOARD = 2, PERFETTO = 4, PYTORCH = 8 };
static const struct { const char *name; unsigned bit; } consumers[] = {
    { "hta", HTA }, { "tensorboard", TENSORBOARD }, { "perfetto", PERFETTO },
    { "pytorch", PYTORCH },
};
#define CONSUMER_COUNT (sizeof consumers / sizeof *consumers)
#define PYTHON (HTA | TENSORBOARD)

/* What the consumer does when the rule is broken. */
enum effect { REFUSES, LOSES, DIFFERS };
static const char *const effects[] = { [REFUSES] = "refuses", [LOSES] = "loses",
                                       [DIFFERS] = "differs" };

static const struct rule {
    const char *name;
    unsigned consumers;
    enum effect effect;
    const char *meaning;
} rules[VV_RULE_COUNT] = {
    [VV_RULE_NOT_JSON] = { "not_json", PYTHON | PERFETTO | PYTORCH, REFUSES,
                           "the text is not JSON from there on" },
    [VV_RULE_CUT] = { "cut", PYTHON | PYTORCH, REFUSES, "the array has no end" },
    [VV_RULE_CUT_OBJECT] = { "cut", PYTHON | PERFETTO | PYTORCH, REFUSES,
                             "the text ends too early" },
    [VV_RULE_CONTROL] = { "control_character", PYTHON | PYTORCH, REFUSES,
                          "control characters stand unescaped in strings" },
    [VV_RULE_UTF8] = { "utf8", PYTHON | PYTORCH, REFUSES, "bytes that are not UTF-8" },
    [VV_RULE_NO_OBJECT] = { "no_trace_events", PYTHON, REFUSES,
                            "not an object with \"traceEvents\"" },
    [VV_RULE_FILE_NAME] = { "file_name", HTA, REFUSES,
                            "the file's name ends neither in .json nor in .gz" },
    [VV_RULE_STEP_NAME] = { "step_name", HTA, REFUSES,
                            "a name begins with ProfilerStep and is not ProfilerStep#N" },
    [VV_RULE_TIME_TEXT] = { "time_is_text", PYTHON, REFUSES, "\"ts\" is a string" },
    [VV_RULE_RANK] = { "rank", HTA, DIFFERS,
                       "the rank is not written as \"rank\": N, with a blank: it is read as 0" },
    [VV_RULE_NO_ARGS] = { "no_args", HTA, REFUSES, "no event has \"args\"" },
    [VV_RULE_NO_DEVICE] = { "no_device", HTA, DIFFERS,
                            "no event has a stream: analyses of device time end in an error" },
    [VV_RULE_SHORT_KERNEL] = { "short_kernel", HTA, DIFFERS,
                               "device work that lies between two whole microseconds gets a "
                               "negative duration" },
    [VV_RULE_NO_NAME] = { "no_name", TENSORBOARD, REFUSES, "an event has no \"name\"" },
    [VV_RULE_NO_CATEGORY] = { "no_category", TENSORBOARD, REFUSES,
                              "a complete event has no \"cat\"" },
    [VV_RULE_NO_TID] = { "no_tid", TENSORBOARD, REFUSES, "a complete event has no \"tid\"" },
    [VV_RULE_PLUGIN_NAME] = { "plugin_file_name", TENSORBOARD, DIFFERS,
                              "the file's name does not end in .pt.trace.json or "
                              ".pt.trace.json.gz: not listed" },
    [VV_RULE_NO_DURATION] = { "no_duration", PERFETTO, LOSES, "a complete event has no \"dur\"" },
    [VV_RULE_OVERLAP] = { "overlap", PERFETTO, LOSES,
                          "slices that overlap another of their thread without nesting" },
    [VV_RULE_TID] = { "tid", PERFETTO, DIFFERS,
                      "a tid that is absent, 0 or beyond 32 bits becomes the pid" },
    [VV_RULE_PID] = { "pid", PERFETTO, DIFFERS,
                      "a pid that is absent or beyond 32 bits becomes 0" },
    [VV_RULE_FLOW_END] = { "flow_end", PERFETTO, LOSES,
                           "flow ends without a start of the same cat, name and id" },
    [VV_RULE_FLOW_TRACK] = { "flow_track", PERFETTO, LOSES,
                             "flow events on a thread that has no slices" },
    [VV_RULE_EMPTY] = { "empty_event", PERFETTO, LOSES, "an event {} without members" },
    [VV_RULE_NEGATIVE] = { "negative", PERFETTO, LOSES, "a time or duration below 0" },
    [VV_RULE_PRECISION] = { "precision", PERFETTO, DIFFERS,
                            "times with decimals from 4e12 us on: they land on steps of 256 ns and "
                            "more" },
    [VV_RULE_OPEN] = { "no_end", PERFETTO, DIFFERS, "begins without an end" },
    [VV_RULE_UNMATCHED_END] = { "no_begin", PERFETTO, LOSES, "ends without a begin" },
    [VV_RULE_PID_TWICE] = { "pid_twice", HTA | TENSORBOARD | PERFETTO, DIFFERS,
                            "a device has the number of a process: their rows are one" },
    [VV_RULE_CAUSALITY] = { "kernel_before_launch", PYTORCH, REFUSES,
                            "a kernel starts before its cudaLaunchKernel" },
    [VV_RULE_WAIT_ID] = { "wait_without_record", PYTORCH, REFUSES,
                          "a wait has no wait_on_cuda_event_record_corr_id of 0 or more" },
    [VV_RULE_WAIT_PAST] = { "wait_on_future", PYTORCH, REFUSES,
                            "the cudaEventRecord that is waited for is absent, or later than the "
                            "wait" },
    [VV_RULE_SYNC_OVERLAP] = { "sync_overlap", PYTORCH, REFUSES,
                               "kernels still run where their stream was synchronised" },
    [VV_RULE_COMMS] = { "comms_metadata", PYTORCH, REFUSES,
                        "record_param_comms lacks collective name, dtype, element counts or group "
                        "size" },
    [VV_RULE_SEQUENCE] = { "sequence_twice", PYTORCH, REFUSES,
                           "one sequence number for several backward operators" },
};

enum { RULE, CONSUMER, EFFECT, COUNT, EVENT, OFFSET, NAME, MEANING, COLUMNS };

static const struct vv_sheet_column columns[COLUMNS] = {
    { "rule", "rule", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "consumers", "who", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "effect", "does", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "count", "times", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "first_event", "event", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "first_offset_bytes", "byte", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "first_name", "first", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "meaning", "what", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_WRAPPED },
};

static unsigned wanted_consumers(const char *name)
{
    for (size_t i = 0; i < CONSUMER_COUNT && name != NULL; i++)
        if (strcmp(consumers[i].name, name) == 0)
            return consumers[i].bit;
    return ~0u;
}

static void list_consumers(unsigned bits, char *out, size_t bytes)
{
    size_t length = 0;
    for (size_t i = 0; i < CONSUMER_COUNT; i++)
        if ((bits & consumers[i].bit) != 0 && length < bytes)
            length += (size_t)snprintf(out + length, bytes - length, "%s%s", length > 0 ? ", " : "",
                                       consumers[i].name);
}

static enum varve_code put_finding(struct vv_sheet *sheet, const struct vv_check *check,
                                   enum vv_check_rule rule, unsigned wanted,
                                   struct varve_error *error)
{
    const struct vv_finding *finding = &check->findings[rule];
    char who[80] = "";
    size_t row;
    list_consumers(rules[rule].consumers & wanted, who, sizeof who);
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, RULE, rules[rule].name, error));
    VV_TRY(vv_sheet_text(sheet, row, CONSUMER, who, error));
    VV_TRY(vv_sheet_text(sheet, row, EFFECT, effects[rules[rule].effect], error));
    VV_TRY(vv_sheet_text(sheet, row, MEANING, rules[rule].meaning, error));
    vv_sheet_int(sheet, row, COUNT, (int64_t)finding->count);
    if (finding->offset != UINT64_MAX)
        vv_sheet_int(sheet, row, OFFSET, (int64_t)finding->offset);
    if (finding->event == UINT64_MAX)
        return VARVE_OK;
    vv_sheet_int(sheet, row, EVENT, (int64_t)finding->event);
    return vv_sheet_text(sheet, row, NAME, vv_check_text(check, finding->name), error);
}

static enum varve_code put_findings(struct vv_sheet *sheet, const struct vv_check *check,
                                    unsigned wanted, bool *out_is_refused,
                                    struct varve_error *error)
{
    *out_is_refused = false;
    for (int rule = 0; rule < VV_RULE_COUNT; rule++) {
        if (check->findings[rule].count == 0 || (rules[rule].consumers & wanted) == 0)
            continue;
        VV_TRY(put_finding(sheet, check, (enum vv_check_rule)rule, wanted, error));
        *out_is_refused = *out_is_refused || rules[rule].effect == REFUSES;
    }
    if (sheet->row_count == 0)
        return vv_sheet_policy(sheet, error, "%zu events; no rule is broken", check->event_count);
    return vv_sheet_policy(sheet, error, "%zu events looked at", check->event_count);
}

static enum varve_code run_rules(struct vv_check *check, const struct vv_check_bytes *bytes,
                                 const struct vv_validate_options *options,
                                 struct varve_error *error)
{
    if (bytes->control_count > 0)
        vv_check_note_file(check, VV_RULE_CONTROL, bytes->control_offset);
    if (bytes->utf8_count > 0)
        vv_check_note_file(check, VV_RULE_UTF8, bytes->utf8_offset);
    check->findings[VV_RULE_CONTROL].count = bytes->control_count;
    check->findings[VV_RULE_UTF8].count = bytes->utf8_count;
    if (check->says_rank && !bytes->has_rank)
        vv_check_note_file(check, VV_RULE_RANK, UINT64_MAX);
    vv_check_events(check, options->file_name);
    VV_TRY(vv_check_order(check, error));
    return vv_check_torch(check, error);
}

/* If the text stops being JSON, the rest of its bytes is still checked. */
static enum varve_code read_rest(struct vv_check_bytes *bytes, struct varve_error *error)
{
    char buffer[4096];
    size_t got;
    do
        VV_TRY(vv_check_bytes_read(bytes, buffer, sizeof buffer, &got, error));
    while (got > 0);
    return VARVE_OK;
}

enum varve_code vv_validate_chrome(vv_json_source *source, void *context,
                                   const struct vv_validate_options *options, struct vv_sheet *out,
                                   bool *out_is_refused, struct varve_error *error)
{
    struct vv_check check = { 0 };
    struct vv_check_bytes bytes = { .source = source, .context = context };
    struct vv_json json = { .text = "" };
    vv_sheet_init(out, "findings", "FINDINGS", columns, COLUMNS);
    enum varve_code code = vv_intern_init(&check.strings, error);
    if (code == VARVE_OK)
        code = vv_json_init_source(&json, vv_check_bytes_read, &bytes, error);
    if (code == VARVE_OK)
        code = vv_check_read(&check, &json, error);
    if (code == VARVE_OK)
        code = read_rest(&bytes, error);
    if (code == VARVE_OK)
        code = run_rules(&check, &bytes, options, error);
    if (code == VARVE_OK)
        code =
            put_findings(out, &check, wanted_consumers(options->consumer), out_is_refused, error);
    vv_json_deinit(&json);
    vv_check_deinit(&check);
    if (code != VARVE_OK)
        vv_sheet_deinit(out);
    return code;
}

enum varve_code vv_validate_model(const struct vv_model *model, struct vv_sheet *out,
                                  struct varve_error *error)
{
    struct vv_sheet health;
    enum { HEALTH_FINDING, HEALTH_COUNT, HEALTH_MEANING };
    const struct vv_question everything = VV_QUESTION_ALL;
    VV_TRY(vv_analyse(vv_analyse_health, model, &everything, &health, error));
    vv_sheet_init(out, "findings", "FINDINGS", columns, COLUMNS);
    enum varve_code code = VARVE_OK;
    for (size_t i = 0; i < health.row_count && code == VARVE_OK; i++) {
        size_t row;
        code = vv_sheet_row(out, VV_ROW_PLAIN, &row, error);
        if (code == VARVE_OK)
            code = vv_sheet_text(out, row, RULE, vv_sheet_cell(&health, i, HEALTH_FINDING)->text,
                                 error);
        if (code == VARVE_OK)
            code = vv_sheet_text(out, row, CONSUMER, "varve", error);
        if (code == VARVE_OK)
            code = vv_sheet_text(out, row, EFFECT, "keeps", error);
        if (code == VARVE_OK)
            code = vv_sheet_text(out, row, MEANING, vv_sheet_cell(&health, i, HEALTH_MEANING)->text,
                                 error);
        if (code == VARVE_OK)
            vv_sheet_int(out, row, COUNT, vv_sheet_cell(&health, i, HEALTH_COUNT)->integer);
    }
    if (code == VARVE_OK)
        code =
            vv_sheet_policy(out, error, "%llu events read%s", (unsigned long long)model->run.events,
                            out->row_count == 0 ? "; no rule is broken" : "");
    vv_sheet_deinit(&health);
    if (code != VARVE_OK)
        vv_sheet_deinit(out);
    return code;
}
