/* OpenAI's /v1/embeddings: a text, a list of texts, or token ids. */
#include "backends/api_priv.h"
#include "backends/body_priv.h"

bool embeddings_body_parts(const struct config *config, struct body_template *t, struct error *err)
{
    struct body b = {0};
    body_add_model(&b);
    body_add_prompt(&b, "input");
    body_add_truncate(&b, config);
    return body_finish(&b, config, t, err);
}
