/* SPDX-License-Identifier: Apache-2.0 */
/* slowest.c — the operators of a trace that take longest, by libvarve-reader.so.
 *
 *     cc slowest.c $(pkg-config --cflags --libs varve-reader) && ./a.out run.varve */
#include <inttypes.h>
#include <stdio.h>

#include <varve/reader.h>

static int complain(const struct varve_error *error)
{
    fprintf(stderr, "%s\n", error->message);
    return 1;
}

int main(int argc, char **argv)
{
    struct varve_question question = { .struct_size = sizeof question, .sort = "self", .top = 5 };
    struct varve_trace *trace;
    struct varve_table *table;
    struct varve_error error;
    uint32_t name, self;
    if (varve_trace_open((const char *const *)argv + 1, (size_t)argc - 1, NULL, &trace, &error) !=
        VARVE_OK)
        return complain(&error);
    if (varve_trace_ask(trace, "operators", &question, &table, &error) != VARVE_OK ||
        varve_table_find(table, "name", &name, &error) != VARVE_OK ||
        varve_table_find(table, "self_ns", &self, &error) != VARVE_OK)
        return complain(&error);
    for (uint64_t row = 0; row < varve_table_rows(table); row++) {
        struct varve_cell text, time;
        if (varve_table_cell(table, row, name, &text, &error) != VARVE_OK ||
            varve_table_cell(table, row, self, &time, &error) != VARVE_OK)
            return complain(&error);
        printf("%15" PRId64 " ns  %s\n", time.integer, text.text != NULL ? text.text : "");
    }
    varve_table_close(table);
    varve_trace_close(trace);
    return 0;
}
