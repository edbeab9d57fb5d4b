/* http1.h - reads one HTTP/1.1 response as bytes arrive, over any segmentation (RFC 9112).
 * Use: http1_init; for every block http1_feed, then http1_next until HTTP1_NEED_MORE:
 *   HTTP1_HEAD   once: status, headers are in parser->head (views into parser memory, valid until http1_reset)
 *   HTTP1_BODY   *body is a piece of the decoded body (chunk framing removed), a view into the fed block, never empty
 *   HTTP1_DONE   the response is complete; bytes after it: http1_rest
 *   HTTP1_BAD    not HTTP or over a limit; parser->problem says what (static text)
 * At end of stream http1_end: DONE for a close-delimited body, BAD ("closed early ...") otherwise.
 * 1xx responses are skipped (101 is BAD), as are empty lines before a status line.  Limits: head HTTP1_MAX_HEAD,
 * chunk-size line 1 KiB, trailers HTTP1_MAX_HEAD; Content-Length with Transfer-Encoding, differing Content-Lengths,
 * obs-fold: BAD as RFC 9112 6.3 asks.  Transfer-Encoding other than chunked: BAD.  Lone LF as line end is accepted.
 * A head is copied into parser memory (about 200 bytes), which the next responses of the connection use again; there is
 * no other allocation.
 * Threads: one parser, one thread.  Errors: HTTP1_BAD is final. */
#ifndef VB_NET_HTTP1_H
#define VB_NET_HTTP1_H

#include "base/buf.h"
#include "base/sv.h"

#include <stdint.h>

enum { HTTP1_MAX_HEAD = 64 * 1024 };

enum http1_result { HTTP1_HEAD, HTTP1_BODY, HTTP1_DONE, HTTP1_NEED_MORE, HTTP1_BAD };

struct http1_head {
    int status;       /* 100..999 */
    struct sv reason; /* may be empty */
    struct sv fields; /* all header lines as received, checked */
    bool keep_alive;  /* the connection may serve another request afterwards */
    bool chunked;
    bool has_length;
    uint64_t content_length;
};

/* Held by value in a connection; of the fields only `head` and `problem` are the caller's to read. */
struct http1 {
    struct http1_head head;
    const char *problem;
    const char *at; /* unread part of the block */
    const char *end;
    struct buf text;   /* the head as received */
    uint64_t left;     /* bytes to come of a body with a length, or of the chunk */
    uint32_t line_at;  /* in text: where the line under way begins */
    uint32_t line_len; /* of the chunk-size line; of the trailers in all */
    uint8_t state;     /* enum http1_state */
    uint8_t interim;   /* 1xx responses skipped */
    uint8_t digits;    /* of the chunk size, without leading zeros */
    bool no_body;
    bool blank_line; /* trailers: nothing on the line yet */
};

void http1_init(struct http1 *p);
/* Ready for the next response on the same connection (keeps memory and the unread rest). */
void http1_reset(struct http1 *p);
void http1_done(struct http1 *p);
/* The request was HEAD: the response has no body whatever its headers say. */
void http1_expect_no_body(struct http1 *p);

void http1_feed(struct http1 *p, struct sv block);
enum http1_result http1_next(struct http1 *p, struct sv *body);
enum http1_result http1_end(struct http1 *p);

/* Bytes of the last block behind the finished response. */
struct sv http1_rest(const struct http1 *p);
/* Value of a header by name (case ignored, blanks trimmed, first occurrence); false when absent. */
bool http1_header(const struct http1_head *head, struct sv name, struct sv *value);

#endif
