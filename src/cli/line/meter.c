/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/line/meter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/line/cleanup_on_signal.h"
#include "cli/line/say.h"
#include "cli/line/terminal.h"
#include "sheet/number.h"

#define WAIT_NS INT64_C(500000000)
#define PERIOD_NS INT64_C(100000000)
#define WIDTH_STANDARD 80

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void vv_meter_begin(struct vv_meter *meter, const char *what, bool quiet)
{
    *meter = (struct vv_meter){
        .what = what,
        .is_on = !quiet && isatty(STDERR_FILENO) && vv_terminal_can_erase(),
        .begin_ns = now_ns(),
    };
}

void vv_meter_text(const char *what, uint64_t done_bytes, uint64_t total_bytes, int64_t elapsed_ns,
                   int width, char *out_text)
{
    char done[VV_NUMBER_BYTES], total[VV_NUMBER_BYTES], rate[VV_NUMBER_BYTES],
        left[VV_NUMBER_BYTES];
    char numbers[4 * VV_NUMBER_BYTES + 40];
    double share = total_bytes > 0 ? (double)done_bytes / (double)total_bytes : 0;
    double seconds = elapsed_ns > 0 ? (double)elapsed_ns / 1e9 : 1;
    double rest_s = share > 0 ? seconds / share - seconds : 0;
    vv_number_bytes((int64_t)done_bytes, done, sizeof done);
    vv_number_bytes((int64_t)total_bytes, total, sizeof total);
    vv_number_bytes((int64_t)((double)done_bytes / seconds), rate, sizeof rate);
    if (total_bytes > 0 && done_bytes >= total_bytes)
        snprintf(left, sizeof left, "putting it in order");
    else
        snprintf(left, sizeof left, "%.0f s left", rest_s < 1e6 ? rest_s : 1e6);
    width = width < VV_METER_BYTES ? width : VV_METER_BYTES - 1;
    int length = snprintf(numbers, sizeof numbers, "  %s of %s  %.0f %%  %s/s  %s", done, total,
                          share * 100, rate, left);
    int room = width - length - (int)strlen("varve: reading ");
    int name = (int)strlen(what);
    /* The end of a long name says more than its begin. If there is too little room, the name is
     * left out, so that the line stays a single one. */
    if (room < 4)
        snprintf(out_text, VV_METER_BYTES, "%.*s", width, numbers + 2);
    else if (name > room)
        snprintf(out_text, VV_METER_BYTES, "varve: reading ...%s%s", what + name - (room - 3),
                 numbers);
    else
        snprintf(out_text, VV_METER_BYTES, "varve: reading %s%s", what, numbers);
}

void vv_meter_show(void *context, uint64_t done_bytes, uint64_t total_bytes)
{
    struct vv_meter *meter = context;
    char text[VV_METER_BYTES];
    if (!meter->is_on)
        return;
    int64_t now = now_ns();
    bool is_soon = now - meter->shown_ns < PERIOD_NS && done_bytes < total_bytes;
    if (now - meter->begin_ns < WAIT_NS || is_soon)
        return;
    int width = vv_terminal_width(STDERR_FILENO);
    vv_meter_text(meter->what, done_bytes, total_bytes, now - meter->begin_ns,
                  (width > 0 ? width : WIDTH_STANDARD) - 1, text);
    vv_cleanup_line(true);
    vv_say_passing(text);
    meter->is_shown = true;
    meter->shown_ns = now;
}

void vv_meter_end(struct vv_meter *meter)
{
    if (meter->is_shown)
        vv_say_passing(NULL);
    vv_cleanup_line(false);
    meter->is_shown = meter->is_on = false;
}
