/* SPDX-License-Identifier: Apache-2.0 */
#include "import/input/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/folder.h"
#include "ctf/pack/read.h"

static enum varve_code fail_open(const char *path, int failure, struct varve_error *error)
{
    if (failure == ELOOP)
        VV_FAIL(error, VARVE_PERMISSION,
                "'%s' is a link that another user may have made: it is not followed", path);
    if (failure == EINVAL)
        VV_FAIL(error, VARVE_UNSUPPORTED, "'%s' is neither a file nor a folder", path);
    return vv_fail_errno(error, failure, "cannot read '%s'", path);
}

enum varve_code vv_input_open(const char *path, struct vv_input *out_input,
                              struct varve_error *error)
{
    struct stat status;
    int descriptor, failure = vv_folder_open_file(AT_FDCWD, path, O_RDONLY, &descriptor);
    if (failure != 0)
        return fail_open(path, failure, error);
    if (fstat(descriptor, &status) != 0) {
        int os_errno = errno;
        close(descriptor);
        return vv_fail_errno(error, os_errno, "cannot read '%s'", path);
    }
    struct vv_input input = { path, descriptor, (uint64_t)status.st_size, NULL };
    enum varve_code code = vv_packed_open(descriptor, path, &input.packed, error);
    if (code != VARVE_OK) {
        close(descriptor);
        return code;
    }
    if (input.packed != NULL)
        input.size_bytes = vv_packed_plain_bytes(input.packed);
    *out_input = input;
    return VARVE_OK;
}

void vv_input_close(struct vv_input *input)
{
    if (input == NULL || input->descriptor < 0)
        return;
    vv_packed_close(input->packed);
    input->packed = NULL;
    close(input->descriptor);
    input->descriptor = -1;
}

enum varve_code vv_input_read(const struct vv_input *input, uint64_t offset, void *buffer,
                              size_t bytes, size_t *out_bytes, struct varve_error *error)
{
    if (input->packed != NULL)
        return vv_packed_read(input->packed, offset, buffer, bytes, out_bytes, error);
    size_t done = 0;
    while (done < bytes) {
        ssize_t got = pread(input->descriptor, (char *)buffer + done, bytes - done,
                            (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return vv_fail_errno(error, errno, "cannot read '%s'", input->path);
        if (got == 0)
            break;
        done += (size_t)got;
    }
    *out_bytes = done;
    return VARVE_OK;
}

enum varve_code vv_input_place(const struct vv_input *input, enum varve_code code,
                               struct varve_error *error)
{
    return vv_packed_place(input->packed, code, error);
}

enum varve_code vv_input_read_all(const char *path, size_t limit_bytes, char **out_text,
                                  size_t *out_bytes, struct varve_error *error)
{
    struct vv_input input;
    VV_TRY(vv_input_open(path, &input, error));
    enum varve_code code;
    char *text = NULL;
    if (input.size_bytes > limit_bytes) {
        code = vv_fail(error, VARVE_LIMIT, "'%s' has %llu bytes; at most %zu are read", path,
                       (unsigned long long)input.size_bytes, limit_bytes);
        goto done;
    }
    text = malloc(input.size_bytes + 1);
    if (text == NULL) {
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory to read '%s'", path);
        goto done;
    }
    code = vv_input_read(&input, 0, text, input.size_bytes, out_bytes, error);
    if (code != VARVE_OK)
        goto done;
    text[*out_bytes] = '\0';
    *out_text = text;
    text = NULL;
done:
    free(text);
    vv_input_close(&input);
    return code;
}
