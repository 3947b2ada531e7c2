/* SPDX-License-Identifier: Apache-2.0 */
/* lines.c — functions and lines of the sampled instructions, by addr2line, and the text. */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/sampling/sample.h"

#define LINE_BYTES 4096

extern char **environ;

struct place {
    uint32_t object;
    uint64_t address;
    char *function, *source; /* owned; NULL = not known                                         */
};

static int by_place(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    return a->address < b->address ? -1 : a->address > b->address;
}

/* Each place once. The caller frees. */
static struct place *places_of(const struct vv_samples *samples, size_t *out_count)
{
    struct place *places = calloc(samples->count + 1, sizeof *places);
    size_t count = 0;
    if (places == NULL)
        return NULL;
    for (size_t i = 0; i < samples->count; i++) {
        places[i].object = samples->items[i].object;
        places[i].address = samples->items[i].address;
    }
    qsort(places, samples->count, sizeof *places, by_place);
    for (size_t i = 0; i < samples->count; i++)
        if (count == 0 || by_place(&places[count - 1], &places[i]) != 0)
            places[count++] = places[i];
    *out_count = count;
    return places;
}

/* ---- addr2line ---- */

/* Without a final new line; NULL if the program did not know it. The caller frees. */
static char *answer_of(FILE *answers)
{
    char line[LINE_BYTES];
    if (fgets(line, sizeof line, answers) == NULL)
        return NULL;
    line[strcspn(line, "\n")] = '\0';
    return line[0] == '?' || line[0] == '\0' ? NULL : strdup(line);
}

/* Runs addr2line for addresses of one file. False: there is no such program. */
static bool run_addr2line(const char *object, int questions, int answers)
{
    char *const words[] = { "addr2line", "-f", "-C", "-e", (char *)(uintptr_t)object, NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t pid;
    int status;
    sigemptyset(&none);
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return false;
    }
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_adddup2(&actions, questions, 0);
    posix_spawn_file_actions_adddup2(&actions, answers, 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    int failure = posix_spawnp(&pid, words[0], &actions, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failure == 0 && waitpid(pid, &status, 0) == pid;
}

static enum varve_code resolve(const char *object, struct place *places, size_t count,
                               bool *out_is_there, struct varve_error *error)
{
    int question = memfd_create("addresses", MFD_CLOEXEC);
    int answer = memfd_create("lines", MFD_CLOEXEC);
    FILE *questions = question >= 0 ? fdopen(question, "w") : NULL;
    FILE *answers = answer >= 0 ? fdopen(answer, "r") : NULL;
    enum varve_code code = VARVE_OK;
    if (questions == NULL || answers == NULL)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory for lines of the source");
    for (size_t i = 0; i < count && code == VARVE_OK; i++)
        fprintf(questions, "%" PRIx64 "\n", places[i].address);
    if (code == VARVE_OK && (fflush(questions) != 0 || lseek(question, 0, SEEK_SET) != 0))
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory for addresses of '%s'", object);
    if (code == VARVE_OK) {
        *out_is_there = run_addr2line(object, question, answer);
        lseek(answer, 0, SEEK_SET);
    }
    for (size_t i = 0; i < count && code == VARVE_OK && *out_is_there; i++) {
        places[i].function = answer_of(answers);
        places[i].source = answer_of(answers);
    }
    if (questions != NULL)
        fclose(questions);
    else if (question >= 0)
        close(question);
    if (answers != NULL)
        fclose(answers);
    else if (answer >= 0)
        close(answer);
    return code;
}

static enum varve_code resolve_all(const struct vv_samples *samples, struct place *places,
                                   size_t count, bool *out_is_there, struct varve_error *error)
{
    *out_is_there = true;
    for (size_t first = 0, next; first < count && *out_is_there; first = next) {
        const char *object = samples->names[places[first].object];
        for (next = first; next < count && places[next].object == places[first].object;)
            next++;
        if (*object == '/')
            VV_TRY(resolve(object, &places[first], next - first, out_is_there, error));
    }
    return VARVE_OK;
}

/* ---- the text ---- */

static void put_sample(const struct vv_samples *samples, const struct vv_sample *sample,
                       const struct place *place, FILE *out)
{
    const char *command = samples->names[sample->command], *object = samples->names[sample->object];
    fprintf(out, "%s %d/%d %" PRId64 ".%09" PRId64 ": %" PRId64 " cpu-clock: \n",
            *command != '\0' ? command : "?", (int)sample->pid, (int)sample->tid,
            sample->time_ns / 1000000000, sample->time_ns % 1000000000, sample->period_ns);
    fprintf(out, "\t%16" PRIx64 " %s (%s)\n", sample->address,
            place->function != NULL ? place->function : "[unknown]",
            *object != '\0' ? object : "[unknown]");
    if (place->source != NULL)
        fprintf(out, "  %s\n", place->source);
    fputc('\n', out);
}

enum varve_code vv_samples_write(const struct vv_samples *samples, FILE *out, bool *out_has_lines,
                                 struct varve_error *error)
{
    size_t count = 0;
    struct place *places = places_of(samples, &count);
    if (places == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu samples", samples->count);
    enum varve_code code = resolve_all(samples, places, count, out_has_lines, error);
    fputs("# Samples of the processor, by varve sample, as perf script prints them\n", out);
    for (size_t i = 0; i < samples->count && code == VARVE_OK; i++) {
        const struct vv_sample *sample = &samples->items[i];
        const struct place wanted = { .object = sample->object, .address = sample->address };
        put_sample(samples, sample, bsearch(&wanted, places, count, sizeof *places, by_place), out);
    }
    for (size_t i = 0; i < count; i++) {
        free(places[i].function);
        free(places[i].source);
    }
    free(places);
    return code;
}
