/* Part of the stand-in: events. The steps of a GPU's key xid are the errors that it reports, each at its time. */

enum { XID_EVENT = 8, TIMEOUT = 10, MAX_WATCHED = 16 };
typedef struct { Handle *handle; int seen; } Watched;
typedef struct { Watched watched[MAX_WATCHED]; int count; unsigned generation; int freed; } EventSet;
typedef struct {
    Handle *device;
    unsigned long long type, data;
    unsigned int gpu_instance, compute_instance;
} EventData;

static int enter_set(const char *function, const EventSet *set)
{
    int code = enter_system(function);
    if (code != SUCCESS)
        return code;
    return set == NULL || set->freed || set->generation != generation ? INVALID_ARGUMENT : SUCCESS;
}

int nvmlEventSetCreate(EventSet **out)
{
    int code = enter_system(__func__);
    if (code == SUCCESS) {
        *out = calloc(1, sizeof **out);
        (*out)->generation = generation;
    }
    return code;
}

/* The memory stays: a late wait must find a set that says no. */
int nvmlEventSetFree(EventSet *set)
{
    int code = enter_set(__func__, set);
    if (code == SUCCESS)
        set->freed = 1;
    return code;
}

/* Errors of before are not reported. */
int nvmlDeviceRegisterEvents(Handle *handle, unsigned long long types, EventSet *set)
{
    unsigned int supported = 0;
    int code = enter(__func__, handle);
    if (code == SUCCESS)
        code = enter_set("nvmlDeviceRegisterEvents.set", set);
    if (code == SUCCESS)
        code = read_uint(handle->scope, "event_types", &supported);
    if (code != SUCCESS)
        return code;
    if ((types & supported) != types || set->count == MAX_WATCHED)
        return NOT_SUPPORTED;
    const Series *series = &handle->scope->series[key_id("xid")];
    int seen = 0;
    while (seen < series->count && series->steps[seen].from <= now_s())
        seen++;
    set->watched[set->count++] = (Watched){handle, seen};
    return SUCCESS;
}

static int next_event(EventSet *set, EventData *out)
{
    for (int i = 0; i < set->count; i++) {
        Watched *watched = &set->watched[i];
        const Series *series = &watched->handle->scope->series[key_id("xid")];
        if (watched->seen >= series->count || series->steps[watched->seen].from > now_s())
            continue;
        char *end;
        unsigned long long xid = strtoull(series->steps[watched->seen++].text, &end, 10);
        unsigned int instance = *end == ':' ? (unsigned int)atoi(end + 1) : ~0u; /* "94:2": GPU instance 2 */
        *out = (EventData){watched->handle, XID_EVENT, xid, instance, ~0u};
        return 1;
    }
    return 0;
}

int nvmlEventSetWait_v2(EventSet *set, EventData *out, unsigned int timeout_ms)
{
    int code = enter_set(__func__, set);
    double until = now_s() + timeout_ms / 1000.0;
    while (code == SUCCESS && !next_event(set, out)) {
        if (now_s() >= until)
            return TIMEOUT;
        sleep_s(0.02);
        if (set->freed || set->generation != generation || !initialised)
            return UNINITIALIZED;
    }
    return code;
}
