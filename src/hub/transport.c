/* The one place that knows libcurl: a GET, with redirects followed by hand, since the token may go to the hub's own hosts
 * only and since a redirect's headers say what the file behind it is. */
#include "hub/hub_priv.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "hub/libcurl.h"
#include "json/tree.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    REDIRECTS_MAX = 10,
    JSON_S = 120,
    ERROR_BODY_MAX = 64 * 1024,
    SMALL_BODY = 4096,
    PAUSE_STEP_MS = 50,
    PROGRESS_EVERY_MS = 100,
    REASON_MAX = 300,
};

/* One exchange under way: what libcurl's callbacks see. */
struct exchange {
    struct hub_context *hub;
    const struct hub_request *request;
    struct hub_reply *reply;
    struct curl_slist *headers;
    uint64_t start_ns;
    uint64_t shown_ns;
    bool interrupted;
    bool too_long;
    char reason[CURL_ERROR_SIZE];
};

/* ---- URLs --------------------------------------------------------------------------------------------------------- */

/* A part of a URL, appended; false when there is none. */
static bool add_part(const struct libcurl *api, CURLU *url, CURLUPart part, struct buf *out)
{
    char *text = NULL;
    bool ok = api->url_get(url, part, &text, CURLU_DEFAULT_PORT) == CURLUE_OK;
    if (ok)
        buf_add_str(out, text);
    api->free(text);
    return ok;
}

/* "https://host:443". */
static bool origin_of(const struct libcurl *api, const char *text, struct buf *out)
{
    CURLU *url = api->url();
    buf_reset(out);
    bool ok = url != NULL && api->url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK &&
              add_part(api, url, CURLUPART_SCHEME, out);
    buf_add_str(out, "://");
    ok = ok && add_part(api, url, CURLUPART_HOST, out);
    buf_add_char(out, ':');
    ok = ok && add_part(api, url, CURLUPART_PORT, out);
    api->url_cleanup(url);
    return ok;
}

static bool same_origin(const struct libcurl *api, const char *a, const char *b)
{
    struct buf one = {0};
    struct buf two = {0};
    bool same =
        origin_of(api, a, &one) && origin_of(api, b, &two) && sv_eq(buf_sv(&one), buf_sv(&two));
    buf_done(&one);
    buf_done(&two);
    return same;
}

/* *url becomes what `location` means seen from it. */
static bool go_to(const struct libcurl *api, struct buf *url, const char *location)
{
    CURLU *joined = api->url();
    struct buf next = {0};
    bool ok = joined != NULL &&
              api->url_set(joined, CURLUPART_URL, buf_cstr(url), 0) == CURLUE_OK &&
              api->url_set(joined, CURLUPART_URL, location, 0) == CURLUE_OK &&
              add_part(api, joined, CURLUPART_URL, &next);
    api->url_cleanup(joined);
    if (ok) {
        buf_reset(url);
        buf_add(url, buf_sv(&next));
    }
    buf_done(&next);
    return ok;
}

void hub_shown_url(const char *url, struct buf *out)
{
    const char *mark = strstr(url, "://");
    size_t host = mark != NULL ? (size_t)(mark - url) + 3 : 0;
    struct sv rest = sv_from(url + host);
    rest.len = strcspn(rest.ptr, "?#");
    size_t authority = strcspn(rest.ptr, "/?#");
    for (size_t at = 0; at < authority; at++)
        if (rest.ptr[at] == '@') {
            rest = sv_skip(rest, at + 1);
            authority -= at + 1;
            at = (size_t)-1;
        }
    buf_add(out, sv_make(url, host));
    buf_add(out, rest);
}

/* This machine is reached directly, as everywhere in this program. */
static bool is_loopback(const struct libcurl *api, const char *url)
{
    struct buf origin = {0};
    bool is = origin_of(api, url, &origin);
    const char *host = is ? strstr(buf_cstr(&origin), "://") + 3 : "";
    is = strncmp(host, "127.", 4) == 0 || strncmp(host, "localhost:", 10) == 0 ||
         strncmp(host, "[::1]:", 6) == 0;
    buf_done(&origin);
    return is;
}

/* ---- callbacks ---------------------------------------------------------------------------------------------------- */

static size_t on_header(char *bytes, size_t size, size_t count, void *user)
{
    struct exchange *x = user;
    hub_headers_line(&x->reply->headers, sv_trim(sv_make(bytes, size * count)));
    return size * count;
}

static size_t end_transfer(struct exchange *x)
{
    x->reply->ended = true;
    return 0; /* fewer than came: libcurl stops */
}

static size_t on_body(char *bytes, size_t size, size_t count, void *user)
{
    struct exchange *x = user;
    struct hub_reply *reply = x->reply;
    const struct hub_headers *h = &reply->headers;
    struct sv piece = sv_make(bytes, size * count);
    bool good = h->status >= 200 && h->status < 300;
    if (good && x->request->on_body != NULL)
        return x->request->on_body(x->request->user, reply, piece) ? piece.len : end_transfer(x);
    if (good && x->request->wait == HUB_WAIT_HEAD)
        return h->has_length && h->length <= SMALL_BODY ? piece.len : end_transfer(x);
    size_t room = (good ? HUB_JSON_MAX : ERROR_BODY_MAX) - reply->body.len;
    if (piece.len > room && good) {
        x->too_long = true;
        return end_transfer(x);
    }
    piece.len = piece.len < room ? piece.len : room;
    buf_add(&reply->body, piece);
    return size * count;
}

static int on_progress(void *user, curl_off_t total, curl_off_t now, curl_off_t up_total,
                       curl_off_t up_now)
{
    struct exchange *x = user;
    struct hub_context *hub = x->hub;
    const struct hub_request *r = x->request;
    uint64_t now_ns = clock_mono_ns();
    (void)total;
    (void)up_total;
    (void)up_now;
    if (hub->stop != NULL && hub->stop(hub->user)) {
        x->interrupted = true;
        return 1;
    }
    if (r->shown != NULL && hub->progress != NULL && x->reply->headers.status / 100 == 2 &&
        now_ns - x->shown_ns >= PROGRESS_EVERY_MS * NS_PER_MS) {
        struct hub_progress p = {
            .name = r->shown,
            .done_bytes = (x->reply->headers.status == 206 ? r->shown_first : 0) + (uint64_t)now,
            .total_bytes = r->shown_total,
            .fresh_bytes = (uint64_t)now,
            .elapsed_ns = now_ns - x->start_ns};
        x->shown_ns = now_ns;
        hub->progress(hub->user, &p);
    }
    return 0;
}

/* ---- one exchange ------------------------------------------------------------------------------------------------- */

static CURL *handle_of(struct hub_context *hub, struct error *err)
{
    struct hub_state *state = hub->state;
    const struct libcurl *api = state->api;
    if (state->curl == NULL)
        state->curl = api->easy_init();
    if (state->curl != NULL)
        api->easy_reset(state->curl);
    else
        error_set(err, E_UNSUPPORTED, "libcurl cannot be used here");
    return state->curl;
}

static bool load(struct hub_context *hub, struct error *err)
{
    struct hub_state *state = hub->state;
    if (state->api == NULL)
        state->api = mem_new(struct libcurl);
    return libcurl_load(state->api, err);
}

void hub_transport_done(struct hub_context *hub)
{
    struct hub_state *state = hub->state;
    if (state->curl != NULL)
        state->api->easy_cleanup(state->curl);
    if (state->api != NULL)
        libcurl_unload(state->api);
    free(state->api);
    state->api = NULL;
    state->curl = NULL;
}

/* Something that can stand in a header line. */
static bool is_token(const char *token)
{
    for (; *token != '\0'; token++)
        if (*token <= ' ' || *token >= 0x7f)
            return false;
    return true;
}

static void add_header(struct exchange *x, const char *line)
{
    struct curl_slist *longer = x->hub->state->api->slist_append(x->headers, line);
    x->headers = longer != NULL ? longer : x->headers;
}

static void set_headers(struct exchange *x, const char *url)
{
    const struct hub_context *hub = x->hub;
    const struct libcurl *api = hub->state->api;
    struct buf line = {0};
    bool ours = same_origin(api, url, hub->endpoint) || same_origin(api, url, hub->datasets_server);
    add_header(x, "Accept-Encoding: identity");
    if (hub->token != NULL && ours) {
        buf_add_fmt(&line, "Authorization: Bearer %s", hub->token);
        add_header(x, buf_cstr(&line));
    }
    buf_done(&line);
    api->easy_setopt(x->hub->state->curl, CURLOPT_HTTPHEADER, x->headers);
}

static void set_way(CURL *curl, const struct hub_context *hub, const char *url)
{
    const struct libcurl *api = hub->state->api;
    const char *upper = getenv("HTTP_PROXY");
    const char *lower = getenv("http_proxy");
    if (is_loopback(api, url)) {
        api->easy_setopt(curl, CURLOPT_PROXY, "");
    } else if (strncmp(url, "http://", 7) == 0 && lower == NULL && upper != NULL) {
        /* libcurl reads the small name only, for the sake of CGI scripts. */
        api->easy_setopt(curl, CURLOPT_PROXY, upper);
    }
    if (hub->ca_file != NULL && hub->ca_file[0] != '\0')
        api->easy_setopt(curl, file_is_dir(hub->ca_file) ? CURLOPT_CAPATH : CURLOPT_CAINFO,
                         hub->ca_file);
    if (hub->insecure) {
        api->easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
        api->easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
    }
}

static void set_limits(CURL *curl, const struct hub_state *state, enum hub_wait wait)
{
    const struct libcurl *api = state->api;
    api->easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)state->connect_s);
    if (wait == HUB_WAIT_HEAD) {
        api->easy_setopt(curl, CURLOPT_TIMEOUT, 2L * (long)state->connect_s);
    } else if (wait == HUB_WAIT_JSON) {
        api->easy_setopt(curl, CURLOPT_TIMEOUT, (long)JSON_S);
    } else {
        api->easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
        api->easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)state->stall_s);
    }
}

static void set_callbacks(CURL *curl, struct exchange *x)
{
    const struct libcurl *api = x->hub->state->api;
    api->easy_setopt(curl, CURLOPT_ERRORBUFFER, x->reason);
    api->easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
    api->easy_setopt(curl, CURLOPT_HEADERDATA, x);
    api->easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
    api->easy_setopt(curl, CURLOPT_WRITEDATA, x);
    api->easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    api->easy_setopt(curl, CURLOPT_XFERINFODATA, x);
    api->easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
}

static void set_range(const struct libcurl *api, CURL *curl, const struct hub_request *r)
{
    char range[64];
    if (!r->ranged)
        return;
    if (r->range_last == UINT64_MAX)
        snprintf(range, sizeof(range), "%llu-", (unsigned long long)r->range_first);
    else
        snprintf(range, sizeof(range), "%llu-%llu", (unsigned long long)r->range_first,
                 (unsigned long long)r->range_last);
    api->easy_setopt(curl, CURLOPT_RANGE, range);
}

static bool is_connection_fault(CURLcode code, const struct hub_headers *h)
{
    switch ((int)code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_PROXY:
        return true;
    default:
        return h->status == 0; /* not a line of an answer */
    }
}

static enum hub_outcome judge_transfer(const struct exchange *x, CURLcode code, const char *url,
                                       struct error *err)
{
    const char *reason = x->reason[0] != '\0' ? x->reason : x->hub->state->api->easy_strerror(code);
    enum hub_outcome outcome = HUB_OK;
    if (x->interrupted) {
        error_set(err, E_INTERRUPTED, "the download was interrupted");
        return HUB_INTERRUPTED;
    }
    if (code == CURLE_OK || (x->reply->ended && !x->too_long))
        return HUB_OK;
    struct buf shown = {0};
    hub_shown_url(url, &shown);
    if (x->too_long) {
        error_set(err, E_LIMIT, "the answer of '%s' has more than %u MB", buf_cstr(&shown),
                  (unsigned)(HUB_JSON_MAX >> 20));
        outcome = HUB_FAILED;
    } else if (is_connection_fault(code, &x->reply->headers)) {
        error_set(err, E_NETWORK, "cannot reach '%s': %s", buf_cstr(&shown), reason);
        outcome = HUB_UNREACHABLE;
    } else {
        error_set(err, E_NETWORK, "the transfer of '%s' broke off: %s", buf_cstr(&shown), reason);
        outcome = HUB_FAILED;
    }
    buf_done(&shown);
    return outcome;
}

static enum hub_outcome exchange(struct hub_context *hub, const struct hub_request *request,
                                 struct hub_reply *reply, struct error *err)
{
    const struct libcurl *api = hub->state->api;
    CURL *curl = handle_of(hub, err);
    const char *url = buf_cstr(&reply->url);
    struct exchange x = {.hub = hub, .request = request, .reply = reply};
    if (curl == NULL)
        return HUB_FAILED;
    hub_headers_reset(&reply->headers);
    buf_reset(&reply->body);
    reply->ended = false;
    x.start_ns = x.shown_ns = clock_mono_ns();
    api->easy_setopt(curl, CURLOPT_URL, url);
    api->easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    api->easy_setopt(curl, CURLOPT_USERAGENT, "vllm-bench/" VB_VERSION);
    api->easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    api->easy_setopt(curl, CURLOPT_QUICK_EXIT,
                     1L); /* a name server that is silent holds nothing up */
    api->easy_setopt(curl, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    set_range(api, curl, request);
    set_way(curl, hub, url);
    set_limits(curl, hub->state, request->wait);
    set_callbacks(curl, &x);
    set_headers(&x, url);
    CURLcode code = api->easy_perform(curl);
    api->slist_free_all(x.headers);
    return judge_transfer(&x, code, url, err);
}

static bool is_redirect(const struct hub_headers *h)
{
    return (h->status == 301 || h->status == 302 || h->status == 303 || h->status == 307 ||
            h->status == 308) &&
           h->location[0] != '\0';
}

static bool check_settings(const struct hub_context *hub, const char *url, struct error *err)
{
    if (hub->token != NULL && !is_token(hub->token))
        return error_set(err, E_CONFIG,
                         "the hub's token (HF_TOKEN or the token file) holds characters that no "
                         "token has");
    if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0) {
        struct buf shown = {0};
        hub_shown_url(url, &shown);
        error_set(err, E_CONFIG, "'%s' does not begin with http:// or https://; see HF_ENDPOINT",
                  buf_cstr(&shown));
        buf_done(&shown);
        return false;
    }
    return true;
}

/* The next place of a redirect; *last: the redirect itself is the reply. */
static bool follow(const struct libcurl *api, const struct hub_request *request,
                   struct hub_reply *reply, bool *last, struct error *err)
{
    struct buf before = {0};
    buf_add(&before, buf_sv(&reply->url));
    bool ok = go_to(api, &reply->url, reply->headers.location);
    bool secure = sv_starts(buf_sv(&before), SV_LIT("https://"));
    *last = ok && request->same_host_only &&
            !same_origin(api, buf_cstr(&before), buf_cstr(&reply->url));
    if (!ok)
        error_set(err, E_NETWORK, "a redirect of '%s' cannot be understood", buf_cstr(&before));
    else if (secure && !sv_starts(buf_sv(&reply->url), SV_LIT("https://")))
        ok = error_set(err, E_NETWORK, "'%s' redirects to a place without encryption",
                       buf_cstr(&before));
    buf_done(&before);
    return ok;
}

enum hub_outcome hub_send(struct hub_context *hub, const struct hub_request *request,
                          struct hub_reply *reply, struct error *err)
{
    buf_reset(&reply->url);
    buf_add_str(&reply->url, request->url);
    if (!check_settings(hub, request->url, err) || !load(hub, err))
        return HUB_FAILED;
    for (unsigned i = 0; i <= REDIRECTS_MAX; i++) {
        bool last = false;
        enum hub_outcome outcome = exchange(hub, request, reply, err);
        if (outcome != HUB_OK || !is_redirect(&reply->headers))
            return outcome;
        if (!follow(hub->state->api, request, reply, &last, err))
            return HUB_FAILED;
        if (last)
            return HUB_OK;
    }
    error_set(err, E_NETWORK, "more than %d redirects", REDIRECTS_MAX);
    return HUB_FAILED;
}

/* ---- attempts ----------------------------------------------------------------------------------------------------- */

bool hub_pause(struct hub_context *hub, unsigned seconds)
{
    uint64_t end = clock_mono_ns() + seconds * NS_PER_S;
    for (;;) {
        uint64_t now = clock_mono_ns();
        if (hub->stop != NULL && hub->stop(hub->user))
            return false;
        if (now >= end)
            return true;
        uint64_t next = now + PAUSE_STEP_MS * NS_PER_MS;
        clock_sleep_until_ns(next < end ? next : end);
    }
}

static bool is_passing(enum hub_outcome outcome, const struct hub_reply *reply)
{
    unsigned status = reply->headers.status;
    if (outcome != HUB_OK)
        return outcome == HUB_UNREACHABLE || outcome == HUB_FAILED;
    return status >= 500 || status == 429;
}

static bool is_dead(struct hub_context *hub, const char *url, struct error *err)
{
    struct buf origin = {0};
    struct hub_state *state = hub->state;
    const struct libcurl *api = state->api;
    bool dead = state->dead_origin.len > 0 && origin_of(api, url, &origin) &&
                sv_eq(buf_sv(&origin), buf_sv(&state->dead_origin));
    if (dead)
        *err = state->dead_error;
    buf_done(&origin);
    return dead;
}

enum hub_outcome hub_send_patiently(struct hub_context *hub, const struct hub_request *request,
                                    struct hub_reply *reply, struct error *err)
{
    if (is_dead(hub, request->url, err))
        return HUB_UNREACHABLE;
    for (unsigned attempt = 1;; attempt++) {
        enum hub_outcome outcome = hub_send(hub, request, reply, err);
        unsigned wait_s = 2 * attempt;
        if (attempt > hub->retries || !is_passing(outcome, reply)) {
            if (outcome == HUB_UNREACHABLE &&
                origin_of(hub->state->api, request->url, &hub->state->dead_origin))
                hub->state->dead_error = *err;
            return outcome;
        }
        if (outcome == HUB_OK) {
            hub_judge(hub, reply, "a question", err);
            wait_s = reply->headers.retry_after_s > wait_s ? reply->headers.retry_after_s : wait_s;
            wait_s = wait_s < 60 ? wait_s : 60;
        }
        hub_notice(hub, "%s; trying again in %u s (%u of %u)", err->message, wait_s, attempt,
                   hub->retries);
        if (!hub_pause(hub, wait_s)) {
            error_set(err, E_INTERRUPTED, "the download was interrupted");
            return HUB_INTERRUPTED;
        }
    }
}

void hub_reply_done(struct hub_reply *reply)
{
    buf_done(&reply->body);
    buf_done(&reply->url);
}

/* ---- statuses ----------------------------------------------------------------------------------------------------- */

/* ": text" of {"error": "text"}, made fit for one line; nothing when there is none or the token is in it. */
static void add_reason(const struct hub_context *hub, const struct hub_reply *reply,
                       struct buf *out)
{
    struct arena arena = {0};
    struct error ignored;
    struct sv text;
    const struct js_value *root = js_parse(&arena, buf_sv(&reply->body), "the answer", &ignored);
    bool known = root != NULL && js_as_sv(js_get(root, "error"), &text) && text.len > 0;
    if (known && (hub->token == NULL ||
                  memmem(text.ptr, text.len, hub->token, strlen(hub->token)) == NULL)) {
        buf_add_str(out, ": ");
        for (size_t i = 0; i < text.len && i < REASON_MAX; i++) {
            unsigned char c = (unsigned char)text.ptr[i];
            buf_add_char(out, c < ' ' || c == 0x7f ? ' ' : text.ptr[i]);
        }
    }
    arena_done(&arena);
}

enum hub_outcome hub_judge(const struct hub_context *hub, const struct hub_reply *reply,
                           const char *what, struct error *err)
{
    unsigned status = reply->headers.status;
    struct buf text = {0};
    enum hub_outcome outcome = HUB_FAILED;
    if (status >= 200 && status < 300)
        return HUB_OK;
    buf_add_fmt(&text, "status %u for ", status);
    hub_shown_url(reply->url.len > 0 ? reply->url.ptr : "", &text);
    add_reason(hub, reply, &text);
    if (status == 401 || status == 403) {
        outcome = HUB_DENIED;
        error_set(err, E_SERVER, "the hub does not give out %s (%s); %s", what, buf_cstr(&text),
                  hub->token != NULL
                      ? "the token of HF_TOKEN or of the token file may not read it: it is wrong, "
                        "or access was not granted"
                      : "if it is private or gated, set HF_TOKEN; else the name is wrong");
    } else if (status == 404) {
        outcome = HUB_ABSENT;
        error_set(err, E_SERVER, "the hub has no %s (%s)", what, buf_cstr(&text));
    } else {
        error_set(err, E_SERVER, "the hub fails at %s (%s)", what, buf_cstr(&text));
    }
    buf_done(&text);
    return outcome;
}
