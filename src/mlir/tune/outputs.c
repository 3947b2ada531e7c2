/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/tune/outputs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"

#define MAGIC "\x93NUMPY"
#define PREFIX_BYTES 10u /* magic, version, and the header's length in two bytes                  */
#define FILE_BYTES_MAX (UINT64_C(4) << 30)

struct file {
    const char *path;
    unsigned char *data;
    size_t bytes, at;
};

struct array {
    const char *header;       /* Python's text of type, order and shape                         */
    size_t header_bytes;
    const unsigned char *data;
    size_t count, width;
    char kind;                /* 'f', 'i', 'u', 'b'                                             */
};

static enum varve_code read_file(const char *path, struct file *out_file, struct varve_error *error)
{
    size_t capacity = 0, got = 1;
    FILE *stream = fopen(path, "rb");
    *out_file = (struct file){ .path = path };
    if (stream == NULL)
        return vv_fail_errno(error, errno, "cannot read '%s'", path);
    enum varve_code code = VARVE_OK;
    while (code == VARVE_OK && got > 0) {
        if (out_file->bytes > FILE_BYTES_MAX)
            code = vv_fail(error, VARVE_LIMIT, "'%s' is too large to compare", path);
        else
            code = vv_array_reserve(&out_file->data, &capacity, out_file->bytes + 65536, 1, error);
        got = code == VARVE_OK
                  ? fread(out_file->data + out_file->bytes, 1, capacity - out_file->bytes, stream)
                  : 0;
        out_file->bytes += got;
    }
    fclose(stream);
    return code;
}

static enum varve_code wrong(const struct file *file, const char *what, struct varve_error *error)
{
    return vv_fail_at(error, VARVE_CORRUPT, file->at, "'%s': %s", file->path, what);
}

/* Behind "'KEY': " in the header, or NULL. */
static const char *member(const char *text, const char *key)
{
    const char *found = strstr(text, key);
    return found != NULL ? found + strlen(key) : NULL;
}

/* "(1, 64, 1000)": the product. */
static bool count_of(const char *shape, size_t *out_count)
{
    size_t count = 1;
    for (shape++; *shape != ')' && *shape != '\0';) {
        char *end;
        unsigned long long size = strtoull(shape, &end, 10);
        if (end == shape || __builtin_mul_overflow(count, (size_t)size, &count))
            return false;
        shape = end + strspn(end, ", ");
    }
    *out_count = count;
    return *shape == ')';
}

/* "'descr': '<f4'" */
static bool type_of(const char *text, struct array *array)
{
    const char *descr = member(text, "'descr': '");
    if (descr == NULL || (descr[0] != '<' && descr[0] != '|') ||
        strchr("fiub", descr[1]) == NULL || descr[1] == '\0')
        return false;
    array->kind = descr[1];
    array->width = strtoul(descr + 2, NULL, 10);
    bool is_whole = array->width == 1 || array->width == 2 || array->width == 4 ||
                    array->width == 8;
    return is_whole && !(array->kind == 'f' && array->width == 1);
}

/* out_array->data NULL: the file ends. */
static enum varve_code next_array(struct file *file, struct array *out_array,
                                  struct varve_error *error)
{
    struct vv_bytes rest = { file->data + file->at, file->bytes - file->at };
    uint16_t length = 0;
    char text[512];
    *out_array = (struct array){ 0 };
    if (rest.length == 0)
        return VARVE_OK;
    if (!vv_bytes_u16(rest, 8, &length) || memcmp(rest.data, MAGIC, 6) != 0 || rest.data[6] != 1 ||
        !vv_bytes_has(rest, PREFIX_BYTES, length) || length >= sizeof text)
        return wrong(file, "no NumPy array of version 1", error);
    out_array->header = (const char *)rest.data + PREFIX_BYTES;
    out_array->header_bytes = length;
    memcpy(text, out_array->header, length);
    text[length] = '\0';
    const char *shape = member(text, "'shape': ");
    size_t bytes;
    if (!type_of(text, out_array) || shape == NULL || *shape != '(' ||
        !count_of(shape, &out_array->count) ||
        __builtin_mul_overflow(out_array->count, out_array->width, &bytes))
        return wrong(file, "an array of a type that is not compared", error);
    if (!vv_bytes_has(rest, PREFIX_BYTES + (size_t)length, bytes))
        return wrong(file, "an array that is cut", error);
    out_array->data = rest.data + PREFIX_BYTES + length;
    file->at += PREFIX_BYTES + length + bytes;
    return VARVE_OK;
}

static double half_of(uint16_t bits)
{
    int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double value = exponent == 0    ? ldexp(mantissa, -24)
                   : exponent == 31 ? (mantissa != 0 ? NAN : INFINITY)
                                    : ldexp(1024 + mantissa, exponent - 25);
    return (bits & 0x8000) != 0 ? -value : value;
}

static double value_at(const struct array *array, size_t index)
{
    const unsigned char *at = array->data + index * array->width;
    uint64_t bits = 0;
    float single;
    double real;
    for (size_t i = 0; i < array->width; i++)
        bits |= (uint64_t)at[i] << 8 * i;
    if (array->kind == 'f' && array->width == 2)
        return half_of((uint16_t)bits);
    if (array->kind == 'f' && array->width == 4) {
        memcpy(&single, at, sizeof single);
        return single;
    }
    if (array->kind == 'f') {
        memcpy(&real, at, sizeof real);
        return real;
    }
    unsigned unused = 64 - 8 * (unsigned)array->width;
    return array->kind == 'i' ? (double)((int64_t)(bits << unused) >> unused) : (double)bits;
}

static void compare_arrays(const struct array *first, const struct array *second,
                           struct vv_tune_difference *difference)
{
    double largest = 0, apart = 0;
    for (size_t i = 0; i < first->count; i++) {
        double a = value_at(first, i), b = value_at(second, i), distance = fabs(a - b);
        bool is_same = a == b || (isnan(a) && isnan(b));
        if (isfinite(a) && fabs(a) > largest)
            largest = fabs(a);
        if (!is_same && !(distance <= apart))
            apart = isnan(distance) ? INFINITY : distance;
    }
    double share = apart == 0 ? 0 : largest > 0 ? apart / largest : INFINITY;
    difference->max_abs = fmax(difference->max_abs, apart);
    difference->max_rel = fmax(difference->max_rel, share);
    difference->values += first->count;
}

static enum varve_code compare_files(struct file *first, struct file *second,
                                     struct vv_tune_difference *out, struct varve_error *error)
{
    *out = (struct vv_tune_difference){ .is_equal = first->bytes == second->bytes &&
                                                    (first->bytes == 0 ||
                                                     memcmp(first->data, second->data,
                                                            first->bytes) == 0) };
    for (;;) {
        struct array a, b;
        VV_TRY(next_array(first, &a, error));
        VV_TRY(next_array(second, &b, error));
        if (a.data == NULL && b.data == NULL)
            return VARVE_OK;
        if (a.data == NULL || b.data == NULL || a.header_bytes != b.header_bytes ||
            memcmp(a.header, b.header, a.header_bytes) != 0)
            return wrong(second, "other arrays than before", error);
        compare_arrays(&a, &b, out);
    }
}

enum varve_code vv_tune_compare(const char *first_path, const char *second_path,
                                struct vv_tune_difference *out_difference,
                                struct varve_error *error)
{
    struct file first, second = { 0 };
    enum varve_code code = read_file(first_path, &first, error);
    if (code == VARVE_OK)
        code = read_file(second_path, &second, error);
    if (code == VARVE_OK)
        code = compare_files(&first, &second, out_difference, error);
    free(first.data);
    free(second.data);
    return code;
}
