/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_options.c — what says what to record, and how much: option texts of calls and of the
 * environment, amounts, steps, layers, sources, signals, and the structs of the control calls, made
 * of the input's bytes. What is refused is refused in a sentence, with a place in the text; what is
 * accepted keeps its promises, and what is printed of it says the same. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../support/sentence.h"
#include "base/system/own_folder.h"
#include "base/text/duration.h"
#include "base/text/json.h"
#include "base/text/size.h"
#include "ctf/metadata_write.h"
#include "draw.h"
#include "record/options/options.h"
#include "record/session/options.h"
#include "settings/dump_signal.h"
#include "settings/keep_last.h"
#include "settings/schedule.h"
#include "settings/sources.h"
#include "varve/control.h"

#define TEXT_BYTES 20000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/varve-fuzz-XXXXXX";
static struct vv_own_folder own;
static struct vv_options options, again;
static struct varve_error error;

#define LAW(condition)                                         \
    do {                                                       \
        if (!(condition)) {                                    \
            fprintf(stderr, "fuzz_options: %s\n", #condition); \
            abort();                                           \
        }                                                      \
    } while (0)

/* ---- texts ---- */

struct text {
    char bytes[TEXT_BYTES];
    size_t length;
};

static void put(struct text *text, const char *bytes, size_t length)
{
    if (length > sizeof text->bytes - 1 - text->length)
        length = sizeof text->bytes - 1 - text->length;
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

static void put_word(struct text *text, const char *word)
{
    put(text, word, strlen(word));
}

/* The rest of the bytes, or some of them, as they are; a NUL would end them. */
static void put_raw(struct text *text, struct draw *draw, size_t most)
{
    for (size_t i = 0; i < most && draw->at < draw->end; i++) {
        char byte = (char)draw_byte(draw);
        if (byte != '\0')
            put(text, &byte, 1);
    }
}

static void put_amount(struct text *text, struct draw *draw)
{
    static const char *const units[] = { "", "s", "ms", "ns", "us", "min", "h", "m", "MB", "MiB",
                                         "kB", "GB", "TB", "TiB", "B",
                                         " s", "  MB", "mb", "bytes", "M", "e3", ".5s" };
    char number[32];
    snprintf(number, sizeof number, "%" PRId64, draw_number(draw));
    put_word(text, number);
    put_word(text, DRAW_FROM(draw, units));
}

static void put_schedule(struct text *text, struct draw *draw)
{
    static const char *const words[] = { "active", "skip", "warmup", "repeat", "activ", "" };
    unsigned parts = draw_below(draw, 6);
    for (unsigned i = 0; i <= parts; i++) {
        char part[64];
        snprintf(part, sizeof part, "%s%s=%" PRId64, i > 0 ? "," : "", DRAW_FROM(draw, words),
                 draw_number(draw));
        put_word(text, part);
    }
}

static void put_words(struct text *text, struct draw *draw)
{
    static const char *const words[] = { "on", "off", "l0", "l1", "l3", "all", "cpu", "mem", "read",
                                         "drop-oldest", "grow", "OP",
                                         "STEP", "PYTHON", "none", "auto", "+python", "-torch",
                                         "SIGUSR2", "USR1", "12", "KILL",
                                         "RTMIN+1", "PipeUtilization", "Custom:", "true", "dynamic",
                                         "" };
    unsigned count = draw_below(draw, 4);
    for (unsigned i = 0; i <= count; i++) {
        put_word(text, i > 0 ? "," : "");
        put_word(text, DRAW_FROM(draw, words));
    }
}

static void put_value(struct text *text, struct draw *draw)
{
    static const char *const escapes[] = { "\\u00e9", "\\ud83d\\ude00", "\\u001b[31m", "\\n",
                                           "\\u0000", "\\ud800", "\\\"", "\\/",
                                           "\xc3\xa9", "\xff", "\xe2\x80\xae", "%s", "\\x" };
    switch (draw_below(draw, 6)) {
    case 0:
        put_amount(text, draw);
        return;
    case 1:
        put_schedule(text, draw);
        return;
    case 2:
        put_raw(text, draw, draw_byte(draw));
        return;
    case 3:
        put_word(text, DRAW_FROM(draw, escapes));
        return;
    default:
        put_words(text, draw);
    }
}

static void put_member(struct text *text, struct draw *draw)
{
    static const char *const keys[] = {
        "output", "layers", "max_size", "when_full", "keep", "dump_on", "skip", "warmup", "active",
        "repeat", "storage_limit",
        "training_trace", "fp_point", "bp_point", "task_trace", "task_time", "task_block", "hccl",
        "msproftx", "runtime_api",
        "task_memory", "ge_api", "aicpu", "l2", "task_tsfw", "aic_metrics", "instr_profiling",
        "instr_profiling_freq",
        "sys_hardware_mem_freq", "sys_mem_serviceflow", "llc_profiling", "sys_io_sampling_freq",
        "sys_interconnection_freq",
        "sys_cpu_freq", "dvpp_freq", "host_sys", "host_sys_usage", "host_sys_usage_freq",
        "sys_lp_freq", "optype", "ouput", "",
        "\\u001b]0;", "\xff",
    };
    static const char *const bares[] = { "1", "0", "5", "true", "false", "null", "-1", "1e3", "01",
                                         "[1]", "{}", "4294967296" };
    static const char *const quotes[] = { "\"", "\"", "\"", "\"", "\"", "\"", "'", "" };
    put_word(text, "\"");
    put_word(text, DRAW_FROM(draw, keys));
    put_word(text, draw_below(draw, 64) == 63 ? "\" " : "\": ");
    if (draw_below(draw, 4) == 0) {
        put_word(text, DRAW_FROM(draw, bares));
        return;
    }
    put_word(text, "\"");
    put_value(text, draw);
    put_word(text, DRAW_FROM(draw, quotes));
}

static void put_object(struct text *text, struct draw *draw)
{
    static const char *const ends[] = { "}", "}", "}", "}", "}", "} ", "}}", "", ",}", "} x" };
    unsigned members = draw_below(draw, 9);
    put_word(text, "{");
    for (unsigned i = 0; i < members; i++) {
        put_word(text, i > 0 ? ", " : "");
        put_member(text, draw);
    }
    put_word(text, DRAW_FROM(draw, ends));
    if (draw_below(draw, 64) == 63) /* too long */
        for (int i = 0; i < 20000; i++)
            put_word(text, " ");
}

/* ---- laws of option texts ---- */

static void look_at_options(const struct vv_options *made)
{
    bool keeps_last = made->keep.bytes != 0 || made->keep.ns != 0;
    const struct vv_schedule *schedule = &made->schedule;
    LAW(made->layers != 0 && (made->layers & ~VARVE_LAYER_ALL) == 0);
    LAW(!keeps_last || (made->max_bytes == 0 && !made->grow));
    LAW(made->keep.bytes == 0 || made->keep.ns == 0);
    LAW(!made->grow || made->max_bytes != 0);
    LAW(schedule->active != 0 || (schedule->skip | schedule->warmup | schedule->repeat) == 0);
    LAW(made->text_bytes == strlen(made->text) && made->text_bytes < VV_OPTIONS_TEXT_BYTES);
    LAW(made->dump_signal >= 0 && made->dump_signal != SIGKILL && made->dump_signal != SIGSTOP);
    LAW(memchr(made->output, '\0', sizeof made->output) != NULL);
}

/* All tokens of the file beside the trace: it is JSON, and says `text` and `source`. */
static void look_at_file(const struct vv_options *made)
{
    static char path[64], content[VV_OPTIONS_TEXT_BYTES + 16384];
    struct vv_json json;
    LAW(vv_options_write(made, &own) == 0);
    snprintf(path, sizeof path, "%s/" VV_OPTIONS_FILE, folder);
    FILE *file = fopen(path, "rb");
    LAW(file != NULL);
    size_t length = fread(content, 1, sizeof content - 1, file);
    fclose(file);
    unlink(path);
    content[length] = '\0';
    LAW(strstr(content, made->text) != NULL && strstr(content, made->source) != NULL);
    LAW(vv_utf8_valid(content, length) == length);
    vv_json_init_text(&json, content, length);
    do
        if (vv_json_next(&json, &error) != VARVE_OK) {
            fprintf(stderr, "fuzz_options: %s: %s\n", error.message, content);
            abort();
        }
    while (json.token != VV_JSON_END);
    vv_json_deinit(&json);
}

static void try_options(const char *text)
{
    enum varve_code code = vv_options_parse(&options, text, &error);
    if (code != VARVE_OK) {
        sentence_must(&error, code, strlen(text));
        return;
    }
    look_at_options(&options);
    LAW(strcmp(options.text, text) == 0);
    look_at_file(&options);
    LAW(vv_options_parse(&again, options.text, NULL) == VARVE_OK &&
        memcmp(&again, &options, sizeof again) == 0);
}

static void try_environment(struct draw *draw)
{
    static const char *const names[] = { "VARVE_OPTIONS", "PROFILING_MODE", "PROFILING_OPTIONS",
                                         "GE_PROFILING_MODE",
                                         "GE_PROFILING_OPTIONS" };
    static const char *const modes[] = { "true", "false", "dynamic", "delay_or_duration", "ture",
                                         "", "\x1b[31m" };
    static struct text value;
    bool is_asked = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        value.length = 0;
        value.bytes[0] = '\0';
        if (draw_below(draw, 3) == 0) {
            unsetenv(names[i]);
            continue;
        }
        if (strstr(names[i], "MODE") != NULL)
            put_word(&value, DRAW_FROM(draw, modes));
        else
            put_object(&value, draw);
        LAW(setenv(names[i], value.bytes, 1) == 0);
    }
    enum varve_code code = vv_options_from_environment(&options, &is_asked, &error);
    if (code != VARVE_OK)
        sentence_must(&error, code, TEXT_BYTES);
    else if (is_asked)
        look_at_options(&options);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
}

/* ---- laws of the smaller texts ---- */

static bool is_refused(enum varve_code code, const char *text)
{
    if (code == VARVE_OK)
        return false;
    LAW(code == VARVE_INVALID);
    sentence_must(&error, code, strlen(text));
    return true;
}

static void try_keep(const char *text)
{
    struct vv_keep keep = { 0, 0 }, same = { 0, 0 };
    char printed[VV_KEEP_TEXT_BYTES], *word;
    if (is_refused(vv_keep_parse(text, &keep, &error), text))
        return;
    LAW((keep.bytes == 0) != (keep.ns == 0));
    vv_keep_text(&keep, printed);
    if ((word = strstr(printed, "bytes")) != NULL)
        strcpy(word, "B");
    LAW(vv_keep_parse(printed, &same, &error) == VARVE_OK && same.bytes == keep.bytes &&
        same.ns == keep.ns);
}

static void try_amounts(const char *text)
{
    uint64_t amount = 0, same = 0;
    char printed[32];
    if (!is_refused(vv_size_parse(text, &amount, &error), text)) {
        snprintf(printed, sizeof printed, "%" PRIu64, amount);
        LAW(amount <= INT64_MAX);
        LAW(strlen(printed) > 15 ||
            (vv_size_parse(printed, &same, &error) == VARVE_OK && same == amount));
    }
    if (is_refused(vv_duration_parse(text, &amount, &error), text))
        return;
    snprintf(printed, sizeof printed, "%" PRIu64 "ns", amount);
    LAW(amount <= INT64_MAX && vv_duration_has_unit(text));
    LAW(strlen(printed) > 20 ||
        (vv_duration_parse(printed, &same, &error) == VARVE_OK && same == amount));
}

static void try_schedule(const char *text)
{
    struct vv_schedule schedule, same;
    char printed[128];
    if (is_refused(vv_schedule_parse(text, &schedule, &error), text))
        return;
    snprintf(printed, sizeof printed, "skip=%u,warmup=%u,active=%u,repeat=%u", schedule.skip,
             schedule.warmup, schedule.active, schedule.repeat);
    LAW(schedule.active != 0);
    LAW(vv_schedule_parse(printed, &same, &error) == VARVE_OK &&
        memcmp(&same, &schedule, sizeof same) == 0);
    LAW(vv_schedule_phase(&schedule, (uint64_t)schedule.skip + schedule.warmup) ==
        VV_SCHEDULE_ACTIVE);
    LAW(vv_schedule_phase(&schedule, UINT64_MAX) <= VV_SCHEDULE_OVER);
}

static void try_lists(const char *text)
{
    uint32_t wanted = 0, layers = 0, layers_again = 0;
    int number = 0, same = 0;
    char printed[16];
    if (!is_refused(vv_layers_parse(text, &layers, &error), text)) {
        LAW(layers != 0 && (layers & ~VARVE_LAYER_ALL) == 0);
        snprintf(printed, sizeof printed, "%u", layers);
        LAW(vv_layers_parse(printed, &layers_again, &error) == VARVE_OK && layers_again == layers);
    }
    is_refused(vv_collect_parse(text, &wanted, &error), text);
    if (is_refused(vv_dump_signal_parse(text, &number, &error), text))
        return;
    snprintf(printed, sizeof printed, "%d", number);
    LAW(number > 0 && vv_dump_signal_parse(printed, &same, &error) == VARVE_OK && same == number);
}

/* ---- laws of the structs ---- */

static void try_settings(struct draw *draw, const char *metrics)
{
    static uint32_t devices[80];
    struct varve_profiling_settings settings = VARVE_PROFILING_SETTINGS_INIT;
    struct varve_profiling_config *config = NULL;
    for (size_t i = 0; i < 80; i++)
        devices[i] = draw->at < draw->end ? (uint32_t)draw_number(draw) & 0xffff : (uint32_t)i;
    settings.struct_size =
        draw_below(draw, 4) == 0 ? draw_byte(draw) % (sizeof settings + 1) : settings.struct_size;
    settings.layers = (uint32_t)draw_number(draw);
    settings.device_count = draw_byte(draw) % 80;
    settings.devices = draw_below(draw, 4) == 0 ? NULL : devices;
    settings.reserved = draw_below(draw, 8) == 7;
    settings.metrics = draw_below(draw, 2) == 0 ? NULL : metrics;
    enum varve_code code = varve_profiling_config_create(&settings, &config, &error);
    if (code != VARVE_OK)
        sentence_must(&error, code, 0);
    LAW((code == VARVE_OK) == (config != NULL));
    LAW(varve_profiling_config_destroy(config, &error) == VARVE_OK);
}

static void try_session(struct draw *draw)
{
    struct varve_session_options asked = VARVE_SESSION_OPTIONS_INIT, taken;
    asked.struct_size =
        draw_below(draw, 4) == 0 ? draw_byte(draw) % (sizeof asked + 1) : asked.struct_size;
    asked.layers = (uint32_t)draw_number(draw);
    asked.max_bytes = draw_below(draw, 2) == 0 ? 0 : (uint64_t)draw_number(draw);
    asked.when_full = draw_below(draw, 4);
    asked.reserved = draw_below(draw, 8) == 7;
    asked.keep_bytes = draw_below(draw, 2) == 0 ? 0 : (uint64_t)draw_number(draw);
    asked.keep_ns = draw_below(draw, 2) == 0 ? 0 : (uint64_t)draw_number(draw);
    enum varve_code code = vv_session_options_take(&asked, &taken, &error);
    if (code != VARVE_OK) {
        sentence_must(&error, code, 0);
        return;
    }
    LAW(taken.struct_size == sizeof taken && (taken.layers & ~VARVE_LAYER_ALL) == 0);
    LAW(taken.max_bytes == 0 || (taken.keep_bytes == 0 && taken.keep_ns == 0));
}

static void remove_folder(void)
{
    rmdir(folder);
}

/* The first byte says what the others are. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct text text;
    struct draw draw = { data, data + size };
    if (strstr(folder, "XXXXXX") != NULL) {
        LAW(mkdtemp(folder) != NULL && vv_own_folder_know(folder, false, &own, NULL) == 0);
        atexit(remove_folder);
    }
    text.length = 0;
    text.bytes[0] = '\0';
    unsigned what = draw_below(&draw, 8);
    if (what == 0)
        put_raw(&text, &draw, size);
    else if (what < 4)
        put_object(&text, &draw);
    else if (what < 6)
        put_value(&text, &draw);
    try_options(text.bytes);
    try_keep(text.bytes);
    try_amounts(text.bytes);
    try_schedule(text.bytes);
    try_lists(text.bytes);
    if (what == 6)
        try_environment(&draw);
    if (what == 7) {
        try_session(&draw);
        put_value(&text, &draw);
        try_settings(&draw, text.bytes);
    }
    return 0;
}
