/* SPDX-License-Identifier: Apache-2.0 */
/* device_work.h — the kernels, copies and sets of the chosen devices, in order. Every analysis of
 * devices begins with them.
 *
 * A device belongs to a scope (model.h), and within the scope to a process that numbers ids anew:
 * the first GPU of one rank is not the first GPU of another.
 * Work counts if its device and its rank are chosen and its step counts (vv_step_counts). Its step
 * is the one that contains the call that launched it; work without a call has the step in which it
 * begins. A device was busy while it did warm-up work that is left out. So its time is cut there,
 * and the time between two cuts is no gap. Thread-compatible. */
#ifndef VV_DERIVE_DEVICES_DEVICE_WORK_H
#define VV_DERIVE_DEVICES_DEVICE_WORK_H

#include "derive/select/scope.h"
#include "meaning/device_class.h"
#include "meaning/hta_rules.h"
#include "model/device_id.h"
#include "numbers/intervals.h"

struct vv_device {
    uint32_t scope;
    uint32_t owner;       /* id_family of its process; 0 = the whole scope's                     */
    uint32_t id;          /* kind << 16 | index; VV_NONE = the producer named none              */
    int64_t rank;         /* -1 = not known                                                     */
    size_t first, last;   /* its work: items [first, last)                                      */
    uint16_t cuts;        /* number of cuts of its time, where work is left out                 */
};

struct vv_work_item {
    int64_t begin_ns, end_ns;
    uint32_t activity;    /* row in activities, which has its slice, launch and caller          */
    uint8_t class;        /* enum vv_device_class                                               */
    uint16_t stretch;     /* number of cuts of its device's time before it                      */
};

struct vv_device_work {
    const struct vv_scope *scope; /* borrowed                                                   */
    const struct vv_work_item *items; /* by device, then begin, then slice                      */
    size_t count;
    const struct vv_device *devices;  /* by rank, then scope, id and owner                      */
    size_t device_count;
    uint64_t unlinked;            /* items without a call, such as those launched before the trace
                                     began */
    bool is_hta;                  /* chosen and timed by HTA's rules: vv_device_work_asked      */
    struct vv_hta_rules hta;
};

/* VARVE_INVALID: `device` names no device of the trace; the message lists the devices. A model
 * without device work has no devices; this is no error. The arrays are the scratch's of the scope;
 * if nothing was chosen, they are the model's, and found once. */
enum varve_code vv_device_work_init(struct vv_device_work *out_work, const struct vv_scope *scope,
                                    const char *device, struct varve_error *error);
/* The same, for a question that may ask for another tool's rules (compat). */
enum varve_code vv_device_work_asked(struct vv_device_work *out_work, const struct vv_scope *scope,
                                     const struct vv_question *question, struct varve_error *error);

/* The time within `window` during which the device does work of the classes (bits 1 << class). The
 * result is united. */
enum varve_code vv_device_busy(const struct vv_device_work *work, const struct vv_device *device,
                               unsigned classes, struct vv_interval window,
                               struct vv_intervals *out_busy, struct varve_error *error);
/* The time during which any device of a scope and rank works. A zeroed struct holds no scope
 * yet. */
struct vv_rank_busy {
    struct vv_intervals time; /* united                                                          */
    uint32_t scope;
    int64_t rank;
    bool is_known;
};

/* Fills *busy for the scope and rank of the process, unless it holds them already. `process`
 * VV_NONE: scope 0. */
enum varve_code vv_busy_of_process(const struct vv_device_work *work, uint32_t process,
                                   struct vv_rank_busy *busy, struct varve_error *error);
#define VV_ALWAYS (struct vv_interval){ INT64_MIN, INT64_MAX }
#define VV_CLASS_BIT(class) (1u << (class))
#define VV_CLASS_ALL ((1u << VV_CLASS_COUNT) - 1)

/* One number for what a device's id is of: its process, or its scope. */
static inline uint32_t vv_device_whose(uint32_t scope, uint32_t owner)
{
    return owner != 0 ? UINT32_C(1) << 31 | owner : scope;
}

/* The time of the call that launched the item. False: the call is not in the trace. */
bool vv_device_call(const struct vv_device_work *work, const struct vv_work_item *item,
                    struct vv_interval *out_call);

/* For a policy: what the number before it counts. */
static inline const char *vv_device_work_word(uint64_t count)
{
    return count == 1 ? "kernel, copy or set" : "kernels, copies and sets";
}

/* For a policy: says which work counts, unless all does. Sentences end with it. */
static inline const char *vv_device_part_label(const struct vv_scope *scope)
{
    if (!scope->every_step)
        return ", launched in these steps";
    return scope->left_out > 0 ? ", but for warm-up steps" : "";
}

/* The policy of a table that has no rows because there is no device work. */
static inline enum varve_code vv_no_work_policy(const struct vv_scope *scope,
                                                struct vv_sheet *sheet, struct varve_error *error)
{
    return vv_sheet_policy(sheet, error, "no device work in %s",
                           scope->every_step ? "this trace" : "these steps");
}

/* For a policy: names the tool whose rules chose the work, unless they are Varve's. */
static inline const char *vv_compat_text(const struct vv_question *question)
{
    return vv_asks_hta(question) ? "; by the rules of HTA" : "";
}

#endif
