/* Part of the stand-in: how GPUs are connected. `topology_gpu1` and `p2p_status_gpu1` are a GPU's answers about another;
   without a name, about all others. `nvlink_remote_3` is the bus id at the far end of link 3. */

static int read_about(const Scope *scope, const char *key, const Handle *other, unsigned int *out)
{
    char own[2 * NAME_BYTES];
    if (other == NULL)
        return INVALID_ARGUMENT;
    snprintf(own, sizeof own, "%s_%s", key, other->scope->name);
    return read_uint(scope, text_at(scope, key_id(own), now_s()) != NULL ? own : key, out);
}

int nvmlDeviceGetTopologyCommonAncestor(Handle *handle, Handle *other, unsigned int *out)
{
    int code = enter(__func__, handle);
    return code != SUCCESS ? code : read_about(handle->scope, "topology", other, out);
}

int nvmlDeviceGetP2PStatus(Handle *handle, Handle *other, unsigned int capability, unsigned int *out)
{
    int code = enter(__func__, handle);
    (void)capability;
    return code != SUCCESS ? code : read_about(handle->scope, "p2p_status", other, out);
}

GET_NUMBERED(nvmlDeviceGetNvLinkRemoteDeviceType, "nvlink_links", "nvlink_remote_type")

int nvmlDeviceGetNvLinkRemotePciInfo_v2(Handle *handle, unsigned int link, PciInfo *out)
{
    char own[NAME_BYTES];
    int code = enter(__func__, handle);
    memset(out, 0, sizeof *out);
    snprintf(own, sizeof own, "nvlink_remote_%u", link);
    return code != SUCCESS ? code : read_text(handle->scope, own, out->bus_id, sizeof out->bus_id);
}
