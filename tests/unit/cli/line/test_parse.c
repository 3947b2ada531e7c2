/* SPDX-License-Identifier: Apache-2.0 */
/* The parser: values, defaults, refusals; and laws of the two tables that it reads. */
#include <stdio.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/pages/find_verb.h"
#include "cli/line/arguments.h"

static struct vv_arguments arguments;
static struct varve_error error;
static char words[16][64];
static char *word_list[17];

/* `line` is the words after "varve", with single blanks between. */
static enum varve_code parse(const char *line)
{
    int count = 0;
    memset(words, 0, sizeof words);
    for (const char *word = line; *word != '\0'; count++) {
        size_t length = strcspn(word, " ");
        assert_true(count < 16 && length < sizeof words[0]);
        memcpy(words[count], word, length);
        word_list[count] = words[count];
        word += length + (word[length] == ' ');
    }
    word_list[count] = NULL;
    return vv_arguments_parse(vv_verb_find(vv_verbs, words[0]), count, word_list, &arguments,
                              &error);
}

static void refuses(const char *line, const char *message)
{
    assert_int_equal(parse(line), VARVE_INVALID);
    assert_string_equal(error.message, message);
}

static void defaults_are_those_of_the_table(void **state)
{
    (void)state;
    assert_int_equal(parse("report"), VARVE_OK);
    assert_int_equal(arguments.top, 10);
    assert_string_equal(arguments.by, "op");
    assert_string_equal(arguments.sort, "self");
    assert_string_equal(arguments.unit, "auto");
    assert_string_equal(arguments.color, "auto");
    assert_null(arguments.format);
    assert_null(arguments.output);
    assert_false(arguments.json || arguments.strict || arguments.help || arguments.quiet);
    assert_int_equal(arguments.operand_count, 0);
}

static void options_may_follow_operands(void **state)
{
    (void)state;
    assert_int_equal(parse("report a.varve --top=3 -o x.json --by shape --strict"), VARVE_OK);
    assert_int_equal(arguments.operand_count, 1);
    assert_string_equal(arguments.operands[0], "a.varve");
    assert_int_equal(arguments.top, 3);
    assert_string_equal(arguments.output, "x.json");
    assert_string_equal(arguments.by, "shape");
    assert_true(arguments.strict);
}

static void two_dashes_end_options(void **state)
{
    (void)state;
    assert_int_equal(parse("report -- --json"), VARVE_OK);
    assert_false(arguments.json);
    assert_true(arguments.operands_after_dashes);
    assert_string_equal(arguments.operands[0], "--json");
}

static void a_programs_options_are_its_own(void **state)
{
    (void)state;
    static const char *const lines[] = { "record -q -- ./train -o x --by nothing",
                                         "record -q ./train -o x --by nothing" };
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(parse(lines[i]), VARVE_OK);
        assert_true(arguments.quiet);
        assert_null(arguments.output);
        assert_int_equal(arguments.operand_count, 5);
        assert_string_equal(arguments.operands[0], "./train");
        assert_string_equal(arguments.operands[3], "--by");
        assert_int_equal(arguments.operands_after_dashes, i == 0);
    }
}

static void what_is_wrong_is_named(void **state)
{
    (void)state;
    refuses("report --sotr x", "report has no option '--sotr'. Nearest: --sort");
    refuses("report --sotr=x", "report has no option '--sotr'. Nearest: --sort");
    refuses("report --frobnicate", "report has no option '--frobnicate'");
    refuses("report -x", "report has no option '-x'");
    refuses("report -qx", "report has no option '-x'");
    refuses("report a b --nope", "report has no option '--nope'");
    refuses("steps --by op", "steps does not take --by");
    refuses("report --dry-run", "report does not take --dry-run");
    refuses("report --top", "--top wants a value: --top N");
    refuses("report -o", "--output wants a value: --output FILE");
    refuses("report --json=yes", "--json takes no value");
    refuses("report --by phas",
            "--by is one of op, name, shape, module, source, phase, stream, thread, layer, rank, "
            "step, use, block, execution; not 'phas'. Nearest: phase");
    refuses("report --color red", "--color is one of auto, always, never; not 'red'");
}

static void integers_are_whole_and_in_range(void **state)
{
    (void)state;
    static const char *const wrong[] = { "-1", "+1", "1.5", "3x", "0x10", "99999999999999999999" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char line[64], message[128];
        snprintf(line, sizeof line, "report --top=%s", wrong[i]);
        snprintf(message, sizeof message, "--top wants a whole number, 0 or more, not '%s'",
                 wrong[i]);
        refuses(line, message);
    }
    assert_int_equal(parse("report --top 0"), VARVE_OK);
    assert_int_equal(arguments.top, 0);
}

/* More options than a word has bits: a verb that takes each third. */
#define MANY 200

static char many_names[MANY][32];
static struct vv_option many[MANY];
static enum vv_option_row thirds[MANY / 3 + 2];
static const struct vv_verb of_many = { .name = "many", .operands = "", .takes = thirds };
static int64_t many_values[MANY];
static bool many_said[MANY];

static enum varve_code parse_many(const char *word)
{
    const struct vv_line line = { many, MANY, many_values, many_said };
    char copy[64], *argv[] = { many_names[0], copy, NULL };
    int first = 0;
    snprintf(copy, sizeof copy, "%s", word);
    memset(many_said, 0, sizeof many_said);
    memset(many_values, 0, sizeof many_values);
    return vv_line_parse(&line, &of_many, 2, argv, &first, &error);
}

static void as_many_options_as_come(void **state)
{
    (void)state;
    for (int row = 0; row < MANY; row++) {
        snprintf(many_names[row], sizeof many_names[row], "option-%03d", row);
        many[row] = (struct vv_option){ .name = many_names[row],
                                        .kind = VV_VALUE_INT,
                                        .value = "N",
                                        .help = "a number",
                                        .offset = (size_t)row * sizeof *many_values };
        thirds[row / 3] = (enum vv_option_row)(row / 3 * 3);
    }
    thirds[MANY / 3 + 1] = VV_OPTION_NONE;
    for (int row = 0; row < MANY; row++) {
        char word[64];
        snprintf(word, sizeof word, "--option-%03d=%d", row, row + 7);
        assert_int_equal(vv_verb_takes(&of_many, row), row % 3 == 0);
        assert_int_equal(parse_many(word), row % 3 == 0 ? VARVE_OK : VARVE_INVALID);
        for (int other = 0; other < MANY; other++) {
            assert_int_equal(many_said[other], other == row && row % 3 == 0);
            assert_int_equal(many_values[other], other == row && row % 3 == 0 ? row + 7 : 0);
        }
    }
    assert_string_equal(error.message, "many does not take --option-199");
    assert_int_equal(parse_many("--opton-198"), VARVE_INVALID);
    assert_string_equal(error.message, "many has no option '--opton-198'. Nearest: --option-198");
}

static void verbs_are_whole(void **state)
{
    (void)state;
    for (const struct vv_verb *verb = vv_verbs; verb->name != NULL; verb++) {
        assert_ptr_equal(vv_verb_find(vv_verbs, verb->name), verb);
        assert_non_null(verb->run);
        assert_true(vv_verb_takes(verb, VV_OPTION_HELP) && vv_verb_takes(verb, VV_OPTION_QUIET) &&
                    vv_verb_takes(verb, VV_OPTION_COLOR));
        assert_non_null(verb->examples[0].command);
        assert_true(strlen(verb->summary) > 0 && strlen(verb->description) > 20);
        assert_true((verb->operand_kind == VV_OPERANDS_NONE) == (*verb->operands == '\0'));
        assert_true(!verb->exits_as_program || verb->operand_kind == VV_OPERANDS_PROGRAM);
    }
    assert_null(vv_verb_find(vv_verbs, "reprot"));
}

/* Texts go into shell scripts between single quotes and brackets. */
static bool is_plain(const char *text)
{
    return strpbrk(text, "'\"\\$`[]\n") == NULL;
}

/* Two options of one name are of different verbs: --top N and --top SHARE. */
static void nobody_takes_both(int row, int other)
{
    for (const struct vv_verb *verb = vv_verbs; verb->name != NULL; verb++)
        assert_false(vv_verb_takes(verb, row) && vv_verb_takes(verb, other));
}

static void options_are_whole(void **state)
{
    (void)state;
    for (int row = 0; row < VV_OPTION_COUNT; row++) {
        const struct vv_option *option = &vv_options[row];
        assert_true((option->value == NULL) == (option->kind == VV_VALUE_FLAG));
        assert_true(option->kind != VV_VALUE_CHOICE || option->choices != NULL);
        assert_true(option->help == NULL || is_plain(option->help));
        for (int other = 0; other < row; other++) {
            if (strcmp(option->name, vv_options[other].name) == 0)
                nobody_takes_both(row, other);
            assert_true(option->letter == '\0' || option->letter != vv_options[other].letter);
        }
    }
    for (const struct vv_verb *verb = vv_verbs; verb->name != NULL; verb++)
        assert_true(is_plain(verb->summary) && (verb->output == NULL || is_plain(verb->output)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_table),
        cmocka_unit_test(options_may_follow_operands),
        cmocka_unit_test(two_dashes_end_options),
        cmocka_unit_test(a_programs_options_are_its_own),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(integers_are_whole_and_in_range),
        cmocka_unit_test(as_many_options_as_come),
        cmocka_unit_test(verbs_are_whole),
        cmocka_unit_test(options_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
