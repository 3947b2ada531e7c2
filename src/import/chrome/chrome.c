/* SPDX-License-Identifier: Apache-2.0 */
/* chrome.c — the importer of Chrome's trace format and its dialects: Kineto (PyTorch), XLA's
 * trace.json, ONNX Runtime, Ascend's trace_view, and all others that follow the format.
 * chrome/reader.h lists the stages, doc/formats.md says what is kept. */
#include "import/chrome/parts.h"

static bool has(const char *head, size_t head_bytes, const char *word)
{
    return memmem(head, head_bytes, word, strlen(word)) != NULL;
}

/* An object has its events under one key, which may come late in the file; then other words of the
 * format or of Kineto are proof enough. In an array, the events have phases. */
static bool probe(const char *path, bool is_folder, const char *head, size_t head_bytes)
{
    static const char *const words[] = { "\"displayTimeUnit\"", "\"schemaVersion\"",
                                         "\"deviceProperties\"", "\"distributedInfo\"",
                                         "\"baseTimeNanoseconds\"", "\"traceName\"",
                                         "\"stackFrames\"" };
    size_t at = 0;
    (void)path;
    if (is_folder)
        return false;
    if (head_bytes >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0)
        at = 3;
    while (at < head_bytes && vv_chrome_is_blank(head[at]))
        at++;
    if (at < head_bytes && head[at] == '[') {
        do
            at++;
        while (at < head_bytes && vv_chrome_is_blank(head[at]));
        return at == head_bytes || head[at] == ']' || has(head, head_bytes, "\"ph\"");
    }
    if (at == head_bytes || head[at] != '{')
        return false;
    if (has(head, head_bytes, "\"traceEvents\""))
        return true;
    bool is_whole = head_bytes < VV_SOURCE_HEAD_BYTES; /* and so it has no events               */
    for (size_t i = 0; !is_whole && i < sizeof words / sizeof words[0]; i++)
        if (has(head, head_bytes, words[i]))
            return true;
    return false;
}

static enum varve_code read(const struct vv_import_job *job, struct varve_error *error)
{
    return vv_chrome_read_files(&job, 1, error);
}

const struct vv_importer vv_importer_chrome = {
    .name = "chrome",
    .title = "Chrome trace JSON",
    .probe = probe,
    .read = read,
    .read_parts = vv_chrome_read_files,
    .is_recording = vv_is_always_recording,
};
