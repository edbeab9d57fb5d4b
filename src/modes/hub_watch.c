/* Progress as of a run (output/progress.h): on a terminal one line that rewrites itself, elsewhere a line every ten
 * seconds; nothing in the first second, in which small files come. */
#include "modes/hub_watch.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "modes/interrupt.h"
#include "output/notes.h"
#include "output/progress.h"

enum { COLUMNS = 100 };

static const uint64_t terminal_every_ns = NS_PER_S / 10;
static const uint64_t lines_every_ns = 10 * NS_PER_S;

static void say(void *user, const char *sentence)
{
    struct hub_watch *watch = user;
    if (watch->begun && progress_mode_for(stderr, watch->quiet) == PROGRESS_TERMINAL)
        fputc('\n', stderr);
    watch->begun = false;
    note(stderr, "%s", sentence);
}

void hub_watch_format(const struct hub_progress *p, struct buf *out)
{
    double megabytes = (double)p->done_bytes / 1e6;
    double elapsed_s = (double)p->elapsed_ns / 1e9;
    double per_s = elapsed_s > 0.0 ? (double)p->fresh_bytes / elapsed_s : 0.0;
    buf_add_fmt(out, "%s: ", p->name);
    if (p->total_bytes > 0)
        buf_add_fmt(out, "%.1f/%.1f MB (%.0f%%)", megabytes, (double)p->total_bytes / 1e6,
                    100.0 * (double)p->done_bytes / (double)p->total_bytes);
    else
        buf_add_fmt(out, "%.1f MB", megabytes);
    buf_add_fmt(out, ", %.1f MB/s", per_s / 1e6);
    if (p->finished || p->total_bytes < p->done_bytes || per_s < 1.0)
        return;
    double left_s = (double)(p->total_bytes - p->done_bytes) / per_s;
    uint64_t whole = left_s < 1e9 ? (uint64_t)(left_s + 0.5) : (uint64_t)1e9;
    buf_add_fmt(out, ", ETA %u:%02u:%02u", (unsigned)(whole / 3600), (unsigned)(whole / 60 % 60),
                (unsigned)(whole % 60));
}

static void draw(struct hub_watch *watch, enum progress_mode mode, const struct hub_progress *p)
{
    struct buf line = {0};
    hub_watch_format(p, &line);
    if (mode == PROGRESS_LINES) {
        fprintf(stderr, "%s\n", buf_cstr(&line));
    } else {
        size_t len = line.len < COLUMNS ? line.len : COLUMNS;
        size_t blanks = watch->shown_bytes > len ? watch->shown_bytes - len : 0;
        fprintf(stderr, "\r%.*s%*s%s", (int)len, buf_cstr(&line), (int)blanks, "",
                p->finished ? "\n" : "");
        watch->shown_bytes = p->finished ? 0 : len;
    }
    fflush(stderr);
    watch->begun = !p->finished;
    buf_done(&line);
}

static void show(void *user, const struct hub_progress *p)
{
    struct hub_watch *watch = user;
    enum progress_mode mode = progress_mode_for(stderr, watch->quiet);
    uint64_t now = clock_mono_ns();
    uint64_t every = mode == PROGRESS_TERMINAL ? terminal_every_ns : lines_every_ns;
    bool first = !watch->begun;
    if (mode == PROGRESS_OFF || (p->finished && first))
        return;
    if (!p->finished && p->elapsed_ns < (mode == PROGRESS_TERMINAL ? NS_PER_S : lines_every_ns))
        return;
    if (!p->finished && !first && now - watch->shown_ns < every)
        return;
    watch->shown_ns = now;
    draw(watch, mode, p);
}

static bool stop(void *user)
{
    (void)user;
    return interrupt_seen();
}

void hub_watch_init(struct hub_watch *watch, const struct config *config)
{
    *watch = (struct hub_watch){.quiet = config != NULL && config->disable_tqdm};
    hub_init(&watch->hub);
    watch->hub.notice = say;
    watch->hub.progress = show;
    watch->hub.stop = stop;
    watch->hub.user = watch;
    if (config == NULL)
        return;
    if (config->ca_file != NULL)
        watch->hub.ca_file = config->ca_file;
    /* A flag for a server under test opens no door to the public hub. */
    watch->hub.insecure = config->insecure && !hub_is_public(&watch->hub);
}

void hub_watch_done(struct hub_watch *watch)
{
    hub_done(&watch->hub);
}
