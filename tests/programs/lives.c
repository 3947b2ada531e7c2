/* SPDX-License-Identifier: Apache-2.0 */
/* lives.c — a random life of a process, from a seed: sessions, threads, names and children come and
 * go in any order, and every record is noted in memory that outlives them all (lives.h).
 * doc/threading.md has the table of what is to become of each record.
 *
 * lives SEED JOURNAL FOLDER: with VARVE_OUTPUT=FOLDER/env in the environment session 1 is there
 * already. */
#include "lives.h"
#include "lives_records.h"
#include "sandbox.h"

#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <varve/varve.h>

#define WORKERS 3u
#define CHILDREN 16u
#define DEPTH_MAX 2u
#define CHANGE 0x10000u

static struct lives_journal *journal;
static const char *program, *journal_path, *root;
static bool is_of_environment;
static uint32_t now;      /* session, and above CHANGE how often it changed: odd = just now;
                             atomic */
static uint32_t running;  /* the session, recording or paused                                     */
static uint32_t my_pid, depth;
static bool obeys_parent; /* a child has its parent's switch until its first record; atomic */
static _Thread_local uint32_t my_tid;
static _Thread_local bool describes; /* a range that is open: a handler that ended it would leave
                                        its description to nobody */

/* ---- chance: one sequence a thread ---- */

static _Thread_local uint64_t chance;

static uint64_t draw(void)
{
    uint64_t z = (chance += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint32_t below(uint32_t limit)
{
    return (uint32_t)(draw() >> 32) % limit;
}

static void become(uint64_t seed)
{
    chance = seed;
    my_pid = (uint32_t)syscall(SYS_getpid);
    my_tid = (uint32_t)syscall(SYS_gettid);
}

static void fail(const char *what, int wanted, int seen)
{
    if (__atomic_fetch_add(&journal->failures, 1, __ATOMIC_RELAXED) == 0)
        snprintf(journal->first_failure, sizeof journal->first_failure, "%s: %d, not %d", what,
                 seen, wanted);
}

/* ---- records ---- */

/* It has a switch of its own once something of it was surely recorded. */
static void come_of_age(void)
{
    uint32_t epoch = __atomic_load_n(&varve_control_page.epoch, __ATOMIC_ACQUIRE);
    if (varve_layers() == 0)
        return;
    varve_mark(&sites[0]);
    if (varve_layers() == 0 ||
        __atomic_load_n(&varve_control_page.epoch, __ATOMIC_ACQUIRE) != epoch)
        return;
    /* the parent may have resumed it */
    __atomic_store_n(&now, now / CHANGE * CHANGE | running, __ATOMIC_SEQ_CST);
    __atomic_store_n(&obeys_parent, false, __ATOMIC_RELEASE);
}

static void record_one(void)
{
    uint32_t number = __atomic_fetch_add(&journal->entries, 1, __ATOMIC_RELAXED);
    if (number >= LIVES_ENTRIES)
        return;
    struct lives_entry *entry = &journal->entry[number];
    if (my_tid == 0) /* in a handler, before the thread has begun */
        my_tid = (uint32_t)syscall(SYS_gettid);
    uint32_t before = __atomic_load_n(&now, __ATOMIC_SEQ_CST), kind = below(10);
    *entry = (struct lives_entry){
        .pid = my_pid, .tid = my_tid, .before = (uint16_t)before, .kind = (uint16_t)kind
    };
    __atomic_store_n(&entry->state, LIVES_BEGUN, __ATOMIC_SEQ_CST);
    bool described = describes;
    describes = described || kind == DESCRIPTION;
    emit(kind, &sites[below(SITES)], (uint64_t)number + 1);
    describes = described;
    uint32_t after = __atomic_load_n(&now, __ATOMIC_SEQ_CST);
    entry->after = (uint16_t)after;
    entry->is_unsure = before != after || (before & CHANGE) != 0 ||
                       __atomic_load_n(&obeys_parent, __ATOMIC_ACQUIRE);
    __atomic_store_n(&entry->state, LIVES_ACKNOWLEDGED, __ATOMIC_SEQ_CST);
}

/* With ranges around them that need not be closed where sessions, or children, begin and end. */
static void record_some(uint32_t count)
{
    if (__atomic_load_n(&obeys_parent, __ATOMIC_ACQUIRE))
        come_of_age();
    for (uint32_t i = 0; i < count; i++) {
        switch (below(8)) {
        case 0: varve_begin(&sites[below(SITES)]); break;
        case 1:
            if (!describes)
                varve_end();
            break;
        case 2: varve_next(&sites[below(SITES)]); break;
        case 3: varve_mark(&sites[below(SITES)]); break;
        default: break;
        }
        record_one();
    }
}

static uint32_t some(void)
{
    return below(60) == 0 ? 200 + below(6000) : below(60);
}

static void on_signal(int number)
{
    (void)number;
    record_some(1 + below(3));
}

/* ---- sessions ---- */

static void begin_change(void)
{
    __atomic_fetch_add(&now, CHANGE, __ATOMIC_SEQ_CST);
}

static void end_change(uint32_t session)
{
    __atomic_store_n(&obeys_parent, false, __ATOMIC_RELEASE);
    uint32_t changes = __atomic_load_n(&now, __ATOMIC_SEQ_CST) / CHANGE + 1;
    __atomic_store_n(&now, changes * CHANGE | session, __ATOMIC_SEQ_CST);
}

static void stop_session(void)
{
    if (running == 0 || is_of_environment)
        return;
    begin_change();
    enum varve_code code = varve_session_stop(NULL);
    if (code != VARVE_OK)
        fail("varve_session_stop", VARVE_OK, (int)code);
    running = 0;
    end_change(0);
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *at)
{
    (void)about, (void)kind, (void)at;
    return remove(path);
}

/* A name that was used: another is recorded beside it, or it is renamed, or removed. */
static void free_name(const char *name)
{
    char path[2][4096], place[sizeof journal->session->place];
    uint32_t way = below(4), count = __atomic_load_n(&journal->sessions, __ATOMIC_RELAXED);
    if (way == 0)
        return;
    snprintf(place, sizeof place, "%.20s.%u", name, count);
    snprintf(path[0], sizeof path[0], "%s/%s", root, name);
    snprintf(path[1], sizeof path[1], "%s/%s", root, place);
    if (access(path[0], F_OK) != 0)
        return;
    if (way == 1)
        nftw(path[0], remove_one, 8, FTW_DEPTH | FTW_PHYS);
    else if (rename(path[0], path[1]) != 0)
        return;
    for (uint32_t i = 1; i <= count && i < LIVES_SESSIONS; i++) {
        struct lives_session *session = &journal->session[i];
        if (strcmp(session->place, name) != 0)
            continue;
        if (way == 1)
            session->flags |= LIVES_REMOVED;
        memcpy(session->place, place, sizeof session->place);
    }
}

static void wait_for_children(void);

static void start_session(void)
{
    char name[60], path[4096];
    if (running != 0 || is_of_environment)
        return;
    if (depth == 0) {
        snprintf(name, sizeof name, "%c.varve", 'a' + (int)below(3));
        wait_for_children(); /* theirs is the former folder of that name */
        free_name(name);
    } else {
        snprintf(name, sizeof name, "%u.varve", my_pid);
    }
    uint32_t number = __atomic_add_fetch(&journal->sessions, 1, __ATOMIC_RELAXED);
    if (number >= LIVES_SESSIONS)
        return;
    memcpy(journal->session[number].place, name, sizeof name);
    snprintf(path, sizeof path, "%s/%s", root, name);
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    struct varve_error error;
    options.output = path;
    if (below(8) == 0) {
        options.max_bytes = UINT64_C(1) << 20;
        journal->session[number].flags |= LIVES_MAY_LOSE;
    }
    begin_change();
    enum varve_code code = varve_session_start(&options, &error);
    if (code != VARVE_OK)
        fail(error.message, VARVE_OK, (int)code);
    running = number;
    end_change(number);
}

static void pause_or_resume(void)
{
    if (running == 0)
        return;
    bool is_paused = (uint16_t)__atomic_load_n(&now, __ATOMIC_SEQ_CST) == 0;
    begin_change();
    varve_layers_set(is_paused ? VARVE_LAYER_ALL : 0);
    end_change(is_paused ? running : 0);
}

/* ---- threads ---- */

enum order { RECORD, RUN_FREE, FORK, END };

static struct worker {
    pthread_t thread;
    sem_t go, done;
    enum order order;
    uint64_t seed;
    uint32_t count;
    bool is_there, is_free;
} workers[WORKERS];

static bool free_is_over; /* atomic */

static void beget(void);

static void *work(void *argument)
{
    struct worker *worker = argument;
    become(worker->seed);
    for (;;) {
        while (sem_wait(&worker->go) != 0)
            ;
        switch (worker->order) {
        case RECORD: record_some(worker->count); break;
        case RUN_FREE:
            for (unsigned i = 0; i < 4000 && !__atomic_load_n(&free_is_over, __ATOMIC_ACQUIRE); i++)
                record_some(i % 50 == 0 ? 5 : 0);
            break;
        case FORK: beget(); break;
        case END: return NULL;
        }
        sem_post(&worker->done);
    }
}

static struct worker *find_worker(bool is_there)
{
    uint32_t first = below(WORKERS);
    for (uint32_t i = 0; i < WORKERS; i++) {
        struct worker *worker = &workers[(first + i) % WORKERS];
        if (worker->is_there == is_there && !worker->is_free)
            return worker;
    }
    return NULL;
}

static void begin_worker(void)
{
    struct worker *worker = find_worker(false);
    if (worker == NULL)
        return;
    sem_init(&worker->go, 0, 0);
    sem_init(&worker->done, 0, 0);
    worker->seed = draw();
    worker->is_there = pthread_create(&worker->thread, NULL, work, worker) == 0;
}

static void await(struct worker *worker)
{
    while (sem_wait(&worker->done) != 0)
        ;
}

static void let_work(enum order order)
{
    struct worker *worker = find_worker(true);
    if (worker == NULL)
        return;
    worker->order = order;
    worker->count = some();
    sem_post(&worker->go);
    if (order != END) {
        await(worker);
        return;
    }
    pthread_join(worker->thread, NULL);
    worker->is_there = false;
}

static void run_free(void)
{
    __atomic_store_n(&free_is_over, false, __ATOMIC_RELEASE);
    for (struct worker *worker = workers; worker < workers + WORKERS; worker++)
        if (worker->is_there && !worker->is_free && below(4) != 0) {
            worker->is_free = true;
            worker->order = RUN_FREE;
            sem_post(&worker->go);
        }
}

static void end_free(void)
{
    __atomic_store_n(&free_is_over, true, __ATOMIC_RELEASE);
    for (struct worker *worker = workers; worker < workers + WORKERS; worker++)
        if (worker->is_free) {
            await(worker);
            worker->is_free = false;
        }
}

/* ---- children ---- */

static struct child {
    pid_t pid;
    int status; /* as waitpid tells it */
} children[CHILDREN];
static unsigned child_count;

static void wait_for_children(void)
{
    for (; child_count > 0; child_count--) {
        const struct child *child = &children[child_count - 1];
        int status = -1;
        while (waitpid(child->pid, &status, 0) != child->pid)
            ;
        if (status != child->status)
            fail("a child's status", child->status, status);
    }
}

enum ending { EXIT_BARELY, EXIT, KILL, EXECUTE, SANDBOX, ENDINGS };

static int status_of(enum ending ending, int code)
{
    return ending == KILL ? SIGKILL : code << 8;
}

static void execute(int code)
{
    char seed[32], status[16];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)draw());
    snprintf(status, sizeof status, "%d", code);
    execl(program, program, seed, journal_path, root, status, (char *)NULL);
    _exit(97);
}

__attribute__((noreturn)) static void end(enum ending ending, int code)
{
    switch (ending) {
    case EXIT: exit(code);
    case KILL:
        kill((pid_t)my_pid, SIGKILL);
        for (;;)
            pause();
    case EXECUTE: execute(code); break;
    case SANDBOX:
        stop_session();
        sandbox_enter();
        exit(code);
    default: break;
    }
    _exit(code);
}

static void live(uint32_t acts);

/* No handler of pthread_atfork sees the last two. */
static pid_t fork_somehow(uint32_t way)
{
    if (way == 0)
        return _Fork();
    return way == 1 ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
}

__attribute__((noreturn)) static void be_child(uint64_t seed, uint32_t way, enum ending ending,
                                               int code)
{
    become(seed);
    depth++;
    child_count = 0;
    obeys_parent = running != 0;
    memset(workers, 0, sizeof workers);
    if (way < 2) {
        record_some(some());
    } else {
        live(1 + below(6));
        end_free();
        wait_for_children();
    }
    end(ending, code);
}

/* Sandboxed ones have stopped their session, where that is theirs to stop. */
static enum ending draw_ending(uint32_t way)
{
    enum ending ending = (enum ending)below(ENDINGS);
    if (ending == SANDBOX && (is_of_environment || way < 2))
        return EXIT;
    return ending == EXECUTE && way < 2 ? EXIT_BARELY : ending;
}

static void beget(void)
{
    uint32_t way = below(6);
    if (depth >= DEPTH_MAX || child_count >= CHILDREN)
        return;
    enum ending ending = draw_ending(way);
    int code = (int)below(90);
    uint64_t seed = draw();
    pid_t pid = fork_somehow(way);
    if (pid == 0)
        be_child(seed, way, ending, code);
    if (pid > 0)
        children[child_count++] = (struct child){ pid, status_of(ending, code) };
}

/* A child of vfork is its parent's thread, as far as anybody can tell. */
static void beget_by_vfork(void)
{
    int status = -1;
    pid_t pid = vfork();
    if (pid == 0) {
        record_some(3);
        _exit(5);
    }
    if (pid > 0 && (waitpid(pid, &status, 0) != pid || status != 5 << 8))
        fail("a vfork child's status", 5 << 8, status);
}

/* ---- what else happens to a process ---- */

/* Where the process has its folder already: what is lost without one dies with a process that never
 * gets it. */
static void starve(void)
{
    struct rlimit former, none;
    if (depth > 0 || is_of_environment)
        return;
    getrlimit(RLIMIT_NOFILE, &former);
    none = (struct rlimit){ 0, former.rlim_max };
    if (running != 0)
        __atomic_fetch_or(&journal->session[running].flags, LIVES_MAY_LOSE, __ATOMIC_RELAXED);
    setrlimit(RLIMIT_NOFILE, &none);
    record_some(some());
    setrlimit(RLIMIT_NOFILE, &former);
}

static void storm(bool begins)
{
    const struct itimerval often = { { 0, 150 }, { 0, 150 } }, never = { { 0, 0 }, { 0, 0 } };
    setitimer(ITIMER_REAL, begins ? &often : &never, NULL);
}

static void act(void)
{
    switch (below(25)) {
    case 0: case 1: case 2: case 3: record_some(some()); break;
    case 4: case 5: case 6: start_session(); break;
    case 7: case 8: stop_session(); break;
    case 9: pause_or_resume(); break;
    case 10: case 11: begin_worker(); break;
    case 12: case 13: let_work(RECORD); break;
    case 14: let_work(END); break;
    case 15: let_work(FORK); break;
    case 16: case 17: beget(); break;
    case 18: beget_by_vfork(); break;
    case 19: run_free(); break;
    case 20: end_free(); break;
    case 21: close_range(3, ~0u, 0); break;
    case 22: starve(); break;
    case 23: storm(below(2) == 0); break;
    default: wait_for_children(); break;
    }
}

static void live(uint32_t acts)
{
    for (uint32_t i = 0; i < acts; i++)
        act();
    storm(false);
}

static int open_journal(void)
{
    int file = open(journal_path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return 0;
    journal = mmap(NULL, sizeof *journal, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return journal != MAP_FAILED;
}

int main(int argc, char **argv)
{
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
    if (argc < 4)
        return 96;
    program = argv[0];
    journal_path = argv[2];
    root = argv[3];
    become(strtoull(argv[1], NULL, 10));
    if (!open_journal())
        return 95;
    is_of_environment = getenv("VARVE_OUTPUT") != NULL;
    make_sites();
    sigaction(SIGALRM, &action, NULL);
    if (is_of_environment) {
        journal->sessions = journal->sessions > 0 ? journal->sessions : 1;
        strcpy(journal->session[1].place, "env.varve");
        now = running = 1;
    }
    if (argc == 5) { /* of a child that has executed it */
        depth = DEPTH_MAX;
        live(1 + below(6));
        end_free();
        end(EXIT, atoi(argv[4]));
    }
    live(4 + below(24));
    bool others_go_on = below(4) == 0;
    if (!others_go_on)
        end_free();
    wait_for_children();
    enum ending ending = (enum ending)below(EXECUTE);
    int code = (int)below(90);
    journal->status = ending == KILL ? -SIGKILL : code;
    end(ending, code);
}
