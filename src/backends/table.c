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
    {
        .name = "openai-responses",
        .endpoint = "/v1/responses",
        .endpoint_suffix = "responses",
        .streams = true,
        .openai_compatible = true,
        .needs_terminal = true,
        .body_parts = responses_body_parts,
        .scan = responses_scan,
    },
    {
        .name = "openai-audio",
        .endpoint = "/v1/audio/transcriptions",
        .endpoint_suffix = "transcriptions",
        .endpoint_suffix2 = "translations",
        .content_type = AUDIO_CONTENT_TYPE,
        .streams = true,
        .needs_file = true,
        .body_parts = audio_body_parts,
        .scan = audio_scan,
    },
    {
        .name = "openai-embeddings",
        .endpoint = "/v1/embeddings",
        .endpoint_suffix = "embeddings",
        .pooling = true,
        .body_parts = embeddings_body_parts,
        .scan = pooled_scan,
    },
    {
        .name = "openai-embeddings-chat",
        .endpoint = "/v1/embeddings",
        .endpoint_suffix = "embeddings",
        .pooling = true,
        .body_parts = embeddings_chat_body_parts,
        .scan = pooled_scan,
    },
    {
        .name = "openai-embeddings-clip",
        .endpoint = "/v1/embeddings",
        .endpoint_suffix = "embeddings",
        .pooling = true,
        .body_parts = embeddings_clip_body_parts,
        .scan = pooled_scan,
    },
    {
        .name = "openai-embeddings-vlm2vec",
        .endpoint = "/v1/embeddings",
        .endpoint_suffix = "embeddings",
        .pooling = true,
        .body_parts = embeddings_vlm2vec_body_parts,
        .scan = pooled_scan,
    },
    {
        .name = "infinity-embeddings",
        .endpoint = "/embeddings",
        .endpoint_suffix = "embeddings",
        .pooling = true,
        .body_parts = infinity_body_parts,
        .scan = pooled_scan,
    },
    {
        .name = "infinity-embeddings-clip",
        .endpoint = "/embeddings",
        .endpoint_suffix = "embeddings",
        .pooling = true,
        .body_parts = infinity_clip_body_parts,
        .scan = pooled_scan,
    },
    {
        .name = "vllm-pooling",
        .endpoint = "/pooling",
        .endpoint_suffix = "pooling",
        .pooling = true,
        .body_parts = pooling_body_parts,
        .scan = pooled_scan,
    },
    {
        .name = "vllm-rerank",
        .endpoint = "/v1/rerank",
        .endpoint_suffix = "rerank",
        .pooling = true,
        .ranks = true,
        .body_parts = rerank_body_parts,
        .scan = pooled_scan,
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

uint32_t backend_inputs(const struct backend *backend, const struct body_template *t,
                        uint32_t sequences)
{
    if (t->has_fixed_inputs)
        return t->fixed_inputs;
    if (sequences == 0)
        sequences = 1;
    return backend->ranks ? sequences - 1 : sequences;
}
