/* A stand-in for libnvidia-ml.so.1 that answers from a scenario file. The parts standin_*.c are included at the end.
 *
 * A test part: the product never ships it. It is loaded through nvidia-ml-py like the real library.
 *
 *   NVML_STANDIN_SCENARIO  the scenario, read at every initialisation (scenario.py writes it and explains it)
 *   NVML_STANDIN_COUNTS    file that receives the number of calls of each function
 *
 * The scenario is lines of words:
 *   start SECONDS                                monotonic time of scenario time 0
 *   value SCOPE KEY TIME TEXT...                 from TIME on KEY is TEXT; TEXT "!N" is NVML error N
 *   rule FUNCTION SCOPE FROM UNTIL ACTION AMOUNT error N | delay MILLISECONDS | hang 0; "*" matches all
 * SCOPE is system, gpuI or gpuI.migJ. What the scenario does not give is answered with NOT_SUPPORTED.
 * A number may be "grow START PER_SECOND BITS": a counter that runs over at 2^BITS.
 *
 * To offer another function: one line in the tables at the end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
    SUCCESS = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7,
    GPU_IS_LOST = 15, ARGUMENT_VERSION_MISMATCH = 25, UNKNOWN = 999
};
enum { MAX_KEYS = 512, KEY_SLOTS = 2048, MAX_SCOPES = 128, MAX_RULES = 256, MAX_COUNTERS = 256, NAME_BYTES = 56, MAX_LINE = 4096 };

typedef struct { double from; char *text; } Step;
typedef struct { Step *steps; int count; } Series;
typedef struct { char name[NAME_BYTES]; Series series[MAX_KEYS]; } Scope;
typedef struct { char function[NAME_BYTES], scope[NAME_BYTES], action[NAME_BYTES]; double from, until, amount; } Rule;
typedef struct { char name[NAME_BYTES]; uint64_t count; } Counter;
/* What callers hold: dies with the initialisation that handed it out. */
typedef struct { Scope *scope; Scope *parent; unsigned generation; } Handle;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char key_names[MAX_KEYS][NAME_BYTES];
static int key_count, key_slots[KEY_SLOTS]; /* a slot holds a key's number + 1 */
static Scope *scopes;
static int scope_count;
static Rule rules[MAX_RULES];
static int rule_count;
static double start_s, initialised_s;
static unsigned generation;
static int initialised; /* a reference count, as in NVML */
static Counter *counters;

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9 - start_s;
}

static void sleep_s(double seconds)
{
    struct timespec wait = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};
    while (nanosleep(&wait, &wait) == -1 && errno == EINTR) {}
}

/* ---- the scenario ------------------------------------------------------------------------------------------- */

/* By hash, since every call looks keys up. */
static int key_id(const char *name)
{
    unsigned slot = 2166136261u;
    for (const char *at = name; *at != '\0'; at++)
        slot = (slot ^ (unsigned char)*at) * 16777619u;
    for (slot %= KEY_SLOTS; key_slots[slot] != 0; slot = (slot + 1) % KEY_SLOTS)
        if (strcmp(key_names[key_slots[slot] - 1], name) == 0)
            return key_slots[slot] - 1;
    if (key_count == MAX_KEYS)
        abort();
    snprintf(key_names[key_count], NAME_BYTES, "%s", name);
    key_slots[slot] = ++key_count;
    return key_count - 1;
}

static Scope *find_scope(const char *name)
{
    for (int i = 0; i < scope_count; i++)
        if (strcmp(scopes[i].name, name) == 0)
            return &scopes[i];
    return NULL;
}

static Scope *make_scope(const char *name)
{
    Scope *scope = find_scope(name);
    if (scope != NULL)
        return scope;
    if (scope_count == MAX_SCOPES)
        abort();
    scope = &scopes[scope_count++];
    snprintf(scope->name, NAME_BYTES, "%s", name);
    return scope;
}

static void add_value(const char *scope_name, const char *key, double from, const char *text)
{
    Series *series = &make_scope(scope_name)->series[key_id(key)];
    series->steps = realloc(series->steps, sizeof(Step) * (size_t)(series->count + 1));
    series->steps[series->count++] = (Step){from, strdup(text)};
}

static void read_line(char *line)
{
    char scope[NAME_BYTES], key[NAME_BYTES];
    double from;
    int text = 0;
    Rule rule;
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "start %lf", &from) == 1) {
        start_s = from;
    } else if (sscanf(line, "value %55s %55s %lf %n", scope, key, &from, &text) == 3 && text > 0) {
        add_value(scope, key, from, line + text);
    } else if (sscanf(line, "rule %55s %55s %lf %lf %55s %lf", rule.function, rule.scope, &rule.from, &rule.until,
                      rule.action, &rule.amount) == 6 && rule_count < MAX_RULES) {
        rules[rule_count++] = rule;
    } else {
        fprintf(stderr, "stand-in NVML: cannot read scenario line: %s\n", line);
        abort();
    }
}

/* Earlier scenarios are not freed: another thread may still be answering from them. */
static int read_scenario(void)
{
    const char *path = getenv("NVML_STANDIN_SCENARIO");
    FILE *file = path != NULL ? fopen(path, "r") : NULL;
    char line[MAX_LINE];
    if (file == NULL)
        return UNKNOWN;
    scopes = calloc(MAX_SCOPES, sizeof(Scope));
    scope_count = rule_count = 0;
    while (fgets(line, sizeof line, file) != NULL)
        read_line(line);
    fclose(file);
    return SUCCESS;
}

static const char *text_at(const Scope *scope, int key, double at)
{
    const char *text = NULL;
    const Series *series = &scope->series[key];
    for (int i = 0; i < series->count && series->steps[i].from <= at; i++)
        text = series->steps[i].text;
    return text;
}

static int flag_at(const Scope *scope, const char *key, double at, int otherwise)
{
    const char *text = text_at(scope, key_id(key), at);
    return text != NULL ? atoi(text) : otherwise;
}

/* A GPU that was lost at any time since the initialisation stays lost until the next one. */
static int is_lost(const Scope *scope)
{
    int lost = flag_at(scope, "lost", initialised_s, 0);
    const Series *series = &scope->series[key_id("lost")];
    double now = now_s();
    for (int i = 0; i < series->count; i++)
        if (series->steps[i].from > initialised_s && series->steps[i].from <= now)
            lost |= atoi(series->steps[i].text);
    return lost;
}

/* ---- what every call goes through ---------------------------------------------------------------------------- */

static void open_counters(void)
{
    const char *path = getenv("NVML_STANDIN_COUNTS");
    size_t size = MAX_COUNTERS * sizeof(Counter);
    int file = path != NULL ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    void *memory = MAP_FAILED;
    if (file >= 0 && ftruncate(file, (off_t)size) == 0)
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0)
        close(file);
    counters = memory != MAP_FAILED ? memory : calloc(MAX_COUNTERS, sizeof(Counter));
}

static void count_call(const char *function)
{
    pthread_mutex_lock(&lock);
    if (counters == NULL)
        open_counters();
    for (int i = 0; i < MAX_COUNTERS; i++) {
        if (counters[i].name[0] == '\0')
            snprintf(counters[i].name, NAME_BYTES, "%s", function);
        if (strcmp(counters[i].name, function) == 0) {
            counters[i].count++;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
}

static int matches(const char *pattern, const char *name) { return strcmp(pattern, "*") == 0 || strcmp(pattern, name) == 0; }

static int apply_rules(const char *function, const char *scope)
{
    for (int i = 0; i < rule_count; i++) {
        Rule rule = rules[i];
        double now = now_s();
        if (!matches(rule.function, function) || !matches(rule.scope, scope) || now < rule.from || now >= rule.until)
            continue;
        if (strcmp(rule.action, "error") == 0)
            return (int)rule.amount;
        if (strcmp(rule.action, "delay") == 0)
            sleep_s(rule.amount / 1000);
        while (strcmp(rule.action, "hang") == 0 && now_s() < rule.until)
            sleep_s(0.05);
    }
    return SUCCESS;
}

static int enter_system(const char *function)
{
    count_call(function);
    int code = apply_rules(function, "system");
    return code != SUCCESS ? code : initialised ? SUCCESS : UNINITIALIZED;
}

static int enter(const char *function, const Handle *handle)
{
    count_call(function);
    if (handle == NULL)
        return INVALID_ARGUMENT;
    int code = apply_rules(function, handle->scope->name);
    if (code != SUCCESS)
        return code;
    if (!initialised)
        return UNINITIALIZED;
    if (handle->generation != generation)
        return INVALID_ARGUMENT;
    return is_lost(handle->parent) ? GPU_IS_LOST : SUCCESS;
}

/* The text of a key now, or the error that stands in its place. */
static int look_up(const Scope *scope, const char *key, const char **text)
{
    *text = scope != NULL ? text_at(scope, key_id(key), now_s()) : NULL;
    if (*text == NULL)
        return NOT_SUPPORTED;
    return (*text)[0] == '!' ? atoi(*text + 1) : SUCCESS;
}

static unsigned long long number_of(const char *text)
{
    unsigned long long start;
    double per_second;
    int bits;
    if (sscanf(text, "grow %llu %lf %d", &start, &per_second, &bits) != 3)
        return strtoull(text, NULL, 10);
    unsigned long long value = start + (unsigned long long)(long long)(per_second * now_s());
    return bits < 64 ? value & ((1ull << bits) - 1) : value;
}

static int read_u64(const Scope *scope, const char *key, unsigned long long *out)
{
    const char *text;
    int code = look_up(scope, key, &text);
    if (code == SUCCESS)
        *out = number_of(text);
    return code;
}

static int read_uint(const Scope *scope, const char *key, unsigned int *out)
{
    unsigned long long value;
    int code = read_u64(scope, key, &value);
    if (code == SUCCESS)
        *out = (unsigned int)value;
    return code;
}

static int read_text(const Scope *scope, const char *key, char *out, unsigned int size)
{
    const char *text;
    int code = look_up(scope, key, &text);
    if (code == SUCCESS)
        snprintf(out, size, "%s", text);
    return code;
}

/* ---- the library itself -------------------------------------------------------------------------------------- */

int nvmlInitWithFlags(unsigned int flags)
{
    unsigned int ignored;
    (void)flags;
    counters = NULL; /* one file an initialisation, so that one process can go through several scenarios */
    count_call(__func__);
    int code = read_scenario();
    if (code == SUCCESS)
        code = apply_rules(__func__, "system");
    if (code == SUCCESS && (code = read_uint(find_scope("system"), "init", &ignored)) == NOT_SUPPORTED)
        code = SUCCESS; /* a scenario need not mention it */
    if (code == SUCCESS) {
        initialised++;
        generation++;
        initialised_s = now_s();
    }
    return code;
}

int nvmlShutdown(void)
{
    int code = enter_system(__func__);
    if (code == SUCCESS)
        initialised--;
    return code;
}

const char *nvmlErrorString(int code)
{
    static char text[64];
    snprintf(text, sizeof text, "stand-in error %d", code);
    return text;
}

/* GPUs that were there at initialisation, in the order of their names gpu0, gpu1, ... */
static Scope *gpu_at(unsigned int wanted)
{
    char name[NAME_BYTES];
    for (int i = 0; i < MAX_SCOPES; i++) {
        snprintf(name, sizeof name, "gpu%d", i);
        Scope *scope = find_scope(name);
        if (scope != NULL && flag_at(scope, "present", initialised_s, 1) && wanted-- == 0)
            return scope;
    }
    return NULL;
}

static Handle *make_handle(Scope *scope, Scope *parent)
{
    Handle *handle = malloc(sizeof *handle);
    *handle = (Handle){scope, parent, generation};
    return handle;
}

int nvmlDeviceGetCount_v2(unsigned int *out)
{
    int code = enter_system(__func__);
    for (*out = 0; code == SUCCESS && gpu_at(*out) != NULL;)
        ++*out;
    return code;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, Handle **out)
{
    Scope *scope = initialised ? gpu_at(index) : NULL;
    count_call(__func__);
    int code = apply_rules(__func__, scope != NULL ? scope->name : "system");
    if (code != SUCCESS)
        return code;
    if (!initialised)
        return UNINITIALIZED;
    if (scope == NULL)
        return INVALID_ARGUMENT;
    if (is_lost(scope))
        return GPU_IS_LOST;
    *out = make_handle(scope, scope);
    return SUCCESS;
}

int nvmlDeviceGetMigDeviceHandleByIndex(Handle *handle, unsigned int index, Handle **out)
{
    char name[NAME_BYTES * 2];
    int code = enter(__func__, handle);
    if (code != SUCCESS)
        return code;
    snprintf(name, sizeof name, "%s.mig%u", handle->scope->name, index);
    Scope *scope = find_scope(name);
    if (scope == NULL || !flag_at(scope, "present", now_s(), 1))
        return NOT_FOUND;
    *out = make_handle(scope, handle->scope);
    return SUCCESS;
}

int nvmlSystemGetCudaDriverVersion(int *out)
{
    int code = enter_system(__func__);
    return code != SUCCESS ? code : read_uint(find_scope("system"), "cuda_driver_version", (unsigned int *)out);
}

int nvmlSystemGetDriverVersion(char *out, unsigned int size)
{
    int code = enter_system(__func__);
    return code != SUCCESS ? code : read_text(find_scope("system"), "driver_version", out, size);
}

/* ---- memory: v1's "used" includes the driver's reservation, as in the real library ---------------------------- */

typedef struct { unsigned long long total, free, used; } MemoryV1;
typedef struct { unsigned int version; unsigned long long total, reserved, free, used; } MemoryV2;

static int read_memory(const Scope *scope, MemoryV2 *out)
{
    int code = read_u64(scope, "memory_total", &out->total);
    if (code == SUCCESS)
        code = read_u64(scope, "memory_used", &out->used);
    if (code == SUCCESS)
        code = read_u64(scope, "memory_reserved", &out->reserved);
    if (code == SUCCESS)
        out->free = out->total - out->used - out->reserved;
    return code;
}

int nvmlDeviceGetMemoryInfo(Handle *handle, MemoryV1 *out)
{
    MemoryV2 memory;
    int code = enter(__func__, handle);
    if (code == SUCCESS)
        code = read_memory(handle->scope, &memory);
    if (code == SUCCESS)
        *out = (MemoryV1){memory.total, memory.free, memory.used + memory.reserved};
    return code;
}

int nvmlDeviceGetMemoryInfo_v2(Handle *handle, MemoryV2 *out)
{
    int code = enter(__func__, handle);
    if (code == SUCCESS && out->version != (sizeof(MemoryV2) | 2u << 24))
        return ARGUMENT_VERSION_MISMATCH;
    return code != SUCCESS ? code : read_memory(handle->scope, out);
}

/* ---- processes: "PID:BYTES PID:BYTES", BYTES "-" where the driver does not know them -------------------------- */

typedef struct { unsigned int pid; unsigned long long used; unsigned int gpu_instance, compute_instance; } Process;
typedef struct { unsigned int pid; unsigned long long used; } ProcessV1;

/* Entries are `stride` bytes apart: a driver and a library that disagree about it scramble the list. */
static int read_processes(const Scope *scope, const char *key, unsigned int *size, void *out, size_t entry, size_t stride)
{
    const char *text;
    unsigned int found = 0, room = out != NULL ? *size : 0;
    int code = look_up(scope, key, &text);
    if (code != SUCCESS)
        return code;
    while (*text != '\0') {
        char *end;
        unsigned int pid = (unsigned int)strtoul(text, &end, 10);
        unsigned long long used = end[1] == '-' ? ~0ull : strtoull(end + 1, NULL, 10);
        Process process = {pid, used, ~0u, ~0u};
        if (found < room && (found * stride + entry) <= room * entry)
            memcpy((char *)out + found * stride, &process, entry);
        found++;
        text = strchr(end, ' ');
        if (text == NULL)
            break;
        text++;
    }
    *size = found;
    return found > room ? INSUFFICIENT_SIZE : SUCCESS;
}

static size_t stride_of(const Scope *scope)
{
    return (size_t)flag_at(scope, "process_stride", now_s(), sizeof(Process));
}

/* ---- structures with two figures ------------------------------------------------------------------------------ */

typedef struct { unsigned int gpu, memory; } Utilization;

int nvmlDeviceGetUtilizationRates(Handle *handle, Utilization *out)
{
    int code = enter(__func__, handle);
    if (code == SUCCESS)
        code = read_uint(handle->scope, "utilization_gpu", &out->gpu);
    return code != SUCCESS ? code : read_uint(handle->scope, "utilization_memory", &out->memory);
}

typedef struct {
    char bus_id_legacy[16];
    unsigned int domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
} PciInfo;

int nvmlDeviceGetPciInfo_v3(Handle *handle, PciInfo *out)
{
    int code = enter(__func__, handle);
    memset(out, 0, sizeof *out);
    return code != SUCCESS ? code : read_text(handle->scope, "pci_bus_id", out->bus_id, sizeof out->bus_id);
}

/* A key that is not given for a part of that number; INVALID_ARGUMENT for parts that are not there. */
static int read_numbered(const Scope *scope, const char *count_key, const char *key, unsigned int part,
                         unsigned long long *out)
{
    char own[NAME_BYTES];
    unsigned long long count;
    int code = read_u64(scope, count_key, &count);
    if (code != SUCCESS)
        return code;
    if (part >= count)
        return INVALID_ARGUMENT;
    snprintf(own, sizeof own, "%s_%u", key, part);
    return read_u64(scope, text_at(scope, key_id(own), now_s()) != NULL ? own : key, out);
}

/* ---- tables: one line a function ------------------------------------------------------------------------------ */

#define GET_UINT(function, key) \
    int function(Handle *handle, unsigned int *out) \
    { int code = enter(__func__, handle); return code != SUCCESS ? code : read_uint(handle->scope, key, out); }
#define GET_U64(function, key) \
    int function(Handle *handle, unsigned long long *out) \
    { int code = enter(__func__, handle); return code != SUCCESS ? code : read_u64(handle->scope, key, out); }
#define GET_TEXT(function, key) \
    int function(Handle *handle, char *out, unsigned int size) \
    { int code = enter(__func__, handle); return code != SUCCESS ? code : read_text(handle->scope, key, out, size); }
#define GET_TWO(function, first, second) \
    int function(Handle *handle, unsigned int *one, unsigned int *two) \
    { int code = enter(__func__, handle); if (code == SUCCESS) code = read_uint(handle->scope, first, one); \
      return code != SUCCESS ? code : read_uint(handle->scope, second, two); }
#define GET_PROCESSES(function, key) \
    int function##_v3(Handle *handle, unsigned int *size, Process *out) \
    { int code = enter(__func__, handle); return code != SUCCESS ? code : \
      read_processes(handle->scope, key, size, out, sizeof(Process), stride_of(handle->scope)); } \
    int function##_v2(Handle *handle, unsigned int *size, Process *out) \
    { int code = enter(__func__, handle); return code != SUCCESS ? code : \
      read_processes(handle->scope, key, size, out, sizeof(Process), sizeof(Process)); } \
    int function(Handle *handle, unsigned int *size, ProcessV1 *out) \
    { int code = enter(__func__, handle); return code != SUCCESS ? code : \
      read_processes(handle->scope, key, size, out, sizeof(ProcessV1), sizeof(ProcessV1)); }
/* One number of each of several parts: the key with the part's number, else the plain key. */
#define GET_NUMBERED(function, count_key, key) \
    int function(Handle *handle, unsigned int part, unsigned int *out) \
    { int code = enter(__func__, handle); unsigned long long value; \
      if (code == SUCCESS) code = read_numbered(handle->scope, count_key, key, part, &value); \
      if (code == SUCCESS) *out = (unsigned int)value; \
      return code; }
/* The second argument chooses among the keys that follow, from 0 on; an empty key is one that is not offered. */
#define GET_CHOSEN(function, ...) \
    int function(Handle *handle, unsigned int choice, unsigned int *out) \
    { static const char *const keys[] = {__VA_ARGS__}; int code = enter(__func__, handle); \
      if (code != SUCCESS) return code; \
      return choice < sizeof keys / sizeof *keys ? read_uint(handle->scope, keys[choice], out) : INVALID_ARGUMENT; }

GET_TEXT(nvmlDeviceGetName, "name")
GET_TEXT(nvmlDeviceGetUUID, "uuid")
GET_UINT(nvmlDeviceGetPowerUsage, "power_mw")
GET_UINT(nvmlDeviceGetEnforcedPowerLimit, "power_limit_mw")
GET_UINT(nvmlDeviceGetFanSpeed, "fan_percent")
GET_UINT(nvmlDeviceGetPerformanceState, "performance_state")
GET_UINT(nvmlDeviceGetCurrPcieLinkGeneration, "pcie_generation")
GET_UINT(nvmlDeviceGetCurrPcieLinkWidth, "pcie_width")
GET_UINT(nvmlDeviceGetMaxPcieLinkGeneration, "pcie_generation_max")
GET_UINT(nvmlDeviceGetMaxPcieLinkWidth, "pcie_width_max")
GET_UINT(nvmlDeviceGetMaxMigDeviceCount, "mig_devices_max")
GET_U64(nvmlDeviceGetTotalEnergyConsumption, "energy_mj")
GET_U64(nvmlDeviceGetCurrentClocksEventReasons, "clock_event_reasons")
GET_U64(nvmlDeviceGetCurrentClocksThrottleReasons, "clock_event_reasons")
GET_TWO(nvmlDeviceGetEncoderUtilization, "encoder_percent", "encoder_period_us")
GET_TWO(nvmlDeviceGetDecoderUtilization, "decoder_percent", "decoder_period_us")
GET_TWO(nvmlDeviceGetMigMode, "mig_mode", "mig_mode_pending")
GET_TWO(nvmlDeviceGetCudaComputeCapability, "compute_major", "compute_minor")
GET_CHOSEN(nvmlDeviceGetClockInfo, "clock_graphics_mhz", "clock_sm_mhz", "clock_memory_mhz", "clock_video_mhz")
GET_CHOSEN(nvmlDeviceGetMaxClockInfo, "clock_graphics_max_mhz", "clock_sm_max_mhz", "clock_memory_max_mhz")
GET_CHOSEN(nvmlDeviceGetTemperature, "temperature_c")
GET_CHOSEN(nvmlDeviceGetPcieThroughput, "pcie_tx_kb_per_s", "pcie_rx_kb_per_s")
GET_CHOSEN(nvmlDeviceGetTemperatureThreshold, "temperature_shutdown_c", "temperature_slowdown_c",
           "temperature_memory_max_c", "temperature_max_c")
GET_UINT(nvmlDeviceGetPowerManagementDefaultLimit, "power_limit_default_mw")
GET_TWO(nvmlDeviceGetPowerManagementLimitConstraints, "power_limit_min_mw", "power_limit_max_mw")
GET_UINT(nvmlDeviceGetNumFans, "fans")
GET_NUMBERED(nvmlDeviceGetFanSpeed_v2, "fans", "fan_percent")
GET_UINT(nvmlDeviceGetPcieReplayCounter, "pcie_replays")
GET_TWO(nvmlDeviceGetEccMode, "ecc_mode", "ecc_mode_pending")
GET_UINT(nvmlDeviceGetComputeMode, "compute_mode")
GET_UINT(nvmlDeviceGetPersistenceMode, "persistence_mode")
GET_TWO(nvmlDeviceGetDriverModel_v2, "driver_model", "driver_model")
GET_UINT(nvmlDeviceGetVirtualizationMode, "virtualization")
GET_UINT(nvmlDeviceGetGpuInstanceId, "gpu_instance_id")
GET_NUMBERED(nvmlDeviceGetNvLinkState, "nvlink_links", "nvlink_state")
GET_NUMBERED(nvmlDeviceGetNvLinkVersion, "nvlink_links", "nvlink_version")
GET_U64(nvmlDeviceGetSupportedEventTypes, "event_types")
GET_PROCESSES(nvmlDeviceGetComputeRunningProcesses, "compute_processes")
GET_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses, "graphics_processes")
GET_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses, "mps_processes")

int nvmlDeviceGetTotalEccErrors(Handle *handle, unsigned int type, unsigned int counter, unsigned long long *out)
{
    static const char *const keys[2][2] = {{"ecc_corrected_volatile", "ecc_corrected_aggregate"},
                                           {"ecc_uncorrected_volatile", "ecc_uncorrected_aggregate"}};
    int code = enter(__func__, handle);
    if (code != SUCCESS)
        return code;
    return type < 2 && counter < 2 ? read_u64(handle->scope, keys[type][counter], out) : INVALID_ARGUMENT;
}

int nvmlDeviceGetRemappedRows(Handle *handle, unsigned int *corrected, unsigned int *uncorrected,
                              unsigned int *pending, unsigned int *failed)
{
    int code = enter(__func__, handle);
    if (code == SUCCESS)
        code = read_uint(handle->scope, "rows_remapped_correctable", corrected);
    if (code == SUCCESS)
        code = read_uint(handle->scope, "rows_remapped_uncorrectable", uncorrected);
    if (code == SUCCESS)
        code = read_uint(handle->scope, "row_remap_pending", pending);
    return code != SUCCESS ? code : read_uint(handle->scope, "row_remap_failed", failed);
}

typedef struct { unsigned int version; int margin; } MarginTemperature;

int nvmlDeviceGetMarginTemperature(Handle *handle, MarginTemperature *out)
{
    int code = enter(__func__, handle);
    if (code == SUCCESS && out->version != (sizeof(MarginTemperature) | 1u << 24))
        return ARGUMENT_VERSION_MISMATCH;
    return code != SUCCESS ? code : read_uint(handle->scope, "temperature_margin_c", (unsigned int *)&out->margin);
}

typedef struct { unsigned int version, sensor; int temperature; } TemperatureV;

int nvmlDeviceGetTemperatureV(Handle *handle, TemperatureV *out)
{
    int code = enter(__func__, handle);
    if (code == SUCCESS && out->version != (sizeof(TemperatureV) | 1u << 24))
        return ARGUMENT_VERSION_MISMATCH;
    if (code == SUCCESS && out->sensor != 0)
        return INVALID_ARGUMENT;
    return code != SUCCESS ? code : read_uint(handle->scope, "temperature_c", (unsigned int *)&out->temperature);
}

#include "standin_fields.c"
#include "standin_gpm.c"
#include "standin_links.c"
#include "standin_events.c"
