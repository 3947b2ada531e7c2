/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.c — two ranks that compute and reduce in each step. The program begins both itself, and
 * they meet over a pair of sockets; what a network takes is a sleep. What a plant does is in the
 * comment of its function. */
#include <pthread.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "varve/values.h"

#include "turns.h"

VARVE_SITE(forward_site, "forward", VARVE_LAYER_OP);
VARVE_SITE(read_site, "read_shard", VARVE_LAYER_OP);
VARVE_SITE(reduce_site, "all_reduce", VARVE_LAYER_COMM);

static int rank, other_rank_fd;
static int64_t number_of_reduce;

/* Meets the other rank, and then takes so long as the data would. */
static void all_reduce(int64_t wire_us)
{
    struct varve_collective_info info = VARVE_COLLECTIVE_INFO_INIT;
    char byte = 0;
    info.operation = "all_reduce";
    info.group = "world";
    info.rank = rank;
    info.group_size = 2;
    info.number = number_of_reduce++;
    varve_begin(&reduce_site);
    varve_collective(&info);
    if (write(other_rank_fd, &byte, 1) != 1 || read(other_rank_fd, &byte, 1) != 1)
        exit(1); /* the other rank is gone */
    sleep_us(wire_us);
    varve_end();
}

/* An accelerator computes; the host waits for it. */
static void forward(int64_t us)
{
    varve_begin(&forward_site);
    sleep_us(us);
    varve_end();
}

/* ---- late: rank 1 reads its data for 45 ms in each step. Mended: its data is in memory. ---- */

static void *begin_late(int is_mended)
{
    int *state = begin_block(sizeof *state);
    *state = is_mended;
    return state;
}

static void step_of_late(void *state, int number)
{
    const int *is_mended = state;
    (void)number;
    if (rank == 1 && !*is_mended) {
        varve_begin(&read_site);
        sleep_us(45000);
        varve_end();
    }
    forward(30000);
    all_reduce(500);
}

/* ---- exposed: 15 ms of communication after 20 ms of computing. Mended: another thread does it
 *      meanwhile. ---- */

#define WIRE_US 15000
#define FORWARD_US 20000

struct background {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int asked, done, is_mended;
};

static void *reduce_in_background(void *argument)
{
    struct background *background = argument;
    varve_thread_name("communication");
    for (int served = 0;; served++) {
        pthread_mutex_lock(&background->mutex);
        while (background->asked == served)
            pthread_cond_wait(&background->changed, &background->mutex);
        pthread_mutex_unlock(&background->mutex);
        all_reduce(WIRE_US);
        pthread_mutex_lock(&background->mutex);
        background->done++;
        pthread_cond_broadcast(&background->changed);
        pthread_mutex_unlock(&background->mutex);
    }
    return NULL;
}

static void *begin_exposed(int is_mended)
{
    struct background *background = begin_block(sizeof *background);
    pthread_t thread;
    background->is_mended = is_mended;
    pthread_mutex_init(&background->mutex, NULL);
    pthread_cond_init(&background->changed, NULL);
    if (is_mended && pthread_create(&thread, NULL, reduce_in_background, background) != 0)
        abort();
    return background;
}

static void step_of_exposed(void *state, int number)
{
    struct background *background = state;
    (void)number;
    if (!background->is_mended) {
        forward(FORWARD_US);
        all_reduce(WIRE_US);
        return;
    }
    pthread_mutex_lock(&background->mutex);
    background->asked++;
    pthread_cond_broadcast(&background->changed);
    pthread_mutex_unlock(&background->mutex);
    forward(FORWARD_US);
    pthread_mutex_lock(&background->mutex);
    while (background->done < background->asked)
        pthread_cond_wait(&background->changed, &background->mutex);
    pthread_mutex_unlock(&background->mutex);
}

/* ---- two processes of this program ---- */

static pid_t begin_rank(char **argv, int number, const int *fds)
{
    char text[2][12];
    pid_t child = fork();
    if (child != 0)
        return child;
    close(fds[1 - number]);
    snprintf(text[0], sizeof text[0], "%d", number);
    snprintf(text[1], sizeof text[1], "%d", fds[number]);
    setenv("RANK", text[0], 1);
    setenv("WORLD_SIZE", "2", 1);
    setenv("OTHER_RANK_FD", text[1], 1);
    execv("/proc/self/exe", argv);
    _exit(127);
}

static int begin_ranks(char **argv)
{
    int fds[2], status, failed = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0)
        return 1;
    for (int number = 0; number < 2; number++)
        failed |= begin_rank(argv, number, fds) < 0;
    close(fds[0]);
    close(fds[1]);
    while (wait(&status) > 0)
        failed |= status != 0;
    return failed;
}

int main(int argc, char **argv)
{
    static const struct plant plants[] = {
        { "late", begin_late, step_of_late },
        { "exposed", begin_exposed, step_of_exposed },
    };
    if (getenv("OTHER_RANK_FD") == NULL)
        return begin_ranks(argv);
    rank = atoi(getenv("RANK"));
    other_rank_fd = atoi(getenv("OTHER_RANK_FD"));
    if (rank == 1 && argc == 3 && strcmp(argv[1], "--measure") == 0 &&
        freopen("/dev/null", "w", stdout) == NULL)
        return 1; /* one rank prints */
    return take_turns(argc, argv, plants, sizeof plants / sizeof *plants);
}
