/* SPDX-License-Identifier: Apache-2.0 */
/* graphviz.c — asks the program `dot` where the nodes of a small graph stand. It is found in PATH
 * and started without a shell. Names do not reach it: nodes are numbers of a known size. It is
 * killed after TIME_LIMIT_MS, or if it says more than OUTPUT_BYTES_MAX. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "graph/layout/graphviz.h"
#include "graph/layout/placing.h"

#define TIME_LIMIT_MS 4000
#define STRIP_LEAST 2500 /* pixels                                                             */
#define STRIP_RATIO 3
#define OUTPUT_BYTES_MAX (4u << 20)
#define EDGES_MAX 2000u
#define INCH 72.0

extern char **environ;

bool vv_graphviz_find(char *out_path, size_t capacity)
{
    const char *path = getenv("PATH");
    for (const char *at = path; at != NULL && *at != '\0';) {
        size_t length = strcspn(at, ":");
        int bytes = snprintf(out_path, capacity, "%.*s/dot", (int)length, at);
        bool is_whole = bytes > 0 && (size_t)bytes < capacity;
        if (length > 0 && at[0] == '/' && is_whole && access(out_path, X_OK) == 0)
            return true;
        at += length;
        at += *at == ':';
    }
    return false;
}

/* ---- what goes in ---- */

static void put_question(const struct placing *work, FILE *stream)
{
    const struct vv_layout_box *boxes = work->layout->boxes;
    const struct vv_dag_edges *edges = &work->dag->edges;
    fputs("digraph{rankdir=TB;nodesep=0.28;ranksep=0.5;node[shape=box,fixedsize=true,label=\"\"];"
          "edge[arrowhead=none]\n", stream);
    for (uint32_t row = 0; row < work->nodes; row++)
        fprintf(stream, "%u[width=%d.%04d,height=%d.%04d]\n", row, boxes[row].width / 72,
                boxes[row].width % 72 * 10000 / 72, boxes[row].height / 72,
                boxes[row].height % 72 * 10000 / 72);
    for (uint32_t e = 0; e < work->edges; e++)
        fprintf(stream, "%u->%u\n", edges->from[e], edges->to[e]);
    fputs("}\n", stream);
}

/* A file without a name, so that a program that does not read cannot hold us up. */
static int open_question(const struct placing *work)
{
    FILE *file = tmpfile();
    if (file == NULL)
        return -1;
    put_question(work, file);
    int copy = fflush(file) == 0 && ferror(file) == 0 ? fcntl(fileno(file), F_DUPFD_CLOEXEC, 3)
                                                      : -1;
    fclose(file);
    if (copy >= 0 && lseek(copy, 0, SEEK_SET) != 0) {
        close(copy);
        return -1;
    }
    return copy;
}

/* ---- the program ---- */

static bool start(const char *path, int in, int out, pid_t *out_process)
{
    static const char *const words[] = { "dot", "-Tplain", NULL };
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    bool is_well = posix_spawn_file_actions_adddup2(&actions, in, 0) == 0 &&
                   posix_spawn_file_actions_adddup2(&actions, out, 1) == 0 &&
                   posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) == 0 &&
                   posix_spawn(out_process, path, &actions, NULL, (char *const *)(uintptr_t)words,
                               environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return is_well;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* All that the program says; false if it says too much or takes too long. */
static bool read_answer(int file, char *text, size_t *out_bytes)
{
    int64_t end_ms = now_ms() + TIME_LIMIT_MS;
    size_t count = 0;
    for (;;) {
        struct pollfd wait = { .fd = file, .events = POLLIN };
        int64_t left_ms = end_ms - now_ms();
        int ready = left_ms > 0 ? poll(&wait, 1, (int)left_ms) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0 || count == OUTPUT_BYTES_MAX)
            return false;
        ssize_t bytes = read(file, text + count, OUTPUT_BYTES_MAX - count);
        if (bytes < 0 && errno != EINTR)
            return false;
        if (bytes == 0) {
            text[count] = '\0';
            *out_bytes = count;
            return true;
        }
        count += bytes > 0 ? (size_t)bytes : 0;
    }
}

static bool ask(const char *path, int question, char *text)
{
    int ends[2], status = 0;
    size_t bytes;
    pid_t process;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    bool is_started = start(path, question, ends[1], &process);
    close(ends[1]);
    bool is_read = is_started && read_answer(ends[0], text, &bytes);
    close(ends[0]);
    if (!is_started)
        return false;
    if (!is_read)
        kill(process, SIGKILL);
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        continue;
    return is_read && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ---- what comes out: "graph 1 WIDTH HEIGHT", "node NAME X Y …", "edge FROM TO N X Y …" ---- */

struct answer {
    struct placing *work;
    struct vv_layout_box *boxes;
    struct vv_layout_point *points;
    size_t *first_point;
    size_t count, capacity;
    uint32_t *next_edge, *edge_after; /* the edges from a node that have no points yet          */
    uint32_t *point_count;
    bool *is_placed;
    uint32_t placed;
    double height;
};

static int32_t pixels(double inches) { return (int32_t)lround(inches * INCH) + PADDING; }

static bool read_node(struct answer *answer, const char *line)
{
    unsigned row;
    double x, y;
    if (sscanf(line, "node %u %lf %lf", &row, &x, &y) != 3 || row >= answer->work->nodes ||
        answer->is_placed[row] || !(fabs(x) < 1e5) || !(fabs(y) < 1e5))
        return false;
    struct vv_layout_box *box = &answer->boxes[row];
    *box = answer->work->layout->boxes[row];
    box->x = pixels(x) - box->width / 2;
    box->y = pixels(answer->height - y) - box->height / 2;
    answer->is_placed[row] = true;
    answer->placed++;
    return true;
}

/* The point of a box's outline that is nearest. */
static struct vv_layout_point at_outline(struct vv_layout_point point,
                                         const struct vv_layout_box *box)
{
    int32_t right = box->x + box->width, bottom = box->y + box->height;
    point.x = point.x < box->x ? box->x : point.x > right ? right : point.x;
    point.y = point.y < box->y ? box->y : point.y > bottom ? bottom : point.y;
    int32_t left_gap = point.x - box->x, right_gap = right - point.x;
    int32_t top_gap = point.y - box->y, bottom_gap = bottom - point.y;
    int32_t x_gap = left_gap < right_gap ? left_gap : right_gap;
    int32_t y_gap = top_gap < bottom_gap ? top_gap : bottom_gap;
    if (x_gap < y_gap)
        point.x = left_gap < right_gap ? box->x : right;
    else
        point.y = top_gap < bottom_gap ? box->y : bottom;
    return point;
}

static bool read_edge(struct answer *answer, const char *line, struct varve_error *error)
{
    const struct vv_dag_edges *edges = &answer->work->dag->edges;
    unsigned from, to, count;
    int used;
    if (sscanf(line, "edge %u %u %u%n", &from, &to, &count, &used) != 3 ||
        from >= answer->work->nodes || count < 4 || count > 10000 || count % 3 != 1)
        return false;
    uint32_t *link = &answer->next_edge[from];
    while (*link != VV_NONE && edges->to[*link] != to)
        link = &answer->edge_after[*link];
    if (*link == VV_NONE ||
        VV_SCRATCH_RESERVE(&answer->work->layout->scratch, &answer->points, &answer->capacity,
                           answer->count + count, error) != VARVE_OK)
        return false;
    uint32_t edge = *link;
    *link = answer->edge_after[edge];
    struct vv_layout_point *points = &answer->points[answer->count];
    const char *at = line + used;
    for (unsigned i = 0; i < count; i++) {
        char *end;
        double x = strtod(at, &end), y = strtod(end, &end);
        if (!(fabs(x) < 1e5) || !(fabs(y) < 1e5))
            return false;
        points[i] = (struct vv_layout_point){ pixels(x), pixels(answer->height - y) };
        at = end;
    }
    points[0] = at_outline(points[0], &answer->boxes[from]);
    points[count - 1] = at_outline(points[count - 1], &answer->boxes[to]);
    answer->first_point[edge] = answer->count;
    answer->point_count[edge] = count;
    answer->count += count;
    return true;
}

/* All lies in [PADDING, …]; splines may bend out of what Graphviz says is the picture. */
static void shift_all(struct answer *answer, struct vv_layout *layout)
{
    int32_t left = INT32_MAX, top = INT32_MAX, right = 0, bottom = 0;
    for (size_t i = 0; i < answer->work->nodes; i++) {
        const struct vv_layout_box *box = &answer->boxes[i];
        left = box->x < left ? box->x : left;
        top = box->y < top ? box->y : top;
    }
    for (size_t i = 0; i < answer->count; i++) {
        left = answer->points[i].x < left ? answer->points[i].x : left;
        top = answer->points[i].y < top ? answer->points[i].y : top;
    }
    for (size_t i = 0; i < answer->work->nodes; i++) {
        struct vv_layout_box *box = &answer->boxes[i];
        box->x += PADDING - left;
        box->y += PADDING - top;
        right = box->x + box->width > right ? box->x + box->width : right;
        bottom = box->y + box->height > bottom ? box->y + box->height : bottom;
    }
    for (size_t i = 0; i < answer->count; i++) {
        struct vv_layout_point *point = &answer->points[i];
        point->x += PADDING - left;
        point->y += PADDING - top;
        right = point->x > right ? point->x : right;
        bottom = point->y > bottom ? point->y : bottom;
    }
    layout->width = right + PADDING;
    layout->height = bottom + PADDING;
}

/* A long chain is one column of Graphviz', and many nodes of one level are one row: no screen holds
 * it. Our own layout breaks both. */
static bool is_a_strip(const struct vv_layout *layout)
{
    int64_t shorter = layout->width, longer = layout->height;
    if (shorter > longer) {
        shorter = layout->height;
        longer = layout->width;
    }
    return longer > STRIP_LEAST && longer > STRIP_RATIO * shorter;
}

static enum varve_code prepare(struct answer *answer, struct varve_error *error)
{
    struct placing *work = answer->work;
    VV_TRY(VV_SCRATCH_ZEROS(&work->layout->scratch, &answer->boxes, work->nodes, error));
    VV_TRY(VV_SCRATCH_ZEROS(&work->layout->scratch, &answer->first_point, work->edges, error));
    VV_TRY(VV_SCRATCH_ZEROS(&work->layout->scratch, &answer->point_count, work->edges, error));
    VV_TRY(VV_SCRATCH_ARRAY(work->scratch, &answer->next_edge, work->nodes, error));
    VV_TRY(VV_SCRATCH_ARRAY(work->scratch, &answer->edge_after, work->edges, error));
    VV_TRY(VV_SCRATCH_ZEROS(work->scratch, &answer->is_placed, work->nodes, error));
    for (uint32_t row = 0; row < work->nodes; row++)
        answer->next_edge[row] = VV_NONE;
    for (uint32_t e = work->edges; e-- > 0;) {
        answer->edge_after[e] = answer->next_edge[work->dag->edges.from[e]];
        answer->next_edge[work->dag->edges.from[e]] = e;
    }
    return VARVE_OK;
}

static bool read_lines(struct answer *answer, char *text, struct varve_error *error)
{
    bool is_well = sscanf(text, "graph %*f %*f %lf", &answer->height) == 1;
    for (char *line = strtok(text, "\n"); line != NULL && is_well; line = strtok(NULL, "\n")) {
        if (strncmp(line, "node ", 5) == 0)
            is_well = read_node(answer, line);
        else if (strncmp(line, "edge ", 5) == 0)
            is_well = read_edge(answer, line, error);
    }
    for (uint32_t e = 0; e < answer->work->edges; e++)
        is_well = is_well && answer->point_count[e] > 0;
    return is_well && answer->placed == answer->work->nodes;
}

enum varve_code vv_graphviz_place(struct placing *work, bool *out_placed,
                                  struct varve_error *error)
{
    struct vv_layout *layout = work->layout;
    struct answer answer = { .work = work };
    char path[4096], *text;
    *out_placed = false;
    for (uint32_t row = 0; row < work->nodes; row++)
        if (layout->is_group[row])
            return VARVE_OK;
    if (work->nodes == 0 || work->nodes > VV_GRAPHVIZ_NODES_MAX || work->edges > EDGES_MAX ||
        !vv_graphviz_find(path, sizeof path))
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_ARRAY(work->scratch, &text, (size_t)OUTPUT_BYTES_MAX + 1, error));
    VV_TRY(prepare(&answer, error));
    int question = open_question(work);
    if (question < 0)
        return VARVE_OK;
    bool is_well = ask(path, question, text);
    close(question);
    if (!is_well || !read_lines(&answer, text, error))
        return VARVE_OK;
    shift_all(&answer, layout);
    if (is_a_strip(layout))
        return VARVE_OK;
    layout->boxes = answer.boxes;
    layout->points = answer.points;
    layout->first_point = answer.first_point;
    layout->point_count = answer.point_count;
    layout->is_splines = *out_placed = true;
    return VARVE_OK;
}
