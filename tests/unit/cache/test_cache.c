/* SPDX-License-Identifier: Apache-2.0 */
/* test_cache.c — import/cache*.c: what is kept is what comes back, and what is not whole, not ours
 * or not of this source does not come back at all. */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cache/cache.h"
#include "cache/layout.h"
#include "graph/dag/dag.h"
#include "handmade.h"
#include "imported_bytes.h"
#include "same_model.h"

#define STEP_BYTES 4096

static char folder[] = "/tmp/varve-cache-XXXXXX";
static char source[64], kept[80];

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static char *read_whole(const char *path, long *out_bytes)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *out_bytes = ftell(file);
    rewind(file);
    char *bytes = malloc((size_t)*out_bytes + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)*out_bytes, file), *out_bytes);
    fclose(file);
    return bytes;
}

static void write_bytes(const char *path, const char *bytes, long count)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, (size_t)count, file), count);
    assert_int_equal(fclose(file), 0);
}

/* Rows in every table, so that each column has something to lose. */
static void add_dag(struct vv_model *model)
{
    struct vv_dag dag;
    uint32_t row;
    assert_int_equal(vv_dag_init(&dag, NULL), VARVE_OK);
    assert_int_equal(vv_dag_add_node(&dag, "mm", VV_DAG_OPERATOR, &row, NULL), VARVE_OK);
    assert_int_equal(vv_dag_add_edge(&dag, row, row, VV_DAG_EDGE_DATA, &row, NULL), VARVE_OK);
    assert_int_equal(vv_dag_add_occurrence(&dag, 0, 3, 1, 70, NULL), VARVE_OK);
    assert_int_equal(vv_dag_note(&dag, NULL, "steps", "10"), VARVE_OK);
    assert_int_equal(vv_dag_to_model(&dag, model, NULL), VARVE_OK);
    vv_dag_deinit(&dag);
}

static struct vv_model *make_model(void)
{
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "main", 100), row;
    for (int i = 0; i < 6000; i++) {
        char name[40];
        snprintf(name, sizeof name, "operator %d", i % 700);
        row = handmade_op(model, track, name, i * 10, i * 10 + 7);
        handmade_arguments(model, row, (uint64_t)i, i, 3);
        assert_int_equal(vv_model_add_arg(model, &row, NULL), VARVE_OK);
        model->args.value[row] = (uint64_t)i * 77;
    }
    handmade_step(model, track, 4, 0, 40000);
    const int64_t dims[] = { 3, 5 };
    assert_int_equal(vv_model_add_tensor(model, 1, 2, dims, &row, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_source(model, &row, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_mark(model, &row, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_counter(model, &row, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_flow(model, &row, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_memory(model, &row, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_activity(model, &row, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_collective(model, &row, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_launch_shape(model, &row, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_wait(model, &row, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_device(model, &row, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_fact(model, &row, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_placement(model, &row, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_resume(model, 0, 5000, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_clock(model, &row, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_graph(model, &row, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_node(model, &row, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_edge(model, &row, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_loaded_model(model, &row, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_execution(model, &row, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_task(model, &row, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_trace_point(model, &row, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_planned_point(model, &row, NULL), VARVE_OK);
    add_dag(model);
    assert_int_equal(vv_model_add_input(model, &row, NULL), VARVE_OK);
    model->inputs.path[row] = handmade_text(model, source);
    model->run.command = handmade_text(model, "./train");
    model->run.events = 9;
    model->health.negative = 5;
    handmade_finish(model);
    return model;
}

static struct vv_cache *cache_of_source(void)
{
    const char *paths[] = { source };
    struct vv_cache *cache;
    struct varve_error error;
    if (vv_cache_create(paths, 1, &cache, &error) != VARVE_OK)
        fail_msg("%s", error.message);
    return cache;
}

static void keep(const struct vv_model *model)
{
    struct vv_cache *cache = cache_of_source();
    struct varve_error error;
    if (vv_cache_keep(cache, model, NULL, &error) != VARVE_OK)
        fail_msg("%s", error.message);
    vv_cache_destroy(cache);
}

static struct vv_model *open_kept(void)
{
    struct vv_cache *cache = cache_of_source();
    struct vv_model *model = vv_cache_open(cache);
    vv_cache_destroy(cache);
    return model;
}

static void assert_not_believed(const char *why, long where)
{
    struct vv_model *model = open_kept();
    vv_model_destroy(model);
    if (model != NULL)
        fail_msg("believed although %s at %ld", why, where);
}

static void flip(int file, char byte, long at)
{
    assert_int_equal(pwrite(file, &byte, 1, at), 1);
}

/* ---- a small cache, damaged everywhere ---- */

/* A row or two in each table that has references. */
static struct vv_model *make_small_model(void)
{
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "main", 100),
             row = handmade_op(model, track, "operator", 10, 17);
    handmade_arguments(model, row, 1, 2, 3);
    model->slices.first_arg[row] = (vv_link)model->args.table.count;
    model->slices.arg_count[row] = 2;
    assert_int_equal(vv_model_add_arg(model, &row, NULL), VARVE_OK);
    model->args.key[row] = handmade_text(model, "key");
    model->args.kind[row] = VV_ARG_TEXT;
    model->args.value[row] = handmade_text(model, "value");
    assert_int_equal(vv_model_add_arg(model, &row, NULL), VARVE_OK);
    model->args.kind[row] = VV_ARG_ROWS;
    model->args.value[row] = VV_ARG_ROWS_VALUE(row - 1, 1);
    assert_int_equal(vv_model_add_fact(model, &row, NULL), VARVE_OK);
    model->facts.kind[row] = VV_ARG_JSON;
    model->facts.value[row] = handmade_text(model, "[1]");
    assert_int_equal(vv_model_add_resume(model, 0, 5000, NULL), VARVE_OK);
    add_dag(model);
    assert_int_equal(vv_model_add_input(model, &row, NULL), VARVE_OK);
    model->inputs.path[row] = handmade_text(model, source);
    handmade_finish(model);
    return model;
}

static struct vv_model *open_verifying(uint64_t bytes)
{
    struct vv_cache *cache = cache_of_source();
    cache->verified_bytes = bytes;
    struct vv_model *model = vv_cache_open(cache);
    vv_cache_destroy(cache);
    return model;
}

/* Every cut is refused; a flipped bit, too, or it is one between two blocks. */
static void every_byte_counts(void **state)
{
    (void)state;
    write_file(source, "the source");
    struct vv_model *model = make_small_model();
    keep(model);
    long bytes, served = 0;
    char *whole = read_whole(kept, &bytes);
    int file = open(kept, O_RDWR | O_CLOEXEC);
    for (long at = 0; at < bytes; at++) {
        flip(file, (char)(whole[at] ^ 1 << at % 8), at);
        struct vv_model *opened = open_kept();
        if (opened != NULL && !same_model(model, opened))
            fail_msg("another model, byte %ld changed", at);
        served += opened != NULL;
        vv_model_destroy(opened);
        flip(file, whole[at], at);
    }
    assert_true(served < bytes / 2);
    for (long cut = bytes - 1; cut >= 0; cut--) {
        assert_int_equal(ftruncate(file, cut), 0);
        assert_not_believed("it was cut", cut);
    }
    close(file);
    free(whole);
    vv_model_destroy(model);
}

/* Whatever the bytes say that a large cache is not verified for: nothing leads out of a table. Two
 * bits of each byte: all bits of each four. */
static void what_is_not_verified_stays_inside(void **state)
{
    (void)state;
    struct vv_model *model = make_small_model();
    keep(model);
    vv_model_destroy(model);
    long bytes, changed = 0;
    char *whole = read_whole(kept, &bytes);
    int file = open(kept, O_WRONLY | O_CLOEXEC);
    for (long at = 0; at < bytes; at++) {
        for (int bit = (int)((at + at / 4) % 4); bit < 8; bit += 4) {
            flip(file, (char)(whole[at] ^ 1 << bit), at);
            struct vv_model *verified = open_kept(), *opened = open_verifying(0);
            assert_true(verified == NULL || opened != NULL);
            if (opened != NULL)
                imported_look_at_references(opened);
            changed += verified == NULL && opened != NULL;
            vv_model_destroy(verified);
            vv_model_destroy(opened);
        }
        flip(file, whole[at], at);
        at += at < (long)sizeof(struct vv_cache_head) ? 63 : 0; /* the head is verified: above */
    }
    assert_true(changed > 100);
    close(file);
    free(whole);
}

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(source, sizeof source, "%s/t.json", folder);
    snprintf(kept, sizeof kept, "%s.vcache", source);
    setenv("XDG_CACHE_HOME", folder, 1);
    return 0;
}

static int tear_down(void **state)
{
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void every_column_comes_back(void **state)
{
    (void)state;
    write_file(source, "the source");
    struct vv_model *model = make_model();
    keep(model);
    struct vv_model *opened = open_kept();
    assert_non_null(opened);
    for (size_t t = 0; t < VV_TABLE_COUNT; t++) {
        const struct vv_model_table *table = &vv_model_tables[t];
        const char *made = (const char *)model + table->table_offset;
        const char *got = (const char *)opened + table->table_offset;
        uint64_t count = ((const struct vv_table *)made)->count;
        assert_true(count > 0);
        assert_int_equal(((const struct vv_table *)got)->count, count);
        for (size_t i = 0; i < table->column_count; i++) {
            const void *made_cells, *got_cells;
            memcpy(&made_cells, made + table->columns[i].pointer_offset, sizeof made_cells);
            memcpy(&got_cells, got + table->columns[i].pointer_offset, sizeof got_cells);
            assert_memory_equal(made_cells, got_cells, count * table->columns[i].width_bytes);
        }
    }
    assert_memory_equal(&model->run, &opened->run, sizeof model->run);
    assert_memory_equal(&model->health, &opened->health, sizeof model->health);
    assert_int_equal(opened->strings.count, model->strings.count);
    for (uint32_t id = 0; id < model->strings.count; id++)
        assert_string_equal(vv_intern_text(&opened->strings, id),
                            vv_intern_text(&model->strings, id));
    assert_int_equal(vv_intern_find(&opened->strings, "operator 5", 10),
                     vv_intern_find(&model->strings, "operator 5", 10));
    assert_true(vv_model_bytes(opened) < vv_model_bytes(model) / 2);
    vv_model_destroy(opened);
    vv_model_destroy(model);
}

static void an_opened_model_may_grow(void **state)
{
    (void)state;
    uint32_t row, id;
    struct vv_model *opened = open_kept();
    assert_non_null(opened);
    uint64_t count = opened->slices.table.count;
    int64_t begin_ns = opened->slices.begin_ns[17];
    assert_int_equal(vv_model_add_slice(opened, &row, NULL), VARVE_OK);
    assert_int_equal(row, count);
    assert_int_equal(opened->slices.begin_ns[17], begin_ns);
    opened->slices.begin_ns[17] = 1;
    opened->marks.time_ns[0] = 2; /* still borrowed: written to a page of its own */
    assert_int_equal(vv_model_text(opened, "a new string", &id, NULL), VARVE_OK);
    vv_model_destroy(opened);
    opened = open_kept();
    assert_int_equal(opened->slices.begin_ns[17], begin_ns);
    assert_int_equal(opened->marks.time_ns[0], 0);
    vv_model_destroy(opened);
}

static void a_cut_is_seen_wherever_it_is(void **state)
{
    long bytes;
    char *whole = read_whole(kept, &bytes);
    (void)state;
    assert_true(bytes > 20 * STEP_BYTES);
    for (long cut = 0; cut < bytes; cut += STEP_BYTES) {
        write_bytes(kept, whole, cut);
        assert_not_believed("it was cut", cut);
    }
    write_bytes(kept, whole, bytes - 1);
    assert_not_believed("it was cut", bytes - 1);
    write_bytes(kept, whole, bytes);
    struct vv_model *model = open_kept();
    assert_non_null(model);
    vv_model_destroy(model);
    free(whole);
}

/* The head byte by byte, the rest at every 131st: between blocks there are bytes that mean
 * nothing. */
static void a_flipped_bit_is_seen(void **state)
{
    long bytes;
    char *whole = read_whole(kept, &bytes);
    long head = (long)sizeof(struct vv_cache_head), missed = 0, tried = 0;
    int file = open(kept, O_WRONLY | O_CLOEXEC);
    (void)state;
    assert_true(file >= 0);
    for (long at = 0; at < bytes; at += at < head ? 1 : 131) {
        flip(file, (char)(whole[at] ^ 0x10), at);
        struct vv_model *model = open_kept();
        if (model != NULL && at < head)
            fail_msg("believed although byte %ld of the head is wrong", at);
        missed += model != NULL;
        tried += at >= head;
        vv_model_destroy(model);
        flip(file, whole[at], at);
    }
    close(file);
    assert_true(tried > 1000);
    assert_true(missed * 50 < tried);
    free(whole);
}

static void another_source_is_not_served(void **state)
{
    (void)state;
    struct vv_model *model = open_kept();
    assert_non_null(model);
    vv_model_destroy(model);
    write_file(source, "the sourcf"); /* as long, another text and another time */
    assert_not_believed("the source has changed", 0);
}

/* Size, content and time of the last change as before: the time at which the file's node changed
 * cannot be set. */
static void a_source_of_the_same_age_is_not_served_either(void **state)
{
    (void)state;
    struct stat before, after;
    struct vv_model *model = make_model();
    write_file(source, "the source");
    keep(model);
    vv_model_destroy(model);
    model = open_kept();
    assert_non_null(model);
    vv_model_destroy(model);
    assert_int_equal(stat(source, &before), 0);
    const struct timespec times[] = { before.st_atim, before.st_mtim };
    do {
        assert_int_equal(utimensat(AT_FDCWD, source, times, 0), 0);
        assert_int_equal(stat(source, &after), 0);
        /* until a tick of the clock */
    } while (memcmp(&before.st_ctim, &after.st_ctim, sizeof before.st_ctim) == 0);
    assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof before.st_mtim);
    assert_not_believed("the source's node has changed", 0);
}

/* The head is whole, and says another thing: its checksum is no answer to that. */
static void another_build_or_source_is_not_served(void **state)
{
    (void)state;
    static const struct { const char *why; size_t at; } fields[] = {
        { "it is as it was", SIZE_MAX },
        { "another varve wrote it", offsetof(struct vv_cache_head, program) },
        { "its columns are others", offsetof(struct vv_cache_head, shape) },
        { "its source is another", offsetof(struct vv_cache_head, source) },
        { "it is of another length", offsetof(struct vv_cache_head, file_bytes) },
        { "it is another kind of file", offsetof(struct vv_cache_head, magic) },
    };
    const size_t summed = offsetof(struct vv_cache_head, file_bytes);
    struct vv_cache_head head;
    struct vv_model *model = make_small_model();
    keep(model);
    vv_model_destroy(model);
    int file = open(kept, O_RDWR | O_CLOEXEC);
    assert_int_equal(pread(file, &head, sizeof head, 0), sizeof head);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        struct vv_cache_head changed = head;
        if (fields[i].at != SIZE_MAX)
            ((char *)&changed)[fields[i].at] ^= 1;
        changed.checksum =
            vv_cache_checksum((const char *)&changed + summed, sizeof changed - summed, 0);
        assert_int_equal(pwrite(file, &changed, sizeof changed, 0), sizeof changed);
        model = open_kept();
        if ((model != NULL) != (i == 0))
            fail_msg("%s although %s", i == 0 ? "not believed" : "believed", fields[i].why);
        vv_model_destroy(model);
    }
    assert_int_equal(pwrite(file, &head, sizeof head, 0), sizeof head);
    close(file);
}

static void a_file_of_another_user_is_not_believed(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip(); /* nobody else can give a file away */
    struct vv_model *model = make_small_model();
    keep(model);
    vv_model_destroy(model);
    assert_int_equal(chown(kept, 65534, (gid_t)-1), 0);
    assert_not_believed("somebody else owns it", 0);
    assert_int_equal(chown(kept, 0, (gid_t)-1), 0);
    model = open_kept();
    assert_non_null(model);
    vv_model_destroy(model);
}

static void a_source_that_changes_meanwhile_is_not_kept(void **state)
{
    (void)state;
    struct varve_error error;
    struct vv_model *model = make_model();
    struct vv_cache *cache = cache_of_source();
    write_file(source, "written again, and longer");
    assert_int_equal(vv_cache_keep(cache, model, NULL, &error), VARVE_STATE);
    vv_cache_destroy(cache);
    vv_model_destroy(model);
    assert_not_believed("the source has changed", 0);
}

static void end_by_kill(int number)
{
    (void)number;
    kill(getpid(), SIGKILL);
}

/* Killed at a write that goes beyond `bytes`; the file system is asked to stop there. */
static void keep_until_killed(const struct vv_cache *cache, const struct vv_model *model,
                              rlim_t bytes)
{
    struct rlimit limit = { bytes, bytes };
    if (signal(SIGXFSZ, end_by_kill) != SIG_ERR && setrlimit(RLIMIT_FSIZE, &limit) == 0)
        vv_cache_keep(cache, model, NULL, NULL);
    _exit(0);
}

static int count_files(void)
{
    int count = 0;
    DIR *files = opendir(folder);
    assert_non_null(files);
    for (struct dirent *entry; (entry = readdir(files)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(files);
    return count;
}

/* ext4, XFS, Btrfs, tmpfs; where there are no files without a name, a hidden one stays. */
static void a_write_that_is_killed_leaves_nothing(void **state)
{
    (void)state;
    int unnamed = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
    if (unnamed < 0)
        skip();
    close(unnamed);
    struct vv_model *model = make_model();
    struct vv_cache *cache = cache_of_source();
    int before = count_files();
    for (rlim_t bytes = 1; bytes < 100000; bytes *= 7) {
        int status;
        pid_t child = fork();
        if (child == 0)
            keep_until_killed(cache, model, bytes);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        assert_int_equal(count_files(), before);
    }
    vv_cache_destroy(cache);
    vv_model_destroy(model);
}

static void a_file_that_others_can_write_is_not_believed(void **state)
{
    (void)state;
    struct vv_model *model = make_model();
    keep(model);
    vv_model_destroy(model);
    assert_int_equal(chmod(kept, 0620), 0);
    assert_not_believed("its group can write it", 0);
    assert_int_equal(chmod(kept, 0600), 0);
    model = open_kept();
    assert_non_null(model);
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_column_comes_back),
        cmocka_unit_test(an_opened_model_may_grow),
        cmocka_unit_test(a_cut_is_seen_wherever_it_is),
        cmocka_unit_test(a_flipped_bit_is_seen),
        cmocka_unit_test(another_source_is_not_served),
        cmocka_unit_test(every_byte_counts),
        cmocka_unit_test(what_is_not_verified_stays_inside),
        cmocka_unit_test(a_source_of_the_same_age_is_not_served_either),
        cmocka_unit_test(another_build_or_source_is_not_served),
        cmocka_unit_test(a_file_of_another_user_is_not_believed),
        cmocka_unit_test(a_source_that_changes_meanwhile_is_not_kept),
        cmocka_unit_test(a_write_that_is_killed_leaves_nothing),
        cmocka_unit_test(a_file_that_others_can_write_is_not_believed),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
