/* hub.h - files of a Hugging Face hub: found in the local cache, else downloaded into it.
 * The cache has the layout of Python's and Rust's libraries and is shared with both: what one of them has downloaded is
 * used, and the other way round.  A file that is in the cache costs no network access.
 * Use: hub_init once; set the callbacks; hub_find_cached, hub_fetch_file, hub_list_files as often as wanted; hub_done.
 * Files are downloaded one at a time; an interrupted download goes on where it ended.  Several processes may fetch the
 * same file: the first one downloads, the others wait.
 * Threads: a context belongs to one thread.  Errors: enum hub_outcome and struct error; the token is in none. */
#ifndef VB_HUB_HUB_H
#define VB_HUB_HUB_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>

enum hub_kind { HUB_MODEL, HUB_DATASET };

enum hub_outcome {
    HUB_OK,
    HUB_ABSENT,      /* no such file, revision or repository (404) */
    HUB_DENIED,      /* 401 or 403: private or gated, or a wrong token */
    HUB_OFFLINE,     /* not in the cache, and HF_HUB_OFFLINE forbids to ask */
    HUB_UNREACHABLE, /* no connection; further calls for the same host then fail at once */
    HUB_FAILED,      /* everything else */
    HUB_INTERRUPTED, /* `stop` said so */
};

/* A file of a repository.  Strings are the caller's. */
struct hub_file {
    enum hub_kind kind;
    const char *id;       /* "ORG/NAME" or "NAME" */
    const char *revision; /* branch, tag or commit; NULL: "main" */
    const char *name;     /* path inside the repository, '/' between folders */
};

/* How far a download is. */
struct hub_progress {
    const char *name; /* of the file */
    uint64_t done_bytes;
    uint64_t total_bytes; /* 0: unknown */
    uint64_t fresh_bytes; /* of done_bytes those of this call, not of an earlier attempt */
    uint64_t elapsed_ns;
    bool finished; /* the last call for this file */
};

struct hub_context {
    /* From the environment; may be changed between hub_init and the first call.  Strings without a '/' at the end. */
    const char *endpoint;        /* HF_ENDPOINT, else https://huggingface.co */
    const char *datasets_server; /* HF_DATASETS_SERVER, else made from the endpoint (docs/hub.md) */
    const char *token;           /* HF_TOKEN or the token file; NULL: none.  Never shown */
    const char *cache;           /* folder of the repositories: HF_HUB_CACHE, HF_HOME/hub ... */
    const char
        *own_cache; /* of answers that are no files of a repository: XDG_CACHE_HOME/vllm-bench */
    bool offline;   /* HF_HUB_OFFLINE */
    bool insecure;  /* certificates are not checked */
    const char *ca_file; /* NULL: the system's trust store */
    /* Further attempts after a connection error or a status of 5xx, 2, 4, 6 ... s apart; 0 after hub_init. */
    unsigned retries;

    /* All may be NULL. */
    void (*notice)(void *user, const char *sentence); /* what is downloaded, retries; for stderr */
    void (*progress)(void *user,
                     const struct hub_progress *progress); /* about ten times a second */
    bool (*stop)(void *user); /* asked at least once a second; true ends a download */
    void *user;

    /* private */
    struct arena arena;
    struct hub_state *state;
};

/* Settings from the environment (docs/hub.md); no network.  The caller's previous content is ignored. */
void hub_init(struct hub_context *hub);
void hub_done(struct hub_context *hub);

/* Is the endpoint the public hub? */
bool hub_is_public(const struct hub_context *hub);
/* Is this a name that a hub can have: "ORG/NAME" or "NAME" of letters, digits, '-', '_' and '.'? */
bool hub_is_id(const char *id);

/* The path of the file in the cache into *path (replaced, NUL-terminated); false when it is not there.  No network. */
bool hub_find_cached(const struct hub_context *hub, const struct hub_file *file, struct buf *path);
/* Does the cache say that the revision which it knows has no such file? */
bool hub_known_absent(const struct hub_context *hub, const struct hub_file *file);

/* The path of the file in the cache into *path (replaced, NUL-terminated), downloaded when it is not there.
 * The folder around it is that of all files of the revision (a snapshot).  *err is filled unless HUB_OK is returned. */
enum hub_outcome hub_fetch_file(struct hub_context *hub, const struct hub_file *file,
                                struct buf *path, struct error *err);

/* Names of files, sorted by bytes. */
struct hub_names {
    struct sv *items; /* NUL-terminated, in `arena` */
    size_t count;
    struct arena arena;
};
/* The names of all files of a repository at a revision.  Offline: of those in the cache. */
enum hub_outcome hub_list_files(struct hub_context *hub, enum hub_kind kind, const char *id,
                                const char *revision, struct hub_names *names, struct error *err);
void hub_names_done(struct hub_names *names);

#endif
