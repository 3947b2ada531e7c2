/* SPDX-License-Identifier: Apache-2.0 */
#include "record/source_note.h"

#include <stdio.h>
#include <string.h>

#include "base/system/os.h"
#include "record/stream/process_stream.h"
#include "record/stream/recorder.h"
#include "record/string.h"
#include "record/text_hash.h"

#define NOTES_AT_ONCE 16u
#define FORGOTTEN_NAME "collectors"

struct note {
    uint32_t state; /* enum vv_collector_state                                                  */
    char name[VV_COLLECTOR_NAME_BYTES_MAX + 1];
    char text[VV_COLLECTOR_TEXT_BYTES_MAX + 1];
};

struct notes {
    struct notes *next;
    unsigned count;
    struct note items[NOTES_AT_ONCE];
};

/* Guarded by the lock; a forked child has a copy. If there is no memory for a further note, it is
 * written only in the running session and counted. The next sessions get only the count. */
static struct notes first_notes;
static unsigned forgotten;

static void copy_cut(char *to, const char *from, uint32_t bytes_max)
{
    uint32_t length = vv_text_cut(from, bytes_max);
    memcpy(to, from, length);
    to[length] = '\0';
}

static void write_note(const struct note *note)
{
    const uint64_t name = vv_string_id(note->name),
                   text = note->text[0] != '\0' ? vv_string_id(note->text) : 0;
    const uint64_t record[] = { VV_EVENT_COLLECTOR, (uint64_t)note->state << 32 | name, text };
    if (name != 0)
        (void)vv_process_stream_put(record, 3);
}

static void write_forgotten(void)
{
    struct note note = { .state = VV_COLLECTOR_NOTE, .name = FORGOTTEN_NAME };
    snprintf(note.text, sizeof note.text, "%u note%s of other collectors lost: no memory",
             forgotten, forgotten == 1 ? "" : "s");
    write_note(&note);
}

void vv_collector_write_all(void)
{
    for (const struct notes *notes = &first_notes; notes != NULL; notes = notes->next)
        for (unsigned i = 0; i < notes->count; i++)
            write_note(&notes->items[i]);
    if (forgotten > 0)
        write_forgotten();
}

/* Returns NULL if there is no note of that name. Then *out_last is the last of the lists. */
static struct note *find(const char *name, struct notes **out_last)
{
    for (struct notes *notes = &first_notes; notes != NULL; notes = notes->next) {
        for (unsigned i = 0; i < notes->count; i++)
            if (strcmp(notes->items[i].name, name) == 0)
                return &notes->items[i];
        *out_last = notes;
    }
    return NULL;
}

/* Adds a note. A child may go on from any instant, so the count grows only after the note is
 * whole. */
static void add(struct notes *last, const struct note *said)
{
    if (last->count == NOTES_AT_ONCE)
        last = last->next = vv_os_reserve(sizeof *last);
    if (last == NULL) {
        forgotten++;
        return;
    }
    last->items[last->count] = *said;
    __atomic_store_n(&last->count, last->count + 1, __ATOMIC_RELEASE);
}

/* Returns false if the same note is remembered already. */
static bool remember(const struct note *said)
{
    struct notes *last = NULL;
    struct note *known = find(said->name, &last);
    if (known == NULL)
        add(last, said);
    else if (known->state == said->state && strcmp(known->text, said->text) == 0)
        return false;
    else
        *known = *said;
    return true;
}

void vv_fact_write(struct vv_changing_fact *fact, uint64_t value)
{
    struct note note = { .state = VV_COLLECTOR_NOTE };
    if (fact->serial == vv_session.serial && fact->value == value)
        return;
    fact->serial = vv_session.serial;
    fact->value = value;
    snprintf(note.name, sizeof note.name, VV_FACT_PREFIX "%s", fact->name);
    snprintf(note.text, sizeof note.text, "%llu", (unsigned long long)value);
    write_note(&note);
}

void vv_collector_note(const char *name, enum vv_collector_state state, const char *text)
{
    struct note said = { .state = (uint32_t)state };
    copy_cut(said.name, name, VV_COLLECTOR_NAME_BYTES_MAX);
    copy_cut(said.text, text, VV_COLLECTOR_TEXT_BYTES_MAX);
    if (!vv_recorder_lock())
        return;
    if (remember(&said) && vv_session.running && vv_session.has_folder)
        write_note(&said);
    vv_recorder_unlock();
}
