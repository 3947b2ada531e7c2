/* SPDX-License-Identifier: Apache-2.0 */
/* standalone.c — runs a fuzz target over files, without libFuzzer: main() of every
 * tests/fuzz/fuzz_NAME that ctest runs.
 *
 * Each argument is a file, or a folder whose files are run in the order of their names: each as it
 * is, cut at some places, and with a byte changed at some; those behind --whole only as they are.
 * Builds with a sanitizer try three times as many places: a build that sees less learns nothing
 * from those. The input lies in a block of exactly its size, so that a sanitizer sees a read beyond
 * it. A target that does not return fails by its signal. Exit status 77, a skipped test, without
 * any input. */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned long input_count;
static bool is_damaged_too = true;

static int complain(const char *path)
{
    fprintf(stderr, "standalone: cannot read '%s': %s\n", path, strerror(errno));
    return 1;
}

/* In a block of its own. */
static void run_bytes(const uint8_t *bytes, size_t size_bytes)
{
    uint8_t *data = malloc(size_bytes > 0 ? size_bytes : 1);
    if (data == NULL)
        exit(1);
    memcpy(data, bytes, size_bytes);
    LLVMFuzzerTestOneInput(data, size_bytes);
    free(data);
}

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { PLACES = 16 };
#else
enum { PLACES = 5 };
#endif

/* The first bytes, where formats are told apart, each; then ever fewer. */
static size_t next_place(size_t place)
{
    return place < 16 ? place + 1 : place + 1 + place / PLACES;
}

static void run_damaged(uint8_t *data, size_t size_bytes)
{
    static const uint8_t others[] = { 0x00, 0xff, '"', '{', '\n', 0x80 };
    unsigned which = 0;
    for (size_t place = 0; place < size_bytes; place = next_place(place)) {
        uint8_t former = data[place];
        run_bytes(data, place);
        data[place] = which % 2 == 0 ? (uint8_t)(former ^ 1u << which / 2 % 8)
                                     : others[which / 2 % sizeof others];
        which++;
        run_bytes(data, size_bytes);
        data[place] = former;
    }
}

static int run_file(const char *path, size_t size_bytes)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return complain(path);
    uint8_t *data = malloc(size_bytes > 0 ? size_bytes : 1);
    size_t read_bytes = data != NULL ? fread(data, 1, size_bytes, file) : 0;
    fclose(file);
    if (data == NULL || read_bytes != size_bytes) {
        free(data);
        return complain(path);
    }
    printf("%s\n", path); /* the last line names the input that a crash is about */
    fflush(stdout);
    run_bytes(data, size_bytes);
    if (is_damaged_too)
        run_damaged(data, size_bytes);
    free(data);
    input_count++;
    return 0;
}

static int run_path(const char *path);

static int run_folder(const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0)
        return complain(path);
    int status = 0;
    for (int i = 0; i < count; i++) {
        char inner[4096];
        int length = snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') {
            errno = ENAMETOOLONG;
            status |= length < (int)sizeof inner ? run_path(inner) : complain(path);
        }
        free(entries[i]);
    }
    free(entries);
    return status;
}

static int run_path(const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return complain(path);
    return S_ISDIR(about.st_mode) ? run_folder(path) : run_file(path, (size_t)about.st_size);
}

int main(int argc, char **argv)
{
    int status = 0;
    for (int i = 1; i < argc; i++) {
        struct stat about;
        if (strcmp(argv[i], "--whole") == 0)
            is_damaged_too = false;
        else if (stat(argv[i], &about) == 0 || errno != ENOENT)
            status |= run_path(argv[i]);
        else
            fprintf(stderr, "standalone: there is no '%s'\n", argv[i]);
    }
    printf("%lu inputs\n", input_count);
    return status != 0 ? 1 : input_count == 0 ? 77 : 0;
}
