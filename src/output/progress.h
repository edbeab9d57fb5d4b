/* progress.h - the live view of a run on stderr: on a terminal one line that rewrites itself at most ten times a
 * second, elsewhere a plain line every ten seconds, nothing when switched off.
 * Use: progress_begin; progress_update as often as wanted; progress_end once.
 * Threads: one owner.  Errors: none; what cannot be written is lost. */
#ifndef VB_OUTPUT_PROGRESS_H
#define VB_OUTPUT_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum progress_mode { PROGRESS_OFF, PROGRESS_LINES, PROGRESS_TERMINAL };

struct progress_snapshot {
    uint64_t done; /* ended, good or bad */
    uint64_t total;
    uint64_t in_flight;
    uint64_t failed;
    uint64_t unfinished; /* cut off at the end; shown when there are any */
    uint64_t tokens;     /* token events so far; 0 when unknown */
    double elapsed_s;
};

struct progress {
    FILE *file;
    enum progress_mode mode;
    uint64_t last_ns; /* of the latest line */
    size_t shown;     /* characters of the line on the terminal */
};

/* What fits the stream: a terminal, a file or pipe, or nothing when `disabled` (--disable-tqdm). */
enum progress_mode progress_mode_for(FILE *file, bool disabled);

void progress_begin(struct progress *p, FILE *file, enum progress_mode mode, uint64_t now_ns);
void progress_update(struct progress *p, const struct progress_snapshot *s, uint64_t now_ns);
/* Shows the last state; on a terminal the line is ended with a newline. */
void progress_end(struct progress *p, const struct progress_snapshot *s, uint64_t now_ns);

/* The text of one state, without line end; returns its length. */
size_t progress_format(char *out, size_t cap, const struct progress_snapshot *s);

#endif
