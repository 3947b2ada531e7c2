/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/picture/picture.h"

#include <string.h>

#include "graph/picture/legend.h"
#include "graph/picture/values.h"

enum varve_code vv_picture_init(struct vv_picture *picture, const struct vv_dag *dag,
                                const struct vv_picture_options *options,
                                struct varve_error *error)
{
    memset(picture, 0, sizeof *picture);
    picture->dag = dag;
    if (options != NULL)
        picture->options = *options;
    enum varve_code code = vv_values_measure(picture, error);
    vv_picture_value_text(picture, picture->least, picture->least_text, VV_NUMBER_BYTES);
    vv_picture_value_text(picture, picture->most, picture->most_text, VV_NUMBER_BYTES);
    if (code == VARVE_OK)
        code = vv_legend_make(picture, error);
    if (code != VARVE_OK)
        vv_picture_deinit(picture);
    return code;
}

void vv_picture_deinit(struct vv_picture *picture)
{
    vv_scratch_deinit(&picture->scratch);
    memset(picture, 0, sizeof *picture);
}
