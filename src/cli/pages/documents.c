/* SPDX-License-Identifier: Apache-2.0 */
/* documents.c — doc/metrics.md, doc/columns.md and doc/json.md, put into the program by the
 * assembler, and read line by line. The pages use little of Markdown: headings, paragraphs, lists,
 * tables, backticks, links. */
#include "cli/pages/documents.h"

#include <string.h>

/* VV_DOC_FOLDER is the folder doc/ of the sources (cmake/command.cmake). */
#define PAGE(symbol, file)                                                                         \
    __asm__(".section .rodata\n"                                                                   \
            ".global " #symbol "\n" #symbol ":\n"                                                  \
            ".incbin \"" VV_DOC_FOLDER "/" file "\"\n"                                             \
            ".global " #symbol "_end\n" #symbol "_end:\n"                                          \
            ".byte 0\n"                                                                            \
            ".previous\n");                                                                        \
    extern const char symbol[] __attribute__((visibility("hidden"))),                              \
        symbol##_end[] __attribute__((visibility("hidden")));

PAGE(vv_page_metrics, "metrics.md")
PAGE(vv_page_columns, "columns.md")
PAGE(vv_page_json, "json.md")

#define SHARED_COLUMNS "Columns of several tables"
#define STEP_PREFIX "step_"

static struct vv_passage page_of(const char *begin, const char *end)
{
    return (struct vv_passage){ begin, (size_t)(end - begin) };
}

/* Takes the first line off `rest`; false at the end. */
static bool next_line(struct vv_passage *rest, struct vv_passage *out_line)
{
    if (rest->length == 0)
        return false;
    const char *end = memchr(rest->text, '\n', rest->length);
    size_t length = end != NULL ? (size_t)(end - rest->text) : rest->length;
    *out_line = (struct vv_passage){ rest->text, length };
    length += end != NULL;
    rest->text += length;
    rest->length -= length;
    return true;
}

static bool begins(const struct vv_passage *passage, const char *with)
{
    size_t length = strlen(with);
    return passage->length >= length && memcmp(passage->text, with, length) == 0;
}

/* Does the text have the word in backticks? */
static bool names(const struct vv_passage *text, const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0; i + length + 2 <= text->length; i++)
        if (text->text[i] == '`' && memcmp(text->text + i + 1, word, length) == 0 &&
            text->text[i + 1 + length] == '`')
            return true;
    return false;
}

static bool has_text(const struct vv_passage *line, const char *text)
{
    return memmem(line->text, line->length, text, strlen(text)) != NULL;
}

/* Finds the next section of `rest` whose heading names `word`, or whose heading is `title`. */
static bool next_section(struct vv_passage *rest, const char *word, const char *title,
                         struct vv_passage *out_section)
{
    struct vv_passage line;
    bool is_found = false;
    while (!is_found && next_line(rest, &line))
        is_found = begins(&line, "## ") &&
                   (word != NULL ? names(&line, word) : has_text(&line, title));
    *out_section = (struct vv_passage){ rest->text, 0 };
    for (struct vv_passage ahead = *rest; is_found && next_line(&ahead, &line);) {
        if (begins(&line, "## "))
            break;
        out_section->length = (size_t)(ahead.text - out_section->text);
    }
    return is_found;
}

bool vv_document_section(const char *word, struct vv_passage *out_section)
{
    struct vv_passage rest = page_of(vv_page_metrics, vv_page_metrics_end);
    return next_section(&rest, word, NULL, out_section);
}

/* Takes the next cell of a table's row off `rest`, which begins behind a bar. A bar behind a
 * backslash is part of the text. */
static bool next_cell(struct vv_passage *rest, struct vv_passage *out_cell)
{
    size_t end = 0;
    while (end < rest->length &&
           (rest->text[end] != '|' || (end > 0 && rest->text[end - 1] == '\\')))
        end++;
    if (end == rest->length)
        return false;
    size_t first = 0, last = end;
    while (first < last && rest->text[first] == ' ')
        first++;
    while (last > first && rest->text[last - 1] == ' ')
        last--;
    *out_cell = (struct vv_passage){ rest->text + first, last - first };
    rest->text += end + 1;
    rest->length -= end + 1;
    return true;
}

static struct vv_passage cells_of(const struct vv_passage *line)
{
    return (struct vv_passage){ line->text + 1, line->length - 1 };
}

/* The row of a table of columns that defines `column`. Where the table's first cells are names of
 * tables, the row must name `table`. */
static bool find_column(const struct vv_passage *section, const char *table, const char *column,
                        struct vv_passage *out_meaning)
{
    struct vv_passage rest = *section, line, cell;
    bool defines = false, has_tables = false, is_ours = false;
    while (next_line(&rest, &line)) {
        if (!begins(&line, "|")) {
            defines = false;
            continue;
        }
        if (begins(&line, "| column") || begins(&line, "| table | column")) {
            defines = true;
            has_tables = begins(&line, "| table");
            continue;
        }
        struct vv_passage cells = cells_of(&line);
        if (!defines || !next_cell(&cells, &cell))
            continue;
        if (cell.length > 0 || !has_tables) /* an empty cell repeats the one above */
            is_ours = !has_tables || names(&cell, table);
        if (!is_ours || (has_tables && !next_cell(&cells, &cell)))
            continue;
        if (names(&cell, column) && next_cell(&cells, out_meaning) && out_meaning->length > 0)
            return true;
    }
    return false;
}

static bool find_in_pages(const char *table, const char *column, struct vv_passage *out_meaning)
{
    struct vv_passage pages[] = { page_of(vv_page_metrics, vv_page_metrics_end),
                                  page_of(vv_page_columns, vv_page_columns_end) },
                      shared = pages[1], section;
    for (size_t page = 0; page < sizeof pages / sizeof *pages; page++)
        while (next_section(&pages[page], table, NULL, &section))
            if (find_column(&section, table, column, out_meaning))
                return true;
    return next_section(&shared, NULL, SHARED_COLUMNS, &section) &&
           find_column(&section, table, column, out_meaning);
}

bool vv_document_column(const char *table, const char *column, struct vv_passage *out_meaning,
                        bool *out_in_steps)
{
    size_t prefix = sizeof STEP_PREFIX - 1;
    *out_in_steps = false;
    if (find_in_pages(table, column, out_meaning))
        return true;
    *out_in_steps = strncmp(column, STEP_PREFIX, prefix) == 0;
    return *out_in_steps && find_in_pages(table, column + prefix, out_meaning);
}

/* Rows of json.md are "| `table` | `column`, `column` … |". */
bool vv_document_listed(const char *table, struct vv_passage *out_columns)
{
    struct vv_passage rest = page_of(vv_page_json, vv_page_json_end), line, cell;
    while (next_line(&rest, &line)) {
        struct vv_passage cells = cells_of(&line);
        if (begins(&line, "| `") && next_cell(&cells, &cell) && names(&cell, table) &&
            cell.length == strlen(table) + 2 && next_cell(&cells, out_columns) &&
            cells.length == 0)
            return true;
    }
    return false;
}

bool vv_document_next_name(struct vv_passage *rest, char *out_name, size_t capacity)
{
    const char *begin = memchr(rest->text, '`', rest->length);
    size_t left = begin != NULL ? rest->length - (size_t)(begin + 1 - rest->text) : 0;
    const char *end = left > 0 ? memchr(begin + 1, '`', left) : NULL;
    if (end == NULL)
        return false;
    snprintf(out_name, capacity, "%.*s", (int)(end - begin - 1), begin + 1);
    rest->length -= (size_t)(end + 1 - rest->text);
    rest->text = end + 1;
    return true;
}

/* ---- printing ---- */

struct lines {
    FILE *stream;
    int width, indent, column; /* column 0: nothing on this line yet                              */
    bool has_word;             /* on this line                                                    */
};

static void end_line(struct lines *lines)
{
    if (lines->column > 0)
        putc('\n', lines->stream);
    lines->column = 0;
    lines->has_word = false;
}

static void put_word(struct lines *lines, const char *word, size_t length)
{
    int columns = 0;
    for (size_t i = 0; i < length; i++)
        columns += ((unsigned char)word[i] & 0xC0) != 0x80;
    if (columns == 0)
        return;
    if (lines->has_word && lines->column + 1 + columns > lines->width)
        end_line(lines);
    if (lines->has_word)
        lines->column += fprintf(lines->stream, " ");
    else
        lines->column = fprintf(lines->stream, "%*s", lines->indent, "");
    fwrite(word, 1, length, lines->stream);
    lines->column += columns;
    lines->has_word = true;
}

/* The words without backticks, backslashes, and the targets of links. What stands in backticks
 * stays as it is. */
static void put_words(struct lines *lines, const struct vv_passage *text)
{
    char word[400];
    size_t length = 0;
    bool is_target = false, is_code = false;
    for (size_t i = 0; i <= text->length; i++) {
        char c = i < text->length ? text->text[i] : ' ';
        bool is_markup = !is_code && (c == '[' || c == '*' || c == '\\');
        if (is_target) {
            is_target = c != ')';
        } else if (c == ' ') {
            put_word(lines, word, length);
            length = 0;
        } else if (c == '`') {
            is_code = !is_code;
        } else if (!is_code && c == ']') {
            is_target = i + 1 < text->length && text->text[i + 1] == '(';
            i += is_target;
        } else if (!is_markup && length < sizeof word) {
            word[length++] = c;
        }
    }
}

static void put_row(struct lines *lines, const struct vv_passage *line)
{
    struct vv_passage cells = cells_of(line), cell;
    end_line(lines);
    lines->indent = 2;
    for (bool is_first = true; next_cell(&cells, &cell); is_first = false) {
        if (!is_first && cell.length > 0)
            put_word(lines, "—", strlen("—"));
        put_words(lines, &cell);
        lines->indent = 6;
    }
    end_line(lines);
    lines->indent = 0;
}

void vv_document_print_at(FILE *stream, const struct vv_passage *passage, int width, int indent)
{
    struct lines lines = { .stream = stream, .width = width, .indent = indent };
    put_words(&lines, passage);
    end_line(&lines);
}

/* A line of a paragraph, or of an item of a list, whose further lines are indented. */
static void put_text_line(struct lines *lines, const struct vv_passage *line)
{
    struct vv_passage text = *line;
    if (begins(line, "- ")) {
        end_line(lines);
        lines->indent = 0;
        put_word(lines, "-", 1);
        lines->indent = 2;
        text = (struct vv_passage){ line->text + 2, line->length - 2 };
    }
    put_words(lines, &text);
}

/* A table's rule is "| --- | --- |". */
static bool is_rule(const struct vv_passage *line)
{
    return begins(line, "| ---");
}

static bool is_columns(const struct vv_passage *line)
{
    return begins(line, "| column") || begins(line, "| table | column");
}

void vv_document_print(FILE *stream, const struct vv_passage *passage, int width,
                       bool skips_columns)
{
    struct lines lines = { .stream = stream, .width = width };
    struct vv_passage rest = *passage, line;
    bool was_blank = true, skips = false;
    while (next_line(&rest, &line)) {
        bool is_row = begins(&line, "|");
        skips = is_row && (skips || (skips_columns && is_columns(&line)));
        if (line.length == 0 || skips) {
            end_line(&lines);
            lines.indent = 0;
            if (!was_blank)
                putc('\n', stream);
            was_blank = true;
            continue;
        }
        if (is_row && !is_rule(&line))
            put_row(&lines, &line);
        else if (begins(&line, "    "))
            fprintf(stream, "%.*s\n", (int)line.length, line.text);
        else if (!is_row)
            put_text_line(&lines, &line);
        was_blank = false;
    }
    end_line(&lines);
}
