/* SPDX-License-Identifier: Apache-2.0 */
/* string.c — names known only at run time: finds the id of a varve.string record for a text.
 *
 * The table lasts as long as the process. A session that uses a string for the first time writes
 * its record. All memory is reserved address space, touched as it is used. Strings are only added,
 * under the lock. A lookup without the lock sees a string whole or not at all, because its slot is
 * stored last. A small table of recent lookups comes before the large one: a lookup in the large
 * one touches a page that no cache holds. */
#include "record/string.h"

#include <string.h>

#include "base/system/os.h"
#include "record/hot_path.h"
#include "record/process_folder.h"
#include "record/stream/process_stream.h"
#include "record/text_hash.h"

#define STRINGS_MAX (1u << 20)
#define SLOTS (STRINGS_MAX * 2)
#define RECENT_SLOTS 1024u
#define STRINGS_BYTES (UINT64_C(256) << 20)
#define UNIT_BYTES 8u
#define PIECE_BYTES (UINT64_C(2) << 20) /* address space that is taken at a time           */
#define PIECE_UNITS ((uint32_t)(PIECE_BYTES / UNIT_BYTES))
#define PIECES (STRINGS_BYTES / PIECE_BYTES)

struct string {
    uint32_t number; /* 1, 2, ...                                                                */
    uint32_t serial; /* serial of the session that has its record; 0 = none; atomic              */
    uint32_t length;
    char text[];
};

/* The memory for strings. Strings lie one after the other; each string begins at a whole unit and
 * lies within one piece. Unit 0 is not used. pieces[0] is atomic: when it is set, the tables
 * exist. */
static uint8_t *pieces[PIECES];
static uint32_t *units;   /* number of a string to its unit */
static uint64_t *slots;   /* hash, then unit; 0 = free; atomic */
static uint64_t *recent;  /* slots found lately, each at its hash; atomic */
static uint32_t unit_count = 1, string_count;

static bool make_tables(void)
{
    if (pieces[0] != NULL)
        return true;
    units = vv_os_reserve((STRINGS_MAX + 1) * sizeof *units);
    slots = vv_os_reserve(SLOTS * sizeof *slots);
    recent = vv_os_reserve(RECENT_SLOTS * sizeof *recent);
    uint8_t *memory = vv_os_reserve(PIECE_BYTES);
    if (units != NULL && slots != NULL && recent != NULL)
        __atomic_store_n(&pieces[0], memory, __ATOMIC_RELEASE);
    return pieces[0] != NULL;
}

static struct string *string_at(uint32_t unit)
{
    return (struct string *)(void *)(pieces[unit / PIECE_UNITS] +
                                     (size_t)(unit % PIECE_UNITS) * UNIT_BYTES);
}

static bool leads_to(uint64_t slot, const char *text, uint32_t length, uint32_t hash)
{
    if ((uint32_t)slot == 0 || (uint32_t)(slot >> 32) != hash)
        return false;
    const struct string *known = string_at((uint32_t)slot);
    return known->length == length && memcmp(known->text, text, length) == 0;
}

/* Returns the slot's content; or 0, and *out_slot is the free slot for this text. */
static uint64_t find(const char *text, uint32_t length, uint32_t hash, uint32_t *out_slot)
{
    for (uint32_t at = hash & (SLOTS - 1);; at = (at + 1) & (SLOTS - 1)) {
        uint64_t slot = __atomic_load_n(&slots[at], __ATOMIC_ACQUIRE);
        *out_slot = at;
        if (slot == 0 || leads_to(slot, text, length, hash))
            return slot;
    }
}

/* Does not use memcpy. In a program under ThreadSanitizer, the tool would see memcpy's stores but
 * not the later store of the slot, and would report the lookup of another thread as a race. */
static void copy_text(char *to, const char *from, uint32_t length)
{
    for (uint32_t at = 0; at < length; at++)
        __atomic_store_n(&to[at], from[at], __ATOMIC_RELAXED);
}

/* Makes room for a string of `units_taken` units at unit_count. If the current piece has no room,
 * unit_count moves to a new piece. */
static bool make_place(uint32_t units_taken)
{
    uint32_t piece = unit_count / PIECE_UNITS;
    if (unit_count % PIECE_UNITS + units_taken > PIECE_UNITS)
        piece++;
    if (piece == PIECES)
        return false;
    if (pieces[piece] == NULL)
        pieces[piece] = vv_os_reserve(PIECE_BYTES);
    if (pieces[piece] == NULL)
        return false;
    if (unit_count < piece * PIECE_UNITS)
        unit_count = piece * PIECE_UNITS;
    return true;
}

static struct string *find_or_add(const char *text, uint32_t length)
{
    uint32_t hash = vv_text_hash(text, length, 0), at;
    uint64_t slot = find(text, length, hash, &at);
    if (slot != 0)
        return string_at((uint32_t)slot);
    uint32_t taken = (uint32_t)((sizeof(struct string) + length + UNIT_BYTES - 1) / UNIT_BYTES);
    if (string_count == STRINGS_MAX || !make_place(taken))
        return NULL;
    struct string *added = string_at(unit_count);
    copy_text(added->text, text, length);
    added->length = length;
    added->number = ++string_count;
    units[string_count] = unit_count;
    unit_count += taken; /* before the slot is seen: a child may go on from any instant (birth.h) */
    __atomic_store_n(&slots[at], (uint64_t)hash << 32 | units[string_count], __ATOMIC_RELEASE);
    return added;
}

VV_HOT uint32_t vv_string_known(const char *text)
{
    if (__atomic_load_n(&pieces[0], __ATOMIC_ACQUIRE) == NULL)
        return 0;
    uint32_t length = vv_text_cut(text, VV_NAME_BYTES_MAX), hash = vv_text_hash(text, length, 0),
             at;
    uint64_t *seen = &recent[hash % RECENT_SLOTS], slot = __atomic_load_n(seen, __ATOMIC_ACQUIRE);
    if (!leads_to(slot, text, length, hash)) {
        slot = find(text, length, hash, &at);
        if (slot == 0)
            return 0;
        __atomic_store_n(seen, slot, __ATOMIC_RELEASE);
    }
    const struct string *known = string_at((uint32_t)slot);
    uint32_t serial = __atomic_load_n(&known->serial, __ATOMIC_ACQUIRE);
    return serial != 0 && serial == __atomic_load_n(&vv_session.serial, __ATOMIC_RELAXED)
               ? known->number
               : 0;
}

bool vv_string_write(uint32_t id)
{
    struct string *string = string_at(units[id]);
    if (string->serial == vv_session.serial)
        return true;
    uint64_t record[2 + (VV_NAME_BYTES_MAX + 7) / 8] = { VV_EVENT_STRING };
    uint64_t padded = (string->length + 7) / 8 * 8;
    record[1] = padded << 32 | id;
    memcpy(record + 2, string->text, string->length);
    if (!vv_process_stream_put(record, 2 + padded / 8))
        return false;
    __atomic_store_n(&string->serial, vv_session.serial, __ATOMIC_RELEASE);
    return true;
}

uint32_t vv_string_id(const char *text)
{
    if (!make_tables() || !vv_process_folder_ensure())
        return 0;
    const struct string *string = find_or_add(text, vv_text_cut(text, VV_NAME_BYTES_MAX));
    return string != NULL && vv_string_write(string->number) ? string->number : 0;
}

uint32_t vv_string_of(const char *text)
{
    if (text == NULL)
        text = "";
    uint32_t id = vv_string_known(text);
    if (id == 0 && vv_recorder_lock()) {
        id = vv_string_id(text);
        vv_recorder_unlock();
    }
    return id;
}

bool vv_string_is_in(uint32_t id, uint32_t serial)
{
    return __atomic_load_n(&string_at(units[id])->serial, __ATOMIC_ACQUIRE) == serial;
}
