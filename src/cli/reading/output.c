/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reading/former.h"
#include "cli/reading/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/folder.h"
#include "base/system/unnamed_file.h"
#include "cli/line/cleanup_on_signal.h"
#include "cli/line/say.h"
#include "cli/line/terminal.h"
#include "present/present.h"
#include "question/fluid_sort.h"

/* ---- files ---- */

struct vv_output_sink {
    int file;
    int failure; /* errno of the first failed write; stdio keeps only that one failed            */
};

static ssize_t write_all(void *cookie, const char *data, size_t bytes)
{
    struct vv_output_sink *sink = cookie;
    size_t done = 0;
    while (done < bytes && sink->failure == 0) {
        ssize_t written = write(sink->file, data + done, bytes - done);
        if (written >= 0)
            done += (size_t)written;
        else if (errno != EINTR)
            sink->failure = errno;
    }
    return (ssize_t)done;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static enum varve_code open_folder(struct vv_output *output, struct varve_error *error)
{
    size_t length = (size_t)(name_of(output->path) - output->path);
    char *folder = length > 0 ? strndup(output->path, length) : strdup(".");
    output->folder = folder != NULL ? open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    int failure = errno;
    free(folder);
    return output->folder >= 0 ? VARVE_OK
                               : vv_fail_errno(error, failure, "cannot write '%s'", output->path);
}

/* Decides where to write for `path`. A device, a pipe, or a link to follow is written directly,
 * because a rename would replace it by a file. For other paths, a new file is written, which gets
 * the name when it is whole. */
static enum varve_code set_names(struct vv_output *output, const char *path,
                                 struct varve_error *error)
{
    struct stat status;
    output->path = strdup(path);
    if (output->path == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the name '%s'", path);
    VV_TRY(open_folder(output, error));
    const char *name = name_of(output->path);
    bool is_there =
        *name != '\0' && fstatat(output->folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
    bool is_special = is_there && !S_ISREG(status.st_mode);
    if (*name == '\0' || (is_special && S_ISDIR(status.st_mode)))
        VV_FAIL(error, VARVE_EXISTS, "cannot write '%s': it is a folder", path);
    if (is_special && !vv_folder_may_follow(output->folder, name))
        VV_FAIL(error, VARVE_PERMISSION,
                "cannot write '%s': it is a link that another user may have made, and is not "
                "followed",
                path);
    if (!is_special && asprintf(&output->temporary, "%s.%ld.part", name, (long)getpid()) < 0) {
        output->temporary = NULL;
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the name '%s'", path);
    }
    return VARVE_OK;
}

/* Makes a new file under the temporary name. Removes what a killed process with this number has
 * left; follows no link. */
static int open_temporary(struct vv_output *output)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    vv_cleanup_file(VV_CLEANUP_OUTPUT, output->folder, output->temporary);
    output->is_named = true;
    int file = openat(output->folder, output->temporary, flags, 0666);
    if (file < 0 && errno == EEXIST && unlinkat(output->folder, output->temporary, 0) == 0)
        file = openat(output->folder, output->temporary, flags, 0666);
    return file;
}

static int open_file(struct vv_output *output)
{
    if (output->path == NULL)
        return STDOUT_FILENO;
    if (output->temporary == NULL)
        return openat(output->folder, name_of(output->path),
                      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int file = vv_unnamed_open(output->folder, ".", 0666);
    return file >= 0 ? file : open_temporary(output);
}

static enum varve_code open_stream(struct vv_output *output, struct varve_error *error)
{
    static const cookie_io_functions_t functions = { .write = write_all };
    output->sink = calloc(1, sizeof *output->sink);
    if (output->sink == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the output");
    output->sink->file = open_file(output);
    if (output->sink->file < 0)
        return vv_fail_errno(error, errno, "cannot write '%s'", output->path);
    output->stream = fopencookie(output->sink, "w", functions);
    if (output->stream == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the output");
    return VARVE_OK;
}

enum varve_code vv_output_open(struct vv_output *out_output, const char *path,
                               struct varve_error *error)
{
    struct vv_output output = { .folder = -1 };
    enum varve_code code = VARVE_OK;
    fflush(stdout);
    if (path != NULL && strcmp(path, "-") != 0)
        code = set_names(&output, path, error);
    if (code == VARVE_OK)
        code = open_stream(&output, error);
    if (code != VARVE_OK)
        vv_output_abandon(&output);
    *out_output = output;
    return code;
}

/* Writes what the stream still holds. Returns 0 or an errno number. */
static int flush_output(struct vv_output *output)
{
    bool has_failed = output->stream != NULL && fclose(output->stream) != 0;
    output->stream = NULL;
    if (output->sink == NULL)
        return 0;
    return output->sink->failure != 0 ? output->sink->failure : has_failed ? EIO : 0;
}

static int close_output(struct vv_output *output)
{
    int failure = flush_output(output);
    if (output->sink == NULL)
        return 0;
    if (output->path != NULL && output->sink->file >= 0 && close(output->sink->file) != 0 &&
        failure == 0)
        failure = errno;
    free(output->sink);
    output->sink = NULL;
    return failure;
}

static enum varve_code cannot_write(const char *path, int failure, struct varve_error *error)
{
    if (path == NULL)
        return vv_fail_errno(error, failure, "cannot write standard output");
    return vv_fail_errno(error, failure, "cannot write '%s'", path);
}

/* Gives a file without a name its final name, if that is free, or else the temporary one, which a
 * rename can put over it. Returns 0 or an errno number. */
static int name_output(struct vv_output *output)
{
    int file = output->sink->file;
    int failure = vv_unnamed_name(file, output->folder, name_of(output->path));
    if (failure == 0) {
        free(output->temporary);
        output->temporary = NULL;
    }
    if (failure != EEXIST)
        return failure;
    vv_cleanup_file(VV_CLEANUP_OUTPUT, output->folder, output->temporary);
    output->is_named = true;
    failure = vv_unnamed_name(file, output->folder, output->temporary);
    if (failure == EEXIST && unlinkat(output->folder, output->temporary, 0) == 0)
        failure = vv_unnamed_name(file, output->folder, output->temporary);
    return failure;
}

static enum varve_code commit(struct vv_output *output, bool *out_kept, struct varve_error *error)
{
    bool is_unnamed = output->temporary != NULL && !output->is_named;
    int failure = is_unnamed ? flush_output(output) : close_output(output);
    if (failure == 0 && output->temporary != NULL && out_kept != NULL)
        VV_TRY(vv_keep_former(output->path, out_kept, error));
    if (failure == 0 && is_unnamed)
        failure = name_output(output);
    if (failure != 0)
        return cannot_write(output->path, failure, error);
    if (output->temporary == NULL)
        return VARVE_OK;
    if (renameat(output->folder, output->temporary, output->folder, name_of(output->path)) != 0)
        return cannot_write(output->path, errno, error);
    free(output->temporary);
    output->temporary = NULL;
    return VARVE_OK;
}

enum varve_code vv_output_commit(struct vv_output *output, struct varve_error *error)
{
    enum varve_code code = commit(output, NULL, error);
    vv_output_abandon(output);
    return code;
}

enum varve_code vv_output_commit_beside(struct vv_output *output, bool *out_kept,
                                        struct varve_error *error)
{
    *out_kept = false;
    enum varve_code code = commit(output, out_kept, error);
    vv_output_abandon(output);
    return code;
}

void vv_output_abandon(struct vv_output *output)
{
    close_output(output);
    vv_cleanup_file(VV_CLEANUP_OUTPUT, AT_FDCWD, NULL);
    if (output->temporary != NULL && output->is_named)
        unlinkat(output->folder, output->temporary, 0);
    if (output->path != NULL && output->folder >= 0)
        close(output->folder);
    free(output->path);
    free(output->temporary);
    *output = (struct vv_output){ .folder = -1 };
}

bool vv_output_is_terminal(const char *path)
{
    return (path == NULL || strcmp(path, "-") == 0) && isatty(STDOUT_FILENO);
}

int vv_output_complain(const char *path, const struct varve_error *error)
{
    bool is_stdout = path == NULL || strcmp(path, "-") == 0;
    if (error->os_errno == EPIPE && is_stdout)
        return VV_EXIT_OUTPUT;
    vv_print_error(error);
    if (!is_stdout)
        vv_say_more("name another place:  -o FILE");
    return VV_EXIT_OUTPUT;
}

int vv_cli_flush(int status)
{
    struct varve_error error;
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    if (errno == 0) { /* an earlier write failed: the next one says why */
        clearerr(stdout);
        if (putchar('\n') == EOF || fflush(stdout) != 0)
            errno = errno != 0 ? errno : EIO;
    }
    (void)cannot_write(NULL, errno != 0 ? errno : EIO, &error);
    return vv_output_complain(NULL, &error);
}

/* ---- tables ---- */

static const struct { const char *name, *extension; enum vv_form form; } forms[] = {
    { "text", ".txt", VV_FORM_TEXT },
    { "json", ".json", VV_FORM_JSON },
    { "csv", ".csv", VV_FORM_CSV },
    { "md", ".md", VV_FORM_MD },
};

/* Files of other kinds, in which nobody looks for text. */
static bool is_other_kind(const char *extension)
{
    static const char *const others[] = { ".html", ".htm", ".svg",  ".png",     ".pdf", ".xlsx",
                                          ".xls",  ".xml", ".yaml", ".parquet", ".db",  ".sqlite" };
    for (size_t i = 0; i < sizeof others / sizeof *others && extension != NULL; i++)
        if (strcmp(extension, others[i]) == 0)
            return true;
    return false;
}

static enum varve_code find_form(const struct vv_arguments *arguments, enum vv_form *out_form,
                                 struct varve_error *error)
{
    const char *name = arguments->format;
    const char *extension = arguments->output != NULL ? strrchr(arguments->output, '.') : NULL;
    const char *asked[] = { arguments->json ? "json" : NULL, arguments->csv ? "csv" : NULL,
                            arguments->md ? "md" : NULL };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        if (asked[i] != NULL && name != NULL && strcmp(asked[i], name) != 0)
            VV_FAIL(error, VARVE_INVALID, "one form at a time: %s or %s", name, asked[i]);
        name = asked[i] != NULL ? asked[i] : name;
    }
    *out_form = VV_FORM_TEXT;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (name != NULL ? strcmp(name, forms[i].name) == 0
                         : extension != NULL && strcmp(extension, forms[i].extension) == 0)
            *out_form = forms[i].form;
    if (name == NULL && is_other_kind(extension))
        VV_FAIL(error, VARVE_INVALID,
                "tables are written as text, .json, .csv or .md, not as '%s'. Name another file, "
                "or say --format text", extension);
    return VARVE_OK;
}

bool vv_cli_for_people(const struct vv_arguments *arguments)
{
    enum vv_form form;
    return find_form(arguments, &form, NULL) != VARVE_OK || form == VV_FORM_TEXT ||
           form == VV_FORM_MD;
}

static enum varve_code find_table(const char *name, const struct vv_sheet *const *sheets,
                                  size_t count, size_t *out_index, struct varve_error *error)
{
    const char *names[16] = { NULL };
    char list[200] = "";
    for (size_t i = 0; i < count; i++) {
        if (strcmp(sheets[i]->name, name) == 0) {
            *out_index = i;
            return VARVE_OK;
        }
        if (i + 1 < sizeof names / sizeof *names)
            names[i] = sheets[i]->name;
        size_t length = strlen(list);
        snprintf(list + length, sizeof list - length, "%s%s", i > 0 ? ", " : "", sheets[i]->name);
    }
    const char *nearest = vv_nearest(name, names);
    if (nearest != NULL)
        VV_FAIL(error, VARVE_INVALID, "no table '%s' here. Nearest: %s", name, nearest);
    VV_FAIL(error, VARVE_INVALID, "no table '%s' here. There are: %s", name, list);
}

/* Closes a stream of open_memstream. False: not all of the text is there. fclose() says nothing of
 * memory that was lacking when it cut the text to its length. */
static bool close_memory(FILE *memory, char *const *text)
{
    bool is_whole = ferror(memory) == 0;
    return fclose(memory) == 0 && is_whole && *text != NULL;
}

/* Prints the result into memory, so that a failure in the middle prints nothing. */
static enum varve_code render(const struct vv_presentation *how,
                              const struct vv_sheet *const *sheets, size_t count, char **out_text,
                              size_t *out_length, struct varve_error *error)
{
    char *text = NULL;
    FILE *memory = open_memstream(&text, out_length);
    if (memory == NULL)
        return vv_fail_errno(error, errno, "no memory for the result");
    enum varve_code code = vv_present(memory, how, sheets, count, error);
    if (!close_memory(memory, &text) && code == VARVE_OK)
        code = vv_fail_errno(error, ENOMEM, "no memory for the result");
    if (code == VARVE_OK)
        *out_text = text;
    else
        free(text);
    return code;
}

static size_t lines_of(const char *text, size_t length)
{
    size_t lines = 0;
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    return lines;
}

/* True if a pager showed the text. An interrupt then ends a search in the pager, not varve. */
static bool page(const char *text, size_t length)
{
    const char *pager = getenv("VARVE_PAGER");
    if (pager == NULL)
        pager = getenv("PAGER");
    if (pager == NULL || *pager == '\0')
        pager = pager == NULL ? "less -FRX" : "cat";
    if (strcmp(pager, "cat") == 0)
        return false;
    struct sigaction ignore = { .sa_handler = SIG_IGN }, former_pipe, former_interrupt;
    sigaction(SIGPIPE, &ignore, &former_pipe);
    FILE *stream = popen(pager, "we");
    sigaction(SIGINT, &ignore, &former_interrupt);
    int status = 127 << 8;
    if (stream != NULL) {
        fwrite(text, 1, length, stream);
        status = pclose(stream);
    }
    sigaction(SIGINT, &former_interrupt, NULL);
    sigaction(SIGPIPE, &former_pipe, NULL);
    /* 127: the shell found no such pager */
    return !(WIFEXITED(status) && WEXITSTATUS(status) == 127);
}

static bool fits(const char *text, size_t length)
{
    int height = vv_terminal_height(STDOUT_FILENO);
    return height <= 0 || lines_of(text, length) < (size_t)height;
}

void vv_cli_page_begin(struct vv_cli_page *out_page)
{
    *out_page = (struct vv_cli_page){ 0 };
    out_page->stream = open_memstream(&out_page->text, &out_page->length);
    if (out_page->stream == NULL)
        out_page->stream = stdout;
}

int vv_cli_page_end(struct vv_cli_page *ended)
{
    bool is_whole = ended->stream == stdout || close_memory(ended->stream, &ended->text);
    if (is_whole && ended->stream != stdout &&
        !(vv_output_is_terminal(NULL) && !fits(ended->text, ended->length) &&
          page(ended->text, ended->length)))
        fwrite(ended->text, 1, ended->length, stdout);
    free(ended->text);
    ended->text = NULL;
    if (!is_whole) {
        vv_say("no memory for the page");
        return VV_EXIT_OUTPUT;
    }
    return vv_cli_flush(VV_EXIT_DONE);
}

static enum varve_code deliver(const struct vv_arguments *arguments,
                               const struct vv_presentation *how, const char *text, size_t length,
                               struct varve_error *error)
{
    struct vv_output output;
    bool kept;
    if (how->terminal && how->form == VV_FORM_TEXT && !fits(text, length) && page(text, length))
        return VARVE_OK;
    VV_TRY(vv_output_open(&output, arguments->output, error));
    fwrite(text, 1, length, output.stream);
    VV_TRY(vv_output_commit_beside(&output, &kept, error));
    if (kept && !arguments->quiet)
        vv_say("wrote %s  (former: %s.old)", arguments->output, arguments->output);
    return VARVE_OK;
}

/* What Fluid's report says that it is sorted by; NULL if the user does not want this report. */
static const char *fluid_order(const struct vv_arguments *arguments)
{
    enum vv_fluid_sort key;
    if (!vv_asks_fluid(arguments) ||
        vv_fluid_sort_find(arguments->said[VV_OPTION_SORT] ? arguments->sort : NULL, &key, NULL) !=
            VARVE_OK)
        return NULL;
    return vv_fluid_sort_says(key);
}

int vv_cli_print(const struct vv_arguments *arguments, const char *verb, const char *trace,
                 const struct vv_sheet *const *sheets, size_t count)
{
    struct varve_error error;
    bool is_stdout = arguments->output == NULL || strcmp(arguments->output, "-") == 0;
    char schema[80], *text = NULL;
    size_t length = 0, chosen = 0;
    snprintf(schema, sizeof schema, "varve.%s/1", verb);
    struct vv_presentation how = {
        .schema = schema, .trace = trace, .unit = arguments->unit, .fields = arguments->fields,
        .fields_table = arguments->table != NULL ? arguments->table : arguments->main_table,
        .color = is_stdout ? vv_terminal_has_color(STDOUT_FILENO, arguments->color)
                           : arguments->color != NULL && strcmp(arguments->color, "always") == 0,
        .terminal = vv_output_is_terminal(arguments->output),
        .width = vv_terminal_width(STDOUT_FILENO),
        .fluid = fluid_order(arguments),
    };
    enum varve_code code = find_form(arguments, &how.form, &error);
    if (code == VARVE_OK && arguments->table != NULL) {
        code = find_table(arguments->table, sheets, count, &chosen, &error);
        sheets += chosen;
        count = 1;
    }
    if (code == VARVE_OK)
        code = render(&how, sheets, count, &text, &length, &error);
    if (code != VARVE_OK)
        return vv_print_error(&error);
    code = deliver(arguments, &how, text, length, &error);
    free(text);
    /* Fluid's report has no place for what Varve says about a table. */
    if (code == VARVE_OK && how.form == VV_FORM_TEXT && how.fluid != NULL && !arguments->quiet)
        vv_say("%s", sheets[0]->policy);
    return code == VARVE_OK ? VV_EXIT_DONE : vv_output_complain(arguments->output, &error);
}
