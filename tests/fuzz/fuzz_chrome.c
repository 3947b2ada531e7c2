/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_chrome.c — any bytes as a trace in Chrome's format: a model whose references hold, or an
 * error; and three threads read what one reads, or fail as it does (one input of 16). */
#include "../support/chrome_bytes.h"
#include "../support/imported_bytes.h"
#include "../support/same_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vv_model *whole = NULL, *parts = NULL;
    struct varve_error error = { 0 }, other = { 0 };
    enum varve_code code = chrome_bytes(data, size, 1, &whole, &error);
    if (code == VARVE_OK)
        imported_look(whole);
    if (chrome_is_for_threads(data, size)) {
        imported_must(chrome_bytes(data, size, 3, &parts, &other) == code);
        imported_must(code == VARVE_OK ? same_model(whole, parts)
                                       : strcmp(error.message, other.message) == 0);
    }
    vv_model_destroy(whole);
    vv_model_destroy(parts);
    return 0;
}
