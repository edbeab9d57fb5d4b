/* server.h - the calls to the server that are not measured: model discovery, profiler, tokenizer end points; and the
 * header lines that every request carries.
 * Use: server_headers once; the others when their phase comes.
 * Threads: read-only on the struct; each call has its own connection.  Errors: struct error with the call and the
 * server's message. */
#ifndef VB_LOAD_SERVER_H
#define VB_LOAD_SERVER_H

#include "base/arena.h"
#include "config/config.h"
#include "net/fetch.h"
#include "net/target.h"

struct server {
    const struct config *config;
    const struct net_target *target;
    struct fetch_pool *pool; /* connections of these calls */
};

/* Header lines of a measured request, "Name: value\r\n" each: Host, Content-Type, Accept, User-Agent, Authorization from
 * OPENAI_API_KEY, then --header items; a later name replaces an earlier one in its place (BACKENDS 1).  A content type
 * other than JSON (NULL) belongs to the body's framing: no header replaces it. */
void server_headers(const struct server *s, const char *content_type, struct buf *out);

/* What GET /v1/models says of the first model: `id` goes into requests, `root` (id when absent) names it in results. */
struct server_model {
    struct sv id;
    struct sv root;
};
bool server_discover(const struct server *s, struct arena *arena, struct server_model *model,
                     struct error *err);

/* GET; appends the reply's body.  An error status is an error. */
bool server_get(const struct server *s, const char *path, uint64_t timeout_ns, struct buf *reply,
                struct error *err);
/* The same, telling when it takes long. */
bool server_get_patiently(const struct server *s, const char *path, uint64_t timeout_ns,
                          const struct fetch_patience *patience, struct buf *reply,
                          struct error *err);

/* POST without a body to a path such as "/start_profile"; an error status is an error. */
bool server_command(const struct server *s, const char *path, struct error *err);

/* POST of a JSON body; appends the reply's body.  Its type is tokenizer_post_fn with the struct server as user. */
bool server_post(void *server, const char *path, struct sv body, struct buf *reply,
                 struct error *err);

#endif
