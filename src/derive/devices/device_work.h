/* SPDX-License-Identifier: Apache-2.0 */
/* device_work.h — the kernels, copies and sets of the chosen devices, in order: what every analysis of devices
 * begins with.
 *
 * A device is one of a scope (model.h): the first GPU of one rank is not the first GPU of another. Work counts
 * if its device and its rank are chosen and the step counts (vv_step_counts) in which the call lies that launched it;
 * of what has no call, the one in which it begins. Where the work of warm-up is left out, the device did not stand
 * still meanwhile: its time is cut there, and nothing between two cuts is a gap. Thread-compatible. */
#ifndef VV_DERIVE_DEVICES_DEVICE_WORK_H
#define VV_DERIVE_DEVICES_DEVICE_WORK_H

#include "derive/select/scope.h"
#include "meaning/device_class.h"
#include "meaning/hta_rules.h"
#include "model/device_id.h"
#include "numbers/intervals.h"

struct vv_device {
    uint32_t scope;
    uint32_t id;          /* kind << 16 | index; VV_NONE = the producer named none              */
    int64_t rank;         /* -1 = not known                                                     */
    size_t first, last;   /* its work: [first, last) of the items                               */
    uint16_t cuts;        /* of its time, where work is left out                                */
};

struct vv_work_item {
    int64_t begin_ns, end_ns;
    uint32_t activity;    /* row; its slice, launch and caller stand there                      */
    uint8_t class;        /* enum vv_device_class                                               */
    uint16_t stretch;     /* how many cuts of its device's time lie before it                   */
};

struct vv_device_work {
    const struct vv_scope *scope; /* borrowed                                                   */
    struct vv_work_item *items;   /* by device, then begin, then slice                          */
    size_t count;
    struct vv_device *devices;    /* by rank, then scope and id                                 */
    size_t device_count;
    uint64_t unlinked;            /* items without a call: launched before the trace began, say */
    bool is_hta;                  /* chosen and timed by the rules below                        */
    struct vv_hta_rules hta;
};

/* VARVE_INVALID: `device` names none of those in the trace; the message lists them. De-initialise also after a
 * failure. A model without device work gives no devices, and that is no error. */
enum varve_code vv_device_work_init(struct vv_device_work *out_work, const struct vv_scope *scope,
                                    const char *device, struct varve_error *error);
/* The same for a question that may ask for another tool's rules. */
enum varve_code vv_device_work_asked(struct vv_device_work *out_work, const struct vv_scope *scope,
                                     const struct vv_question *question, struct varve_error *error);
void vv_device_work_deinit(struct vv_device_work *work);

/* United: the time, within `window`, during which a device does work of the classes (bits 1 << class). */
enum varve_code vv_device_busy(const struct vv_device_work *work, const struct vv_device *device,
                               unsigned classes, struct vv_interval window, struct vv_intervals *out_busy,
                               struct varve_error *error);
/* The time during which any device of a scope and rank works; a zeroed struct knows of none yet. */
struct vv_rank_busy {
    struct vv_intervals time; /* united                                                          */
    uint32_t scope;
    int64_t rank;
    bool is_known;
};

/* Makes it that of the process' scope and rank, if it is not. `process` VV_NONE: scope 0. */
enum varve_code vv_busy_of_process(const struct vv_device_work *work, uint32_t process, struct vv_rank_busy *busy,
                                   struct varve_error *error);
#define VV_ALWAYS (struct vv_interval){ INT64_MIN, INT64_MAX }
#define VV_CLASS_BIT(class) (1u << (class))
#define VV_CLASS_ALL ((1u << VV_CLASS_COUNT) - 1)

/* When the call that launched the item ran. False: its call is not in the trace. */
bool vv_device_call(const struct vv_device_work *work, const struct vv_work_item *item, struct vv_interval *out_call);

/* For a policy: which work it is, where it is not all; sentences end in it. */
static inline const char *vv_part_text(const struct vv_scope *scope)
{
    if (!scope->every_step)
        return ", launched in these steps";
    return scope->left_out > 0 ? ", but for warm-up steps" : "";
}

/* The policy of a table that has no rows for want of a device. */
static inline enum varve_code vv_no_work_policy(const struct vv_scope *scope, struct vv_sheet *sheet,
                                                struct varve_error *error)
{
    return vv_sheet_policy(sheet, error, "no device work in %s", scope->every_step ? "this trace" : "these steps");
}

/* For a policy: whose rules the work was chosen by, where they are not ours. */
static inline const char *vv_compat_text(const struct vv_question *question)
{
    return question->compat != NULL ? "; by the rules of HTA" : "";
}

#endif
