/* SPDX-License-Identifier: Apache-2.0 */
/* trace_damage.c — one trace, damaged at many places and read each time, in one process: what is
 * said is a clean part of the whole, or an error that says where.
 *
 *     trace_damage cuts|flips COUNT FILE WORK        WORK is the damaged file; it is removed
 *
 * The file is cut at COUNT places, evenly, or has a bit flipped at COUNT places, drawn by the
 * place's number alone. Laws:
 *   cuts: the events read are among those of the whole, at the same instants, and no fewer than of
 *   a shorter piece; those
 *         of which the end stands behind the cut last otherwise (without_end), and in an XSpace or
 *         a SQLite file those of which the name or the base of times does lack it
 *         (without_name_or_base). What is lost is told: truncated_files.
 *   both: row numbers are of rows that there are; an error names a byte; each read ends within
 *   SECONDS_MAX, and takes no
 *         more than ADDRESS_BYTES_MAX.
 * One line of JSON at the end; a line on standard error for each broken law, and then exit status
 * 1. */
#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../support/imported_bytes.h"

#define SECONDS_MAX 60u
#define MEMORY_BYTES_MAX (UINT64_C(1) << 30)  /* of a model                                      */
#define ADDRESS_BYTES_MAX (UINT64_C(4) << 30) /* of the process; a sanitizer has a limit of its
                                                 own */
#define COMPLAINTS_MAX 20ul

/* What identifies events, sorted: name, begin, duration and place; and these without the
 * duration. */
enum { WHOLE, BEGUN, IDENTITIES };
struct events {
    uint64_t *sorted[IDENTITIES];
    size_t count;
    uint64_t told;   /* run.events                                                              */
    int64_t base_ns;
    bool is_truncated;
    bool is_named_later; /* names, and in an XSpace the base of times, stand behind the events  */
};

static struct {
    const char *path;
    unsigned char *bytes;
    size_t size, place;
    int file;
    const char *name;
    unsigned long complaints, read, truncated, refused, unknown, without_end, without_name_or_base;
} trial;

static void complain(const char *law, const char *detail)
{
    if (trial.complaints++ < COMPLAINTS_MAX)
        fprintf(stderr, "%s: at %zu of %zu: %s: %s\n", trial.path, trial.place, trial.size, law,
                detail);
}

static void too_long(int number)
{
    char text[100];
    (void)number;
    int length =
        snprintf(text, sizeof text, "trace_damage: at %zu: it does not end\n", trial.place);
    (void)!write(STDERR_FILENO, text, (size_t)length);
    abort();
}

/* ---- what is read ---- */

static uint64_t mixed(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ sum >> 29;
}

static uint64_t mixed_text(const struct vv_model *model, uint32_t id)
{
    uint64_t sum = 1;
    for (const char *at = vv_intern_text(&model->strings, id); *at != '\0'; at++)
        sum = mixed(sum, (unsigned char)*at);
    return sum;
}

/* What is added to all instants, which a file may tell behind its events. */
static int64_t base_of(const struct vv_model *model)
{
    uint32_t key =
        vv_intern_find(&model->strings, "baseTimeNanoseconds", strlen("baseTimeNanoseconds"));
    for (uint64_t row = 0; row < model->facts.table.count; row++)
        if (model->facts.key[row] == key && model->facts.kind[row] == VV_ARG_INT)
            return (int64_t)model->facts.value[row];
    return 0;
}

static void take(struct events *events, const struct vv_model *model, uint32_t name, uint32_t track,
                 int64_t begin_ns, int64_t duration_ns)
{
    uint64_t process = model->tracks.process[track];
    uint64_t place =
        mixed((uint64_t)model->processes.pid[process], (uint64_t)model->tracks.tid[track]);
    uint64_t begun =
        mixed(mixed(place, mixed_text(model, name)), (uint64_t)(begin_ns - events->base_ns));
    events->sorted[BEGUN][events->count] = begun;
    events->sorted[WHOLE][events->count++] = mixed(begun, (uint64_t)duration_ns);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void free_events(struct events *events)
{
    for (int i = 0; i < IDENTITIES; i++)
        free(events->sorted[i]);
    *events = (struct events){ 0 };
}

static void find_events(const struct vv_model *model, struct events *events)
{
    const struct vv_slices *slices = &model->slices;
    const struct vv_marks *marks = &model->marks;
    const struct vv_counters *counters = &model->counters;
    const struct vv_memory *memory = &model->memory;
    uint64_t count =
        slices->table.count + marks->table.count + counters->table.count + memory->table.count;
    const char *format = vv_intern_text(&model->strings, model->inputs.format[0]);
    *events = (struct events){ .told = model->run.events, .base_ns = base_of(model),
                               .is_truncated = model->health.truncated_files > 0,
                               .is_named_later = strncmp(format, "xspace", 6) == 0 ||
                                                 strcmp(format, "nsys") == 0 ||
                                                 strcmp(format, "rpd") == 0 };
    for (int i = 0; i < IDENTITIES; i++)
        if ((events->sorted[i] = malloc((count + 1) * sizeof(uint64_t))) == NULL)
            exit(2);
    for (uint32_t row = 0; row < slices->table.count; row++)
        take(events, model, slices->name[row], slices->track[row], slices->begin_ns[row],
             slices->duration_ns[row]);
    for (uint32_t row = 0; row < marks->table.count; row++)
        take(events, model, marks->name[row], marks->track[row], marks->time_ns[row], -1);
    for (uint32_t row = 0; row < counters->table.count; row++)
        take(events, model, counters->name[row], counters->track[row], counters->time_ns[row], -2);
    for (uint32_t row = 0; row < memory->table.count; row++)
        take(events, model, 0, memory->track[row], memory->time_ns[row], -3);
    for (int i = 0; i < IDENTITIES; i++)
        qsort(events->sorted[i], count, sizeof(uint64_t), by_value);
}

/* How many of `part` are not in `whole`, each as often. */
static size_t beyond(const struct events *part, const struct events *whole, int identity)
{
    const uint64_t *a = part->sorted[identity], *b = whole->sorted[identity];
    size_t j = 0, missing = 0;
    for (size_t i = 0; i < part->count; i++) {
        while (j < whole->count && b[j] < a[i])
            j++;
        bool is_there = j < whole->count && b[j] == a[i];
        j += is_there;
        missing += !is_there;
    }
    return missing;
}

/* ---- reading ---- */

/* An error says where: a byte, or that nothing of a trace is there. */
static void look_at_error(const struct varve_error *error)
{
    const char *flaw = sentence_flaw_of(error, error->code, input_bytes_of(trial.name));
    if (flaw != NULL)
        complain(flaw, error->message);
    bool is_unknown = error->code == VARVE_UNSUPPORTED &&
                      strstr(error->message, "is not a trace that varve knows") != NULL;
    trial.refused++;
    trial.unknown += is_unknown;
    if (error->message[0] == '\0')
        complain("an error without a word", "");
    else if (!is_unknown && strstr(error->message, "byte ") == NULL)
        complain("an error that does not say where", error->message);
}

static bool read_once(unsigned threads, struct events *events)
{
    const struct vv_import_options options = { .max_memory_bytes = MEMORY_BYTES_MAX,
                                               .threads = threads };
    const char *paths[] = { trial.name };
    struct vv_model *model = NULL;
    struct varve_error error = { .message = "" };
    alarm(SECONDS_MAX);
    enum varve_code code = vv_import_all(paths, 1, &options, &model, &error);
    if (code == VARVE_OK) {
        imported_look(model);
        trial.read++;
        trial.truncated += model->health.truncated_files > 0;
        if (events != NULL)
            find_events(model, events);
        vv_model_destroy(model);
    } else {
        look_at_error(&error);
    }
    alarm(0);
    return code == VARVE_OK;
}

/* Chrome's format allows an array without its end: such a file is whole. */
static bool is_open_array(void)
{
    size_t first = 0, last = trial.place;
    while (first < trial.place && isspace(trial.bytes[first]))
        first++;
    while (last > first && isspace(trial.bytes[last - 1]))
        last--;
    return last > first && trial.bytes[first] == '[' &&
           strchr("[,}", trial.bytes[last - 1]) != NULL;
}

static void look_at_part(const struct events *part, const struct events *longer,
                         const struct events *whole)
{
    char text[120];
    size_t ends = beyond(part, whole, WHOLE), begins = ends == 0 ? 0 : beyond(part, whole, BEGUN);
    if (part->told > longer->told) {
        snprintf(text, sizeof text, "%llu events, of a longer piece %llu",
                 (unsigned long long)part->told, (unsigned long long)longer->told);
        complain("more is read of less", text);
    }
    if (part->told < whole->told && !part->is_truncated && !is_open_array()) {
        snprintf(text, sizeof text, "%llu events of %llu", (unsigned long long)part->told,
                 (unsigned long long)whole->told);
        complain("what is lost is not told", text);
    }
    if (begins > 0 && !part->is_named_later) {
        snprintf(text, sizeof text, "%zu of %zu", begins, part->count);
        complain("events that the whole does not have", text);
    }
    trial.without_end += ends > 0 && begins == 0;
    trial.without_name_or_base += begins > 0;
}

/* From the longest piece to the shortest, so that the file is only ever cut. */
static void cut_everywhere(size_t count, const struct events *whole)
{
    struct events longer = { .told = whole->told }, part;
    for (size_t i = count; i-- > 0;) {
        trial.place = trial.size * i / count;
        if (ftruncate(trial.file, (off_t)trial.place) != 0)
            exit(2);
        if (!read_once(i % 4 == 0 ? 3 : 1, &part))
            continue;
        look_at_part(&part, &longer, whole);
        longer.told = part.told;
        free_events(&part);
    }
}

static void flip_everywhere(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t drawn = mixed(mixed(7, i), i + 1);
        trial.place = (size_t)((drawn >> 8) % trial.size);
        unsigned char damaged = trial.bytes[trial.place] ^ (unsigned char)(1u << (drawn & 7));
        if (pwrite(trial.file, &damaged, 1, (off_t)trial.place) != 1)
            exit(2);
        read_once(i % 16 == 0 ? 3 : 1, NULL);
        if (pwrite(trial.file, &trial.bytes[trial.place], 1, (off_t)trial.place) != 1)
            exit(2);
    }
}

static void limit_memory(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    const struct rlimit limit = { ADDRESS_BYTES_MAX, ADDRESS_BYTES_MAX };
    setrlimit(RLIMIT_AS, &limit);
#endif
}

static void load(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "trace_damage: cannot read '%s'\n", path);
        exit(2);
    }
    trial.size = (size_t)ftell(file);
    rewind(file);
    trial.path = path;
    trial.bytes = malloc(trial.size + 1);
    trial.file = open(trial.name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (trial.bytes == NULL || trial.file < 0 ||
        fread(trial.bytes, 1, trial.size, file) != trial.size ||
        write(trial.file, trial.bytes, trial.size) != (ssize_t)trial.size || trial.size == 0)
        exit(2);
    fclose(file);
}

int main(int argc, char **argv)
{
    struct events whole = { 0 };
    if (argc != 5 || (strcmp(argv[1], "cuts") != 0 && strcmp(argv[1], "flips") != 0)) {
        fprintf(stderr, "trace_damage cuts|flips COUNT FILE WORK\n");
        return 2;
    }
    size_t count = (size_t)atol(argv[2]);
    signal(SIGALRM, too_long);
    limit_memory();
    trial.name = argv[4];
    load(argv[3]);
    trial.place = trial.size;
    bool is_read = read_once(1, &whole);
    trial.read = trial.truncated = trial.refused = trial.unknown = 0;
    if (argv[1][0] == 'c' && is_read)
        cut_everywhere(count, &whole);
    else
        flip_everywhere(count);
    printf(
        "{\"places\": %zu, \"bytes\": %zu, \"events\": %llu, \"read\": %lu, \"truncated\": %lu, "
        "\"refused\": %lu, "
        "\"unknown\": %lu, \"without_end\": %lu, \"without_name_or_base\": %lu, \"broken\": %lu}\n",
        count, trial.size, (unsigned long long)whole.told, trial.read, trial.truncated,
        trial.refused, trial.unknown, trial.without_end, trial.without_name_or_base,
        trial.complaints);
    free_events(&whole);
    free(trial.bytes);
    unlink(trial.name);
    return trial.complaints > 0 ? 1 : 0;
}
