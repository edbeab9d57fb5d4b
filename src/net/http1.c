/* One response as a state machine over blocks.  The head is collected line by line until its empty line and then read
 * in one go; the body is handed on as views of the block. */
#include "net/http1.h"

enum http1_state {
    STATE_HEAD,
    STATE_HEAD_READ, /* the head is given out, the body's framing comes next */
    STATE_LENGTH,
    STATE_UNTIL_CLOSE,
    STATE_CHUNK_START, /* before the first digit */
    STATE_CHUNK_SIZE,
    STATE_CHUNK_EXTENSION,
    STATE_CHUNK_LF, /* behind the CR of the size line */
    STATE_CHUNK_DATA,
    STATE_CHUNK_DATA_CR, /* behind the data */
    STATE_CHUNK_DATA_LF,
    STATE_TRAILERS,
    STATE_DONE,
    STATE_BAD,
};

enum { MAX_CHUNK_LINE = 1024, MAX_INTERIM = 100 };

static enum http1_result bad(struct http1 *p, const char *problem)
{
    p->state = STATE_BAD;
    p->problem = problem;
    return HTTP1_BAD;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* RFC 9110 5.6.2: what a field name is made of. */
static bool is_token_char(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static struct sv trim_blanks(struct sv v)
{
    while (v.len > 0 && (v.ptr[0] == ' ' || v.ptr[0] == '\t'))
        v = sv_skip(v, 1);
    while (v.len > 0 && (v.ptr[v.len - 1] == ' ' || v.ptr[v.len - 1] == '\t'))
        v.len--;
    return v;
}

/* Takes one line off *rest, without its line end. */
static struct sv take_line(struct sv *rest)
{
    size_t len = sv_find(*rest, '\n');
    struct sv line = sv_make(rest->ptr, len);
    *rest = sv_skip(*rest, len + 1);
    if (line.len > 0 && line.ptr[line.len - 1] == '\r')
        line.len--;
    return line;
}

static void split_field(struct sv line, struct sv *name, struct sv *value)
{
    size_t colon = sv_find(line, ':');
    *name = sv_make(line.ptr, colon);
    *value = trim_blanks(sv_skip(line, colon + 1));
}

/* "HTTP/1.1 200 OK"; the reason and the blank before it may be missing. */
static bool read_status_line(struct http1 *p, struct sv line, bool *is_1_0)
{
    static const char form[] = "HTTP/1.";
    size_t len = sizeof(form) - 1;
    if (line.len < len + 5 || memcmp(line.ptr, form, len) != 0 || !is_digit(line.ptr[len]) ||
        line.ptr[len + 1] != ' ')
        return false;
    *is_1_0 = line.ptr[len] == '0';
    struct sv code = sv_make(line.ptr + len + 2, 3);
    p->head.status = 0;
    for (size_t i = 0; i < code.len; i++) {
        if (!is_digit(code.ptr[i]))
            return false;
        p->head.status = p->head.status * 10 + (code.ptr[i] - '0');
    }
    struct sv reason = sv_skip(line, len + 5);
    if (reason.len > 0 && reason.ptr[0] != ' ')
        return false;
    p->head.reason = trim_blanks(reason);
    return p->head.status >= 100;
}

/* Name and value well formed?  A blank before the colon, a missing colon and obs-fold fail at the name. */
static bool field_valid(struct sv line)
{
    size_t colon = sv_find(line, ':');
    if (colon == 0 || colon == line.len)
        return false;
    for (size_t i = 0; i < colon; i++) {
        if (!is_token_char(line.ptr[i]))
            return false;
    }
    for (size_t i = colon + 1; i < line.len; i++) {
        unsigned char c = (unsigned char)line.ptr[i];
        if ((c < ' ' && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

/* A list of equal numbers counts as one (RFC 9112 6.3). */
static bool read_length(struct http1_head *head, struct sv list)
{
    struct sv item;
    while (sv_split(&list, ',', &item)) {
        uint64_t value = 0;
        item = trim_blanks(item);
        if (item.len == 0)
            return false;
        for (size_t i = 0; i < item.len; i++) {
            if (!is_digit(item.ptr[i]) || __builtin_mul_overflow(value, 10, &value) ||
                __builtin_add_overflow(value, (uint64_t)(item.ptr[i] - '0'), &value))
                return false;
        }
        if (head->has_length && value != head->content_length)
            return false;
        head->has_length = true;
        head->content_length = value;
    }
    return true;
}

/* Keep-alive rules of RFC 9112 9.3. */
static void read_connection(struct http1_head *head, struct sv list, bool *close)
{
    struct sv item;
    while (sv_split(&list, ',', &item)) {
        item = trim_blanks(item);
        if (sv_eq_nocase(item, SV_LIT("close")))
            *close = true;
        else if (sv_eq_nocase(item, SV_LIT("keep-alive")))
            head->keep_alive = true;
    }
}

/* Static text of the problem, NULL when the head is fine. */
static const char *read_fields(struct http1_head *head, bool is_1_0)
{
    bool close = false;
    bool coded = false;
    struct sv rest = head->fields;
    head->keep_alive = !is_1_0;
    while (rest.len > 0) {
        struct sv name;
        struct sv value;
        struct sv line = take_line(&rest);
        if (!field_valid(line))
            return "malformed header line";
        split_field(line, &name, &value);
        if (sv_eq_nocase(name, SV_LIT("content-length"))) {
            if (!read_length(head, value))
                return "malformed or contradicting Content-Length";
        } else if (sv_eq_nocase(name, SV_LIT("transfer-encoding"))) {
            if (coded || !sv_eq_nocase(value, SV_LIT("chunked")))
                return "Transfer-Encoding other than chunked";
            coded = true;
        } else if (sv_eq_nocase(name, SV_LIT("connection"))) {
            read_connection(head, value, &close);
        }
    }
    if (coded && head->has_length)
        return "both Transfer-Encoding and Content-Length";
    head->chunked = coded;
    /* RFC 9112 6.1: chunked in an HTTP/1.0 response, whoever framed it cannot be trusted with another one. */
    if (close || (coded && is_1_0))
        head->keep_alive = false;
    return NULL;
}

/* The head lies in p->text, its empty line included. */
static enum http1_result read_head(struct http1 *p)
{
    struct sv rest = buf_sv(&p->text);
    bool is_1_0 = false;
    struct sv line = take_line(&rest);
    p->head = (struct http1_head){0};
    if (!read_status_line(p, line, &is_1_0))
        return bad(p, "the answer does not begin with an HTTP/1 status line");
    size_t end_line =
        rest.ptr[rest.len - 1] == '\n' && rest.len > 1 && rest.ptr[rest.len - 2] == '\r' ? 2 : 1;
    p->head.fields = sv_make(rest.ptr, rest.len - end_line);
    const char *problem = read_fields(&p->head, is_1_0);
    if (problem != NULL)
        return bad(p, problem);
    if (p->head.status == 101)
        return bad(p, "the server switched protocols (101)");
    if (p->head.status < 200) {
        if (++p->interim > MAX_INTERIM)
            return bad(p, "too many interim (1xx) responses");
        p->text.len = 0;
        p->line_at = 0;
        return HTTP1_NEED_MORE;
    }
    if (p->head.status == 204 || p->head.status == 304)
        p->no_body = true;
    if (!p->no_body && !p->head.chunked && !p->head.has_length)
        p->head.keep_alive = false;
    p->state = STATE_HEAD_READ;
    return HTTP1_HEAD;
}

/* Collects lines; HTTP1_NEED_MORE when the block is used up first. */
static enum http1_result next_head(struct http1 *p)
{
    while (p->at < p->end) {
        const char *lf = memchr(p->at, '\n', (size_t)(p->end - p->at));
        struct sv piece = sv_make(p->at, (size_t)((lf != NULL ? lf + 1 : p->end) - p->at));
        if (piece.len > HTTP1_MAX_HEAD - p->text.len)
            return bad(p, "the header is longer than 64 KiB");
        buf_add(&p->text, piece);
        p->at += piece.len;
        if (lf == NULL)
            break;
        struct sv line = sv_skip(buf_sv(&p->text), p->line_at);
        bool empty = line.len == 1 || (line.len == 2 && line.ptr[0] == '\r');
        if (!empty) {
            p->line_at = (uint32_t)p->text.len;
        } else if (p->line_at == 0) {
            p->text.len = 0; /* RFC 9112 2.2: empty lines before the message */
        } else {
            enum http1_result result = read_head(p);
            if (result != HTTP1_NEED_MORE)
                return result;
        }
    }
    return HTTP1_NEED_MORE;
}

static void begin_body(struct http1 *p)
{
    if (p->no_body) {
        p->state = STATE_DONE;
    } else if (p->head.chunked) {
        p->state = STATE_CHUNK_START;
        p->line_len = 0;
    } else if (p->head.has_length) {
        p->left = p->head.content_length;
        p->state = p->left > 0 ? STATE_LENGTH : STATE_DONE;
    } else {
        p->state = STATE_UNTIL_CLOSE;
    }
}

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The line end of a chunk-size line is read. */
static void begin_chunk(struct http1 *p)
{
    p->state = p->left > 0 ? STATE_CHUNK_DATA : STATE_TRAILERS;
    p->line_len = 0;
    p->blank_line = true;
}

/* One byte behind the digits of a chunk size or in the extension behind it. */
static bool chunk_extension_byte(struct http1 *p, char c)
{
    if (c == '\n') {
        begin_chunk(p);
    } else if (c == '\r') {
        p->state = STATE_CHUNK_LF;
    } else if (p->state == STATE_CHUNK_SIZE) {
        if (c != ';' && c != ' ' && c != '\t')
            return false;
        p->state = STATE_CHUNK_EXTENSION;
    }
    return true;
}

/* One byte of the framing between chunks; false when it is malformed. */
static bool chunk_byte(struct http1 *p, char c)
{
    int digit;
    switch ((enum http1_state)p->state) {
    case STATE_CHUNK_START:
    case STATE_CHUNK_SIZE:
        digit = hex_value(c);
        if (digit < 0)
            return p->state == STATE_CHUNK_SIZE && chunk_extension_byte(p, c);
        if (p->state == STATE_CHUNK_START) {
            p->left = 0;
            p->digits = 0;
            p->state = STATE_CHUNK_SIZE;
        }
        if (p->digits > 0 || digit > 0)
            p->digits++;
        p->left = p->left << 4 | (uint64_t)digit;
        return p->digits <= 15;
    case STATE_CHUNK_EXTENSION:
        return chunk_extension_byte(p, c);
    case STATE_CHUNK_LF:
        begin_chunk(p);
        return c == '\n';
    case STATE_CHUNK_DATA_CR:
        p->state = c == '\r' ? STATE_CHUNK_DATA_LF : STATE_CHUNK_START;
        return c == '\r' || c == '\n';
    case STATE_CHUNK_DATA_LF:
        p->state = STATE_CHUNK_START;
        return c == '\n';
    case STATE_HEAD:
    case STATE_HEAD_READ:
    case STATE_LENGTH:
    case STATE_UNTIL_CLOSE:
    case STATE_CHUNK_DATA:
    case STATE_TRAILERS:
    case STATE_DONE:
    case STATE_BAD:
    default:
        return false;
    }
}

static enum http1_result next_framing(struct http1 *p)
{
    while (p->at < p->end && p->state != STATE_CHUNK_DATA && p->state != STATE_TRAILERS) {
        if (++p->line_len > MAX_CHUNK_LINE)
            return bad(p, "a chunk-size line is longer than 1 KiB");
        if (!chunk_byte(p, *p->at))
            return bad(p, "malformed chunked encoding");
        p->at++;
    }
    return HTTP1_NEED_MORE;
}

/* Trailer fields are skipped; an empty line ends them and the response. */
static enum http1_result next_trailers(struct http1 *p)
{
    while (p->at < p->end) {
        char c = *p->at++;
        if (++p->line_len > HTTP1_MAX_HEAD)
            return bad(p, "the trailers are longer than 64 KiB");
        if (c == '\n') {
            if (p->blank_line) {
                p->state = STATE_DONE;
                return HTTP1_DONE;
            }
            p->blank_line = true;
        } else if (c != '\r') {
            p->blank_line = false;
        }
    }
    return HTTP1_NEED_MORE;
}

/* As much of the body as the block holds, at most `left` bytes. */
static struct sv take_body(struct http1 *p)
{
    size_t len = (size_t)(p->end - p->at);
    if (p->state != STATE_UNTIL_CLOSE) {
        if (len > p->left)
            len = (size_t)p->left;
        p->left -= len;
        if (p->left == 0)
            p->state = p->state == STATE_LENGTH ? STATE_DONE : STATE_CHUNK_DATA_CR;
    }
    struct sv piece = sv_make(p->at, len);
    p->at += len;
    return piece;
}

enum http1_result http1_next(struct http1 *p, struct sv *body)
{
    for (;;) {
        switch ((enum http1_state)p->state) {
        case STATE_HEAD:
            return next_head(p);
        case STATE_HEAD_READ:
            begin_body(p);
            break;
        case STATE_LENGTH:
        case STATE_UNTIL_CLOSE:
        case STATE_CHUNK_DATA:
            if (p->at == p->end)
                return HTTP1_NEED_MORE;
            *body = take_body(p);
            return HTTP1_BODY;
        case STATE_CHUNK_START:
        case STATE_CHUNK_SIZE:
        case STATE_CHUNK_EXTENSION:
        case STATE_CHUNK_LF:
        case STATE_CHUNK_DATA_CR:
        case STATE_CHUNK_DATA_LF:
            if (p->at == p->end || next_framing(p) == HTTP1_BAD)
                return p->state == STATE_BAD ? HTTP1_BAD : HTTP1_NEED_MORE;
            break;
        case STATE_TRAILERS:
            return next_trailers(p);
        case STATE_DONE:
            return HTTP1_DONE;
        case STATE_BAD:
        default:
            return HTTP1_BAD;
        }
    }
}

enum http1_result http1_end(struct http1 *p)
{
    switch ((enum http1_state)p->state) {
    case STATE_HEAD_READ:
        begin_body(p);
        return http1_end(p);
    case STATE_UNTIL_CLOSE:
        p->state = STATE_DONE;
        return HTTP1_DONE;
    case STATE_DONE:
        return HTTP1_DONE;
    case STATE_BAD:
        return HTTP1_BAD;
    case STATE_HEAD:
        if (p->text.len == 0)
            return bad(p, "closed early: before the answer began");
        return bad(p, "closed early: inside the header");
    case STATE_LENGTH:
        return bad(p, "closed early: fewer bytes than Content-Length says");
    case STATE_CHUNK_START:
    case STATE_CHUNK_SIZE:
    case STATE_CHUNK_EXTENSION:
    case STATE_CHUNK_LF:
    case STATE_CHUNK_DATA:
    case STATE_CHUNK_DATA_CR:
    case STATE_CHUNK_DATA_LF:
    case STATE_TRAILERS:
    default:
        return bad(p, "closed early: before the last chunk");
    }
}

void http1_feed(struct http1 *p, struct sv block)
{
    p->at = block.ptr;
    p->end = block.ptr + block.len;
}

void http1_init(struct http1 *p)
{
    *p = (struct http1){0};
}

void http1_reset(struct http1 *p)
{
    buf_reset(&p->text);
    *p = (struct http1){.text = p->text, .at = p->at, .end = p->end};
}

void http1_done(struct http1 *p)
{
    buf_done(&p->text);
    *p = (struct http1){0};
}

void http1_expect_no_body(struct http1 *p)
{
    p->no_body = true;
}

struct sv http1_rest(const struct http1 *p)
{
    return sv_make(p->at, (size_t)(p->end - p->at));
}

bool http1_header(const struct http1_head *head, struct sv name, struct sv *value)
{
    struct sv rest = head->fields;
    while (rest.len > 0) {
        struct sv field_name;
        struct sv field_value;
        split_field(take_line(&rest), &field_name, &field_value);
        if (sv_eq_nocase(field_name, name)) {
            *value = field_value;
            return true;
        }
    }
    return false;
}
