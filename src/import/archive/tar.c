/* SPDX-License-Identifier: Apache-2.0 */
#include "import/archive/tar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES 512u
#define EXTENSION_BYTES_MAX (1u << 20) /* of a long name or of the records of pax            */
#define EXTENSIONS_MAX 16              /* headers before that of one member                   */

/* A header as it lies in the archive. */
struct header {
    char name[100], mode[8], user[8], group[8], size[12], time[12], checksum[8];
    char type, link[100], magic[8], user_name[32], group_name[32], major[8], minor[8];
    char prefix[155], rest[12];
};
_Static_assert(sizeof(struct header) == BLOCK_BYTES, "tar's header is one block");

/* ---- numbers ---- */

/* Octal with blanks around it, or GNU's base 256 with the first bit set. False: neither, or more
 * than 63 bits. */
static bool read_number(const char *field, size_t bytes, uint64_t *out_value)
{
    const unsigned char *at = (const unsigned char *)field;
    uint64_t value = 0;
    size_t i = 0;
    if (at[0] & 0x80) {
        for (value = at[0] & 0x3f, i = 1; i < bytes; i++) {
            if (value >> 55 != 0)
                return false;
            value = value << 8 | at[i];
        }
        *out_value = value;
        return (at[0] & 0x40) == 0; /* negative */
    }
    while (i < bytes && at[i] == ' ')
        i++;
    for (; i < bytes && at[i] >= '0' && at[i] <= '7'; i++)
        value = value << 3 | (uint64_t)(at[i] - '0');
    for (; i < bytes; i++)
        if (at[i] != ' ' && at[i] != '\0')
            return false;
    *out_value = value;
    return true;
}

/* The sum counts its own field as blanks. Old programs added signed bytes. */
static bool has_checksum(const struct header *header)
{
    const char *bytes = (const char *)header;
    size_t first = offsetof(struct header, checksum), after = first + sizeof header->checksum;
    uint64_t stated;
    int64_t unsigned_sum = 0, signed_sum = 0;
    if (!read_number(header->checksum, sizeof header->checksum, &stated))
        return false;
    for (size_t i = 0; i < sizeof *header; i++) {
        bool is_own = i >= first && i < after;
        unsigned_sum += is_own ? ' ' : (unsigned char)bytes[i];
        signed_sum += is_own ? ' ' : (signed char)bytes[i];
    }
    return (int64_t)stated == unsigned_sum || (int64_t)stated == signed_sum;
}

bool vv_tar_begins(const char *head, size_t head_bytes)
{
    struct header header;
    if (head_bytes < sizeof header)
        return false;
    memcpy(&header, head, sizeof header);
    return header.name[0] != '\0' && has_checksum(&header);
}

/* ---- bytes ---- */

void vv_tar_init(struct vv_tar *tar, struct vv_source *source, uint64_t limit_bytes)
{
    *tar = (struct vv_tar){ .source = source, .limit_bytes = limit_bytes };
}

/* Reads `bytes`; fewer only at the end of the file. */
static enum varve_code pull(struct vv_tar *tar, void *buffer, size_t bytes, size_t *out_bytes,
                            struct varve_error *error)
{
    size_t got = 1;
    *out_bytes = 0;
    while (*out_bytes < bytes && got > 0 && !tar->is_cut) {
        enum varve_code code = vv_source_read(tar->source, (char *)buffer + *out_bytes,
                                              bytes - *out_bytes, &got, error);
        if (code == VARVE_TRUNCATED) { /* what came before is given first */
            tar->is_cut = true;
            break;
        }
        VV_TRY(code);
        *out_bytes += got;
        tar->offset += got;
        if (tar->offset > tar->limit_bytes)
            VV_FAIL_SAID(error, VARVE_LIMIT,
                         "'%s' unpacks to more than any trace of its size does. If you trust it, "
                         "unpack it yourself, and name the folder:  tar -xf",
                         vv_source_path(tar->source));
    }
    return VARVE_OK;
}

static enum varve_code fail_cut(const struct vv_tar *tar, struct varve_error *error)
{
    return vv_fail_at(error, VARVE_TRUNCATED, tar->offset, "'%s': the tar archive ends too early",
                      vv_source_path(tar->source));
}

static enum varve_code fail_corrupt(const struct vv_tar *tar, const char *what,
                                    struct varve_error *error)
{
    return vv_fail_at(error, VARVE_CORRUPT, tar->offset - BLOCK_BYTES, "'%s': %s",
                      vv_source_path(tar->source), what);
}

static enum varve_code pass(struct vv_tar *tar, uint64_t bytes, struct varve_error *error)
{
    char buffer[16384];
    while (bytes > 0) {
        size_t got, wanted = bytes < sizeof buffer ? (size_t)bytes : sizeof buffer;
        VV_TRY(pull(tar, buffer, wanted, &got, error));
        if (got < wanted)
            return fail_cut(tar, error);
        bytes -= got;
    }
    return VARVE_OK;
}

enum varve_code vv_tar_read(struct vv_tar *tar, void *buffer, size_t bytes, size_t *out_bytes,
                            struct varve_error *error)
{
    if (bytes > tar->left)
        bytes = (size_t)tar->left;
    VV_TRY(pull(tar, buffer, bytes, out_bytes, error));
    tar->left -= *out_bytes;
    return *out_bytes == 0 && bytes > 0 ? fail_cut(tar, error) : VARVE_OK;
}

/* ---- headers ---- */

static void set_path(struct vv_tar_member *member, const struct header *header)
{
    int name = (int)strnlen(header->name, sizeof header->name), prefix = 0;
    /* GNU's own headers ("ustar  ") have other things where POSIX has the prefix. */
    if (memcmp(header->magic, "ustar\0", 6) == 0)
        prefix = (int)strnlen(header->prefix, sizeof header->prefix);
    snprintf(member->path, sizeof member->path, "%.*s%s%.*s", prefix, header->prefix,
             prefix > 0 ? "/" : "", name, header->name);
}

static bool ends_in_slash(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] == '\0';
}

static enum vv_tar_kind kind_of(const struct vv_tar_member *member, char type)
{
    switch (type) {
    case '\0': case '0': case '7':
        /* Before POSIX, a name with a slash at its end is a folder. */
        return ends_in_slash(member->path) ? VV_TAR_FOLDER : VV_TAR_FILE;
    case '5': case 'D':
        return VV_TAR_FOLDER;
    case '1': case '2':
        return VV_TAR_LINK;
    case '3': case '4': case '6':
        return VV_TAR_SPECIAL;
    case 'S':
        return VV_TAR_SPARSE;
    default:
        return VV_TAR_OTHER;
    }
}

/* What headers before that of a member say of it. */
struct extension {
    bool has_path, has_size, is_sparse;
    char path[VV_TAR_PATH_BYTES_MAX];
    uint64_t bytes;
};

static bool take_path(struct extension *extension, const char *text, size_t length)
{
    extension->has_path = length < sizeof extension->path;
    if (extension->has_path) {
        memcpy(extension->path, text, length);
        extension->path[length] = '\0';
    }
    return extension->has_path;
}

/* A record of pax: "LENGTH KEY=VALUE\n". False: it is none, or a value has no meaning. */
static bool take_record(struct extension *extension, const char *text, size_t length)
{
    const char *equals = memchr(text, '=', length);
    if (equals == NULL)
        return false;
    size_t key = (size_t)(equals - text), bytes = length - key - 1;
    if (key == 4 && memcmp(text, "path", 4) == 0)
        return take_path(extension, equals + 1, bytes);
    if (key >= 10 && memcmp(text, "GNU.sparse", 10) == 0)
        extension->is_sparse = true;
    if (key != 4 || memcmp(text, "size", 4) != 0)
        return true;
    extension->has_size = bytes > 0 && bytes < 19;
    extension->bytes = 0;
    for (size_t i = 1; i <= bytes && extension->has_size; i++) {
        extension->has_size = equals[i] >= '0' && equals[i] <= '9';
        extension->bytes = extension->bytes * 10 + (uint64_t)(equals[i] - '0');
    }
    return extension->has_size;
}

static bool take_records(struct extension *extension, const char *text, size_t bytes)
{
    for (size_t at = 0; at < bytes && text[at] != '\0';) {
        size_t length = 0, digits = 0;
        while (at + digits < bytes && digits < 8 && text[at + digits] >= '0' &&
               text[at + digits] <= '9')
            length = length * 10 + (size_t)(text[at + digits++] - '0');
        bool is_whole = digits > 0 && length > digits + 1 && length <= bytes - at &&
                        text[at + digits] == ' ' && text[at + length - 1] == '\n';
        if (!is_whole ||
            !take_record(extension, text + at + digits + 1, length - digits - 2))
            return false;
        at += length;
    }
    return true;
}

/* Takes what a header of type 'L' or 'x' says. Others are passed over. */
static enum varve_code take_extension(struct vv_tar *tar, char type, struct extension *extension,
                                      struct varve_error *error)
{
    uint64_t bytes = tar->left;
    if (bytes > EXTENSION_BYTES_MAX)
        return fail_corrupt(tar, "a name in the tar archive is longer than names are", error);
    char *text = malloc((size_t)bytes + 1);
    size_t got = 0;
    if (text == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to read '%s'", vv_source_path(tar->source));
    enum varve_code code = pull(tar, text, (size_t)bytes, &got, error);
    bool is_taken = true;
    tar->left -= got;
    if (code == VARVE_OK && got < bytes)
        code = fail_cut(tar, error);
    else if (code == VARVE_OK && type == 'L')
        is_taken = take_path(extension, text, strnlen(text, (size_t)bytes));
    else if (code == VARVE_OK && type == 'x')
        is_taken = take_records(extension, text, (size_t)bytes);
    free(text);
    if (code == VARVE_OK && !is_taken)
        return fail_corrupt(tar, "the tar archive has a damaged name", error);
    return code;
}

/* Reads a header, and passes over blocks of zeros, which end the archive. */
static enum varve_code read_header(struct vv_tar *tar, struct header *header, bool *out_has,
                                   struct varve_error *error)
{
    static const struct header zeros;
    size_t got;
    *out_has = false;
    VV_TRY(pull(tar, header, sizeof *header, &got, error));
    if (got == 0 && !tar->is_cut)
        return VARVE_OK; /* the zeros at the end may be missing */
    if (got < sizeof *header)
        return fail_cut(tar, error);
    if (memcmp(header, &zeros, sizeof zeros) == 0)
        return VARVE_OK;
    uint64_t time_s;
    if (!has_checksum(header) || !read_number(header->size, sizeof header->size, &tar->left))
        return fail_corrupt(tar, "the tar archive has a damaged header", error);
    tar->member.time_s =
        read_number(header->time, sizeof header->time, &time_s) ? (int64_t)time_s : 0;
    *out_has = true;
    return VARVE_OK;
}

static uint64_t padding_of(uint64_t bytes)
{
    return (BLOCK_BYTES - bytes % BLOCK_BYTES) % BLOCK_BYTES;
}

enum varve_code vv_tar_next(struct vv_tar *tar, bool *out_has, struct varve_error *error)
{
    struct header header;
    struct extension extension = { 0 };
    for (int headers = 0;; headers++) {
        VV_TRY(pass(tar, tar->left, error));
        VV_TRY(pass(tar, tar->padding, error));
        tar->left = tar->padding = 0;
        VV_TRY(read_header(tar, &header, out_has, error));
        if (!*out_has)
            return VARVE_OK;
        tar->padding = padding_of(tar->left);
        if (strchr("LKxgX", header.type) == NULL || header.type == '\0')
            break;
        if (headers == EXTENSIONS_MAX)
            return fail_corrupt(tar, "the tar archive has headers without a member", error);
        VV_TRY(take_extension(tar, header.type, &extension, error));
    }
    set_path(&tar->member, &header);
    if (extension.has_path)
        memcpy(tar->member.path, extension.path, sizeof extension.path);
    tar->member.kind = extension.is_sparse ? VV_TAR_SPARSE : kind_of(&tar->member, header.type);
    if (extension.has_size)
        tar->left = extension.bytes;
    /* A link and a folder have no content, whatever their size says. */
    if (tar->member.kind == VV_TAR_LINK || tar->member.kind == VV_TAR_FOLDER)
        tar->left = 0;
    tar->padding = padding_of(tar->left);
    tar->member.bytes = tar->left;
    return VARVE_OK;
}
