/* SPDX-License-Identifier: Apache-2.0 */
/* autograd_numbers.c — forward operators on several threads, and their backward operators on
 * another, with the library's numbers. Prints each pair: FORWARD BACKWARD.
 *
 * As in PyTorch, a backward operator takes its number while its forward operator runs; operators
 * inside that one have the same number, and some ask for no backward operator. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "varve/values.h"

enum { THREADS = 3, OPERATORS = 8 };

struct node {
    struct varve_backward backward;
    char forward[32], name[32];
};

static struct node nodes[THREADS][OPERATORS];

static void forward(struct node *node, long thread, int number)
{
    struct varve_op_info info = VARVE_OP_INFO_INIT;
    snprintf(node->forward, sizeof node->forward, "conv %ld.%d", thread, number);
    snprintf(node->name, sizeof node->name, "ConvBackward %ld.%d", thread, number);
    varve_begin_name("shape", VARVE_LAYER_OP); /* asks for no backward operator */
    varve_op_forward(&info);
    varve_op(&info);
    varve_end();
    varve_begin_name(node->forward, VARVE_LAYER_OP);
    varve_op_forward(&info);
    varve_op(&info);
    varve_backward_take(&node->backward);
    varve_end();
}

static void *run_forward(void *number)
{
    for (int i = 0; i < OPERATORS; i++)
        forward(&nodes[(long)number][i], (long)number, i);
    return NULL;
}

static void *run_backward(void *unused)
{
    (void)unused;
    for (int i = OPERATORS - 1; i >= 0; i--)
        for (int t = 0; t < THREADS; t++) {
            struct varve_op_info info = VARVE_OP_INFO_INIT;
            varve_begin_name(nodes[t][i].name, VARVE_LAYER_OP);
            varve_op_backward(&info, &nodes[t][i].backward);
            varve_op(&info);
            varve_end();
            printf("%s %s\n", nodes[t][i].forward, nodes[t][i].name);
        }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS], backward;
    for (int i = 0; i < 5; i++)
        (void)varve_sequence_next(); /* numbers of this thread, which runs none of them */
    for (long t = 0; t < THREADS; t++)
        if (pthread_create(&threads[t], NULL, run_forward, (void *)t) != 0)
            return EXIT_FAILURE;
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    if (pthread_create(&backward, NULL, run_backward, NULL) != 0)
        return EXIT_FAILURE;
    pthread_join(backward, NULL);
    return EXIT_SUCCESS;
}
