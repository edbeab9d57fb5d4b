/* A state machine over the bytes of a request: the head is collected whole and then taken apart, the body is collected
 * without its chunk framing. */
#include "mock/request.h"

#include "base/num.h"

enum { KEEP_BYTES = 64 * 1024 };

void mock_request_init(struct mock_request *r)
{
    *r = (struct mock_request){0};
}

static void keep_small(struct buf *b)
{
    if (b->cap > KEEP_BYTES)
        buf_done(b);
    else
        buf_reset(b);
}

void mock_request_reset(struct mock_request *r)
{
    struct buf head = r->head, line = r->line, body = r->body;
    keep_small(&head);
    keep_small(&line);
    keep_small(&body);
    *r = (struct mock_request){.head = head, .line = line, .body = body};
}

void mock_request_done(struct mock_request *r)
{
    buf_done(&r->head);
    buf_done(&r->line);
    buf_done(&r->body);
    *r = (struct mock_request){0};
}

bool mock_request_is_empty(const struct mock_request *r)
{
    return r->state == MOCK_AT_HEAD && r->head.len == 0;
}

static bool bad(struct mock_request *r, int status, const char *problem)
{
    r->state = MOCK_AT_BAD;
    r->status = status;
    r->problem = problem;
    return false;
}

/* RFC 9110 5.6.2 */
static bool is_token_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool is_token(struct sv text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!is_token_char(text.ptr[i]))
            return false;
    }
    return text.len > 0;
}

static bool read_request_line(struct mock_request *r, struct sv line)
{
    size_t a = sv_find(line, ' ');
    struct sv rest = sv_skip(line, a + 1);
    size_t b = sv_find(rest, ' ');
    r->method = sv_make(line.ptr, a);
    r->target = sv_make(rest.ptr, b);
    struct sv version = sv_skip(rest, b + 1);
    if (!is_token(r->method) || r->target.len == 0)
        return bad(r, 400, "malformed request line");
    for (size_t i = 0; i < r->target.len; i++) {
        unsigned char c = (unsigned char)r->target.ptr[i];
        if (c <= ' ' || c == 0x7f)
            return bad(r, 400, "malformed request target");
    }
    r->http10 = sv_eq(version, SV_LIT("HTTP/1.0"));
    if (!r->http10 && !sv_eq(version, SV_LIT("HTTP/1.1"))) {
        bool http = sv_starts(version, SV_LIT("HTTP/"));
        return bad(r, http ? 505 : 400,
                   http ? "unsupported HTTP version" : "malformed request line");
    }
    size_t query = sv_find(r->target, '?');
    r->path = sv_make(r->target.ptr, query);
    r->query = sv_skip(r->target, query + 1);
    return true;
}

static bool has_word(struct sv list, struct sv word)
{
    struct sv part;
    while (sv_split(&list, ',', &part)) {
        if (sv_eq_nocase(sv_trim(part), word))
            return true;
    }
    return false;
}

struct head_facts {
    bool has_length;
    uint64_t length;
    bool close, keep;
};

static bool read_length(struct mock_request *r, struct sv value, struct head_facts *f)
{
    uint64_t length = 0;
    if (value.len == 0 || value.ptr[0] < '0' || value.ptr[0] > '9' ||
        !num_parse_u64(value, &length) || (f->has_length && f->length != length))
        return bad(r, 400, "malformed Content-Length");
    f->has_length = true;
    f->length = length;
    return true;
}

static bool read_field(struct mock_request *r, struct sv line, struct head_facts *f)
{
    size_t colon = sv_find(line, ':');
    struct sv name = sv_make(line.ptr, colon);
    if (colon == line.len || !is_token(name))
        return bad(r, 400, "malformed header line");
    struct sv value = sv_trim(sv_skip(line, colon + 1));
    if (sv_eq_nocase(name, SV_LIT("content-length")))
        return read_length(r, value, f);
    if (sv_eq_nocase(name, SV_LIT("transfer-encoding"))) {
        if (r->chunked || !sv_eq_nocase(value, SV_LIT("chunked")))
            return bad(r, 501, "unsupported Transfer-Encoding");
        r->chunked = true;
    } else if (sv_eq_nocase(name, SV_LIT("connection"))) {
        f->close |= has_word(value, SV_LIT("close"));
        f->keep |= has_word(value, SV_LIT("keep-alive"));
    } else if (sv_eq_nocase(name, SV_LIT("expect"))) {
        r->expect_continue = sv_eq_nocase(value, SV_LIT("100-continue"));
    } else if (sv_eq_nocase(name, SV_LIT("x-request-id"))) {
        r->request_id = value;
    }
    return true;
}

static struct sv cut_cr(struct sv line)
{
    if (line.len > 0 && line.ptr[line.len - 1] == '\r')
        line.len--;
    return line;
}

/* The head is complete, its last (empty) line included. */
static bool read_head(struct mock_request *r)
{
    struct sv rest = buf_sv(&r->head), line;
    sv_split(&rest, '\n', &line);
    if (!read_request_line(r, cut_cr(line)))
        return false;
    struct head_facts f = {0};
    r->fields = rest;
    while (sv_split(&rest, '\n', &line)) {
        line = cut_cr(line);
        if (line.len > 0 && !read_field(r, line, &f))
            return false;
    }
    r->keep_alive = !f.close && (!r->http10 || f.keep);
    if (r->chunked && (f.has_length || r->http10))
        return bad(r, 400, "Transfer-Encoding is not allowed here");
    if (f.length > MOCK_REQUEST_MAX_BODY)
        return bad(r, 413, "request body too large");
    r->left = f.length;
    r->state = r->chunked ? MOCK_AT_CHUNK_SIZE : f.length > 0 ? MOCK_AT_BODY : MOCK_AT_READY;
    return true;
}

/* Takes the bytes up to and including the next line feed into `b`; true when the line is complete. */
static bool take_line(struct buf *b, struct sv block, size_t *used)
{
    const char *lf = memchr(block.ptr, '\n', block.len);
    *used = lf != NULL ? (size_t)(lf - block.ptr) + 1 : block.len;
    buf_add(b, sv_make(block.ptr, *used));
    return lf != NULL;
}

static bool line_is_empty(const struct buf *b, size_t start)
{
    size_t n = b->len - start;
    return n == 1 || (n == 2 && b->ptr[start] == '\r');
}

static size_t last_line_start(const struct buf *b)
{
    size_t end = b->len - 1;
    const char *lf = end > 0 ? memrchr(b->ptr, '\n', end) : NULL;
    return lf != NULL ? (size_t)(lf - b->ptr) + 1 : 0;
}

static size_t feed_head(struct mock_request *r, struct sv block)
{
    size_t used = 0;
    /* Such as the first byte of TLS: whoever sent it would wait for ever for an answer to half a line. */
    if (r->head.len == 0 && block.ptr[0] != '\r' && block.ptr[0] != '\n' &&
        !is_token_char(block.ptr[0])) {
        bad(r, 400, "malformed request line");
        return 0;
    }
    bool line = take_line(&r->head, block, &used);
    if (r->head.len > MOCK_REQUEST_MAX_HEAD) {
        bad(r, 431, "request head too large");
    } else if (line) {
        size_t start = last_line_start(&r->head);
        if (line_is_empty(&r->head, start)) {
            if (start == 0)
                buf_reset(&r->head); /* RFC 9112 2.2: empty lines before the request line */
            else
                read_head(r);
        }
    }
    return used;
}

static size_t feed_bytes(struct mock_request *r, struct sv block, enum mock_request_state next)
{
    size_t n = block.len < r->left ? block.len : (size_t)r->left;
    buf_add(&r->body, sv_make(block.ptr, n));
    r->left -= n;
    if (r->left == 0)
        r->state = next;
    return n;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "1a;name=value" */
static bool read_chunk_size(struct mock_request *r)
{
    struct sv line = cut_cr(sv_make(r->line.ptr, r->line.len - 1));
    uint64_t size = 0;
    size_t i = 0;
    for (; i < line.len && hex_digit(line.ptr[i]) >= 0; i++) {
        size = size * 16 + (uint64_t)hex_digit(line.ptr[i]);
        if (size > MOCK_REQUEST_MAX_BODY)
            return bad(r, 413, "request body too large");
    }
    struct sv rest = sv_trim(sv_skip(line, i));
    if (i == 0 || (rest.len > 0 && rest.ptr[0] != ';'))
        return bad(r, 400, "malformed chunk size");
    if (size + r->body.len > MOCK_REQUEST_MAX_BODY)
        return bad(r, 413, "request body too large");
    r->left = size;
    r->state = size > 0 ? MOCK_AT_CHUNK_DATA : MOCK_AT_TRAILER;
    buf_reset(&r->line);
    return true;
}

static size_t feed_chunk_line(struct mock_request *r, struct sv block)
{
    size_t used = 0;
    bool line = take_line(&r->line, block, &used);
    if (r->line.len > MOCK_REQUEST_MAX_LINE) {
        bad(r, 400, "chunk line too long");
    } else if (line && r->state == MOCK_AT_CHUNK_SIZE) {
        read_chunk_size(r);
    } else if (line) {
        if (!line_is_empty(&r->line, 0))
            bad(r, 400, "malformed chunk end");
        else
            r->state = MOCK_AT_CHUNK_SIZE;
        buf_reset(&r->line);
    }
    return used;
}

static size_t feed_trailer(struct mock_request *r, struct sv block)
{
    size_t used = 0;
    bool line = take_line(&r->line, block, &used);
    r->trailer_bytes += used;
    if (r->trailer_bytes > MOCK_REQUEST_MAX_HEAD) {
        bad(r, 431, "trailers too large");
    } else if (line) {
        if (line_is_empty(&r->line, 0))
            r->state = MOCK_AT_READY;
        buf_reset(&r->line);
    }
    return used;
}

static size_t feed_some(struct mock_request *r, struct sv block)
{
    switch (r->state) {
    case MOCK_AT_HEAD:
        return feed_head(r, block);
    case MOCK_AT_BODY:
        return feed_bytes(r, block, MOCK_AT_READY);
    case MOCK_AT_CHUNK_DATA:
        return feed_bytes(r, block, MOCK_AT_CHUNK_END);
    case MOCK_AT_CHUNK_SIZE:
    case MOCK_AT_CHUNK_END:
        return feed_chunk_line(r, block);
    case MOCK_AT_TRAILER:
        return feed_trailer(r, block);
    case MOCK_AT_READY:
    case MOCK_AT_BAD:
        break;
    }
    return 0;
}

enum mock_request_result mock_request_feed(struct mock_request *r, struct sv block, size_t *used)
{
    *used = 0;
    for (;;) {
        if (r->state == MOCK_AT_READY)
            return MOCK_REQUEST_READY;
        if (r->state == MOCK_AT_BAD)
            return MOCK_REQUEST_BAD;
        if (r->expect_continue && r->state != MOCK_AT_HEAD) {
            r->expect_continue = false;
            return MOCK_REQUEST_CONTINUE;
        }
        if (*used == block.len)
            return MOCK_REQUEST_MORE;
        *used += feed_some(r, sv_skip(block, *used));
    }
}
