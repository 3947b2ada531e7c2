/* SPDX-License-Identifier: Apache-2.0 */
/* string.c — names known only at run time: text to the id of a varve.string record.
 *
 * The table lasts as long as the process; a session that meets a string for the first time writes its
 * record. All memory is reserved address space, touched as it is used. Strings are only added, under the
 * lock; who looks one up without it sees it whole or not at all:  a slot is stored last. */
#include <string.h>

#include "base/os.h"
#include "record/recorder.h"
#include "record/text_hash.h"

#define STRINGS_MAX (1u << 20)
#define SLOTS (STRINGS_MAX * 2)
#define TEXT_BYTES (UINT64_C(256) << 20)

struct string {
    uint32_t hash;
    uint32_t serial; /* of the session that has its record; 0 = none; atomic */
    uint32_t length;
    const char *text;
};

static struct string *strings; /* [0] unused */
static uint32_t *slots;        /* string number; 0 = free; atomic */
static char *texts;            /* atomic: the tables are there */
static uint64_t texts_used;
static uint32_t string_count;

static bool make_tables(void)
{
    if (texts != NULL)
        return true;
    strings = vv_os_reserve(STRINGS_MAX * sizeof *strings);
    slots = vv_os_reserve(SLOTS * sizeof *slots);
    char *memory = vv_os_reserve(TEXT_BYTES);
    if (strings != NULL && slots != NULL)
        __atomic_store_n(&texts, memory, __ATOMIC_RELEASE);
    return texts != NULL;
}

/* The string's number, or 0 and the slot that is free for it. */
static uint32_t find(const char *text, uint32_t length, uint32_t hash, uint32_t *out_slot)
{
    for (uint32_t slot = hash & (SLOTS - 1);; slot = (slot + 1) & (SLOTS - 1)) {
        uint32_t number = __atomic_load_n(&slots[slot], __ATOMIC_ACQUIRE);
        const struct string *known = &strings[number];
        *out_slot = slot;
        if (number == 0 || (known->hash == hash && known->length == length &&
                            memcmp(known->text, text, length) == 0))
            return number;
    }
}

static uint32_t find_or_add(const char *text, uint32_t length)
{
    uint32_t hash = vv_text_hash(text, length, 0), slot;
    uint32_t number = find(text, length, hash, &slot);
    if (number != 0)
        return number;
    if (string_count + 1 >= STRINGS_MAX || texts_used + length + 1 > TEXT_BYTES)
        return 0;
    char *copy = texts + texts_used;
    memcpy(copy, text, length);
    texts_used += length + 1;
    strings[++string_count] = (struct string){ hash, 0, length, copy };
    __atomic_store_n(&slots[slot], string_count, __ATOMIC_RELEASE);
    return string_count;
}

uint32_t vv_string_known(const char *text)
{
    if (__atomic_load_n(&texts, __ATOMIC_ACQUIRE) == NULL)
        return 0;
    uint32_t length = vv_text_cut(text, VV_NAME_BYTES_MAX), slot;
    uint32_t number = find(text, length, vv_text_hash(text, length, 0), &slot);
    uint32_t serial = __atomic_load_n(&strings[number].serial, __ATOMIC_ACQUIRE);
    return serial != 0 && serial == __atomic_load_n(&vv_session.serial, __ATOMIC_RELAXED) ? number : 0;
}

bool vv_string_write(uint32_t id)
{
    struct string *string = &strings[id];
    if (string->serial == vv_session.serial)
        return true;
    uint64_t record[2 + (VV_NAME_BYTES_MAX + 7) / 8] = { VV_EVENT_STRING };
    uint64_t padded = (string->length + 7) / 8 * 8;
    record[1] = padded << 32 | id;
    memcpy(record + 2, string->text, string->length);
    if (!vv_session_put(record, 2 + padded / 8))
        return false;
    __atomic_store_n(&string->serial, vv_session.serial, __ATOMIC_RELEASE);
    return true;
}

uint32_t vv_string_id(const char *text)
{
    if (!make_tables() || !vv_session_ready())
        return 0;
    uint32_t id = find_or_add(text, vv_text_cut(text, VV_NAME_BYTES_MAX));
    return id != 0 && vv_string_write(id) ? id : 0;
}
