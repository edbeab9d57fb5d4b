/* vLLM's /v1/rerank: a query and the documents to rank.  A prompt that is no list is a query alone; its documents may
 * come from --extra-body. */
#include "backends/api_priv.h"
#include "backends/body_priv.h"

bool rerank_body_parts(const struct config *config, struct body_template *t, struct error *err)
{
    static const struct body_piece query[] = {{PART_QUERY, NULL}};
    static const struct body_piece documents = {PART_DOCUMENTS, NULL};
    struct body b = {0};
    body_add_model(&b);
    body_add_pieces(&b, "query", query, BODY_COUNT(query));
    body_add_optional(&b, "documents", &documents);
    body_add_truncate(&b, config);
    return body_finish(&b, config, t, err);
}
