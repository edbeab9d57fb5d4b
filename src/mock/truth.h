/* truth.h - what the server really did: one record a generation request, with the send time of every token event.
 * Use: mock_truth_begin when a request starts; mock_truth_sent per event; mock_truth_publish at its end, in a section
 * between mock_truth_lock and mock_truth_unlock that also covers the last write, so that nobody who has read an answer to
 * its end can miss its record.  mock_truth_write gives the published records as JSON lines.
 * Threads: a log belongs to one serving thread; lock, write and clear may be called from any.  Errors: none. */
#ifndef VB_MOCK_TRUTH_H
#define VB_MOCK_TRUTH_H

#include "base/buf.h"

#include <pthread.h>
#include <stdint.h>

enum { MOCK_ID_MAX = 128 };

struct mock_truth_record {
    struct mock_truth_record *next;
    char id[MOCK_ID_MAX + 1]; /* X-Request-Id, else the id of the answer */
    uint64_t index;
    const char *endpoint;
    bool stream;
    int status;
    const char *outcome; /* static text: complete, aborted, dropped ... */
    uint64_t connection; /* number of the connection, in the order they were accepted */
    uint64_t arrival_ns; /* the request's last byte, CLOCK_MONOTONIC */
    bool kernel_stamp;   /* arrival is the kernel's, not the reading time */
    uint64_t start_ns;   /* admitted to the batch */
    uint64_t prompt_tokens;
    uint64_t tokens;  /* sent */
    uint64_t blocked; /* writes that the kernel did not take at once */
    uint64_t end_ns;
    int64_t real_minus_mono_ns; /* add to a time of this record for CLOCK_REALTIME */
    size_t count, cap;
    struct mock_truth_event {
        uint64_t due_ns;
        uint64_t sent_ns; /* the clock just before the write that completed the event */
    } * events;
};

struct mock_truth_log {
    pthread_mutex_t mutex;
    struct mock_truth_record *first, *last;
};

void mock_truth_log_init(struct mock_truth_log *log);
void mock_truth_log_done(struct mock_truth_log *log);

/* `events` is how many are expected. */
struct mock_truth_record *mock_truth_begin(uint64_t events);
/* `count` events beginning with number `from`, whose due times are there already, were sent at that time. */
void mock_truth_due(struct mock_truth_record *r, uint64_t due_ns);
void mock_truth_sent(struct mock_truth_record *r, size_t from, uint64_t sent_ns);

void mock_truth_lock(struct mock_truth_log *log);
void mock_truth_publish(struct mock_truth_log *log, struct mock_truth_record *r);
void mock_truth_unlock(struct mock_truth_log *log);

void mock_truth_write(struct mock_truth_log *log, struct buf *out);
void mock_truth_clear(struct mock_truth_log *log);

#endif
