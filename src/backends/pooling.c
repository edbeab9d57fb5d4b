/* vLLM's /pooling: as /v1/embeddings, with the keys in another order. */
#include "backends/api_priv.h"
#include "backends/body_priv.h"

bool pooling_body_parts(const struct config *config, struct body_template *t, struct error *err)
{
    struct body b = {0};
    body_add_model(&b);
    body_add_truncate(&b, config);
    body_add_prompt(&b, "input");
    return body_finish(&b, config, t, err);
}
