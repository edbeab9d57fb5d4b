/* timeline.h - the page of --plot-timeline: one HTML file that draws every request and token over time by itself.
 * Use: timeline_make; timeline_page; timeline_done.
 * Bounds: TIMELINE_ROWS requests and TIMELINE_NUMBERS numbers for their tokens (about 32 MiB of the page); beyond them
 * every n-th request is drawn, and tokens are joined to groups that keep their longest interval; the page says so.
 * Threads: read-only on the report.  Errors: none. */
#ifndef VB_REPORT_TIMELINE_H
#define VB_REPORT_TIMELINE_H

#include "base/buf.h"
#include "output/run_report.h"

enum { TIMELINE_ROWS = 200 * 1000, TIMELINE_NUMBERS = 12 * 1000 * 1000 };

/* Which conversation and turn a request of a multi-turn run is. */
struct timeline_talks {
    const size_t *owner;      /* of each record */
    const size_t *first_item; /* first record of each conversation */
};

enum timeline_colour { BELOW_FIRST, BETWEEN, FROM_SECOND, COLOUR_COUNT };

struct timeline {
    const struct run_report *report;
    const struct timeline_talks *talks; /* NULL: single requests */
    size_t *rows;                       /* indices of the records that are drawn */
    size_t count;
    size_t sent;
    size_t every;      /* one request of so many is drawn */
    size_t group;      /* tokens of one bar */
    uint64_t start_ns; /* the first request's start: time 0 of the page */
    uint64_t span_us;  /* until the last end */
    size_t with_token;
    size_t failed;
    size_t unfinished;                /* ended by the end of the run or by an interruption */
    uint64_t intervals[COLOUR_COUNT]; /* of all requests sent, also of those that are not drawn */
};

/* `rows` and `numbers` are the bounds: the two above, or smaller ones in tests. */
void timeline_make(const struct run_report *report, const struct timeline_talks *talks, size_t rows,
                   size_t numbers, struct timeline *t);
void timeline_done(struct timeline *t);

/* The page's data: a JSON object that holds no '<', so that it can stand in a script element. */
void timeline_data(const struct timeline *t, struct buf *out);
void timeline_page(const struct timeline *t, struct buf *out);

#endif
