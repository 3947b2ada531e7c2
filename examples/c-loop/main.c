/* SPDX-License-Identifier: Apache-2.0 */
/* main.c — the smallest program that Varve can say something about: steps, phases, one operator. */
#include <math.h>
#include <stdio.h>

#include <varve/varve.h>

static double sum_of_roots(int count)
{
    VARVE_SCOPE("sum_of_roots"); /* until the block ends */
    double sum = 0.0;
    for (int i = 0; i < count; i++)
        sum += sqrt(i);
    return sum;
}

int main(void)
{
    VARVE_SITE(forward, "forward", VARVE_LAYER_STEP);
    VARVE_SITE(backward, "backward", VARVE_LAYER_STEP);
    double sum = 0.0;
    for (int step = 0; step < 100; step++) {
        varve_step_begin(step);
        varve_begin(&forward);
        sum += sum_of_roots(100000);
        varve_next(&backward);
        sum -= sum_of_roots(50000);
        varve_end();
        varve_step_end();
    }
    printf("%.3e\n", sum);
}
