/* SPDX-License-Identifier: Apache-2.0 */
#include "needs_zstd.h"

#include <stdio.h>
#include <stdlib.h>

#include "ctf/pack/frame.h"

bool zstd_is_missing(void)
{
    struct vv_pack_codec codec = { 0 };
    struct vv_pack_bytes column = { (uint8_t *)"a", 1, 1 }, out = { 0 };
    struct varve_error error;
    bool is_missing =
        vv_pack_frame_write(&codec, &column, NULL, 0, &out, &error) == VARVE_UNSUPPORTED;
    if (is_missing)
        printf("skipped: %s\n", error.message);
    vv_pack_codec_deinit(&codec);
    free(out.data);
    return is_missing;
}
