/* One small function a header; a table finds it by name. */
#include "hub/headers.h"

#include "base/num.h"

void hub_headers_reset(struct hub_headers *h)
{
    *h = (struct hub_headers){0};
}

bool hub_is_etag(struct sv text)
{
    if (text.len == 0 || text.len > HUB_ETAG_MAX || text.ptr[0] == '.')
        return false;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c <= ' ' || c >= 0x7f || c == '/' || c == '\\')
            return false;
    }
    return true;
}

bool hub_is_commit(struct sv text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z'))
            return false;
    }
    return text.len > 0 && text.len <= HUB_COMMIT_MAX;
}

/* `out` has room for the longest value that the caller lets through. */
static void keep(char *out, struct sv value)
{
    memcpy(out, value.ptr, value.len);
    out[value.len] = '\0';
}

static void set_tag(char *out, struct sv value)
{
    if (sv_starts(value, SV_LIT("W/")))
        value = sv_skip(value, 2);
    if (value.len >= 2 && value.ptr[0] == '"' && value.ptr[value.len - 1] == '"')
        value = sv_make(value.ptr + 1, value.len - 2);
    if (hub_is_etag(value))
        keep(out, value);
}

static void on_etag(struct hub_headers *h, struct sv value)
{
    set_tag(h->etag, value);
}

static void on_linked_etag(struct hub_headers *h, struct sv value)
{
    set_tag(h->linked_etag, value);
}

static void on_linked_size(struct hub_headers *h, struct sv value)
{
    h->has_linked_size = num_parse_u64(value, &h->linked_size);
}

static void on_length(struct hub_headers *h, struct sv value)
{
    h->has_length = num_parse_u64(value, &h->length);
}

/* RFC 9110 14.4: "bytes 0-499/1234", "bytes 0-499/" with a star for an unknown total, "bytes" star "/1234". */
static void on_range(struct hub_headers *h, struct sv value)
{
    struct sv rest = value;
    struct sv span;
    struct sv first;
    if (!sv_starts(value, SV_LIT("bytes ")))
        return;
    rest = sv_trim(sv_skip(value, 6));
    if (!sv_split(&rest, '/', &span) || rest.ptr == NULL)
        return;
    h->has_range_total = num_parse_u64(rest, &h->range_total);
    h->has_range = sv_split(&span, '-', &first) && num_parse_u64(first, &h->range_first);
}

static void on_commit(struct hub_headers *h, struct sv value)
{
    if (hub_is_commit(value))
        keep(h->commit, value);
}

static void on_location(struct hub_headers *h, struct sv value)
{
    if (value.len <= HUB_LOCATION_MAX && memchr(value.ptr, '\0', value.len) == NULL)
        keep(h->location, value);
}

/* Seconds; the other form, a date, is not worth waiting for exactly. */
static void on_retry_after(struct hub_headers *h, struct sv value)
{
    uint64_t seconds;
    if (num_parse_u64(value, &seconds))
        h->retry_after_s = seconds < 3600 ? (unsigned)seconds : 3600;
}

static const struct {
    struct sv name;
    void (*take)(struct hub_headers *h, struct sv value);
} wanted[] = {
    {{"etag", 4}, on_etag},
    {{"x-linked-etag", 13}, on_linked_etag},
    {{"x-linked-size", 13}, on_linked_size},
    {{"content-length", 14}, on_length},
    {{"content-range", 13}, on_range},
    {{"x-repo-commit", 13}, on_commit},
    {{"location", 8}, on_location},
    {{"retry-after", 11}, on_retry_after},
};

void hub_headers_line(struct hub_headers *h, struct sv line)
{
    if (sv_starts(line, SV_LIT("HTTP/"))) {
        struct sv status = sv_skip(line, sv_find(line, ' '));
        uint64_t number;
        status = sv_trim(status);
        status.len = status.len < 3 ? status.len : 3;
        hub_headers_reset(h);
        h->status = num_parse_u64(status, &number) ? (unsigned)number : 0;
        return;
    }
    size_t colon = sv_find(line, ':');
    struct sv name = sv_make(line.ptr, colon);
    struct sv value = sv_trim(sv_skip(line, colon + 1));
    if (colon == line.len || value.len == 0)
        return;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        if (sv_eq_nocase(name, wanted[i].name))
            wanted[i].take(h, value);
}
