/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/compact_json.h"

#include <stdbool.h>
#include <stdint.h>

const char *vv_json_pass(const char *at)
{
    uint32_t depth = 0;
    bool in_string = false;
    for (; *at != '\0'; at++) {
        if (in_string && *at == '\\' && at[1] != '\0')
            at++;
        else if (*at == '"')
            in_string = !in_string;
        else if (!in_string && (*at == '[' || *at == '{'))
            depth++;
        else if (!in_string && (*at == ']' || *at == '}') && depth-- == 0)
            return at;
        else if (!in_string && *at == ',' && depth == 0)
            return at;
    }
    return at;
}
