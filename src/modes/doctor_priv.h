/* doctor_priv.h - what the parts of the doctor share: findings, and the session that they look at.
 * Use: inside modes only.  Threads: main thread.  Errors: findings. */
#ifndef VB_MODES_DOCTOR_PRIV_H
#define VB_MODES_DOCTOR_PRIV_H

#include "config/config.h"
#include "modes/session.h"

struct doctor {
    struct config *config;
    struct session session; /* open from the check of the models on */
    unsigned good, doubtful, failed;
};

/* One line: what was checked and what was found.  `mend` (NULL: none) goes to a second line. */
void doctor_ok(struct doctor *d, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void doctor_warn(struct doctor *d, const char *what, const char *mend, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void doctor_fail(struct doctor *d, const char *what, const char *mend, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Requests that may be in flight at once with these settings. */
uint64_t doctor_concurrency(const struct doctor *d);

/* DNS, IPv4 and IPv6, connecting, TLS.  False when nothing beyond can work. */
bool doctor_check_way(struct doctor *d);

/* One streaming request: its chunks, their spreading over reads, usage; stamps of the kernel.  *prompt_tokens: what the
 * server says of doctor_sample, -1: nothing. */
void doctor_check_stream(struct doctor *d, int64_t *prompt_tokens);

/* Clocks, open files, ports, processors. */
void doctor_check_machine(struct doctor *d);

/* A text on which tokenizers differ that are not the same. */
extern const char doctor_sample[];

#endif
