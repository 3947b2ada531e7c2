/* SPDX-License-Identifier: Apache-2.0 */
#include "record/source_note.h"

#include <string.h>

#include "record/stream/recorder.h"
#include "record/text_hash.h"

struct note {
    uint32_t state; /* enum vv_collector_state                                                  */
    char name[VV_COLLECTOR_NAME_BYTES_MAX + 1];
    char text[VV_COLLECTOR_TEXT_BYTES_MAX + 1];
};

/* Under the lock; a forked child has the same. */
static struct note notes[VV_COLLECTOR_NAMES_MAX];
static unsigned note_count;

static void copy_cut(char *to, const char *from, uint32_t bytes_max)
{
    uint32_t length = vv_text_cut(from, bytes_max);
    memcpy(to, from, length);
    to[length] = '\0';
}

static void write_note(const struct note *note)
{
    const uint64_t name = vv_string_id(note->name), text = note->text[0] != '\0' ? vv_string_id(note->text) : 0;
    const uint64_t record[] = { VV_EVENT_COLLECTOR, (uint64_t)note->state << 32 | name, text };
    if (name != 0)
        (void)vv_session_put(record, 3);
}

void vv_collector_write_all(void)
{
    for (unsigned i = 0; i < note_count; i++)
        write_note(&notes[i]);
}

/* NULL: what is remembered says the same already, or no more can be. */
static struct note *remember(const struct note *said)
{
    unsigned i = 0;
    while (i < note_count && strcmp(notes[i].name, said->name) != 0)
        i++;
    if (i == VV_COLLECTOR_NAMES_MAX ||
        (i < note_count && notes[i].state == said->state && strcmp(notes[i].text, said->text) == 0))
        return NULL;
    note_count += i == note_count;
    notes[i] = *said;
    return &notes[i];
}

void vv_collector_note(const char *name, enum vv_collector_state state, const char *text)
{
    struct note said = { .state = (uint32_t)state };
    copy_cut(said.name, name, VV_COLLECTOR_NAME_BYTES_MAX);
    copy_cut(said.text, text, VV_COLLECTOR_TEXT_BYTES_MAX);
    if (!vv_record_enter())
        return;
    const struct note *note = remember(&said);
    if (note != NULL && vv_session.running && vv_session.has_folder)
        write_note(note);
    vv_record_leave();
}
