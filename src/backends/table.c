/* The one list of APIs. */
#include "backends/api_priv.h"

static const struct backend backends[] = {
    {
        .name = "openai",
        .endpoint = "/v1/completions",
        .endpoint_suffix = "completions",
        .streams = true,
        .openai_compatible = true,
        .body_parts = completions_body_parts,
        .scan = completions_scan,
    },
    {
        .name = "vllm",
        .endpoint = "/v1/completions",
        .endpoint_suffix = "completions",
        .streams = true,
        .openai_compatible = true,
        .body_parts = completions_body_parts,
        .scan = completions_scan,
    },
    {
        .name = "openai-chat",
        .endpoint = "/v1/chat/completions",
        .endpoint_suffix = "chat/completions",
        .streams = true,
        .openai_compatible = true,
        .body_parts = chat_body_parts,
        .scan = chat_scan,
    },
};

const struct backend *backend_at(size_t i)
{
    return i < sizeof(backends) / sizeof(backends[0]) ? &backends[i] : NULL;
}

const struct backend *backend_find(const char *name)
{
    for (size_t i = 0; backend_at(i) != NULL; i++) {
        if (strcmp(backends[i].name, name) == 0)
            return &backends[i];
    }
    return NULL;
}
