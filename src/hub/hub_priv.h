/* hub_priv.h - what the files of this room share: requests, names in URLs, places in the cache.
 * Threads: as hub.h.  Errors: struct error. */
#ifndef VB_HUB_HUB_PRIV_H
#define VB_HUB_HUB_PRIV_H

#include "hub/headers.h"
#include "hub/hub.h"

#define HUB_PUBLIC_ENDPOINT "https://huggingface.co"
#define HUB_PUBLIC_DATASETS "https://datasets-server.huggingface.co"

/* No file of a hub is larger (bytes), no JSON answer either. */
#define HUB_FILE_MAX ((uint64_t)1 << 44)
#define HUB_JSON_MAX ((size_t)256 << 20)

struct hub_state {
    struct libcurl *api;     /* libcurl, from the first request on */
    void *curl;              /* CURL *, likewise */
    unsigned connect_s;      /* limit for connecting, and for the head of a reply */
    unsigned stall_s;        /* a body that brings nothing for so long has ended */
    struct buf dead_origin;  /* "scheme://host:port" that could not be reached; empty: none */
    struct error dead_error; /* why */
};

/* ---- requests (transport.c) ---- */

enum hub_wait {
    HUB_WAIT_HEAD, /* only the head counts: short limit in all */
    HUB_WAIT_JSON, /* an answer that the server may have to make first */
    HUB_WAIT_BODY, /* as long as bytes come */
};

struct hub_reply;
typedef bool hub_body_fn(void *user, const struct hub_reply *reply, struct sv bytes);

struct hub_request {
    const char *url;
    bool ranged; /* Range: bytes=first-last */
    uint64_t range_first;
    uint64_t range_last; /* UINT64_MAX: to the end */
    enum hub_wait wait;
    bool same_host_only; /* a redirect to another host is the reply */
    hub_body_fn *
        on_body; /* gets the body of a reply with status 2xx; false ends the transfer; NULL: collected */
    void *user;
    const char *shown;    /* for progress: the file's name; NULL: none is shown */
    uint64_t shown_first; /* bytes that were there before */
    uint64_t shown_total; /* 0: unknown */
};

struct hub_reply {
    struct hub_headers headers; /* of the last reply; status in it */
    struct buf body;            /* at most HUB_JSON_MAX bytes, without on_body or of an error */
    struct buf url;             /* that was asked in the end */
    bool ended;                 /* by on_body */
};

/* One attempt, redirects followed (at most 10).  HUB_OK: there is a reply, whatever its status. */
enum hub_outcome hub_send(struct hub_context *hub, const struct hub_request *request,
                          struct hub_reply *reply, struct error *err);
/* The same with hub->retries further attempts after connection errors, statuses of 5xx and 429. */
enum hub_outcome hub_send_patiently(struct hub_context *hub, const struct hub_request *request,
                                    struct hub_reply *reply, struct error *err);
void hub_reply_done(struct hub_reply *reply);
/* HUB_OK for 2xx, else the outcome for a status, with a message that names `what` and the URL. */
enum hub_outcome hub_judge(const struct hub_context *hub, const struct hub_reply *reply,
                           const char *what, struct error *err);
/* A URL fit to be shown: without user, password, query. */
void hub_shown_url(const char *url, struct buf *out);
/* Sleeps; false when `stop` said so. */
bool hub_pause(struct hub_context *hub, unsigned seconds);
void hub_transport_done(struct hub_context *hub);

/* ---- names (names.c) ---- */

/* Appended with everything but letters, digits, "-_.~" (and '/' where `keep_slash`) as %XX. */
void hub_add_escaped(struct buf *out, struct sv text, bool keep_slash);
/* A path that stays inside its folder: no empty, "." or ".." part, no control characters, at most 1000 bytes. */
bool hub_is_path(struct sv path);
bool hub_check_file(const struct hub_file *file, struct error *err);
/* E_CONFIG-free refusal of everything that needs the network; always HUB_OFFLINE. */
enum hub_outcome hub_refuse_offline(const char *what, struct error *err);
const char *hub_revision(const char *revision);
void hub_notice(const struct hub_context *hub, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- places in the cache (cache.c); paths are appended to *out ---- */

void hub_add_repo_folder(const struct hub_context *hub, enum hub_kind kind, const char *id,
                         struct buf *out);
/* The commit that the cache has for a revision; false: none. */
bool hub_cached_commit(const struct hub_context *hub, enum hub_kind kind, const char *id,
                       const char *revision, char commit[HUB_COMMIT_MAX + 1]);
/* snapshots/COMMIT/NAME points to blobs/ETAG from now on, refs/REVISION says COMMIT. */
bool hub_link(const struct hub_context *hub, const struct hub_file *file, const char *commit,
              const char *etag, struct error *err);
/* Notes that the commit has no such file, as Python's library does.  Best effort. */
void hub_note_absent(const struct hub_context *hub, const struct hub_file *file,
                     const char *commit);

#endif
