/* Part of the stand-in: GPU performance monitoring. Metric N of a scope is its key gpm_N, as of the second sample. */

typedef struct { const Scope *scope; double at; } GpmSample;
typedef struct { const char *short_name, *long_name, *unit; } GpmInfo;
typedef struct { unsigned int metric, code; double value; GpmInfo info; } GpmMetric;
typedef struct { unsigned int version, count; GpmSample *first, *second; GpmMetric metrics[]; } GpmMetricsGet;
typedef struct { unsigned int version, supported; } GpmSupport;
enum { GPM_VERSION = 1 };
static const double shortest_s = 0.1;

int nvmlGpmQueryDeviceSupport(Handle *handle, GpmSupport *out)
{
    int code = enter(__func__, handle);
    if (code == SUCCESS && out->version != GPM_VERSION)
        return ARGUMENT_VERSION_MISMATCH;
    if (code == SUCCESS)
        out->supported = (unsigned int)flag_at(handle->scope, "gpm_supported", now_s(), 0);
    return code;
}

int nvmlGpmSampleAlloc(GpmSample **out)
{
    int code = enter_system(__func__);
    if (code == SUCCESS)
        *out = calloc(1, sizeof **out);
    return code;
}

int nvmlGpmSampleFree(GpmSample *sample)
{
    int code = enter_system(__func__);
    if (code == SUCCESS)
        free(sample);
    return code;
}

static int take_sample(const Handle *handle, const Scope *scope, GpmSample *sample)
{
    if (sample == NULL)
        return INVALID_ARGUMENT;
    if (!flag_at(handle->parent, "gpm_supported", now_s(), 0))
        return NOT_SUPPORTED;
    *sample = (GpmSample){scope, now_s()};
    return SUCCESS;
}

int nvmlGpmSampleGet(Handle *handle, GpmSample *sample)
{
    int code = enter(__func__, handle);
    return code != SUCCESS ? code : take_sample(handle, handle->scope, sample);
}

/* Asked for with the GPU's handle; compute instances of one GPU instance share its counters. */
int nvmlGpmMigSampleGet(Handle *handle, unsigned int gpu_instance, GpmSample *sample)
{
    char name[NAME_BYTES * 2];
    int code = enter(__func__, handle);
    if (code != SUCCESS)
        return code;
    if (handle->scope != handle->parent)
        return INVALID_ARGUMENT;
    for (unsigned int i = 0; i < 8; i++) {
        snprintf(name, sizeof name, "%s.mig%u", handle->scope->name, i);
        Scope *scope = find_scope(name);
        if (scope != NULL && (unsigned int)flag_at(scope, "gpu_instance_id", now_s(), -1) == gpu_instance)
            return take_sample(handle, scope, sample);
    }
    return NOT_FOUND;
}

int nvmlGpmMetricsGet(GpmMetricsGet *get)
{
    int code = enter_system(__func__);
    if (code != SUCCESS)
        return code;
    if (get->version != GPM_VERSION)
        return ARGUMENT_VERSION_MISMATCH;
    if (get->first == NULL || get->second == NULL || get->first->scope != get->second->scope
        || get->second->at - get->first->at < shortest_s)
        return INVALID_ARGUMENT;
    for (unsigned int i = 0; i < get->count; i++) {
        char key[NAME_BYTES];
        const char *text = NULL;
        snprintf(key, sizeof key, "gpm_%u", get->metrics[i].metric);
        text = text_at(get->second->scope, key_id(key), get->second->at);
        get->metrics[i].code = text == NULL ? NOT_SUPPORTED : text[0] == '!' ? (unsigned int)atoi(text + 1) : SUCCESS;
        get->metrics[i].value = text != NULL && text[0] != '!' ? atof(text) : 0;
    }
    return SUCCESS;
}
