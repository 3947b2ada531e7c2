/* SPDX-License-Identifier: Apache-2.0 */
/* client.c — a client of libprofapi.so written from the documented binary interface alone: it
 * includes none of our headers, declares what it needs itself, and finds functions by dlsym.
 *
 *     client LIBRARY WHAT      WHAT: records, bad, open, hashes, late, runtime, quiet, placed,
 *                              commanded
 *
 * LIBRARY "" is what the loader has. The offsets that it asserts are those of the report's table.
 * Prints what each call returned. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct api {
    uint16_t magic, level;
    uint32_t type, thread, reserve;
    uint64_t begin, end, item;
};
_Static_assert(sizeof(struct api) == 40 && offsetof(struct api, level) == 2 &&
               offsetof(struct api, type) == 4 && offsetof(struct api, thread) == 8 &&
               offsetof(struct api, begin) == 16 && offsetof(struct api, end) == 24 &&
               offsetof(struct api, item) == 32, "MsprofApi");

struct event {
    uint16_t magic, level;
    uint32_t type, thread, request;
    uint64_t time, flag, item;
};
_Static_assert(sizeof(struct event) == 40 && offsetof(struct event, request) == 12 &&
               offsetof(struct event, flag) == 24, "MsprofEvent");

struct record { /* 64 bytes are a compact record, 256 an additional one */
    uint16_t magic, level;
    uint32_t type, thread, bytes;
    uint64_t time;
    uint8_t data[232];
};
_Static_assert(sizeof(struct record) == 256 && offsetof(struct record, bytes) == 12 &&
               offsetof(struct record, time) == 16 && offsetof(struct record, data) == 24,
               "MsprofAdditionalInfo");

struct command {
    uint64_t mask, mask_high;
    uint32_t device_count, devices[64], model, type, cache;
    struct {
        uint32_t path_bytes, storage, data_bytes;
        char path[1024], data[4096];
    } parameters;
};
_Static_assert(sizeof(struct command) == 5424 && offsetof(struct command, device_count) == 16 &&
               offsetof(struct command, devices) == 20 && offsetof(struct command, model) == 276 &&
               offsetof(struct command, type) == 280 && offsetof(struct command, cache) == 284 &&
               offsetof(struct command, parameters) == 288 &&
               offsetof(struct command, parameters.path) == 300 &&
               offsetof(struct command, parameters.data) == 1324, "MsprofCommandHandle");

struct config {
    uint64_t mask, mask_high;
    uint32_t device_count, devices[65], model, type, cache, storage, metrics;
    uint64_t fd;
    char path[1024], sample[4096];
};
_Static_assert(sizeof(struct config) == 5432 && offsetof(struct config, model) == 280 &&
               offsetof(struct config, metrics) == 296 && offsetof(struct config, fd) == 304 &&
               offsetof(struct config, path) == 312 && offsetof(struct config, sample) == 1336,
               "MsprofConfig");

static void *library;
static struct {
    int32_t (*init)(uint32_t, void *, uint32_t), (*finalize)(void);
    int32_t (*start)(uint32_t, const void *, uint32_t), (*stop)(uint32_t, const void *, uint32_t);
    int32_t (*add)(uint32_t, int32_t (*)(uint32_t, void *, uint32_t));
    int32_t (*api)(uint32_t, const struct api *), (*event)(uint32_t, const struct event *);
    int32_t (*compact)(uint32_t, const void *, uint32_t);
    int32_t (*additional)(uint32_t, const void *, uint32_t);
    int32_t (*batch)(uint32_t, const void *, uint32_t);
    int32_t (*type)(uint16_t, uint32_t, const char *);
    int32_t (*format)(uint16_t, uint32_t, const char *);
    uint64_t (*hash)(const char *, size_t), (*now)(void);
    char *(*text)(uint64_t);
    size_t (*most)(uint32_t);
    int32_t (*step)(uint64_t, uint16_t, void *), (*device)(uint32_t, uint32_t, _Bool);
    int32_t (*tell)(void *, uint32_t);
} call;

static void say(const char *before, int32_t result)
{
    printf("%s%d", before, result);
}

static void find(const char *name, void *pointer)
{
    void *found = dlsym(library, name);
    if (found == NULL) {
        printf("no %s\n", name);
        exit(3);
    }
    memcpy(pointer, &found, sizeof found);
}

static void find_all(void)
{
    find("MsprofInit", &call.init);
    find("MsprofFinalize", &call.finalize);
    find("MsprofStart", &call.start);
    find("MsprofStop", &call.stop);
    find("MsprofRegisterCallback", &call.add);
    find("MsprofReportApi", &call.api);
    find("MsprofReportEvent", &call.event);
    find("MsprofReportCompactInfo", &call.compact);
    find("MsprofReportAdditionalInfo", &call.additional);
    find("MsprofReportBatchAdditionalInfo", &call.batch);
    find("MsprofRegTypeInfo", &call.type);
    find("MsprofRegDataFormat", &call.format);
    find("MsprofGetHashId", &call.hash);
    find("MsprofSysCycleTime", &call.now);
    find("MsprofId2Str", &call.text);
    find("MsprofGetBatchReportMaxSize", &call.most);
    find("profSetStepInfo", &call.step);
    find("MsprofNotifySetDevice", &call.device);
    find("profSetProfCommand", &call.tell);
}

static uint64_t id_of(const char *text)
{
    return call.hash(text, strlen(text));
}

static void put(struct record *record, size_t offset, uint64_t value, size_t bytes)
{
    memcpy(record->data + offset, &value, bytes);
}

static struct record record_of(uint16_t level, uint32_t type, uint32_t bytes, uint64_t time)
{
    return (struct record){ 0x5A5A, level, type, 0, bytes, time, { 0 } };
}

static uint64_t later(uint64_t time)
{
    uint64_t now;
    while ((now = call.now()) <= time + 2000) {
    }
    return now;
}

static struct api launch(const char *node)
{
    struct api api = { 0x5A5A, 10000, 5, 0, 0, call.now(), 0, id_of(node) };
    api.end = later(api.begin);
    return api;
}

static char options[4096];

static int32_t begin(const char *text)
{
    snprintf(options + 2048, 2048, "%s", text);
    return call.init(2, options, 4096);
}

/* ---- what a runtime reports ---- */

static void of_node(const struct api *api)
{
    struct record fusion = record_of(10000, 2, 52 + 16, api->end);
    struct record contexts = record_of(10000, 4, 12 + 8, api->end);
    struct record memory = record_of(10000, 6, 48, api->end);
    put(&fusion, 0, api->item, 8);
    put(&fusion, 8, 2, 4);
    put(&fusion, 44, 4096, 8);
    put(&fusion, 52, id_of("relu"), 8);
    put(&fusion, 60, id_of("bias"), 8);
    put(&contexts, 0, api->item, 8);
    put(&contexts, 8, 2, 4);
    put(&contexts, 12, 7, 4);
    put(&contexts, 16, 9, 4);
    put(&memory, 0, 0x1000, 8);
    put(&memory, 8, 65536, 8);
    put(&memory, 24, 65536, 8);
    say("fusion ", call.additional(1, &fusion, 256));
    say(" contexts ", call.additional(1, &contexts, 256));
    say(" memory ", call.additional(1, &memory, 256));
    puts("");
}

static void of_model(void)
{
    struct record graph = record_of(15000, 0, 16, call.now());
    struct record plan = record_of(10000, 11, 52, call.now());
    struct event load = { 0x5A5A, 15000, 2, 0, 0, call.now(), UINT64_MAX, 7 };
    put(&graph, 0, id_of("resnet"), 8);
    put(&graph, 8, 5, 4);
    put(&graph, 12, 7, 4);
    put(&plan, 0, 128, 8);
    put(&plan, 24, UINT32_MAX, 8);
    say("graph ", call.additional(0, &graph, 256));
    say(" plan ", call.additional(0, &plan, 256));
    printf(" load %d", call.event(0, &load));
    load.time = later(load.time);
    printf(" loaded %d\n", call.event(0, &load));
}

static void of_runtime(const struct api *around)
{
    struct record track = record_of(5000, 803, 24, around->end);
    struct record hccl = record_of(10000, 10, 26, around->end);
    struct record any = record_of(4500, 0x10000, 12, around->end);
    printf("type %d", call.type(5000, 803, "task_track"));
    put(&track, 2, 11, 2);
    put(&track, 4, 42, 4);
    put(&track, 16, id_of("conv1_kernel"), 8);
    put(&hccl, 10, 1024, 8);
    put(&hccl, 18, id_of("world"), 8);
    put(&any, 0, 0x0102030405060708, 8);
    /* the older track of 24 bytes: a record of 48 */
    say(" track ", call.compact(1, &track, 48));
    say(" hccl ", call.compact(1, &hccl, 64));
    say(" any ", call.additional(1, &any, 256));
    puts("");
}

static void records(void)
{
    struct api conv, shape = { 0x5A5A, 10000, 0x10001, 0, 0, 0, 0, 0 }, own = shape;
    struct record basic[2];
    printf("init %d\n", begin("{\"output\": \"records.varve\", \"task_time\": \"l2\", "
                              "\"training_trace\": \"on\", "
                               "\"ge_api\": \"l1\", \"hccl\": \"on\", \"task_memory\": \"on\"}"));
    call.step(4, 0, NULL);
    conv = launch("conv1");
    shape.begin = later(conv.end);
    shape.end = later(shape.begin);
    shape.item = conv.item;
    own.type = 0x10007;
    own.begin = later(shape.end);
    own.end = later(own.begin);
    printf("own type %d\n", call.type(10000, 0x10007, "CalcArgs"));
    say("api ", call.api(1, &conv));
    say(" ", call.api(1, &shape));
    say(" ", call.api(1, &own));
    puts("");
    basic[0] = record_of(10000, 0, 28, conv.end);
    put(&basic[0], 0, conv.item, 8);
    put(&basic[0], 8, 9, 4);
    put(&basic[0], 12, id_of("Conv2D"), 8);
    put(&basic[0], 20, 24, 4);
    basic[1] = record_of(10000, 0, 28, conv.begin); /* (begin, end]: no launch holds this */
    say("basic ", call.compact(1, &basic[0], 64));
    say(" batch ", call.batch(1, &basic[1], 256));
    say(" most ", (int32_t)call.most(0));
    puts("");
    of_node(&conv);
    of_model();
    of_runtime(&conv);
    call.step(4, 1, NULL);
    printf("finalize %d\n", call.finalize());
}

/* ---- what has a place in the model ---- */

static void plan_of(const char *node, int64_t size, uint64_t first, uint64_t last)
{
    struct record plan = record_of(10000, 11, 52, call.now());
    put(&plan, 0, (uint64_t)size, 8);
    put(&plan, 8, node == NULL ? 0 : id_of(node), 8);
    put(&plan, 16, first, 8);
    put(&plan, 24, last, 8);
    put(&plan, 48, 5, 4);
    say(" ", call.additional(0, &plan, 256));
}

static struct event event_of(uint32_t type, uint32_t request)
{
    return (struct event){ 0x5A5A, 15000, type, 0, request, call.now(), UINT64_MAX, 7 };
}

/* A launch that is over now, and its basic information. */
static struct api reported(const char *node, const char *type, uint64_t task_type, uint64_t blocks)
{
    struct api api = launch(node);
    struct record basic = record_of(10000, 0, 28, api.end);
    put(&basic, 0, api.item, 8);
    put(&basic, 8, task_type, 4);
    put(&basic, 12, id_of(type), 8);
    put(&basic, 20, blocks, 4);
    say(" ", call.api(1, &api));
    say(" ", call.compact(1, &basic, 64));
    return api;
}

/* Device 1 of kind 1, stream 11: the launch, and what the device says 2000 later. */
static void ran(uint64_t launched, uint64_t number, const char *kernel)
{
    struct record track = record_of(5000, 803, 40, launched);
    struct record work = record_of(5000, 806, 24, launched + 3000);
    put(&track, 0, 0x1001, 2);
    put(&track, 2, 11, 2);
    put(&track, 4, number, 4);
    put(&track, 16, id_of(kernel), 8);
    memcpy(work.data, track.data, 8);
    put(&work, 8, 1, 4);
    put(&work, 16, launched + 1000, 8);
    say(" ", call.compact(1, &track, 64));
    say(" ", call.compact(1, &work, 64));
}

/* One input in NCHW (0) of type f16 (1), and one output of type f32 (0) in ND (2). */
static void tensors_of(const struct api *api)
{
    static const uint32_t words[] = { 0, 0, 1, 8, 3, 32, 32, 0, 0, 0, 0,
                                      1, 2, 0, 8, 10, 0, 0, 0, 0, 0, 0 };
    struct record tensors = record_of(10000, 1, 232, api->end);
    put(&tensors, 0, api->item, 8);
    put(&tensors, 8, 2, 4);
    memcpy(tensors.data + 12, words, sizeof words);
    say(" ", call.additional(1, &tensors, 256));
}

static void all_reduce(void)
{
    struct api api = reported("hcom_allReduce_0", "hcom_allReduce_", 9, 0);
    struct record operation = record_of(10000, 10, 26, api.end);
    struct record part = record_of(5500, 0x10001, 120, api.end);
    struct api master = { 0x5A5A, 5500, 0x10001, 0, 0, api.begin + 1, api.end, id_of("Reduce") };
    put(&operation, 1, 4, 1);
    put(&operation, 10, 1024, 8);
    put(&operation, 18, id_of("world"), 8);
    put(&part, 16, id_of("world"), 8);
    put(&part, 24, 1, 4);
    put(&part, 32, 4, 4);
    put(&part, 100, 4, 4);
    say(" ", call.api(1, &master));
    say(" ", call.compact(1, &operation, 64));
    say(" ", call.additional(1, &part, 256));
}

static void placed(void)
{
    struct event event;
    struct api conv;
    printf("init %d", begin("{\"output\": \"placed.varve\", \"task_time\": \"l2\", "
                            "\"ge_api\": \"l1\", \"hccl\": \"on\"}"));
    printf(" %d %d\nmodel", call.type(5000, 803, "task_track"),
           call.type(5000, 806, "dpu_track"));
    event = event_of(2, 0);
    say(" ", call.event(0, &event));
    event.time = later(event.time);
    say(" ", call.event(0, &event));
    for (uint32_t step = 3; step < 5; step++) {
        struct record graph = record_of(15000, 0, 16, call.now());
        put(&graph, 0, id_of("resnet"), 8);
        put(&graph, 8, 5, 4);
        put(&graph, 12, 7, 4);
        event = event_of(1, step);
        say("\nstep ", call.event(0, &event));
        later(event.time);
        conv = reported("conv1", "Conv2D", 1, 24);
        tensors_of(&conv);
        ran(conv.end, 40 + step, "conv1_kernel");
        of_node(&conv);
        all_reduce();
        event.time = later(call.now());
        say(" ", call.event(0, &event));
        say(" ", call.additional(1, &graph, 256));
    }
    {   /* of level DPU; nobody told of its launch */
        struct record work = record_of(4000, 0, 24, later(call.now()));
        put(&work, 2, 12, 2);
        put(&work, 8, 4, 4);
        put(&work, 16, work.time - 500, 8);
        say("\nwork ", call.compact(1, &work, 64));
    }
    printf("\nplan");
    plan_of(NULL, 192, 0, UINT32_MAX);
    plan_of("conv1", 128, 0, 3);
    plan_of("fc", 64, 2, UINT32_MAX);
    plan_of("wrong", -1, 0, 1);
    printf("\nfinalize %d\n", call.finalize());
}

/* ---- bad input ---- */

static void bad(void)
{
    struct api api;
    struct record record = record_of(10000, 0, 28, 1), tensors = record_of(10000, 1, 232, 1);
    static uint8_t large[200000];
    printf("before %d\n", call.api(0, &(struct api){ 0x5A5A, 10000, 5, 0, 0, 1, 2, 0 }));
    say("init ", call.init(77, NULL, 0));
    say(" ", call.init(2, NULL, 4096));
    say(" ", call.init(2, options, 4095));
    say(" ", begin("{\"task_tim\": \"on\"}"));
    say(" ", begin("{"));
    puts("");
    memset(options, 'x', sizeof options);
    printf("too long %d\n", call.init(2, options, 4096));
    say("json ", call.init(1, "{\"profiler\": {\"switch\": \"off\"}}", 31));
    say(" ", call.init(1, "{\"a\": [1, \"}\"]}", 15));
    say(" ", call.init(1, "{\"profiler\": {", 14));
    puts("");
    printf("begin %d\n", begin("{\"output\": \"bad.varve\"}"));
    say("null ", call.api(0, NULL));
    say(" ", call.event(0, NULL));
    say(" ", call.compact(0, NULL, 64));
    say(" ", call.additional(0, NULL, 256));
    say(" ", call.batch(0, NULL, 256));
    puts("");
    say("sizes ", call.compact(0, &record, 24));
    say(" ", call.compact(0, large, 65));
    say(" ", call.additional(0, large, 65537));
    say(" ", call.batch(0, large, 255));
    say(" ", call.batch(0, large, 131328));
    say(" ", call.batch(0, large, 0));
    puts("");
    record.bytes = 60;
    printf("length in record %d\n", call.compact(0, &record, 64));
    record.bytes = 20;
    printf("too short for its type %d\n", call.compact(0, &record, 64));
    put(&tensors, 8, 6, 4);
    printf("six tensors %d\n", call.additional(0, &tensors, 256));
    record.magic = 0x1234;
    printf("magic %d\n", call.compact(0, &record, 64));
    record = record_of(12345, 99, 4, 1);
    printf("unknown level %d\n", call.additional(0, &record, 256));
    say("names ", call.type(1, 1, NULL));
    say(" ", call.format(1, 1, NULL));
    say(" ", call.format(1, 1, "text"));
    say(" ", call.format(1, 1, "{\"version\": 1}"));
    puts("");
    say("config ", call.start(0, NULL, 5432));
    say(" ", call.start(0, large, 5431));
    say(" ", call.stop(0, large, 5424));
    puts("");
    say("callback ", call.add(1, NULL));
    say(" command ", call.tell(large, 10));
    puts("");
    api = launch("kept");
    printf("kept %d\n", call.api(0, &api));
    say("finalize ", call.finalize());
    say(" ", call.finalize());
    puts("");
}

/* Profiling is switched on inside an open scope: it has no begin. */
static void open_scope(void)
{
    struct api api = { 0x5A5A, 20000, 0xA0004, 0, 0, 0, 0, 0 };
    struct api inside;
    printf("init %d\n", begin("{\"output\": \"open.varve\"}"));
    inside = launch("inside");
    api.end = later(inside.end);
    say("api ", call.api(0, &inside));
    say(" ", call.api(0, &api));
    puts("");
    printf("finalize %d\n", call.finalize());
}

/* ---- names, callbacks ---- */

static void hashes(void)
{
    static const char *const texts[] = { "a", "conv1", "MatMul", "hcom_allReduce_0" };
    for (int i = 0; i < 4; i++)
        printf("%s 0x%016llx %s\n", texts[i], (unsigned long long)id_of(texts[i]),
               call.text(id_of(texts[i])));
    printf("none 0x%llx 0x%llx '%s'\n", (unsigned long long)call.hash(NULL, 3),
           (unsigned long long)call.hash("x", 0), call.text(12345));
    printf("length decides 0x%llx\n", (unsigned long long)call.hash("ab", 1));
}

static const char *who = "?";

static int32_t on_command(uint32_t control, void *data, uint32_t length)
{
    const struct command *command = data;
    if (control != 1) {
        printf("%s control %u length %u\n", who, control, length);
        return 0;
    }
    printf("%s type %u devices %u first %u\n", who, command->type, command->device_count,
           command->devices[0]);
    return 0;
}

static int32_t on_late(uint32_t control, void *data, uint32_t length)
{
    const char *former = who;
    who = "late";
    on_command(control, data, length);
    /* inside a callback, control calls are refused */
    printf("inside %d\n", call.init(2, options, 4096));
    who = former;
    return 0;
}

static void late(void)
{
    static struct config config;
    who = "early";
    printf("add %d\n", call.add(45, on_command));
    config.mask = 0x2;
    config.device_count = 2;
    config.devices[0] = 1;
    config.devices[1] = 64;
    snprintf(config.path, sizeof config.path, "late.varve");
    printf("start %d\n", call.start(0, &config, 5432));
    printf("add %d\n", call.add(3, on_late));
    printf("again %d\n", call.start(0, &config, 5432));
    call.step(1, 0, NULL);
    printf("stop %d\n", call.stop(0, &config, 5432));
    printf("finalize %d\n", call.finalize());
}

/* GE's C runtime: opens the library and needs exactly these. */
static void runtime(void)
{
    static const char *const names[] = { "MsprofInit", "MsprofRegisterCallback", "MsprofGetHashId",
                                         "MsprofSysCycleTime", "MsprofReportAdditionalInfo",
                                         "MsprofFinalize", "MsprofNotifySetDevice" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        printf("%s %d\n", names[i], dlsym(library, names[i]) != NULL);
    printf("init %d\n", call.init(1, "{\"profiler\": {\"switch\": \"on\", \"output\": "
                                     "\"runtime.varve\", \"ascendcl\": \"on\"}}", 75));
    who = "runtime";
    call.add(0, on_command);
    printf("device %d\n", call.device(0, 2, 1));
    printf("finalize %d\n", call.finalize());
}

/* Recorded from outside, or not at all. */
static void quiet(void)
{
    struct api api;
    call.device(0, 5, 1);
    who = "quiet";
    printf("add %d\n", call.add(45, on_command));
    printf("init %d\n", call.init(0xFF, NULL, 0));
    api = launch("outside");
    printf("api %d\n", call.api(0, &api));
    printf("finalize %d\n", call.finalize());
}

/* Does what it is told, line by line, until its input ends: what switches it comes from outside. */
static void commanded(void)
{
    char line[64];
    uint64_t step = 0;
    who = "module";
    printf("pid %d\n", (int)getpid());
    printf("add %d\n", call.add(45, on_command));
    printf("init %d\n", call.init(0xFF, NULL, 0));
    while (fgets(line, sizeof line, stdin) != NULL) {
        struct api api = launch(line);
        call.step(step, 0, NULL);
        printf("api %d\n", call.api(0, &api));
        call.step(step++, 1, NULL);
    }
    printf("finalize %d\n", call.finalize());
}

int main(int argc, char **argv)
{
    static const struct { const char *name; void (*run)(void); } parts[] = {
        { "records", records }, { "bad", bad }, { "open", open_scope }, { "hashes", hashes },
        { "late", late }, { "runtime", runtime }, { "quiet", quiet },
        { "placed", placed }, { "commanded", commanded },
    };
    library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (library == NULL) {
        printf("%s\n", argc == 3 ? dlerror() : "client LIBRARY WHAT");
        return 2;
    }
    find_all();
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(parts[i].name, argv[2]) == 0)
            parts[i].run();
    return 0;
}
