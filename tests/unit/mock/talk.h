/* talk.h - a plain client for tests of the mock server: one socket, whole answers.
 * Use: talk_open; talk_send; talk_read (one answer; the body is decoded) ...; talk_close.  Every wait ends after
 * TALK_WAIT_MS, which fails the test.  Threads: one owner.  Errors: cmocka assertions. */
#ifndef VB_TESTS_MOCK_TALK_H
#define VB_TESTS_MOCK_TALK_H

#include <stdint.h>

#include "base/buf.h"
#include "net/http1.h"

enum { TALK_WAIT_MS = 5000 };

enum talk_end {
    TALK_DONE,   /* a complete answer */
    TALK_EOF,    /* the connection ended inside it, or before it */
    TALK_RESET,  /* it was reset */
    TALK_SILENT, /* nothing more came for the time that was allowed */
};

struct talk {
    int fd;
    struct http1 http;
    int status;
    bool keep_alive;
    struct buf head;
    struct buf body;
    uint64_t bytes; /* received in all */
    unsigned reads; /* recv calls that gave something */
};

void talk_open(struct talk *t, uint16_t port);
void talk_open_v6(struct talk *t, uint16_t port);
void talk_send(struct talk *t, const char *text);
/* POST of a JSON body. */
void talk_post(struct talk *t, const char *path, const char *json);
void talk_get(struct talk *t, const char *path);
/* `patience_ms`: how long a silence may last. */
enum talk_end talk_read_for(struct talk *t, int patience_ms);
enum talk_end talk_read(struct talk *t);
void talk_close(struct talk *t);

/* One request on a connection of its own. */
enum talk_end talk_once(struct talk *t, uint16_t port, const char *path, const char *json);

/* How often `what` stands in the body. */
unsigned talk_count(const struct talk *t, const char *what);
bool talk_has(const struct talk *t, const char *what);

#endif
