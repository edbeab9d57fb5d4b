/* A line about how far the run is.  The terminal's line is redrawn over itself with blanks, not with control sequences,
 * so that it works on every terminal; it is cut to the terminal's width, for a wrapped line could not be redrawn. */
#include "output/progress.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"

enum { LINE_MAX_BYTES = 256, FALLBACK_COLUMNS = 120 };

static const uint64_t TERMINAL_EVERY_NS = NS_PER_S / 10;
static const uint64_t LINES_EVERY_NS = 10 * NS_PER_S;

enum progress_mode progress_mode_for(FILE *file, bool disabled)
{
    if (disabled)
        return PROGRESS_OFF;
    return isatty(fileno(file)) ? PROGRESS_TERMINAL : PROGRESS_LINES;
}

void progress_begin(struct progress *p, FILE *file, enum progress_mode mode, uint64_t now_ns)
{
    *p = (struct progress){.file = file, .mode = mode, .last_ns = now_ns};
}

/* h:mm:ss, or "-" when there is nothing to go by. */
static void format_eta(char *out, size_t cap, const struct progress_snapshot *s)
{
    if (s->done == 0 || s->elapsed_s <= 0.0) {
        snprintf(out, cap, "-");
        return;
    }
    uint64_t left = s->total > s->done ? s->total - s->done : 0;
    double eta_s = s->elapsed_s / (double)s->done * (double)left;
    uint64_t whole = eta_s < 1e9 ? (uint64_t)(eta_s + 0.5) : (uint64_t)1e9;
    snprintf(out, cap, "%u:%02u:%02u", (unsigned)(whole / 3600), (unsigned)(whole / 60 % 60),
             (unsigned)(whole % 60));
}

size_t progress_format(char *out, size_t cap, const struct progress_snapshot *s)
{
    char eta[32];
    format_eta(eta, sizeof(eta), s);
    double seconds = s->elapsed_s > 0.0 ? s->elapsed_s : 1.0;
    double share = s->total > 0 ? 100.0 * (double)s->done / (double)s->total : 0.0;
    int n = snprintf(out, cap, "%llu/%llu (%.0f%%), %.2f req/s, %llu in flight, %llu failed",
                     (unsigned long long)s->done, (unsigned long long)s->total, share,
                     (double)s->done / seconds, (unsigned long long)s->in_flight,
                     (unsigned long long)s->failed);
    size_t used = n > 0 && (size_t)n < cap ? (size_t)n : 0;
    if (s->unfinished > 0) {
        n = snprintf(out + used, cap - used, ", %llu unfinished",
                     (unsigned long long)s->unfinished);
        used += n > 0 && (size_t)n < cap - used ? (size_t)n : 0;
    }
    if (s->tokens > 0)
        n = snprintf(out + used, cap - used, ", %.0f tok/s, ETA %s", (double)s->tokens / seconds,
                     eta);
    else
        n = snprintf(out + used, cap - used, ", ETA %s", eta);
    used += n > 0 && (size_t)n < cap - used ? (size_t)n : 0;
    return used;
}

static size_t terminal_columns(FILE *file)
{
    struct winsize size = {0};
    if (ioctl(fileno(file), TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return FALLBACK_COLUMNS;
    return size.ws_col;
}

static void show(struct progress *p, const struct progress_snapshot *s)
{
    char line[LINE_MAX_BYTES];
    size_t len = progress_format(line, sizeof(line), s);
    if (p->mode == PROGRESS_LINES) {
        fprintf(p->file, "%s\n", line);
    } else {
        size_t columns = terminal_columns(p->file);
        len = len < columns ? len : columns - 1;
        size_t blanks = p->shown > len ? p->shown - len : 0;
        fprintf(p->file, "\r%.*s%*s", (int)len, line, (int)blanks, "");
        p->shown = len;
    }
    fflush(p->file);
}

void progress_update(struct progress *p, const struct progress_snapshot *s, uint64_t now_ns)
{
    uint64_t every = p->mode == PROGRESS_TERMINAL ? TERMINAL_EVERY_NS : LINES_EVERY_NS;
    if (p->mode == PROGRESS_OFF || now_ns < p->last_ns + every)
        return;
    p->last_ns = now_ns;
    show(p, s);
}

void progress_end(struct progress *p, const struct progress_snapshot *s, uint64_t now_ns)
{
    p->last_ns = now_ns;
    if (p->mode == PROGRESS_OFF)
        return;
    show(p, s);
    if (p->mode == PROGRESS_TERMINAL) {
        fputc('\n', p->file);
        fflush(p->file);
    }
}
