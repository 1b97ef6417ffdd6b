/* Part of the stand-in: field values and the processes' utilisation. */

typedef union { double d; unsigned int ui; unsigned long ul; unsigned long long ull; long long sll; int si; } Value;
typedef struct {
    unsigned int field, scope;
    long long timestamp_us, latency_us;
    unsigned int type, code;
    Value value;
} FieldValue;
enum { TYPE_UINT = 1, TYPE_ULL = 3, TYPE_INT = 5 };

/* What a field's scope chooses: nothing, a power scope, a link. */
enum { PLAIN, POWER, LINK };
static const struct { unsigned int field; const char *key; int kind; unsigned int type; } field_table[] = {
    {3, "ecc_corrected_volatile", PLAIN, TYPE_ULL},     {4, "ecc_uncorrected_volatile", PLAIN, TYPE_ULL},
    {5, "ecc_corrected_aggregate", PLAIN, TYPE_ULL},    {6, "ecc_uncorrected_aggregate", PLAIN, TYPE_ULL},
    {29, "pages_retired_corrected", PLAIN, TYPE_ULL},   {30, "pages_retired_uncorrected", PLAIN, TYPE_ULL},
    {31, "pages_retired_pending", PLAIN, TYPE_UINT},    {74, "throttle_power_ns", PLAIN, TYPE_ULL},
    {82, "temperature_memory_c", PLAIN, TYPE_UINT},     {83, "energy_mj", PLAIN, TYPE_ULL},
    {90, "nvlink_speed_common", PLAIN, TYPE_UINT},      {91, "nvlink_links", PLAIN, TYPE_UINT},
    {94, "pcie_replays", PLAIN, TYPE_UINT},             {138, "nvlink_tx_kib", LINK, TYPE_ULL},
    {139, "nvlink_rx_kib", LINK, TYPE_ULL},             {142, "rows_remapped_correctable", PLAIN, TYPE_UINT},
    {143, "rows_remapped_uncorrectable", PLAIN, TYPE_UINT}, {144, "row_remap_pending", PLAIN, TYPE_UINT},
    {145, "row_remap_failed", PLAIN, TYPE_UINT},        {164, "nvlink_speed", LINK, TYPE_UINT},
    {165, "nvlink_state", LINK, TYPE_UINT},             {185, "power_average_mw", POWER, TYPE_UINT},
    {186, "power_instant_mw", POWER, TYPE_UINT},        {193, "margin_shutdown_c", PLAIN, TYPE_INT},        {194, "margin_slowdown_c", PLAIN, TYPE_INT},
    {197, "pcie_tx_bytes", PLAIN, TYPE_ULL},
    {198, "pcie_rx_bytes", PLAIN, TYPE_ULL},            {202, "nvlink_tx_bytes", LINK, TYPE_ULL},
    {204, "nvlink_rx_bytes", LINK, TYPE_ULL},           {269, "throttle_thermal_ns", PLAIN, TYPE_ULL},
    {270, "throttle_hardware_thermal_ns", PLAIN, TYPE_ULL}, {271, "throttle_power_brake_ns", PLAIN, TYPE_ULL},
};

static long long wall_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Now; a key shifts it, or replaces it altogether. */
static long long stamp_us(const Scope *scope)
{
    const char *text = text_at(scope, key_id("driver_clock_us"), now_s());
    if (text == NULL)
        return wall_us();
    return text[0] == '+' || text[0] == '-' ? wall_us() + atoll(text) : atoll(text);
}

static int read_field(const Scope *scope, FieldValue *out)
{
    for (size_t i = 0; i < sizeof field_table / sizeof *field_table; i++) {
        unsigned long long value = 0;
        int code;
        if (field_table[i].field != out->field)
            continue;
        if (field_table[i].kind == LINK)
            code = read_numbered(scope, "nvlink_links", field_table[i].key, out->scope, &value);
        else if (field_table[i].kind == POWER && out->scope == 1)
            code = read_u64(scope, "power_module_mw", &value);
        else
            code = read_u64(scope, field_table[i].key, &value);
        /* A counter of 32 bits is an unsigned int, as its key says by a second key. */
        char narrow[NAME_BYTES];
        snprintf(narrow, sizeof narrow, "%s_is_uint", field_table[i].key);
        out->type = flag_at(scope, narrow, now_s(), 0) ? TYPE_UINT : field_table[i].type;
        if (out->type == TYPE_INT)
            out->value.si = (int)value;
        else if (out->type == TYPE_UINT)
            out->value.ui = (unsigned int)value;
        else
            out->value.ull = value;
        return code;
    }
    return NOT_SUPPORTED;
}

int nvmlDeviceGetFieldValues(Handle *handle, int count, FieldValue *out)
{
    int code = enter(__func__, handle);
    if (code != SUCCESS)
        return code;
    if (handle->scope != handle->parent || count < 1 || out == NULL)
        return INVALID_ARGUMENT; /* not for MIG handles */
    for (int i = 0; i < count; i++) {
        char name[NAME_BYTES];
        snprintf(name, sizeof name, "field%u", out[i].field); /* rules may name single fields */
        out[i].timestamp_us = stamp_us(handle->scope);
        out[i].latency_us = 5;
        out[i].code = (unsigned int)apply_rules(name, handle->scope->name);
        if (out[i].code == SUCCESS)
            out[i].code = (unsigned int)read_field(handle->scope, &out[i]);
    }
    return SUCCESS;
}

typedef struct { unsigned int pid; unsigned long long stamp_us; unsigned int sm, memory, encoder, decoder; } Share;

/* "PID:SM PID:SM:STAMP_US": without a stamp, of this moment. */
int nvmlDeviceGetProcessUtilization(Handle *handle, Share *out, unsigned int *size, unsigned long long last_seen_us)
{
    const char *text;
    unsigned int found = 0, room = out != NULL ? *size : 0;
    int code = enter(__func__, handle);
    if (code == SUCCESS)
        code = look_up(handle->scope, "process_utilization", &text);
    if (code != SUCCESS)
        return code;
    for (int used; *text != '\0'; text += used) {
        Share share = {0, (unsigned long long)wall_us(), 0, 0, 0, 0};
        used = 0;
        if (sscanf(text, " %u:%u%n", &share.pid, &share.sm, &used) < 2 || used == 0)
            break;
        if (text[used] == ':') {
            int more = 0;
            sscanf(text + used, ":%llu%n", &share.stamp_us, &more);
            used += more;
        }
        if (share.stamp_us <= last_seen_us)
            continue;
        if (found < room)
            out[found] = share;
        found++;
    }
    *size = found;
    return found == 0 ? NOT_FOUND : found > room ? INSUFFICIENT_SIZE : SUCCESS;
}
