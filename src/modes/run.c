/* The phases of a run (ORCHESTRATION 2): workload, ready check, prompt alignment, warm-ups, load, figures. */
#include "modes/run.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "datasets/dataset.h"
#include "datasets/parallel.h"
#include "datasets/replay.h"
#include "datasets/stats.h"
#include "load/align.h"
#include "load/fit.h"
#include "load/lora.h"
#include "load/ready.h"
#include "load/schedule.h"
#include "load/threshold.h"
#include "output/notes.h"

/* Far from the seeds of measured runs, which --num-runs counts up. */
enum { WARM_UP_SEED = 1 << 30 };

static void say(const char *sentence)
{
    note(stderr, "%s", sentence);
}

static void dataset_notice(void *user, const char *sentence)
{
    (void)user;
    say(sentence);
}

void run_init(struct run *r, struct session *session, const struct config *config)
{
    *r = (struct run){.session = session, .config = config};
}

static bool is_paced(const struct config *config)
{
    return !isinf(config->request_rate) || config->ramp_up_strategy != RAMP_UP_NONE;
}

/* Times of a trace, when it has some, else the schedule's.  The stream is drawn from right behind the data set, as in
 * Python, and before the workload is saved, which keeps the times. */
static void make_schedule(struct run *r)
{
    const struct workload *w = &r->workload;
    if (!r->config->self_timed && !is_paced(r->config))
        return;
    bool bounded = r->config->duration_ns > 0;
    r->due_count = bounded ? schedule_count(r->config, r->config->duration_ns) : w->count;
    uint64_t *due_ns =
        mem_array(r->due_count > w->count ? r->due_count : w->count, sizeof(*due_ns));
    bool timed = r->config->self_timed && schedule_from_workload(w, due_ns);
    if (!timed && is_paced(r->config)) {
        schedule_fill(r->config, &r->npl, due_ns, r->due_count);
        for (size_t i = r->due_count; i < w->count; i++)
            due_ns[i] = due_ns[r->due_count - 1]; /* not sent, but perhaps saved */
        timed = true;
    }
    if (timed)
        r->due_ns = due_ns;
    else
        free(due_ns);
}

bool run_build(struct run *r, struct error *err)
{
    py_seed(&r->py, r->config->seed);
    npl_seed(&r->npl, (uint32_t)r->config->seed);
    struct dataset_context context = {
        .config = r->config,
        .tokenizer = r->session->tokenizer,
        .py = &r->py,
        .npl = &r->npl,
        .hub = &r->session->watch.hub,
        .notice = dataset_notice,
    };
    if (!dataset_build(&context, &r->workload, err))
        return false;
    make_schedule(r);
    return true;
}

bool run_save_workload(const struct run *r, struct error *err)
{
    const char *path = r->config->save_workload;
    if (path == NULL)
        return true;
    if (!workload_save(&r->workload, r->due_ns, path, err))
        return false;
    note(stderr, "Workload saved to %s", path);
    return true;
}

void run_print_dry(const struct run *r)
{
    struct dry_run_stats stats = {.prompts = r->workload.count};
    for (size_t i = 0; i < r->workload.count; i++) {
        stats.input_tokens += r->workload.requests[i].prompt_len;
        stats.output_tokens += r->workload.requests[i].output_len;
    }
    note_dry_run(stdout, &stats);
    struct buf text = {0};
    workload_stats_write(&r->workload, &text);
    fwrite(text.ptr, 1, text.len, stdout);
    buf_done(&text);
}

/* ---- the run --------------------------------------------------------------------------------------------------- */

static enum load_text text_needed(const struct run *r)
{
    if (r->session->backend->pooling)
        return LOAD_TEXT_NONE;
    if (r->config->save_detailed || r->feed != NULL)
        return LOAD_TEXT_ALWAYS;
    return r->session->tokenizer != NULL ? LOAD_TEXT_WITHOUT_USAGE : LOAD_TEXT_NONE;
}

/* A run with an end by time has as many as there will be at this pace. */
static uint64_t expected_total(const struct run *r, const struct load_progress *p)
{
    uint64_t limit_ns = r->config->duration_ns;
    if (limit_ns == 0)
        return r->workload.count;
    if (p->elapsed_ns >= limit_ns || p->elapsed_ns == 0)
        return p->sent;
    return (uint64_t)((double)p->done * ((double)limit_ns / (double)p->elapsed_ns));
}

static void show_progress(void *user, const struct load_progress *p)
{
    struct run *r = user;
    struct progress_snapshot snapshot = {
        .done = p->done,
        .total = expected_total(r, p),
        .in_flight = p->sent - p->done,
        .failed = p->failed,
        .tokens = p->tokens,
        .elapsed_s = (double)p->elapsed_ns / 1e9,
    };
    progress_update(&r->progress, &snapshot, clock_mono_ns());
}

static void say_draining(void *user, uint64_t in_flight)
{
    (void)user;
    note(stderr,
         "\nInterrupted: nothing more is sent; %llu requests in flight are awaited. Interrupt "
         "again to abandon them.",
         (unsigned long long)in_flight);
}

static struct sv model_text(struct run *r, const char *name)
{
    struct buf text = {0};
    body_model_text(&r->body, name, &text);
    struct sv copy = arena_copy(&r->session->arena, buf_sv(&text));
    buf_done(&text);
    return copy;
}

/* What every request has in common, and whether the data set's requests go into it. */
static bool make_body(struct run *r, struct error *err)
{
    const char *warning;
    if (!r->session->backend->body_parts(r->config, &r->body, err) ||
        !load_fits(r->session->backend, &r->body, &r->workload, &warning, err))
        return false;
    if (warning != NULL)
        note(stderr, "warning: %s", warning);
    server_headers(&r->session->server, r->session->backend->content_type, &r->headers);
    return true;
}

static bool make_plan(struct run *r, struct error *err)
{
    const struct config *config = r->config;
    if (!make_body(r, err))
        return false;
    bool paced = r->due_ns != NULL;
    r->plan = (struct load_plan){
        .target = &r->session->target,
        .pool = &r->session->pool,
        .workload = &r->workload,
        .count = paced ? r->due_count : r->workload.count,
        .backend = r->session->backend,
        .body = &r->body,
        .model = model_text(r, r->session->wire_model),
        .path = buf_sv(&r->session->path),
        .headers = buf_sv(&r->headers),
        .id_prefix = r->workload.without_ids || r->feed != NULL ? NULL : config->request_id_prefix,
        .max_concurrency = config->max_concurrency,
        .concurrency_known = config->max_concurrency > 0 || !paced,
        .threads = config->client_threads,
        .request_timeout_ns = config->request_timeout_ns,
        .text = text_needed(r),
        .progress = show_progress,
        .draining = say_draining,
        .user = r,
    };
    return true;
}

static void show_countdown(void *user, uint64_t left_s, const char *last_error)
{
    struct run *r = user;
    note(stderr, "Not ready (%s); %llu s left", session_redacted(r->session, last_error),
         (unsigned long long)left_s);
}

static bool wait_ready(struct run *r, struct error *err)
{
    say(NOTE_TEST_RUN);
    if (r->config->ready_check_timeout_s == 0) {
        say(NOTE_READY_SKIPPED);
        return true;
    }
    note(stderr, NOTE_READY_WAIT, (unsigned long long)r->config->ready_check_timeout_s);
    if (!ready_check(&r->plan, r->config->ready_check_timeout_s, show_countdown, r, err))
        return false;
    say(NOTE_READY_DONE);
    return true;
}

/* Only prompts that were made up from token ids by a local tokenizer can be off. */
static void align(struct run *r)
{
    const char *name = r->config->dataset_name;
    bool made = strcmp(name, "random") == 0 || strncmp(name, "prefix", 6) == 0;
    if (!made || r->session->tokenizer == NULL || tokenizer_is_remote(r->session->tokenizer) ||
        !r->session->backend->streams)
        return;
    struct align_report report;
    align_prompts(&r->session->server, r->session->wire_model, &r->workload, &report);
    if (!report.available && report.problem[0] != '\0')
        note(stderr, "warning: prompt lengths were not checked against the server: %s",
             session_redacted(r->session, report.problem));
    if (report.mismatched > 0)
        note(stderr,
             "The server counts %zu of %zu probed prompts differently from the local tokenizer (is "
             "it the model's?); %zu prompts were repaired, %zu still differ",
             report.mismatched, report.probed, report.repaired, report.left_over);
}

/* Prompts of another seed: a server with a prefix cache must not have seen those that are measured. */
static bool build_fresh(struct run *r, struct workload *fresh, struct error *err)
{
    struct config config = *r->config;
    struct mt19937 py, npl;
    config.seed = r->config->seed + WARM_UP_SEED;
    config.num_prompts = config.num_warmups;
    if (strncmp(config.dataset_name, "prefix", 6) == 0)
        config.prefix_repetition_num_prefixes = 1;
    py_seed(&py, config.seed);
    npl_seed(&npl, (uint32_t)config.seed);
    struct dataset_context context = {
        .config = &config,
        .tokenizer = r->session->tokenizer,
        .py = &py,
        .npl = &npl,
        .hub = &r->session->watch.hub,
    };
    return dataset_build(&context, fresh, err) || error_context(err, "--warmup-fresh-prompts");
}

static bool send_warm_ups(struct run *r, uint64_t count, uint64_t *failed, struct error *err)
{
    struct workload fresh = {0};
    if (!r->config->warmup_fresh_prompts)
        return ready_warm_up(&r->plan, NULL, count, failed, err);
    bool ok = build_fresh(r, &fresh, err) && ready_warm_up(&r->plan, &fresh, count, failed, err);
    workload_done(&fresh);
    return ok;
}

static bool warm_up(struct run *r, struct error *err)
{
    uint64_t count = r->config->num_warmups;
    if (count == 0 || r->feed != NULL)
        return true;
    uint64_t failed;
    note(stderr, NOTE_WARMUP, (unsigned long long)count);
    if (!send_warm_ups(r, count, &failed, err))
        return false;
    if (failed > 0)
        note(stderr, "warning: %llu of %llu warm-up requests failed", (unsigned long long)failed,
             (unsigned long long)count);
    say(NOTE_WARMUP_DONE);
    return true;
}

static void profiler(struct run *r, bool start)
{
    if (!r->config->profile || r->config->profile_batch_threshold > 0)
        return;
    struct error err;
    say(start ? NOTE_PROFILER_START : NOTE_PROFILER_STOP);
    if (server_command(&r->session->server, start ? "/start_profile" : "/stop_profile", &err))
        say(start ? NOTE_PROFILER_STARTED : NOTE_PROFILER_STOPPED);
    else
        note(stderr, "warning: %s", session_redacted(r->session, err.message));
}

/* With a ramp-up: the whole rates passed, at the times when their requests became due (ORCHESTRATION 7). */
static void note_rate_changes(struct run *r)
{
    const struct config *config = r->config;
    if (config->ramp_up_strategy == RAMP_UP_NONE || r->due_ns == NULL)
        return;
    int64_t last = (int64_t)config->ramp_up_start_rps;
    size_t cap = 0;
    MEM_GROW(r->rps_changes, r->rps_change_count, cap);
    r->rps_changes[r->rps_change_count++] = (struct rps_change){last, r->load.start_real_ns};
    for (size_t i = 0; i < r->load.count; i++) {
        int64_t rate = (int64_t)floor(schedule_rate(config, i, r->due_count));
        for (; last < rate; r->rps_change_count++) {
            MEM_GROW(r->rps_changes, r->rps_change_count, cap);
            r->rps_changes[r->rps_change_count] =
                (struct rps_change){++last, r->load.start_real_ns + r->due_ns[i]};
        }
    }
}

/* What goes on beside the load begins with its clock. */
static void begin_beside(void *user)
{
    struct run *r = user;
    const struct config *config = r->config;
    if (r->probe != NULL)
        probe_start(r->probe);
    if (config->profile_batch_threshold > 0)
        r->threshold = threshold_start(&r->session->server, config->profile_batch_threshold,
                                       config->profile_duration_ns);
}

static void end_threshold(struct run *r)
{
    struct threshold_report report;
    if (r->threshold == NULL)
        return;
    threshold_stop(r->threshold, &report);
    r->threshold = NULL;
    if (report.failed)
        note(stderr, "warning: %s", session_redacted(r->session, report.error.message));
    else if (!report.reached)
        note(stderr, "warning: the profiler was not started: %llu running requests were never seen",
             (unsigned long long)r->config->profile_batch_threshold);
    else
        note(stderr, "%s%s", NOTE_PROFILER_STOPPED,
             report.cut ? " early, at the end of the load" : "");
}

enum { SLOW_PAGE_S = 2, FAR_START_S = 60 };

static void say_slow_page(void *user)
{
    (void)user;
    note(stderr,
         "Waiting for the server's /metrics page, %d s at most; without it there are no figures of "
         "the server",
         SCRAPE_TIMEOUT_S);
}

/* The load, with probes beside it when asked for, and the server's counters before and after it. */
static bool run_between_scrapes(struct run *r, struct error *err)
{
    double probe_rate = r->config->probe_request_rate;
    struct server_counters before;
    struct server_counters after;
    struct fetch_patience patience = {SLOW_PAGE_S * NS_PER_S, say_slow_page, NULL};
    bool counted = scrape_counters(&r->session->server, &patience, &before);
    if (probe_rate > 0.0) {
        note(stderr, NOTE_PROBES, probe_rate);
        r->probe = probe_new(&r->plan, probe_rate);
    }
    r->plan.started = begin_beside;
    bool ok = load_run(&r->plan, &r->load, err);
    end_threshold(r);
    if (r->probe != NULL)
        probe_stop(r->probe, &r->probe_stats);
    if (ok && counted && scrape_counters(&r->session->server, &patience, &after))
        server_stats_make(&before, &after, (double)r->load.duration_ns / 1e9, &r->server_stats);
    return ok;
}

/* Only measured requests use the adapters: ready check and warm-ups are over by now. */
static void use_adapters(struct run *r)
{
    const struct config_names *modules = &r->config->lora_modules;
    if (modules->count == 0)
        return;
    r->lora = mem_array(modules->count, sizeof(*r->lora));
    for (size_t i = 0; i < modules->count; i++)
        r->lora[i] = model_text(r, modules->items[i]);
    if (r->lora_of == NULL)
        r->lora_of = lora_assign(r->config, &r->py, r->workload.count);
    r->plan.lora = r->lora;
    r->plan.lora_of = r->lora_of;
}

/* What would look like a program that hangs, and a file that is not what it seems. */
static void note_due_times(const struct run *r)
{
    const struct workload *w = &r->workload;
    size_t earlier = 0;
    uint64_t last = 0;
    if (r->due_ns == NULL || r->feed != NULL)
        return;
    for (size_t i = 0; i < w->count && r->config->self_timed; i++) {
        uint64_t due = w->requests[i].due_offset_ns;
        if (due == UINT64_MAX)
            continue;
        earlier += due < last;
        last = due > last ? due : last;
    }
    if (earlier > 0)
        note(stderr,
             "warning: the data set is not in the order of its times: %zu of %zu requests are due "
             "before one in front of them and are sent together with that one",
             earlier, w->count);
    if (r->due_ns[0] > FAR_START_S * NS_PER_S)
        note(stderr, "warning: the first request is due %.1f s after the start%s",
             (double)r->due_ns[0] / 1e9,
             r->config->self_timed
                 ? "; times of a data set count from the start, not from its first line"
                 : "");
}

static bool run_load(struct run *r, struct error *err)
{
    const struct config *config = r->config;
    say(NOTE_MAIN_RUN);
    profiler(r, true);
    note_traffic(stderr, config);
    note_due_times(r);
    use_adapters(r);
    r->plan.due_ns = r->due_ns;
    r->plan.send_for_ns = config->duration_ns;
    r->plan.feed = r->feed;
    r->plan.grace_ns = config->grace_ns;
    progress_begin(&r->progress, stderr, progress_mode_for(stderr, config->disable_tqdm),
                   clock_mono_ns());
    bool ok = run_between_scrapes(r, err);
    struct progress_snapshot last = {.total = r->load.count,
                                     .elapsed_s = (double)r->load.duration_ns / 1e9};
    for (size_t i = 0; i < r->load.count; i++) {
        last.done += r->load.records[i].done;
        const struct record *record = &r->load.records[i];
        last.failed += record->done && !record_ok(record) && !record_unfinished(record);
        last.unfinished += record_unfinished(record);
        last.tokens += r->load.records[i].events;
    }
    progress_end(&r->progress, &last, clock_mono_ns());
    profiler(r, false);
    if (ok)
        note_rate_changes(r);
    return ok;
}

/* ---- figures ---------------------------------------------------------------------------------------------------- */

struct text_counts {
    struct run *run;
    struct record **records; /* that are to be counted */
    pthread_mutex_t lock;
    bool failed; /* with the first problem; under the lock */
    struct error err;
};

static void count_text(void *user, size_t index)
{
    struct text_counts *counts = user;
    struct record *record = counts->records[index];
    struct token_ids ids = {0};
    struct error err;
    if (tokenizer_encode(counts->run->session->tokenizer, record->text, false, &ids, &err)) {
        record->text_tokens = (int64_t)ids.count;
    } else {
        pthread_mutex_lock(&counts->lock);
        if (!counts->failed)
            counts->err = err;
        counts->failed = true;
        pthread_mutex_unlock(&counts->lock);
    }
    token_ids_done(&ids);
}

/* Output of responses without usage is counted with the tokenizer, as Python does. */
static void count_texts(struct run *r)
{
    if (r->session->tokenizer == NULL || r->session->backend->pooling)
        return;
    struct text_counts counts = {.run = r,
                                 .records = mem_array(r->load.count + 1, sizeof(struct record *)),
                                 .lock = PTHREAD_MUTEX_INITIALIZER};
    size_t count = 0;
    for (size_t i = 0; i < r->load.count; i++) {
        struct record *record = &r->load.records[i];
        if (record_ok(record) && record->usage_completion_tokens <= 0)
            counts.records[count++] = record;
    }
    parallel_for(count, parallel_tokenizing(r->session->tokenizer, count), count_text, &counts);
    if (counts.failed)
        note(stderr, "warning: cannot count the output tokens of some responses: %s",
             session_redacted(r->session, counts.err.message));
    free(counts.records);
}

void run_summarize(const struct run *r, const struct record *records, size_t count,
                   struct summary *summary)
{
    const struct config *config = r->config;
    const struct config_goodput *goodput = &config->goodput;
    struct summary_options options = {
        .start_ns = r->load.start_ns,
        .duration_ns = r->load.duration_ns,
        .percentiles = config->percentiles,
        .percentile_count = config->percentile_count,
        .goodput_given = goodput->any,
        .goodput_ttft_ms = goodput->given[METRIC_TTFT] ? goodput->limit_ms[METRIC_TTFT] : HUGE_VAL,
        .goodput_tpot_ms = goodput->given[METRIC_TPOT] ? goodput->limit_ms[METRIC_TPOT] : HUGE_VAL,
        .goodput_e2el_ms = goodput->given[METRIC_E2EL] ? goodput->limit_ms[METRIC_E2EL] : HUGE_VAL,
        .has_tokenizer = r->session->tokenizer != NULL,
        .pooling = r->session->backend->pooling,
        .steady_state =
            !config->no_steady_state && config->max_concurrency > 0 && r->due_ns == NULL,
        .max_concurrency = config->max_concurrency,
        .steady_threshold = config->steady_state_threshold,
        .steady_min_window_s = config->steady_state_min_window_s,
    };
    metrics_summarize(records, count, &options, summary);
}

bool run_measure(struct run *r, struct error *err)
{
    if (!session_resolve(r->session, err) || !make_plan(r, err) || !wait_ready(r, err))
        return false;
    if (r->feed == NULL)
        align(r);
    if (!run_save_workload(r, err) || !warm_up(r, err) || !run_load(r, err))
        return false;
    count_texts(r);
    run_summarize(r, r->load.records, r->load.count, &r->summary);
    if (r->feed == NULL) /* a history is meant to meet the cache */
        note_warm_cache(stderr, r->config, &r->summary);
    return true;
}

void run_report(const struct run *r, struct run_report *report)
{
    const struct session *session = r->session;
    *report = (struct run_report){
        .config = r->config,
        .model_id = r->config->model,
        .tokenizer_id = r->config->skip_tokenizer_init ? NULL : session->tokenizer_id,
        .has_tokenizer = session->tokenizer != NULL,
        .pooling = session->backend->pooling,
        .date = time(NULL),
        .records = r->load.records,
        .count = r->load.count,
        .start_ns = r->load.start_ns,
        .summary = &r->summary,
        .client = &r->load.client,
        .server = &r->server_stats,
        .probe = r->probe != NULL ? &r->probe_stats : NULL,
        .interrupted = r->load.interrupted,
        .rps_changes = r->rps_changes,
        .rps_change_count = r->rps_change_count,
    };
}

bool run_judge(const struct run *r, struct error *err)
{
    if (r->load.interrupted)
        return error_set(err, E_INTERRUPTED,
                         "interrupted: %llu of %zu requests were sent, and the figures cover those",
                         (unsigned long long)r->summary.sent, r->load.count);
    if (r->summary.completed == 0 && r->summary.unfinished > 0)
        return error_set(err, E_RESULT, "no request completed (%llu failed, %llu unfinished)",
                         (unsigned long long)r->summary.failed,
                         (unsigned long long)r->summary.unfinished);
    if (r->summary.completed == 0)
        return error_set(err, E_RESULT, "no request completed (%llu failed)",
                         (unsigned long long)r->summary.failed);
    return true;
}

void run_done(struct run *r)
{
    summary_done(&r->summary);
    load_result_done(&r->load);
    free(r->rps_changes);
    free(r->due_ns);
    free(r->lora);
    free(r->lora_of);
    buf_done(&r->headers);
    body_template_done(&r->body);
    workload_done(&r->workload);
}
