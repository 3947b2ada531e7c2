/* SPDX-License-Identifier: Apache-2.0 */
/* places.h — finds the processes and tracks of a trace by "pid" and "tid", which may be numbers,
 * texts or absent. A text that is a number counts as that number, and "stream 7" as 7.
 * Thread-compatible.
 *
 * A process or thread gets a row with its first event; if the trace only names it, it gets none. */
#ifndef VV_IMPORT_CHROME_PLACES_H
#define VV_IMPORT_CHROME_PLACES_H

#include "base/array.h"
#include "base/slots.h"
#include "import/chrome/text.h"

enum vv_chrome_ident_kind { VV_IDENT_ABSENT, VV_IDENT_NUMBER, VV_IDENT_TEXT, VV_IDENT_NONE };

struct vv_chrome_ident {
    int64_t number; /* for a text: its string id                                                */
    uint8_t kind;   /* enum vv_chrome_ident_kind; NONE: the key is that of a process            */
};

struct vv_chrome_place {
    struct vv_chrome_ident pid, tid;
    uint32_t row;   /* of the track or process                                                  */
    uint32_t process;
};

/* What the trace says about a track, in its events and elsewhere. */
struct vv_chrome_track_facts {
    uint32_t device;  /* kind << 16 | index; VV_NONE = no event says it                         */
    uint8_t is_device;
};

struct vv_chrome_places {
    VV_ARRAY_OF(struct vv_chrome_place) all;
    struct vv_slots slots;          /* hash table of all                                        */
    struct vv_chrome_place recent[256];
    uint32_t scope;                 /* scope of new processes                                   */
    uint32_t first_process, first_track; /* rows before these are of other inputs               */
    struct vv_chrome_track_facts *tracks; /* from first_track on                                */
    size_t track_capacity;
};

void vv_chrome_places_init(struct vv_chrome_places *places, const struct vv_model *model,
                           uint32_t scope);
void vv_chrome_places_deinit(struct vv_chrome_places *places);

/* `value` NULL = the event has none. */
enum varve_code vv_chrome_ident(struct vv_chrome_text *text, const struct vv_chrome_value *value,
                                struct vv_chrome_ident *out_ident, struct varve_error *error);

/* Finds the track; a new one is made, with its process. */
enum varve_code vv_chrome_place(struct vv_chrome_places *places, struct vv_model *model,
                                struct vv_chrome_ident pid, struct vv_chrome_ident tid,
                                struct vv_chrome_place *out_place, struct varve_error *error);
/* The row, or VV_NONE if there is none. For a tid of kind NONE, the row of the process. */
uint32_t vv_chrome_find_place(const struct vv_chrome_places *places, struct vv_chrome_ident pid,
                              struct vv_chrome_ident tid);

/* Where ranks were written into one file, their pids are texts such as "[TP00] 4711" and "[TP00]
 * 0":
 * processes with the same text in brackets get the same id_family. After the last event. */
enum varve_code vv_chrome_set_id_families(const struct vv_chrome_places *places,
                                          struct vv_model *model, struct varve_error *error);

static inline struct vv_chrome_track_facts *vv_chrome_track(const struct vv_chrome_places *places,
                                                            uint32_t track)
{
    return &places->tracks[track - places->first_track];
}

#endif
