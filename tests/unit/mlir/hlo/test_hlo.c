/* SPDX-License-Identifier: Apache-2.0 */
/* mlir/hlo: a program that is written here field by field: instructions by name, what is inside a
 * fusion, call stacks; damage, circles and unknown ids. Real programs: tests/mlir/test_hlo.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mlir/hlo/hlo.h"

struct bytes {
    unsigned char data[4096];
    size_t count;
};

static void put(struct bytes *to, unsigned byte)
{
    assert_true(to->count < sizeof to->data);
    to->data[to->count++] = (unsigned char)byte;
}

static void put_varint(struct bytes *to, uint64_t value)
{
    for (; value > 127; value >>= 7)
        put(to, (unsigned)(value & 127) | 128);
    put(to, (unsigned)value);
}

static void number(struct bytes *to, uint32_t field, uint64_t value)
{
    put_varint(to, field << 3);
    put_varint(to, value);
}

static void bytes(struct bytes *to, uint32_t field, const void *data, size_t count)
{
    put_varint(to, field << 3 | 2);
    put_varint(to, count);
    for (size_t i = 0; i < count; i++)
        put(to, ((const unsigned char *)data)[i]);
}

static void text(struct bytes *to, uint32_t field, const char *value)
{
    bytes(to, field, value, strlen(value));
}

static void inside(struct bytes *to, uint32_t field, const struct bytes *inner)
{
    bytes(to, field, inner->data, inner->count);
}

struct written {
    const char *name, *opcode, *op_type, *op_name;
    uint64_t frame, calls; /* 0 = none */
};

static void instruction(struct bytes *computation, const struct written *written)
{
    struct bytes metadata = { .count = 0 }, whole = { .count = 0 };
    text(&whole, 1, written->name);
    text(&whole, 2, written->opcode);
    text(&metadata, 1, written->op_type);
    text(&metadata, 2, written->op_name);
    number(&metadata, 15, written->frame);
    inside(&whole, 7, &metadata);
    number(&whole, 35, 77);
    if (written->calls != 0)
        number(&whole, 38, written->calls);
    inside(computation, 2, &whole);
}

static void frame(struct bytes *frames, uint64_t place, uint64_t parent)
{
    struct bytes whole = { .count = 0 };
    number(&whole, 1, place);
    number(&whole, 2, parent);
    inside(frames, 4, &whole);
}

static void place(struct bytes *frames, uint64_t file, uint64_t function, uint64_t line)
{
    struct bytes whole = { .count = 0 };
    number(&whole, 1, file);
    number(&whole, 2, function);
    number(&whole, 3, line);
    inside(frames, 3, &whole);
}

/* The entry calls computation 20, which calls 21; 22 is called by nobody. */
static struct bytes program(void)
{
    static const struct written entry[] = {
        { "fusion.3", "fusion", "", "jit(f)/dot", 2, 20 },
        { "copy.1", "copy", "varve#4", "jit(f)/copy", 9, 99 },
    };
    static const struct written fused[] = {
        { "dot.5", "dot", "varve#7", "jit(f)/dot", 1, 0 },
        { "map.6", "map", "", "jit(f)/max", 0, 21 },
        { "map.7", "map", "", "jit(f)/max", 0, 21 },
    };
    static const struct written mapped[] = { { "maximum", "maximum", "varve#8", "", 0, 20 } };
    static const struct written alone[] = { { "other", "add", "", "", 0, 0 } };
    static const struct { const char *name; const struct written *rows; size_t count; uint64_t id; }
    computations[] = { { "main", entry, 2, 10 }, { "fused", fused, 3, 20 },
                       { "mapped", mapped, 1, 21 }, { "alone", alone, 1, 22 } };
    struct bytes module = { .count = 0 }, proto = { .count = 0 }, frames = { .count = 0 },
                 attributes = { .count = 0 }, entry_of_map = { .count = 0 };
    text(&module, 1, "jit_f");
    for (size_t i = 0; i < 4; i++) {
        struct bytes computation = { .count = 0 };
        text(&computation, 1, computations[i].name);
        for (size_t k = 0; k < computations[i].count; k++)
            instruction(&computation, &computations[i].rows[k]);
        number(&computation, 5, computations[i].id);
        inside(&module, 3, &computation);
    }
    text(&frames, 1, "model.py");
    text(&frames, 2, "attention");
    text(&frames, 2, "<module>");
    place(&frames, 1, 1, 9);
    place(&frames, 1, 2, 31);
    frame(&frames, 1, 2);
    frame(&frames, 2, 3);
    frame(&frames, 2, 2); /* closes a circle with the frame before it */
    inside(&module, 17, &frames);
    text(&entry_of_map, 1, "fingerprint_before_lhs");
    text(&entry_of_map, 2, "abc123");
    inside(&attributes, 1, &entry_of_map);
    inside(&module, 19, &attributes);
    inside(&proto, 1, &module);
    return proto;
}

static void add(struct vv_hlo *hlo, const struct bytes *proto, const char *title)
{
    assert_int_equal(vv_hlo_add(hlo, (struct vv_bytes){ proto->data, proto->count }, title, NULL),
                     VARVE_OK);
}

static const char *name_of(const struct vv_hlo *hlo, uint32_t row)
{
    return vv_hlo_text(hlo, hlo->instructions[row].name);
}

static void an_instruction_is_found_with_what_it_came_from(void **state)
{
    (void)state;
    struct vv_hlo hlo;
    struct bytes proto = program();
    assert_int_equal(vv_hlo_init(&hlo, NULL), VARVE_OK);
    add(&hlo, &proto, "jit_f(12): Hlo Proto");
    add(&hlo, &proto, NULL);
    assert_int_equal(vv_hlo_program(&hlo, "jit_f", 12), 0);
    assert_int_equal(vv_hlo_program(&hlo, NULL, 12), 0);
    assert_int_equal(vv_hlo_program(&hlo, "jit_f", -1), 1);
    assert_int_equal(vv_hlo_program(&hlo, "jit_g", 12), VV_HLO_NONE);
    assert_int_equal(vv_hlo_program(&hlo, "jit_f", 13), VV_HLO_NONE);
    assert_string_equal(vv_hlo_text(&hlo, hlo.programs[0].fingerprint), "abc123");
    uint32_t row = vv_hlo_instruction(&hlo, 0, "dot.5");
    assert_int_equal(row, vv_hlo_instruction(&hlo, 0, "%dot.5"));
    assert_int_not_equal(row, vv_hlo_instruction(&hlo, 1, "dot.5"));
    assert_int_equal(vv_hlo_instruction(&hlo, 0, "dot.6"), VV_HLO_NONE);
    assert_int_equal(vv_hlo_instruction(&hlo, VV_HLO_NONE, "dot.5"), VV_HLO_NONE);
    const struct vv_hlo_instruction *dot = &hlo.instructions[row];
    assert_string_equal(vv_hlo_text(&hlo, dot->opcode), "dot");
    assert_string_equal(vv_hlo_text(&hlo, dot->op_type), "varve#7");
    assert_string_equal(vv_hlo_text(&hlo, dot->op_name), "jit(f)/dot");
    assert_string_equal(vv_hlo_text(&hlo, dot->source_file), "model.py");
    assert_int_equal(dot->source_line, 9);
    assert_int_equal(dot->id, 77);
    const struct vv_hlo_frame *inner = &hlo.frames[dot->frame];
    assert_string_equal(vv_hlo_text(&hlo, inner->function), "attention");
    assert_string_equal(vv_hlo_text(&hlo, hlo.frames[inner->parent].function), "<module>");
    assert_int_equal(hlo.frames[inner->parent].line, 31);
    uint32_t copy = vv_hlo_instruction(&hlo, 0, "copy.1"); /* of a frame that is not there */
    assert_int_equal(hlo.instructions[copy].frame, VV_HLO_NONE);
    vv_hlo_deinit(&hlo);
}

static void a_fusion_holds_what_its_computations_hold(void **state)
{
    (void)state;
    static const char *const expected[] = { "dot.5", "map.6", "map.7", "maximum" };
    struct vv_hlo hlo;
    struct vv_hlo_rows rows = { 0 };
    struct bytes proto = program();
    assert_int_equal(vv_hlo_init(&hlo, NULL), VARVE_OK);
    add(&hlo, &proto, NULL);
    add(&hlo, &proto, "again(2)");
    for (uint32_t program = 0; program < 2; program++) {
        rows.count = 0;
        uint32_t fusion = vv_hlo_instruction(&hlo, program, "fusion.3");
        assert_int_equal(vv_hlo_inner(&hlo, fusion, &rows, NULL), VARVE_OK);
        assert_int_equal(rows.count, 4);
        for (size_t i = 0; i < 4; i++) {
            assert_string_equal(name_of(&hlo, rows.items[i]), expected[i]);
            assert_int_equal(
                hlo.computations[hlo.instructions[rows.items[i]].computation].program, program);
        }
    }
    rows.count = 0; /* it calls a computation that is not there */
    uint32_t copy = vv_hlo_instruction(&hlo, 0, "copy.1");
    assert_int_equal(vv_hlo_inner(&hlo, copy, &rows, NULL), VARVE_OK);
    assert_int_equal(rows.count, 0);
    free(rows.items);
    vv_hlo_deinit(&hlo);
}

/* The only circle: the third frame's caller is the second, and the second's is the third. */
static void callers_form_no_circle(void **state)
{
    (void)state;
    struct vv_hlo hlo;
    struct bytes proto = program();
    assert_int_equal(vv_hlo_init(&hlo, NULL), VARVE_OK);
    add(&hlo, &proto, NULL);
    assert_int_equal(hlo.frame_count, 3);
    for (uint32_t row = 0; row < 3; row++) {
        size_t steps = 0;
        for (uint32_t at = row; at != VV_HLO_NONE; at = hlo.frames[at].parent)
            assert_true(++steps <= 3);
    }
    vv_hlo_deinit(&hlo);
}

static void a_cut_program_is_kept_as_far_as_it_goes(void **state)
{
    (void)state;
    struct bytes proto = program();
    size_t most = 0;
    for (size_t length = 0; length <= proto.count; length++) {
        struct vv_hlo hlo;
        struct varve_error error = { 0 };
        unsigned char *cut = malloc(length + 1);
        assert_non_null(cut);
        memcpy(cut, proto.data, length);
        assert_int_equal(vv_hlo_init(&hlo, NULL), VARVE_OK);
        enum varve_code code =
            vv_hlo_add(&hlo, (struct vv_bytes){ cut, length }, "jit_f(12)", &error);
        assert_int_equal(code, length == 0 || length == proto.count ? VARVE_OK : VARVE_CORRUPT);
        assert_int_equal(hlo.program_count, 1);
        assert_int_equal(hlo.programs[0].instruction_count, hlo.instruction_count);
        most = hlo.instruction_count;
        vv_hlo_deinit(&hlo);
        free(cut);
    }
    assert_int_equal(most, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_instruction_is_found_with_what_it_came_from),
        cmocka_unit_test(a_fusion_holds_what_its_computations_hold),
        cmocka_unit_test(callers_form_no_circle),
        cmocka_unit_test(a_cut_program_is_kept_as_far_as_it_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
