/* Rows of a data set, a page at a time, into a file of the own cache. */
#include "hub/answers.h"
#include "hub/hub_priv.h"

#include "base/file.h"

#include <stdlib.h>

enum { PAGE_ROWS = 100, PAGES_MAX = 100000, TOLD_EVERY = 1000 };

/* A file of rows that would be larger is refused. */
static const size_t bytes_max = (size_t)4 << 30;

static void make_url(const struct hub_context *hub, const struct datasets_rows *rows,
                     uint64_t offset, struct buf *url)
{
    buf_reset(url);
    buf_add_fmt(url, "%s/rows?dataset=", hub->datasets_server);
    hub_add_escaped(url, sv_from(rows->id), false);
    buf_add_str(url, "&config=");
    hub_add_escaped(url, sv_from(rows->config), false);
    buf_add_str(url, "&split=");
    hub_add_escaped(url, sv_from(rows->split), false);
    buf_add_fmt(url, "&offset=%llu&length=%d", (unsigned long long)offset, PAGE_ROWS);
}

static enum hub_outcome get_page(struct hub_context *hub, const struct datasets_rows *rows,
                                 uint64_t offset, uint64_t limit, struct buf *out,
                                 struct hub_rows_page *page, struct error *err)
{
    struct buf url = {0};
    struct buf what = {0};
    struct hub_reply reply = {0};
    make_url(hub, rows, offset, &url);
    buf_add_fmt(&what, "rows of the data set '%s', configuration '%s', split '%s'", rows->id,
                rows->config, rows->split);
    struct hub_request request = {.url = buf_cstr(&url), .wait = HUB_WAIT_JSON};
    enum hub_outcome outcome = hub_send_patiently(hub, &request, &reply, err);
    if (outcome == HUB_OK)
        outcome = hub_judge(hub, &reply, buf_cstr(&what), err);
    if (outcome == HUB_OK && !hub_parse_rows(buf_sv(&reply.body), limit, out, page, err)) {
        error_context(err, "%s", buf_cstr(&what));
        outcome = HUB_FAILED;
    }
    hub_reply_done(&reply);
    buf_done(&what);
    buf_done(&url);
    return outcome;
}

/* All pages into *out. */
static enum hub_outcome get_all(struct hub_context *hub, const struct datasets_rows *rows,
                                struct buf *out, struct error *err)
{
    uint64_t done = 0;
    size_t cut = 0;
    for (unsigned i = 0; i < PAGES_MAX; i++) {
        struct hub_rows_page page;
        uint64_t limit = rows->max_rows > 0 ? rows->max_rows - done : UINT64_MAX;
        enum hub_outcome outcome = get_page(hub, rows, done, limit, out, &page, err);
        if (outcome != HUB_OK)
            return outcome;
        done += page.count;
        cut += page.cut;
        if (out->len > bytes_max) {
            error_set(err, E_LIMIT, "the rows of the data set '%s' have more than %zu bytes",
                      rows->id, bytes_max);
            return HUB_FAILED;
        }
        if (done % TOLD_EVERY == 0 && page.count > 0)
            hub_notice(hub, "%llu rows of '%s' downloaded", (unsigned long long)done, rows->id);
        if (page.count < PAGE_ROWS || done == rows->max_rows ||
            (page.total > 0 && done >= page.total))
            break;
    }
    if (done == 0) {
        error_set(err, E_SERVER, "the data set '%s' has no rows in configuration '%s', split '%s'",
                  rows->id, rows->config, rows->split);
        return HUB_FAILED;
    }
    if (cut > 0)
        hub_notice(hub,
                   "warning: in %zu of %llu rows of '%s' the datasets server has cut cells short",
                   cut, (unsigned long long)done, rows->id);
    return HUB_OK;
}

static bool check(const struct datasets_rows *rows, struct error *err)
{
    if (!hub_is_id(rows->id))
        return error_set(err, E_CONFIG, "'%s' is no name of a data set; ORG/NAME is expected",
                         rows->id);
    if (!hub_is_path(sv_from(rows->cache_name)) || strchr(rows->cache_name, '/') != NULL)
        return error_set(err, E_CONFIG, "'%s' is no name of a file in the cache", rows->cache_name);
    return true;
}

static bool store(const char *path, const struct buf *rows, struct error *err)
{
    struct file_out out;
    struct buf folder = {0};
    buf_add(&folder, sv_make(path, (size_t)(strrchr(path, '/') - path)));
    bool ok = file_make_dirs(buf_cstr(&folder), err) && file_out_begin(&out, path, err);
    buf_done(&folder);
    if (!ok)
        return false;
    file_out_add(&out, SV_LIT("["));
    file_out_add(&out, buf_sv(rows));
    file_out_add(&out, SV_LIT("]\n"));
    return file_out_end(&out, err);
}

enum hub_outcome datasets_rows_fetch(struct hub_context *hub, const struct datasets_rows *rows,
                                     struct buf *path, struct error *err)
{
    struct buf text = {0};
    enum hub_outcome outcome;
    if (!check(rows, err))
        return HUB_FAILED;
    buf_reset(path);
    buf_add_fmt(path, "%s/datasets/%s", hub->own_cache, rows->cache_name);
    if (file_exists(buf_cstr(path)))
        return HUB_OK;
    if (hub->offline) {
        error_set(err, E_NETWORK,
                  "HF_HUB_OFFLINE is set and '%s' is not there, so the rows of '%s' cannot be had",
                  buf_cstr(path), rows->id);
        return HUB_OFFLINE;
    }
    hub_notice(hub, "Downloading rows of the data set '%s' (configuration '%s', split '%s')",
               rows->id, rows->config, rows->split);
    outcome = get_all(hub, rows, &text, err);
    if (outcome == HUB_OK && !store(buf_cstr(path), &text, err))
        outcome = HUB_FAILED;
    buf_done(&text);
    return outcome;
}
