/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of tar: names and sizes of every dialect; cut at every byte it gives what is there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../../support/memory_file.h"
#include "import/archive/tar.h"

#define ARCHIVE_BYTES 32768

struct archive { char bytes[ARCHIVE_BYTES]; size_t length; };

static void seal(char *header)
{
    unsigned sum = 0;
    memset(header + 148, ' ', 8);
    for (int i = 0; i < 512; i++)
        sum += (unsigned char)header[i];
    snprintf(header + 148, 8, "%06o", sum);
}

/* A member: `magic` is "ustar" of POSIX, "ustar  " of GNU, or "" before both. */
static void add(struct archive *archive, const char *name, char type, const char *magic,
                const char *content, size_t bytes)
{
    char *header = archive->bytes + archive->length;
    memcpy(header, name, strlen(name) < 100 ? strlen(name) : 100);
    snprintf(header + 100, 8, "%07o", 0644);
    snprintf(header + 124, 12, "%011zo", bytes);
    snprintf(header + 136, 12, "%011o", 1700000000);
    header[156] = type;
    memcpy(header + 257, magic, strlen(magic));
    seal(header);
    memcpy(header + 512, content, bytes);
    archive->length += 512 + (bytes + 511) / 512 * 512;
}

static struct vv_source *open_bytes(const char *bytes, size_t length)
{
    struct vv_source *source;
    struct varve_error error;
    if (vv_source_open(memory_file(bytes, length), &source, &error) != VARVE_OK)
        fail_msg("%s", error.message);
    return source;
}

struct listing {
    char names[8][4200], contents[8][64];
    enum vv_tar_kind kinds[8];
    int count;
    enum varve_code code;
    struct varve_error error;
};

static void list(const char *bytes, size_t length, struct listing *out)
{
    struct vv_source *source = open_bytes(bytes, length);
    struct vv_tar tar;
    bool has = true;
    memset(out, 0, sizeof *out);
    vv_tar_init(&tar, source, UINT64_C(1) << 30);
    while ((out->code = vv_tar_next(&tar, &has, &out->error)) == VARVE_OK && has) {
        size_t got;
        strcpy(out->names[out->count], tar.member.path);
        out->kinds[out->count] = tar.member.kind;
        out->code = vv_tar_read(&tar, out->contents[out->count], 63, &got, &out->error);
        out->count++;
        if (out->code != VARVE_OK)
            break;
    }
    vv_source_close(source);
}

static void every_dialect_is_read(void **state)
{
    (void)state;
    static struct archive archive;
    static struct listing listing;
    char name[150], record[200];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    add(&archive, "old", '\0', "", "1", 1);
    add(&archive, "folder/", '5', "ustar", "", 0);
    add(&archive, "folder/posix", '0', "ustar", "22", 2);
    add(&archive, "././@LongLink", 'L', "ustar  ", name, sizeof name);
    add(&archive, "short", '0', "ustar  ", "333", 3);
    snprintf(record, sizeof record, "159 path=%s\n", name);
    assert_int_equal(strlen(record), 159);
    add(&archive, "PaxHeaders/x", 'x', "ustar", record, 159);
    add(&archive, "short", '0', "ustar", "4444", 4);
    add(&archive, "link", '2', "ustar", "", 0);
    add(&archive, "fifo", '6', "ustar", "", 0);
    add(&archive, "holes", 'S', "ustar  ", "", 0);
    archive.length += 1024;
    assert_true(vv_tar_begins(archive.bytes, archive.length));
    list(archive.bytes, archive.length, &listing);
    assert_int_equal(listing.code, VARVE_OK);
    assert_int_equal(listing.count, 8);
    assert_string_equal(listing.names[0], "old");
    assert_string_equal(listing.contents[0], "1");
    assert_int_equal(listing.kinds[1], VV_TAR_FOLDER);
    assert_string_equal(listing.names[2], "folder/posix");
    assert_string_equal(listing.names[3], name);
    assert_string_equal(listing.contents[3], "333");
    assert_string_equal(listing.names[4], name);
    assert_string_equal(listing.contents[4], "4444");
    assert_int_equal(listing.kinds[5], VV_TAR_LINK);
    assert_int_equal(listing.kinds[6], VV_TAR_SPECIAL);
    assert_int_equal(listing.kinds[7], VV_TAR_SPARSE);
}

static void make_two(struct archive *archive)
{
    memset(archive, 0, sizeof *archive);
    add(archive, "a", '0', "ustar", "alpha", 5);
    add(archive, "b", '0', "ustar", "beta!", 5);
    archive->length += 1024;
}

/* A header that is whole has its name and its content as far as it goes; the rest is missing. */
static void cut_at_every_byte_it_gives_what_is_there(void **state)
{
    (void)state;
    static struct archive archive;
    static struct listing listing;
    make_two(&archive);
    for (size_t length = 1; length < archive.length; length++) {
        size_t whole = length >= 1536 ? 2 : length >= 512;
        /* The zeros at the end may be missing, in whole blocks. */
        bool ends_well = length == 2048 || length >= 2560 || length == 1024;
        list(archive.bytes, length, &listing);
        assert_int_equal(listing.count, whole);
        assert_int_equal(listing.code, ends_well ? VARVE_OK : VARVE_TRUNCATED);
        if (length >= 517)
            assert_string_equal(listing.contents[0], "alpha");
        if (!ends_well)
            assert_non_null(strstr(listing.error.message, "the tar archive ends too early"));
    }
}

static void every_changed_byte_of_a_header_is_found(void **state)
{
    (void)state;
    static struct archive archive;
    static struct listing listing;
    for (size_t at = 0; at < 512; at++) {
        make_two(&archive);
        archive.bytes[1024 + at] ^= 1;
        list(archive.bytes, archive.length, &listing);
        /* A blank or a zero within the checksum's own field says the same. */
        bool is_own = at >= 148 && at < 156;
        if (!is_own) {
            assert_int_equal(listing.code, VARVE_CORRUPT);
            assert_int_equal(listing.count, 1);
        }
    }
}

static void sizes_that_lie_end_the_archive(void **state)
{
    (void)state;
    static struct archive archive;
    static struct listing listing;
    make_two(&archive);
    memcpy(archive.bytes + 124, "77777777777", 11);
    seal(archive.bytes);
    list(archive.bytes, archive.length, &listing);
    assert_int_equal(listing.code, VARVE_TRUNCATED);
    make_two(&archive);
    memset(archive.bytes + 124, 0xff, 12); /* base 256: less than nothing */
    seal(archive.bytes);
    list(archive.bytes, archive.length, &listing);
    assert_int_equal(listing.code, VARVE_CORRUPT);
    make_two(&archive);
    memset(archive.bytes + 124, 0xff, 12);
    archive.bytes[124] = (char)0x80; /* base 256: 2^88 */
    seal(archive.bytes);
    list(archive.bytes, archive.length, &listing);
    assert_int_equal(listing.code, VARVE_CORRUPT);
}

static void an_archive_is_no_longer_than_its_limit(void **state)
{
    (void)state;
    static struct archive archive;
    struct varve_error error;
    struct vv_tar tar;
    bool has;
    make_two(&archive);
    struct vv_source *source = open_bytes(archive.bytes, archive.length);
    vv_tar_init(&tar, source, 1024);
    assert_int_equal(vv_tar_next(&tar, &has, &error), VARVE_OK);
    assert_int_equal(vv_tar_next(&tar, &has, &error), VARVE_LIMIT);
    vv_source_close(source);
}

static void other_files_are_no_archive(void **state)
{
    (void)state;
    static const char zeros[512], text[512] = "{\"traceEvents\":[";
    assert_false(vv_tar_begins(zeros, sizeof zeros));
    assert_false(vv_tar_begins(text, sizeof text));
    assert_false(vv_tar_begins(text, 511));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dialect_is_read),
        cmocka_unit_test(cut_at_every_byte_it_gives_what_is_there),
        cmocka_unit_test(every_changed_byte_of_a_header_is_found),
        cmocka_unit_test(sizes_that_lie_end_the_archive),
        cmocka_unit_test(an_archive_is_no_longer_than_its_limit),
        cmocka_unit_test(other_files_are_no_archive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
