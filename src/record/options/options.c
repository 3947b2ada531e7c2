/* SPDX-License-Identifier: Apache-2.0 */
#include "record/options/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/system/os.h"
#include "base/text/nearest.h"
#include "ctf/metadata_write.h"
#include "record/options/text.h"
#include "settings/dump_signal.h"
#include "settings/metric_groups.h"
#include "varve/varve.h"

enum kind {
    KIND_TEXT,   /* anything                                                                    */
    KIND_LAYERS,
    KIND_CHOICE, /* one of `choices`, or empty                                                  */
    KIND_LIST,   /* some of `choices`, with commas between                                      */
    KIND_EVENTS, /* one of `choices`, or "Custom:" and any text                                 */
    KIND_SIZE,   /* "200MB", at least `least`                                                   */
    KIND_KEEP,   /* "10s", "64MB"                                                               */
    KIND_RESERVE, /* "2GB", "10%"                                                               */
    KIND_SIGNAL, /* "SIGUSR2"                                                                   */
    KIND_COUNT   /* a whole number from `least` to `most`                                       */
};

struct row {
    const char *key;
    enum kind kind;
    const char *const *choices;
    uint32_t least, most;
    uint32_t layers[3]; /* those for l0; for l1; for l2 and l3. All equal for a switch          */
    const char *lacks;  /* sentence: why it has no effect here; NULL = it has an effect        */
};

#define WITHOUT(why) "accepted, no effect here: " why
#define ASCEND WITHOUT("it needs an Ascend device")
#define SAMPLER WITHOUT("varve samples no system counters")
#define TASK VARVE_LAYER_OP | VARVE_LAYER_DEVICE

static const char *const switches[] = { "on", "off", NULL };
static const char *const levels[] = { "on", "off", "l0", "l1", "l2", "l3", NULL };
static const char *const api_levels[] = { "off", "l0", "l1", NULL };
static const char *const blocks[] = { "all", "on", "off", NULL };
static const char *const fulls[] = { "drop-newest", "grow", "drop-oldest", NULL };
static const char *const caches[] = { "read", "write", NULL };
static const char *const host_parts[] = { "cpu", "mem", "disk", "network", "osrt", "numa", NULL };
static const char *const usages[] = { "cpu", "mem", NULL };

#define SWITCH(name, bits, why) { name, KIND_CHOICE, switches, 0, 0, { bits, bits, bits }, why }
#define LEVEL(name, list, l0, l1, l2) { name, KIND_CHOICE, list, 0, 0, { l0, l1, l2 }, NULL }
#define COUNT(name, from, to, why) { name, KIND_COUNT, NULL, from, to, { 0 }, why }
#define TEXT(name, why) { name, KIND_TEXT, NULL, 0, 0, { 0 }, why }
#define STEPS(name, from) COUNT(name, from, VV_SCHEDULE_STEPS_MAX, NULL)

static const struct row rows[] = {
    TEXT("output", NULL),
    { "layers", KIND_LAYERS, NULL, 0, 0, { 0 }, NULL },
    { "max_size", KIND_SIZE, NULL, 1, 0, { 0 }, NULL },
    { "when_full", KIND_CHOICE, fulls, 0, 0, { 0 }, NULL },
    { "keep", KIND_KEEP, NULL, 0, 0, { 0 }, NULL },
    { "reserve", KIND_RESERVE, NULL, 0, 0, { 0 }, NULL },
    { "share", KIND_CHOICE, switches, 0, 0, { 0 }, NULL },
    { "dump_on", KIND_SIGNAL, NULL, 0, 0, { 0 }, NULL },
    STEPS("skip", 0), STEPS("warmup", 0), STEPS("active", 1), STEPS("repeat", 0),
    { "storage_limit", KIND_SIZE, NULL, 200, 0, { 0 }, NULL },
    SWITCH("training_trace", VARVE_LAYER_STEP, NULL),
    TEXT("fp_point", NULL),
    TEXT("bp_point", NULL),
    LEVEL("task_trace", levels, TASK, TASK | VARVE_LAYER_RUNTIME,
          TASK | VARVE_LAYER_RUNTIME | VARVE_LAYER_RUNTIME_L1),
    LEVEL("task_time", levels, TASK, TASK | VARVE_LAYER_RUNTIME,
          TASK | VARVE_LAYER_RUNTIME | VARVE_LAYER_RUNTIME_L1),
    { "task_block", KIND_CHOICE, blocks, 0, 0, { 0 }, ASCEND },
    SWITCH("hccl", VARVE_LAYER_COMM, NULL),
    SWITCH("msproftx", VARVE_LAYER_API | VARVE_LAYER_METRIC, NULL),
    SWITCH("runtime_api", VARVE_LAYER_RUNTIME, NULL),
    SWITCH("task_memory", VARVE_LAYER_MEMORY, NULL),
    LEVEL("ge_api", api_levels, VARVE_LAYER_HOST | VARVE_LAYER_RUNTIME,
          VARVE_LAYER_HOST | VARVE_LAYER_RUNTIME | VARVE_LAYER_RUNTIME_L1, 0),
    SWITCH("aicpu", 0, ASCEND),
    SWITCH("l2", 0, ASCEND),
    SWITCH("task_tsfw", 0, ASCEND),
    { "aic_metrics", KIND_EVENTS, vv_metric_groups, 0, 0, { 0 }, NULL },
    SWITCH("instr_profiling", 0, ASCEND),
    COUNT("instr_profiling_freq", 300, 30000, ASCEND),
    COUNT("sys_hardware_mem_freq", 1, 10000, SAMPLER),
    TEXT("sys_mem_serviceflow", SAMPLER),
    { "llc_profiling", KIND_CHOICE, caches, 0, 0, { 0 }, SAMPLER },
    COUNT("sys_io_sampling_freq", 1, 100, SAMPLER),
    COUNT("sys_interconnection_freq", 1, 50, SAMPLER),
    COUNT("sys_cpu_freq", 1, 50, SAMPLER),
    COUNT("dvpp_freq", 1, 100, ASCEND),
    { "host_sys", KIND_LIST, host_parts, 0, 0, { 0 }, SAMPLER },
    { "host_sys_usage", KIND_LIST, usages, 0, 0, { 0 }, SAMPLER },
    COUNT("host_sys_usage_freq", 1, 50, SAMPLER),
    COUNT("sys_lp_freq", 1, 100, SAMPLER),
    TEXT("optype", ASCEND),
};
#define ROWS (sizeof rows / sizeof rows[0])
_Static_assert(ROWS <= 64, "one bit each in struct vv_options");

/* Values gathered while the text is read, besides the options themselves. */
struct gathering {
    struct vv_options *options;
    uint32_t said_layers;           /* given by `layers`                                        */
    uint32_t switched_layers;       /* turned on by the switches                                */
    const char *switched_by;        /* one of those switches, for a message                     */
    int when_full;                  /* index in fulls; -1 = not given                           */
    int task_level;                 /* level of task_trace and task_time: -1 = off, 0 … 2       */
    bool is_task_said, is_scheduled;
};

static const struct row *find_row(const char *key)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(rows[i].key, key) == 0)
            return &rows[i];
    return NULL;
}

static bool is_given(const struct vv_options *options, const char *key)
{
    const struct row *row = find_row(key);
    return row != NULL && (options->given >> (row - rows) & 1) != 0;
}

static enum varve_code no_such_key(const struct vv_option_member *member, struct varve_error *error)
{
    const char *keys[ROWS + 1];
    for (size_t i = 0; i < ROWS; i++)
        keys[i] = rows[i].key;
    keys[ROWS] = NULL;
    const char *nearest = vv_nearest(member->key, keys);
    return vv_fail_at(error, VARVE_INVALID, member->key_offset, "the options have no key '%s'%s%s,",
                      member->key, nearest != NULL ? "; nearest: " : "",
                      nearest != NULL ? nearest : "");
}

/* ---- values ---- */

static enum varve_code no_such_value(const struct row *row, const char *value, uint64_t offset,
                                     struct varve_error *error)
{
    char list[200] = "";
    for (const char *const *choice = row->choices; *choice != NULL; choice++) {
        size_t length = strlen(list);
        snprintf(list + length, sizeof list - length, "%s%s", length > 0 ? ", " : "", *choice);
    }
    const char *nearest = vv_nearest(value, row->choices);
    return vv_fail_at(error, VARVE_INVALID, offset,
                      "option '%s' cannot be '%.60s'%s%s; it is one of %s,", row->key, value,
                      nearest != NULL ? "; nearest: " : "", nearest != NULL ? nearest : "", list);
}

static int find_choice(const char *const *choices, const char *value, size_t length)
{
    for (int i = 0; choices[i] != NULL; i++)
        if (strlen(choices[i]) == length && strncmp(choices[i], value, length) == 0)
            return i;
    return -1;
}

static enum varve_code check_list(const struct row *row, const struct vv_option_member *member,
                                  struct varve_error *error)
{
    const char *word = member->value;
    for (;;) {
        size_t length = strcspn(word, ",");
        if (find_choice(row->choices, word, length) < 0) {
            char unknown[64];
            snprintf(unknown, sizeof unknown, "%.*s", (int)(length < 60 ? length : 60), word);
            return no_such_value(row, unknown, member->value_offset, error);
        }
        if (word[length] == '\0')
            return VARVE_OK;
        word += length + 1;
    }
}

/* Reads the digits at the begin of `value`. False: there are none, or too many for any option. */
static bool read_digits(const char *value, uint64_t *out_number, const char **out_rest)
{
    uint64_t number = 0;
    size_t count = strspn(value, "0123456789");
    for (size_t i = 0; i < count && i < 18; i++)
        number = number * 10 + (uint64_t)(value[i] - '0');
    *out_number = number;
    *out_rest = value + count;
    return count > 0 && count < 18;
}

static enum varve_code check_count(const struct row *row, const struct vv_option_member *member,
                                   uint64_t *out_number, struct varve_error *error)
{
    const char *rest = "";
    if (!read_digits(member->value, out_number, &rest) || *rest != '\0' ||
        *out_number < row->least || *out_number > row->most)
        return vv_fail_at(error, VARVE_INVALID, member->value_offset,
                          "option '%s' cannot be '%.60s'; it is a whole number from %u to %u,",
                          row->key, member->value, row->least, row->most);
    return VARVE_OK;
}

static enum varve_code read_size(const struct row *row, const struct vv_option_member *member,
                                 uint64_t *out_bytes, struct varve_error *error)
{
    uint64_t number;
    const char *rest;
    if (!read_digits(member->value, &number, &rest) || strcasecmp(rest, "MB") != 0 ||
        number < row->least || number > UINT32_MAX)
        return vv_fail_at(error, VARVE_INVALID, member->value_offset,
                          "option '%s' cannot be '%.60s'; write %uMB or more, up to %uMB,",
                          row->key, member->value, row->least, UINT32_MAX);
    *out_bytes = number * 1000000;
    return VARVE_OK;
}

enum varve_code vv_options_check_metrics(const char *name, struct varve_error *error)
{
    const struct row *row = find_row("aic_metrics");
    const size_t prefix = sizeof VV_METRICS_CUSTOM - 1;
    if (find_choice(row->choices, name, strlen(name)) >= 0 ||
        strncmp(name, VV_METRICS_CUSTOM, prefix) == 0)
        return VARVE_OK;
    return no_such_value(row, name, VARVE_ERROR_NO_OFFSET, error);
}

/* ---- what they mean ---- */

/* Returns the level that a value means. For an option with levels "on" is l1, as in GE. */
static int level_of(const struct row *row, const char *value)
{
    if (strcmp(value, "off") == 0)
        return -1;
    if (value[0] == 'l')
        return value[1] - '0' > 2 ? 2 : value[1] - '0';
    return row->choices == levels ? 1 : 0;
}

static enum varve_code apply_switch(struct gathering *all, const struct row *row,
                                    const struct vv_option_member *member,
                                    struct varve_error *error)
{
    if (member->value[0] == '\0') /* as in GE: the default */
        return VARVE_OK;
    bool is_on_off = row->choices == switches || row->choices == levels;
    const char *value = member->kind == VV_OPTION_TRUE && is_on_off    ? "on"
                        : member->kind == VV_OPTION_FALSE && is_on_off ? "off"
                                                                       : member->value;
    if (find_choice(row->choices, value, strlen(value)) < 0)
        return no_such_value(row, value, member->value_offset, error);
    if (row->lacks != NULL)
        return VARVE_OK;
    if (row->choices == fulls) {
        all->when_full = find_choice(fulls, value, strlen(value));
        return VARVE_OK;
    }
    if (strcmp(row->key, "share") == 0) {
        all->options->is_shared = strcmp(value, "on") == 0;
        return VARVE_OK;
    }
    int level = level_of(row, value);
    if (row->choices == levels) {
        if (all->is_task_said && all->task_level != level)
            return vv_fail_at(
                error, VARVE_INVALID, member->value_offset,
                "options 'task_trace' and 'task_time' contradict each other: leave one out,");
        all->is_task_said = true;
        all->task_level = level;
    } else if (level >= 0) {
        all->switched_layers |= row->layers[level];
    }
    all->switched_by = row->key;
    return VARVE_OK;
}

static enum varve_code apply_layers(struct gathering *all, const struct vv_option_member *member,
                                    struct varve_error *error)
{
    struct varve_error why;
    if (vv_layers_parse(member->value, &all->said_layers, &why) == VARVE_OK)
        return VARVE_OK;
    return vv_fail_at(error, VARVE_INVALID, member->value_offset, "option 'layers': %s,",
                      why.message);
}

static enum varve_code apply_count(struct gathering *all, const struct row *row,
                                   const struct vv_option_member *member, struct varve_error *error)
{
    struct vv_schedule *schedule = &all->options->schedule;
    const struct {
        const char *key;
        uint32_t *place;
    } places[] = { { "skip", &schedule->skip }, { "warmup", &schedule->warmup },
                   { "active", &schedule->active }, { "repeat", &schedule->repeat } };
    uint64_t number = 0;
    if (member->kind == VV_OPTION_STRING && member->value[0] == '\0' && row->lacks != NULL)
        return VARVE_OK;
    VV_TRY(check_count(row, member, &number, error));
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (strcmp(places[i].key, row->key) != 0)
            continue;
        *places[i].place = (uint32_t)number;
        all->is_scheduled = true;
    }
    return VARVE_OK;
}

static enum varve_code apply_keep(struct gathering *all, const struct vv_option_member *member,
                                  struct varve_error *error)
{
    struct varve_error why;
    if (vv_keep_parse(member->value, &all->options->keep, &why) == VARVE_OK)
        return VARVE_OK;
    return vv_fail_at(error, VARVE_INVALID, member->value_offset, "option 'keep': %s,",
                      why.message);
}

static enum varve_code apply_reserve(struct gathering *all, const struct vv_option_member *member,
                                     struct varve_error *error)
{
    struct varve_error why;
    if (vv_reserve_parse(member->value, &all->options->reserve, &why) == VARVE_OK)
        return VARVE_OK;
    return vv_fail_at(error, VARVE_INVALID, member->value_offset, "option 'reserve': %s,",
                      why.message);
}

static enum varve_code apply_signal(struct gathering *all, const struct vv_option_member *member,
                                    struct varve_error *error)
{
    struct varve_error why;
    if (vv_dump_signal_parse(member->value, &all->options->dump_signal, &why) == VARVE_OK)
        return VARVE_OK;
    return vv_fail_at(error, VARVE_INVALID, member->value_offset, "option 'dump_on': %s,",
                      why.message);
}

static enum varve_code apply_text(struct gathering *all, const struct row *row,
                                  const struct vv_option_member *member, struct varve_error *error)
{
    struct vv_options *options = all->options;
    const struct {
        const char *key;
        char *place;
        size_t bytes;
    } places[] = { { "output", options->output, sizeof options->output },
                   { "fp_point", options->fp_point, sizeof options->fp_point },
                   { "bp_point", options->bp_point, sizeof options->bp_point } };
    size_t length = strlen(member->value);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (strcmp(places[i].key, row->key) != 0)
            continue;
        if (length >= places[i].bytes)
            return vv_fail_at(error, VARVE_INVALID, member->value_offset,
                              "option '%s' has %zu bytes; it takes at most %zu,", row->key, length,
                              places[i].bytes - 1);
        memcpy(places[i].place, member->value, length + 1); /* nothing of the stack behind it */
    }
    return VARVE_OK;
}

static enum varve_code apply_metrics(struct gathering *all, const struct row *row,
                                     const struct vv_option_member *member,
                                     struct varve_error *error)
{
    char *metrics = all->options->metrics;
    if (member->value[0] != '\0' && vv_options_check_metrics(member->value, NULL) != VARVE_OK)
        return no_such_value(row, member->value, member->value_offset, error);
    if (strlen(member->value) >= VV_OPTIONS_METRICS_BYTES)
        return vv_fail_at(error, VARVE_LIMIT, member->value_offset,
                          "option '%s' is longer than %u bytes,", row->key,
                          VV_OPTIONS_METRICS_BYTES - 1);
    memcpy(metrics, member->value, strlen(member->value) + 1);
    return VARVE_OK;
}

static enum varve_code apply(struct gathering *all, const struct row *row,
                             const struct vv_option_member *member, struct varve_error *error)
{
    bool is_empty = member->value[0] == '\0', is_plain = member->kind == VV_OPTION_STRING;
    if (!is_plain && row->kind != KIND_CHOICE && row->kind != KIND_COUNT)
        return vv_fail_at(error, VARVE_INVALID, member->value_offset,
                          "option '%s' wants a text in quotes, not %s,", row->key, member->value);
    switch (row->kind) {
    case KIND_TEXT:
        return apply_text(all, row, member, error);
    case KIND_LAYERS:
        return apply_layers(all, member, error);
    case KIND_CHOICE:
        return apply_switch(all, row, member, error);
    case KIND_LIST:
        return is_empty ? VARVE_OK : check_list(row, member, error);
    case KIND_EVENTS:
        return apply_metrics(all, row, member, error);
    case KIND_SIZE:
        return read_size(row, member, &all->options->max_bytes, error);
    case KIND_KEEP:
        return apply_keep(all, member, error);
    case KIND_RESERVE:
        return apply_reserve(all, member, error);
    case KIND_SIGNAL:
        return apply_signal(all, member, error);
    case KIND_COUNT:
        return apply_count(all, row, member, error);
    }
    return VARVE_OK;
}

/* Decides how much is kept, and whether the first or the last records are kept. */
static enum varve_code conclude_size(const struct gathering *all, struct varve_error *error)
{
    struct vv_options *options = all->options;
    bool keeps_last = options->keep.bytes != 0 || options->keep.ns != 0;
    const char *size = is_given(options, "max_size") ? "max_size" : "storage_limit";
    if (keeps_last && options->max_bytes != 0)
        VV_FAIL(error, VARVE_INVALID,
                "options 'keep' and '%s' both say how much to keep, the one of what comes "
                "last, the other of what comes first: leave one out",
                size);
    if (all->when_full >= 0 && options->max_bytes == 0)
        VV_FAIL(error, VARVE_INVALID,
                "option 'when_full' wants 'max_size', the size that it speaks of");
    options->grow = all->when_full >= 0 && strcmp(fulls[all->when_full], "grow") == 0;
    if (all->when_full < 0 || strcmp(fulls[all->when_full], "drop-oldest") != 0)
        return VARVE_OK;
    options->keep.bytes = options->max_bytes;
    options->max_bytes = 0;
    return VARVE_OK;
}

/* Decides what is recorded. Without any switch: the layers that `layers` names, or all. With
 * switches: API and the layers that the switches turn on. Tasks count as on unless a switch says
 * otherwise. */
static enum varve_code conclude(struct gathering *all, struct varve_error *error)
{
    struct vv_options *options = all->options;
    VV_TRY(conclude_size(all, error));
    if (all->said_layers != 0 && all->switched_by != NULL)
        VV_FAIL(error, VARVE_INVALID,
                "options 'layers' and '%s' both say what to record: leave one out",
                all->switched_by);
    if (all->is_scheduled && options->schedule.active == 0)
        VV_FAIL(error, VARVE_INVALID,
                "options 'skip', 'warmup' and 'repeat' want 'active', the number of "
                "steps to record");
    options->layers = all->said_layers != 0 ? all->said_layers : VARVE_LAYER_ALL;
    if (all->switched_by == NULL)
        return VARVE_OK;
    options->layers = VARVE_LAYER_API | all->switched_layers;
    if (all->task_level >= 0)
        options->layers |= find_row("task_time")->layers[all->task_level];
    return VARVE_OK;
}

enum varve_code vv_options_parse(struct vv_options *out_options, const char *text,
                                 struct varve_error *error)
{
    struct vv_option_member member;
    struct vv_option_scan scan = { .text = text };
    struct gathering all = { .options = out_options, .task_level = 1, .when_full = -1 };
    size_t length = strlen(text);
    memset(out_options, 0, sizeof *out_options);
    out_options->source = "the call";
    if (length >= sizeof out_options->text)
        VV_FAIL(error, VARVE_LIMIT, "the options are %zu bytes long; at most %zu are taken", length,
                sizeof out_options->text - 1);
    memcpy(out_options->text, text, length + 1);
    out_options->text_bytes = length;
    for (;;) {
        bool is_one;
        VV_TRY(vv_option_next(&scan, &member, &is_one, error));
        if (!is_one)
            return conclude(&all, error);
        const struct row *row = find_row(member.key);
        if (row == NULL)
            return no_such_key(&member, error);
        uint64_t bit = UINT64_C(1) << (row - rows);
        if ((out_options->given & bit) != 0)
            return vv_fail_at(error, VARVE_INVALID, member.key_offset,
                              "option '%s' stands twice, again", member.key);
        out_options->given |= bit;
        VV_TRY(apply(&all, row, &member, error));
    }
}

/* Returns why the option has no effect; NULL: it has. */
static const char *lack_of(const struct vv_options *options, const struct row *row)
{
    static const char *const begun[] = { "output", "max_size", "storage_limit", "when_full", "keep",
                                         "dump_on", NULL };
    bool is_decided = options->joins && find_choice(begun, row->key, strlen(row->key)) >= 0;
    return is_decided ? WITHOUT("`varve record` decides") : row->lacks;
}

const char *vv_options_effect(const struct vv_options *options, const char *key)
{
    const struct row *row = find_row(key);
    if (row == NULL || !is_given(options, key))
        return NULL;
    const char *lack = lack_of(options, row);
    return lack != NULL ? lack : "in effect";
}

/* ---- beside the trace ---- */

static size_t add(char *text, size_t length, size_t capacity, const char *words)
{
    size_t room = capacity - length;
    int written = snprintf(text + length, room, "%s", words);
    return length + (written < 0 ? 0 : (size_t)written < room ? (size_t)written : room - 1);
}

int vv_options_write(const struct vv_options *options, const struct vv_own_folder *folder)
{
    static char text[VV_OPTIONS_TEXT_BYTES + 8192]; /* guarded by the recorder's lock */
    const size_t capacity = sizeof text;
    size_t length = add(text, 0, capacity, "{\n  \"source\": \"");
    length = add(text, length, capacity, options->source);
    length = add(text, length, capacity, "\",\n  \"options\": ");
    length = add(text, length, capacity, options->text);
    length = add(text, length, capacity, ",\n  \"no_effect\": {");
    const char *comma = "";
    for (size_t i = 0; i < ROWS; i++) {
        const char *lack = lack_of(options, &rows[i]);
        if ((options->given >> i & 1) == 0 || lack == NULL)
            continue;
        char member[160];
        snprintf(member, sizeof member, "%s\n    \"%s\": \"%s\"", comma, rows[i].key, lack);
        length = add(text, length, capacity, member);
        comma = ",";
    }
    length = add(text, length, capacity, "\n  }\n}\n");
    struct vv_file_id id;
    int failure = vv_own_remove(folder, VV_OPTIONS_FILE); /* file of former options */
    if (failure == 0)
        failure = vv_own_create(folder, VV_OPTIONS_FILE, 0, NULL, &id);
    return failure != 0 ? failure : vv_own_write(folder, VV_OPTIONS_FILE, &id, text, length, 0);
}
