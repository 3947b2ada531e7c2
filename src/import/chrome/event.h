/* SPDX-License-Identifier: Apache-2.0 */
/* event.h — one event of Chrome's trace format as it is written: the members that the format names,
 * and all others, with those of "args", as arguments. Their meaning is not interpreted here. */
#ifndef VV_IMPORT_CHROME_EVENT_H
#define VV_IMPORT_CHROME_EVENT_H

#include "import/chrome/json.h"

enum vv_chrome_field {
    VV_FIELD_PH, VV_FIELD_CAT, VV_FIELD_NAME, VV_FIELD_PID, VV_FIELD_TID, VV_FIELD_TS,
    VV_FIELD_DUR, VV_FIELD_ID, VV_FIELD_BP, VV_FIELD_S, VV_FIELD_ID2, VV_FIELD_SCOPE,
    VV_FIELD_SF, VV_FIELD_TDUR, VV_FIELD_BIND_ID, VV_FIELD_FLOW_IN, VV_FIELD_FLOW_OUT,
    VV_FIELD_COUNT,
    VV_FIELD_ARGS = VV_FIELD_COUNT, VV_FIELD_OTHER
};

struct vv_chrome_arg {
    struct vv_chrome_value key, value;
};

struct vv_chrome_event {
    uint32_t present; /* a bit for each enum vv_chrome_field that fields holds                  */
    struct vv_chrome_value fields[VV_FIELD_COUNT];
    struct vv_chrome_arg *args;
    size_t arg_count, arg_capacity;
    size_t first_inner, inner_end; /* the arguments from within "args"; others are members     */
    struct vv_chrome_value object; /* where the event's object is                               */
};

static inline bool vv_chrome_has(const struct vv_chrome_event *event, enum vv_chrome_field field)
{
    return (event->present >> field & 1) != 0;
}

/* Reads the object whose brace is the cursor's next token. The values are borrowed from the window.
 * The status is BAD if there is no memory for the arguments. */
enum vv_chrome_status vv_chrome_event_read(struct vv_chrome_cursor *cursor,
                                           struct vv_chrome_event *event);
void vv_chrome_event_deinit(struct vv_chrome_event *event);

#endif
