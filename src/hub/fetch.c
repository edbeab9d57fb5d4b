/* A file of a repository: what the hub says about it first, then its content in one stream into a part file, then the
 * entry in the cache.  What broke off goes on where it ended; names that are SHA-256 sums are checked. */
#include "hub/hub_priv.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "hub/lock.h"
#include "hub/part.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { HOPS_MAX = 4, TRIES_MAX = 50, MEGABYTE = 1000000, WORTH_BYTES = 64 * 1024 };

/* Downloads of more than this many bytes are announced. */
static const uint64_t announced_bytes = 1000000;

struct fetch {
    struct hub_context *hub;
    const struct hub_file *file;
    struct buf what; /* for messages */
    struct buf url;
    struct buf blob; /* path */
    const char *etag;
    const char *commit;
    uint64_t size;
    struct hub_reply facts; /* owns etag and commit */
    struct hub_reply reply; /* of the request under way */
    struct part part;
    bool began;  /* a body's first bytes have been looked at */
    bool broken; /* `reason` ended the body */
    struct error reason;
    uint64_t start_ns;
    uint64_t start_bytes;
};

static void describe(const struct hub_file *file, struct buf *out)
{
    buf_add_fmt(out, "'%s' of the %s '%s' (revision '%s')", file->name,
                file->kind == HUB_DATASET ? "data set" : "model", file->id,
                hub_revision(file->revision));
}

static void make_url(const struct fetch *f, struct buf *out)
{
    buf_add_fmt(out, "%s/%s%s/resolve/", f->hub->endpoint,
                f->file->kind == HUB_DATASET ? "datasets/" : "", f->file->id);
    hub_add_escaped(out, sv_from(hub_revision(f->file->revision)), false);
    buf_add_char(out, '/');
    hub_add_escaped(out, sv_from(f->file->name), true);
}

/* ---- what the hub says -------------------------------------------------------------------------------------------- */

/* The head of the reply that names etag and commit: behind redirects inside the hub, before one to its store. */
static enum hub_outcome ask(struct fetch *f, struct error *err)
{
    struct buf url = {0};
    enum hub_outcome outcome = HUB_FAILED;
    bool ranged = true;
    buf_add(&url, buf_sv(&f->url));
    for (unsigned hop = 0; hop < HOPS_MAX; hop++) {
        struct hub_request request = {
            .url = buf_cstr(&url), .ranged = ranged, .wait = HUB_WAIT_HEAD, .same_host_only = true};
        outcome = hub_send_patiently(f->hub, &request, &f->facts, err);
        if (outcome != HUB_OK)
            break;
        const struct hub_headers *h = &f->facts.headers;
        if (h->status == 416 && ranged) {
            ranged = false; /* an empty file has no first byte */
        } else if (h->status / 100 == 3 && h->location[0] != '\0' && h->commit[0] == '\0') {
            buf_reset(&url); /* only the address has changed */
            buf_add(&url, buf_sv(&f->facts.url));
        } else {
            outcome = h->status / 100 == 3 ? HUB_OK
                                           : hub_judge(f->hub, &f->facts, buf_cstr(&f->what), err);
            break;
        }
    }
    buf_done(&url);
    return outcome;
}

static bool size_of(const struct hub_headers *h, uint64_t *size)
{
    if (h->status == 206 && h->has_range_total)
        *size = h->range_total;
    else if (h->status == 200 && h->has_length)
        *size = h->length;
    else
        return false;
    return true;
}

/* The size of what a redirect to a store leads to. */
static enum hub_outcome ask_store(struct fetch *f, struct error *err)
{
    struct hub_request request = {
        .url = buf_cstr(&f->facts.url), .ranged = true, .wait = HUB_WAIT_HEAD};
    enum hub_outcome outcome = hub_send_patiently(f->hub, &request, &f->reply, err);
    if (outcome == HUB_OK)
        outcome = hub_judge(f->hub, &f->reply, buf_cstr(&f->what), err);
    if (outcome == HUB_OK && !size_of(&f->reply.headers, &f->size)) {
        error_set(err, E_SERVER, "the hub does not say how large %s is", buf_cstr(&f->what));
        outcome = HUB_FAILED;
    }
    return outcome;
}

static enum hub_outcome read_facts(struct fetch *f, struct error *err)
{
    enum hub_outcome outcome = ask(f, err);
    const struct hub_headers *h = &f->facts.headers;
    if (outcome == HUB_ABSENT && h->commit[0] != '\0')
        hub_note_absent(f->hub, f->file, h->commit);
    if (outcome != HUB_OK)
        return outcome;
    f->etag = h->linked_etag[0] != '\0' ? h->linked_etag : h->etag;
    f->commit = h->commit;
    if (f->etag[0] == '\0' || f->commit[0] == '\0') {
        struct buf shown = {0};
        hub_shown_url(buf_cstr(&f->url), &shown);
        error_set(
            err, E_SERVER,
            "the answer of '%s' has no usable %s header; is HF_ENDPOINT the address of a hub?",
            buf_cstr(&shown), f->commit[0] == '\0' ? "X-Repo-Commit" : "ETag");
        buf_done(&shown);
        return HUB_FAILED;
    }
    if (h->status / 100 == 3 && h->has_linked_size)
        f->size = h->linked_size;
    else if (!size_of(h, &f->size))
        outcome = ask_store(f, err);
    if (outcome == HUB_OK && f->size > HUB_FILE_MAX) {
        error_set(err, E_LIMIT, "%s has %llu bytes, more than any file may have",
                  buf_cstr(&f->what), (unsigned long long)f->size);
        outcome = HUB_FAILED;
    }
    return outcome;
}

/* ---- the content -------------------------------------------------------------------------------------------------- */

/* Is this the stretch that was asked for?  A server that ignores ranges begins at the first byte. */
static bool check_head(struct fetch *f, const struct hub_reply *reply)
{
    const struct hub_headers *h = &reply->headers;
    bool partial = h->status == 206;
    uint64_t total = f->size;
    if (partial && (!h->has_range || h->range_first != f->part.done))
        return error_set(&f->reason, E_SERVER,
                         "the hub sends another part of %s than was asked for", buf_cstr(&f->what));
    if (partial && h->has_range_total)
        total = h->range_total;
    else if (!partial && h->has_length)
        total = h->length;
    if (total != f->size)
        return error_set(&f->reason, E_SERVER, "the hub announced %llu bytes for %s and sends %llu",
                         (unsigned long long)f->size, buf_cstr(&f->what),
                         (unsigned long long)total);
    return partial || f->part.done == 0 || part_restart(&f->part, &f->reason);
}

static bool on_bytes(void *user, const struct hub_reply *reply, struct sv bytes)
{
    struct fetch *f = user;
    bool ok = (f->began || check_head(f, reply)) && part_add(&f->part, bytes, &f->reason);
    f->began = true;
    f->broken = !ok;
    return ok;
}

/* One request for what is missing.  *final: another one would not help. */
static enum hub_outcome get_rest(struct fetch *f, bool *final, struct error *err)
{
    struct hub_reply *reply = &f->reply;
    struct hub_request request = {
        .url = buf_cstr(&f->url),
        .ranged = f->part.done > 0,
        .range_first = f->part.done,
        .range_last = UINT64_MAX,
        .wait = HUB_WAIT_BODY,
        .on_body = on_bytes,
        .user = f,
        .shown = f->file->name,
        .shown_first = f->part.done,
        .shown_total = f->size,
    };
    f->began = f->broken = false;
    enum hub_outcome outcome = hub_send(f->hub, &request, reply, err);
    *final = f->broken || outcome == HUB_INTERRUPTED;
    if (f->broken) {
        *err = f->reason;
        outcome = HUB_FAILED;
    } else if (outcome == HUB_OK) {
        outcome = hub_judge(f->hub, reply, buf_cstr(&f->what), err);
        *final = reply->headers.status < 500 && reply->headers.status != 429;
        if (outcome == HUB_OK && f->part.done < f->size) {
            error_set(err, E_NETWORK, "%s ended after %llu of %llu bytes", buf_cstr(&f->what),
                      (unsigned long long)f->part.done, (unsigned long long)f->size);
            outcome = HUB_FAILED;
            *final = false;
        }
    }
    return outcome;
}

/* Attempts that bring many bytes do not count as failures. */
static enum hub_outcome get_all(struct fetch *f, struct error *err)
{
    unsigned failures = 0;
    for (unsigned i = 0; f->part.done < f->size; i++) {
        uint64_t before = f->part.done;
        bool final;
        enum hub_outcome outcome = get_rest(f, &final, err);
        struct error unsaved;
        if (!part_save(&f->part, &unsaved) && outcome == HUB_OK) {
            *err = unsaved;
            return HUB_FAILED;
        }
        if (outcome == HUB_OK)
            continue;
        failures = f->part.done >= before + WORTH_BYTES ? 0 : failures + 1;
        if (final || failures > f->hub->retries || i + 1 >= TRIES_MAX)
            return outcome;
        unsigned wait_s = failures > 0 ? 2 * failures : 1;
        hub_notice(f->hub, "%s; going on at byte %llu in %u s", err->message,
                   (unsigned long long)f->part.done, wait_s);
        if (!hub_pause(f->hub, wait_s)) {
            error_set(err, E_INTERRUPTED, "the download was interrupted");
            return HUB_INTERRUPTED;
        }
    }
    return HUB_OK;
}

static bool is_sha256(const char *etag)
{
    return strlen(etag) == SHA256_HEX && strspn(etag, "0123456789abcdef") == SHA256_HEX;
}

static enum hub_outcome get_checked(struct fetch *f, struct error *err)
{
    char hex[SHA256_HEX + 1];
    for (;;) {
        bool resumed = f->part.done > 0;
        enum hub_outcome outcome = get_all(f, err);
        if (outcome != HUB_OK || !f->part.hashing)
            return outcome;
        sha256_end(&f->part.hash, hex);
        if (strcmp(hex, f->etag) == 0)
            return HUB_OK;
        error_set(err, E_SERVER,
                  "what was downloaded of %s has another SHA-256 (%s) than it should",
                  buf_cstr(&f->what), hex);
        if (!resumed || !part_restart(&f->part, err)) {
            part_drop(&f->part);
            return HUB_FAILED;
        }
        hub_notice(f->hub, "%s; downloading it afresh", err->message);
    }
}

static void tell_end(const struct fetch *f)
{
    const struct hub_context *hub = f->hub;
    if (hub->progress == NULL)
        return;
    struct hub_progress p = {.name = f->file->name,
                             .done_bytes = f->part.done,
                             .total_bytes = f->size,
                             .fresh_bytes =
                                 f->part.done > f->start_bytes ? f->part.done - f->start_bytes : 0,
                             .elapsed_ns = clock_mono_ns() - f->start_ns,
                             .finished = true};
    hub->progress(hub->user, &p);
}

static enum hub_outcome download(struct fetch *f, struct error *err)
{
    struct buf path = {0};
    buf_add_fmt(&path, "%s.sync.part", buf_cstr(&f->blob));
    bool ok = part_open(&f->part, buf_cstr(&path), f->size, is_sha256(f->etag), err);
    buf_done(&path);
    if (!ok)
        return HUB_FAILED;
    f->start_ns = clock_mono_ns();
    f->start_bytes = f->part.done;
    if (f->part.done > 0)
        hub_notice(f->hub, "Going on with the download of %s at byte %llu of %llu",
                   buf_cstr(&f->what), (unsigned long long)f->part.done,
                   (unsigned long long)f->size);
    else if (f->size >= announced_bytes)
        hub_notice(f->hub, "Downloading %s, %.1f MB", buf_cstr(&f->what),
                   (double)f->size / MEGABYTE);
    enum hub_outcome outcome = get_checked(f, err);
    tell_end(f);
    if (outcome == HUB_OK && !part_finish(&f->part, buf_cstr(&f->blob), err))
        outcome = HUB_FAILED;
    part_close(&f->part);
    return outcome;
}

static bool has_blob(struct fetch *f)
{
    struct stat info;
    return stat(buf_cstr(&f->blob), &info) == 0 && S_ISREG(info.st_mode) &&
           (uint64_t)info.st_size == f->size;
}

static enum hub_outcome store(struct fetch *f, struct error *err)
{
    struct hub_lock lock;
    hub_add_repo_folder(f->hub, f->file->kind, f->file->id, &f->blob);
    buf_add_fmt(&f->blob, "/blobs/%s", f->etag);
    enum hub_outcome outcome = hub_lock_take(f->hub, f->file, f->etag, &lock, err);
    if (outcome != HUB_OK)
        return outcome;
    if (!has_blob(f))
        outcome = download(f, err);
    hub_lock_drop(&lock);
    if (outcome == HUB_OK && !hub_link(f->hub, f->file, f->commit, f->etag, err))
        outcome = HUB_FAILED;
    return outcome;
}

static enum hub_outcome fetch(struct fetch *f, struct buf *path, struct error *err)
{
    enum hub_outcome outcome = read_facts(f, err);
    if (outcome == HUB_OK)
        outcome = store(f, err);
    if (outcome != HUB_OK)
        return outcome;
    /* By the commit: the name of the revision may mean another one by now. */
    struct hub_file exact = *f->file;
    exact.revision = f->commit;
    if (hub_find_cached(f->hub, &exact, path))
        return HUB_OK;
    error_set(err, E_IO, "%s was downloaded, but is not in the cache '%s'", buf_cstr(&f->what),
              f->hub->cache);
    return HUB_FAILED;
}

enum hub_outcome hub_fetch_file(struct hub_context *hub, const struct hub_file *file,
                                struct buf *path, struct error *err)
{
    enum hub_outcome outcome;
    if (!hub_check_file(file, err))
        return HUB_FAILED;
    if (hub_find_cached(hub, file, path))
        return HUB_OK;
    struct fetch *f = mem_new(struct fetch); /* replies are large */
    f->hub = hub;
    f->file = file;
    f->part.fd = -1;
    describe(file, &f->what);
    if (hub_known_absent(hub, file)) {
        error_set(err, E_SERVER, "the hub has no %s, as the cache '%s' knows", buf_cstr(&f->what),
                  hub->cache);
        outcome = HUB_ABSENT;
    } else if (hub->offline) {
        outcome = hub_refuse_offline(buf_cstr(&f->what), err);
    } else {
        make_url(f, &f->url);
        outcome = fetch(f, path, err);
    }
    buf_done(&f->what);
    buf_done(&f->url);
    buf_done(&f->blob);
    hub_reply_done(&f->facts);
    hub_reply_done(&f->reply);
    free(f);
    return outcome;
}
