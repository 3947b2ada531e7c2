/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/text.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/utf8.h"

#define WORD_SLOTS 8192u
#define NESTED_SLOTS 4096u
#define WRITTEN_BYTES_MAX (UINT64_C(16) << 20) /* beyond this, the texts are dropped            */
#define REPLACEMENT 0xfffdu

enum varve_code vv_recent_texts_init(struct vv_recent_texts *recent, uint32_t slots,
                                     struct varve_error *error)
{
    recent->slots = calloc(slots, sizeof *recent->slots);
    recent->mask = slots - 1;
    if (recent->slots == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %u recent texts", slots);
    return VARVE_OK;
}

void vv_recent_texts_deinit(struct vv_recent_texts *recent)
{
    free(recent->slots);
    *recent = (struct vv_recent_texts){ 0 };
}

enum varve_code vv_chrome_text_init(struct vv_chrome_text *text, struct vv_model *model,
                                    const struct vv_chrome_window *window,
                                    struct varve_error *error)
{
    *text = (struct vv_chrome_text){ .model = model, .window = window };
    VV_TRY(vv_intern_init(&text->written, error));
    VV_TRY(vv_recent_texts_init(&text->words, WORD_SLOTS, error));
    return vv_recent_texts_init(&text->nested, NESTED_SLOTS, error);
}

void vv_chrome_text_deinit(struct vv_chrome_text *text)
{
    vv_recent_texts_deinit(&text->words);
    vv_recent_texts_deinit(&text->nested);
    vv_intern_deinit(&text->written);
    free(text->scratch);
    *text = (struct vv_chrome_text){ 0 };
}

/* ---- escapes ---- */

static int hex_value(char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* The number of the four digits after "\u"; -1 if they are not hexadecimal digits. */
static long read_unit(const char *at, const char *end)
{
    long unit = 0;
    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_value(at[i]);
        if (digit < 0)
            return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

/* Writes the character of a "\u" escape. A pair of surrogates is one character. Half a pair, or an
 * invalid number, becomes U+FFFD. */
static const char *write_unicode(const char *at, const char *end, char **out)
{
    long unit = read_unit(at, end);
    if (unit < 0) {
        *out += vv_utf8_encode(REPLACEMENT, *out);
        return at;
    }
    at += 4;
    if (unit >= 0xd800 && unit <= 0xdbff && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
        long low = read_unit(at + 2, end);
        if (low >= 0xdc00 && low <= 0xdfff) {
            unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
            at += 6;
        }
    }
    if (unit >= 0xd800 && unit <= 0xdfff)
        unit = REPLACEMENT;
    *out += vv_utf8_encode((uint32_t)unit, *out);
    return at;
}

/* An escape that JSON does not know stays as it is. The result is at most half longer than the
 * text: two bytes, "\u" without digits, become three. */
static size_t resolve_escapes(const char *at, size_t length, char *out)
{
    static const char letters[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *end = at + length, *begin = out;
    while (at < end) {
        if (*at != '\\' || at + 1 == end) {
            *out++ = *at++;
            continue;
        }
        const char *letter = memchr(letters, at[1], sizeof letters - 1);
        if (letter != NULL) {
            *out++ = values[letter - letters];
            at += 2;
        } else if (at[1] == 'u' && end - at >= 3) {
            at = write_unicode(at + 2, end, &out);
        } else {
            *out++ = *at++;
        }
    }
    return (size_t)(out - begin);
}

static bool may_have_escape(const struct vv_chrome_text *text, const struct vv_chrome_value *value)
{
    uint32_t from = (uint32_t)(value->at - text->window->text);
    return value->length > 0 &&
           vv_chrome_window_has_escape(text->window, from, from + value->length - 1);
}

static enum varve_code reserve(struct vv_chrome_text *text, size_t bytes, struct varve_error *error)
{
    return vv_array_reserve(&text->scratch, &text->scratch_capacity, bytes, 1, error);
}

static enum varve_code too_long(const struct vv_chrome_text *text,
                                const struct vv_chrome_value *value, const char *what,
                                struct varve_error *error)
{
    return vv_fail_at(error, VARVE_LIMIT,
                      text->window->offset + (uint64_t)(value->at - text->window->text),
                      "%s of more than %u bytes", what, VV_CHROME_TEXT_BYTES_MAX);
}

/* ---- strings ---- */

static enum varve_code keep_escaped(struct vv_chrome_text *text,
                                    const struct vv_chrome_value *value, uint32_t *out_id,
                                    struct varve_error *error)
{
    if (value->length > VV_CHROME_TEXT_BYTES_MAX)
        return too_long(text, value, "a string", error);
    VV_TRY(reserve(text, value->length + value->length / 2 + 4, error));
    size_t length = resolve_escapes(value->at, value->length, text->scratch);
    return vv_model_add_text(text->model, text->scratch, length, out_id, error);
}

enum varve_code vv_chrome_text_id(struct vv_chrome_text *text, const struct vv_chrome_value *value,
                                  uint32_t *out_id, struct varve_error *error)
{
    bool found;
    struct vv_recent_probe probe = vv_recent_probe(value->at, value->length);
    struct vv_recent_text *slot = vv_recent_find(&text->words, &probe, &found);
    if (__builtin_expect(found, 1)) {
        *out_id = slot->id;
        return VARVE_OK;
    }
    if (may_have_escape(text, value) && memchr(value->at, '\\', value->length) != NULL)
        return keep_escaped(text, value, out_id, error);
    if (value->length > VV_CHROME_TEXT_BYTES_MAX)
        return too_long(text, value, "a string", error);
    VV_TRY(vv_model_add_text(text->model, value->at, value->length, out_id, error));
    const struct vv_intern *strings = &text->model->strings;
    if (strings->lengths[*out_id] == value->length) /* true if the text was not repaired        */
        vv_recent_take(slot, &probe, strings->strings[*out_id], *out_id, 0);
    return VARVE_OK;
}

/* ---- arrays and objects ---- */

/* The open brackets, with one bit each: is it a brace? */
struct brackets {
    uint64_t braces[VV_CHROME_DEPTH_MAX / 64];
    uint32_t depth;
};

/* False: a bracket closes another kind of bracket, or none, or there are too many levels. The
 * counts of vv_chrome_nested are not relied on here. */
static bool follow_bracket(struct brackets *open, char byte)
{
    bool is_brace = (byte & 0x20) != 0;
    if ((byte | 0x20) == '{') {
        if (open->depth >= VV_CHROME_DEPTH_MAX)
            return false;
        uint64_t bit = UINT64_C(1) << open->depth % 64, *word = &open->braces[open->depth / 64];
        *word = is_brace ? *word | bit : *word & ~bit;
        open->depth++;
        return true;
    }
    if (open->depth == 0)
        return false;
    open->depth--;
    return (open->braces[open->depth / 64] >> open->depth % 64 & 1) == is_brace;
}

char *vv_chrome_compact(const char *at, size_t length, char *out)
{
    const char *end = at + length;
    struct brackets open = { .depth = 0 };
    bool in_string = false;
    for (; at < end; at++) {
        if (in_string && *at == '\\' && at + 1 < end)
            *out++ = *at++;
        else if (*at == '"')
            in_string = !in_string;
        else if (!in_string && ((*at | 0x20) == '{' || (*at | 0x20) == '}') &&
                 !follow_bracket(&open, *at))
            return NULL;
        if (in_string || !vv_chrome_is_blank(*at))
            *out++ = *at;
    }
    return open.depth == 0 && !in_string ? out : NULL;
}

static enum varve_code keep_nested(struct vv_chrome_text *text, const struct vv_chrome_value *value,
                                   uint32_t *out_id, struct varve_error *error)
{
    if (value->length > VV_CHROME_TEXT_BYTES_MAX)
        return too_long(text, value, "an array or object", error);
    VV_TRY(reserve(text, value->length, error));
    char *end = vv_chrome_compact(value->at, value->length, text->scratch);
    if (end == NULL)
        return vv_fail_at(error, VARVE_CORRUPT,
                          text->window->offset + (uint64_t)(value->at - text->window->text),
                          "not JSON: a bracket of the wrong kind closes the value");
    return vv_model_add_text(text->model, text->scratch, (size_t)(end - text->scratch), out_id,
                             error);
}

static enum varve_code forget_written(struct vv_chrome_text *text, struct varve_error *error)
{
    vv_intern_deinit(&text->written);
    memset(text->nested.slots, 0, ((size_t)text->nested.mask + 1) * sizeof *text->nested.slots);
    return vv_intern_init(&text->written, error);
}

enum varve_code vv_chrome_nested_id(struct vv_chrome_text *text,
                                    const struct vv_chrome_value *value, uint32_t *out_id,
                                    struct varve_error *error)
{
    bool found;
    uint32_t written;
    struct vv_recent_probe probe = vv_recent_probe(value->at, value->length);
    struct vv_recent_text *slot = vv_recent_find(&text->nested, &probe, &found);
    if (__builtin_expect(found, 1)) {
        *out_id = slot->meaning;
        return VARVE_OK;
    }
    VV_TRY(keep_nested(text, value, out_id, error));
    if (text->written.text.allocated_bytes > WRITTEN_BYTES_MAX)
        VV_TRY(forget_written(text, error));
    VV_TRY(vv_intern_add(&text->written, value->at, value->length, &written, error));
    vv_recent_take(slot, &probe, text->written.strings[written], written, *out_id);
    return VARVE_OK;
}
