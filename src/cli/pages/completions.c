/* SPDX-License-Identifier: Apache-2.0 */
/* completions.c — writes completion scripts for bash, zsh and fish, from the tables of verbs and
 * options. The texts of these tables contain no quotes, brackets or backslashes that a shell would
 * interpret; a unit test checks that.
 *
 * Words of long or changing lists (tables, columns, processes …) are not in the scripts: while the
 * user types, a script asks the command, `varve completions LIST VERB TABLE` (words.c). Of several
 * words with commas between, the script completes the last. */
#include <string.h>

#include "cli/pages/help.h"

static const char *const shells[] = { "bash", "zsh", "fish", NULL };

static void put_verbs(FILE *stream, const struct vv_verb *verbs)
{
    for (const struct vv_verb *verb = verbs; verb->name != NULL; verb++)
        fprintf(stream, "%s%s", verb == verbs ? "" : " ", verb->name);
}

/* Other verbs that take files take modules, too. */
static bool takes_traces(const struct vv_verb *verb)
{
    return verb->operand_kind == VV_OPERANDS_FILES &&
           (strncmp(verb->operands, "[TRACE", 6) == 0 ||
            strcmp(verb->operands, "[BASE] [NEW]") == 0);
}

static void put_choices(FILE *stream, const struct vv_option *option)
{
    for (size_t i = 0; option->choices[i] != NULL; i++)
        fprintf(stream, "%s%s", i > 0 ? " " : "", option->choices[i]);
}

/* ---- bash ---- */

static void put_bash_values(FILE *stream)
{
    fputs("    case \"$previous\" in\n", stream);
    for (int row = 0; row < VV_OPTION_COUNT; row++) {
        const struct vv_option *option = &vv_options[row];
        if (option->kind == VV_VALUE_FLAG)
            continue;
        fputs("    ", stream);
        if (option->letter != '\0')
            fprintf(stream, "-%c | ", option->letter);
        fprintf(stream, "--%s)\n        ", option->name);
        if (option->words != NULL)
            fprintf(stream, "_varve_words %s\n", option->words);
        else if (option->choices != NULL) {
            fputs("COMPREPLY=($(compgen -W \"", stream);
            put_choices(stream, option);
            fputs("\" -- \"$current\"))\n", stream);
        } else if (option->kind == VV_VALUE_FILE)
            fputs("COMPREPLY=($(compgen -f -- \"$current\"))\n", stream);
        else
            fputs("COMPREPLY=()\n", stream);
        fputs("        return ;;\n", stream);
    }
    fputs("    esac\n", stream);
}

static void put_bash_operands(FILE *stream, const struct vv_verb *verb)
{
    switch (verb->operand_kind) {
    case VV_OPERANDS_PROGRAM:
        fputs("COMPREPLY=($(compgen -c -- \"$current\") $(compgen -f -- \"$current\"))", stream);
        break;
    case VV_OPERANDS_VERB:
        fputs("_varve_words help", stream);
        break;
    case VV_OPERANDS_PROCESS:
        fputs("_varve_words processes", stream);
        break;
    case VV_OPERANDS_SHELL:
        fputs("COMPREPLY=($(compgen -W \"bash zsh fish\" -- \"$current\"))", stream);
        break;
    case VV_OPERANDS_FILES:
        fputs(takes_traces(verb) ? "_varve_traces"
                                 : "COMPREPLY=($(compgen -f -- \"$current\"))",
              stream);
        break;
    case VV_OPERANDS_NONE:
        fputs("COMPREPLY=()", stream);
        break;
    }
}

static void put_bash_verb(FILE *stream, const struct vv_verb *verb)
{
    fprintf(stream, "    %s)\n        options=\"", verb->name);
    bool is_first = true;
    for (int row = 0; row < VV_OPTION_COUNT; row++) {
        const struct vv_option *option = &vv_options[row];
        if (!vv_verb_shows(verb, row))
            continue;
        fprintf(stream, "%s--%s", is_first ? "" : " ", option->name);
        if (option->letter != '\0')
            fprintf(stream, " -%c", option->letter);
        is_first = false;
    }
    fputs("\"\n        ", stream);
    put_bash_operands(stream, verb);
    fputs(" ;;\n", stream);
}

static void put_bash(FILE *stream, const struct vv_verb *verbs)
{
    fputs(
        "# bash completion for varve, written by: varve completions bash\n"
        "_varve_words()\n{ # the list's words for what stands behind the last comma or sign\n"
        "    local i table=\"\" before=\"${current%\"${current##*[,+-]}\"}\"\n"
        "    for ((i = 2; i + 1 < COMP_CWORD; i++)); do\n"
        "        [ \"${COMP_WORDS[i]}\" = \"--table\" ] || continue\n"
        "        table=\"${COMP_WORDS[i+1]}\"\n"
        "        [ \"$table\" = \"=\" ] && table=\"${COMP_WORDS[i+2]}\"\n"
        "    done\n"
        "    [ \"$1\" = processes ] && before=\"\"\n"
        "    COMPREPLY=($(compgen -P \"$before\" -W \"$(\"${COMP_WORDS[0]}\" completions \"$1\" "
        "\"${COMP_WORDS[1]}\" $table 2> /dev/null)\" -- \"${current#\"$before\"}\"))\n}\n"
        "_varve_traces()\n{ # and the folders on the way to them; where there is none, any file\n"
        "    local IFS=$'\\n'\n"
        "    COMPREPLY=($(\"${COMP_WORDS[0]}\" completions traces \"$current\" 2> /dev/null))\n"
        "    [ \"${#COMPREPLY[@]}\" -gt 0 ] || COMPREPLY=($(compgen -f -- \"$current\"))\n}\n"
        "_varve()\n{\n"
        "    local current=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
        "    local options=\"\" word\n"
        "    COMPREPLY=()\n"
        "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
        "        COMPREPLY=($(compgen -W \"",
        stream);
    put_verbs(stream, verbs);
    fputs("\" -- \"$current\"))\n        return\n    fi\n"
          "    if [ \"$current\" = \"=\" ]; then\n        current=\"\"\n"
          "    elif [ \"$previous\" = \"=\" ]; then\n"
          "        previous=\"${COMP_WORDS[COMP_CWORD-2]}\"\n    fi\n",
          stream);
    put_bash_values(stream);
    fputs("    case \"${COMP_WORDS[1]}\" in\n", stream);
    for (const struct vv_verb *verb = verbs; verb->name != NULL; verb++)
        put_bash_verb(stream, verb);
    fputs("    esac\n"
          "    for word in \"${COMP_WORDS[@]:2:COMP_CWORD-2}\"; do\n"
          "        [ \"$word\" = \"--\" ] && return\n"
          "    done\n"
          "    if [[ \"$current\" == -* ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n    fi\n"
          "}\n"
          "complete -o filenames -o bashdefault -F _varve varve\n",
          stream);
}

/* Writes a text within single quotes; `quote` is how the shell writes one there. */
static void put_quoted(FILE *stream, const char *text, const char *quote)
{
    for (; *text != '\0'; text++)
        if (*text == '\'')
            fputs(quote, stream);
        else
            putc(*text, stream);
}

/* ---- zsh ---- */

static void put_zsh_option(FILE *stream, const struct vv_verb *verb, int row)
{
    const struct vv_option *option = &vv_options[row];
    const char *help = vv_verb_option_help(verb, row);
    if (option->letter != '\0')
        fprintf(stream, "            '(-%c --%s)'{-%c,--%s%s}'[", option->letter, option->name,
                option->letter, option->name, option->kind != VV_VALUE_FLAG ? "=" : "");
    else
        fprintf(stream, "            '--%s%s[", option->name,
                option->kind != VV_VALUE_FLAG ? "=" : "");
    put_quoted(stream, help, "'\\''");
    putc(']', stream);
    if (option->words != NULL)
        fprintf(stream, ":%s: _varve_words %s", option->value, option->words);
    else if (option->choices != NULL) {
        fprintf(stream, ":%s:(", option->value);
        put_choices(stream, option);
        putc(')', stream);
    } else if (option->kind == VV_VALUE_FILE)
        fprintf(stream, ":%s:_files", option->value);
    else if (option->kind != VV_VALUE_FLAG)
        fprintf(stream, ":%s: ", option->value);
    fputs("' \\\n", stream);
}

static void put_zsh_operands(FILE *stream, const struct vv_verb *verb)
{
    switch (verb->operand_kind) {
    case VV_OPERANDS_PROGRAM:
        fputs("            '(-)1:program:{ _command_names -e; _files }' '*::arguments:_normal'\n",
              stream);
        break;
    case VV_OPERANDS_VERB:
        fputs("            '*:verb: _varve_words help'\n", stream);
        break;
    case VV_OPERANDS_PROCESS:
        fputs("            '1:process: _varve_words processes'\n", stream);
        break;
    case VV_OPERANDS_SHELL:
        fputs("            '1:shell:(bash zsh fish)'\n", stream);
        break;
    case VV_OPERANDS_FILES:
        fputs(takes_traces(verb) ? "            '*:trace:_varve_traces'\n"
                                 : "            '*:file:_files'\n",
              stream);
        break;
    case VV_OPERANDS_NONE:
        fputs("            && return\n", stream);
        break;
    }
}

static void put_zsh(FILE *stream, const struct vv_verb *verbs)
{
    fputs("#compdef varve\n# zsh completion for varve, written by: varve completions zsh\n"
          "_varve_words()\n{ # the list's words for what stands behind the last comma or sign\n"
          "    local at=${words[(I)--table*]} table\n"
          "    (( at )) && table=${words[at]#--table} && table=${table#=}\n"
          "    (( at )) && [[ -z $table ]] && table=${words[at+1]}\n"
          "    [[ $1 == processes ]] || compset -P '*[,+-]'\n"
          "    compadd -- ${(f)\"$(varve completions $1 $verb $table 2> /dev/null)\"}\n}\n"
          "_varve_traces()\n{ # and the folders on the way to them; where there is none, any file\n"
          "    local -a found=(${(f)\"$(varve completions traces \"$PREFIX\" 2> /dev/null)\"})\n"
          "    (( $#found )) && compadd -f -- $found || _files\n}\n"
          "_varve()\n{\n"
          "    local -a verbs\n"
          "    if (( CURRENT == 2 )); then\n        verbs=(\n",
          stream);
    for (const struct vv_verb *verb = verbs; verb->name != NULL; verb++)
        fprintf(stream, "            '%s:%s'\n", verb->name, verb->summary);
    fputs("        )\n        _describe verb verbs\n        return\n    fi\n"
          "    local verb=$words[2]\n"
          "    shift words\n    (( CURRENT-- ))\n"
          "    case $verb in\n",
          stream);
    for (const struct vv_verb *verb = verbs; verb->name != NULL; verb++) {
        fprintf(stream, "    %s)\n        _arguments -s %s\\\n", verb->name,
                verb->operand_kind == VV_OPERANDS_PROGRAM ? "-A '-*' " : "");
        for (int row = 0; row < VV_OPTION_COUNT; row++)
            if (vv_verb_shows(verb, row))
                put_zsh_option(stream, verb, row);
        put_zsh_operands(stream, verb);
        fputs("        ;;\n", stream);
    }
    fputs("    esac\n}\n"
          "if [ \"$funcstack[1]\" = \"_varve\" ]; then\n    _varve \"$@\"\n"
          "else\n    compdef _varve varve\nfi\n",
          stream);
}

/* ---- fish ---- */

static void put_fish_option(FILE *stream, const struct vv_verb *verb, int row)
{
    const struct vv_option *option = &vv_options[row];
    const char *help = vv_verb_option_help(verb, row);
    fprintf(stream, "complete -c varve -n '__fish_seen_subcommand_from %s' -l %s", verb->name,
            option->name);
    if (option->letter != '\0')
        fprintf(stream, " -s %c", option->letter);
    if (option->words != NULL)
        fprintf(stream, " -x -a '(__varve_words %s)'", option->words);
    else if (option->choices != NULL) {
        fputs(" -x -a '", stream);
        put_choices(stream, option);
        putc('\'', stream);
    } else if (option->kind == VV_VALUE_FILE)
        fputs(" -r -F", stream);
    else if (option->kind != VV_VALUE_FLAG)
        fputs(" -x", stream);
    fputs(" -d '", stream);
    put_quoted(stream, help, "\\'");
    fputs("'\n", stream);
}

static void put_fish_operands(FILE *stream, const struct vv_verb *verb)
{
    fprintf(stream, "complete -c varve -n '__fish_seen_subcommand_from %s' ", verb->name);
    switch (verb->operand_kind) {
    case VV_OPERANDS_PROGRAM:
        fputs("-a '(__fish_complete_subcommand --fcs-skip=2)'\n", stream);
        break;
    case VV_OPERANDS_VERB:
        fputs("-f -a '(__varve_words help)'\n", stream);
        break;
    case VV_OPERANDS_PROCESS:
        fputs("-f -a '(__varve_words processes)'\n", stream);
        break;
    case VV_OPERANDS_SHELL:
        fputs("-f -a 'bash zsh fish'\n", stream);
        break;
    case VV_OPERANDS_FILES:
        fputs(takes_traces(verb) ? "-f -a '(__varve_traces)'\n" : "-F\n", stream);
        break;
    case VV_OPERANDS_NONE:
        fputs("-f\n", stream);
        break;
    }
}

static void put_fish(FILE *stream, const struct vv_verb *verbs)
{
    fputs("# fish completion for varve, written by: varve completions fish\n"
          "complete -c varve -e\n"
          "function __varve_words # the list's words, behind the last comma or sign\n"
          "    set -l line (commandline -opc)\n"
          "    set -l table\n"
          "    set -l before ''\n"
          "    if set -l at (contains -i -- --table $line)\n"
          "        set table $line[(math $at + 1)]\n    end\n"
          "    for word in $line\n"
          "        string match -q -- '--table=*' $word; and set table (string sub -s 9 -- $word)\n"
          "    end\n"
          "    test $argv[1] = processes\n"
          "    or set before (commandline -ct | string replace -r -- '^--[a-z-]+=' '' | "
          "string match -r -- '^.*[,+-]') ''\n"
          "    for word in (varve completions $argv[1] $line[2] $table 2> /dev/null)\n"
          "        echo $before[1]$word\n    end\nend\n"
          "function __varve_traces # and the folders on the way; where there is none, any file\n"
          "    varve completions traces (commandline -ct) 2> /dev/null | string match -r '.+'\n"
          "    or __fish_complete_path (commandline -ct)\nend\n",
          stream);
    for (const struct vv_verb *verb = verbs; verb->name != NULL; verb++)
        fprintf(stream, "complete -c varve -n __fish_use_subcommand -f -a %s -d '%s'\n", verb->name,
                verb->summary);
    for (const struct vv_verb *verb = verbs; verb->name != NULL; verb++) {
        for (int row = 0; row < VV_OPTION_COUNT; row++)
            if (vv_verb_shows(verb, row))
                put_fish_option(stream, verb, row);
        put_fish_operands(stream, verb);
    }
}

enum varve_code vv_completions_write(FILE *stream, const struct vv_verb *verbs, const char *shell,
                                     struct varve_error *error)
{
    static void (*const writers[])(FILE *, const struct vv_verb *) = { put_bash, put_zsh,
                                                                       put_fish };
    for (size_t i = 0; shells[i] != NULL; i++) {
        if (strcmp(shells[i], shell) == 0) {
            writers[i](stream, verbs);
            return VARVE_OK;
        }
    }
    const char *nearest = vv_nearest(shell, shells);
    VV_FAIL(error, VARVE_INVALID, "no completions for '%.60s'. %s%s", shell,
            nearest != NULL ? "Nearest: " : "There are: bash, zsh, fish",
            nearest != NULL ? nearest : "");
}
