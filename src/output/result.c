/* The result object in the order a reader of Python's files expects; see docs/results.md.  Every key at the top level
 * goes through fields.h, so that --metadata behaves as in Python's tool. */
#include "output/result.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/num.h"
#include "json/writer.h"
#include "output/detail.h"
#include "output/extra.h"
#include "output/fields.h"
#include "output/pytorch.h"
#include "output/report_priv.h"

/* Settings whose zero means "not set". */
static void put_uint_or_null(struct fields *f, const char *name, uint64_t value)
{
    if (!fields_key(f, name))
        return;
    if (value > 0)
        js_uint(&f->w, value);
    else
        js_null(&f->w);
}

/* Python's flag takes whole numbers and writes them without a point. */
static void put_whole(struct fields *f, const char *name, double value)
{
    if (value >= 0.0 && value < 1e15 && value == floor(value))
        fields_uint(f, name, (uint64_t)value);
    else
        fields_double(f, name, value);
}

static const char *ramp_name(enum ramp_up strategy)
{
    return strategy == RAMP_UP_LINEAR ? "linear" : "exponential";
}

static void put_settings(struct fields *f, const struct run_report *report)
{
    const struct config *config = report->config;
    char date[16];
    report_date(report->date, date);
    fields_text(f, "date", date);
    fields_text(f, "endpoint_type", config->backend);
    fields_text(f, "backend", config->backend);
    fields_text(f, "label", config->label);
    fields_text(f, "model_id", report->model_id);
    fields_text(f, "tokenizer_id", report->tokenizer_id);
    fields_uint(f, "num_prompts", config->num_prompts);
    put_uint_or_null(f, "max_model_len", config->max_model_len);
    fields_metadata(f);
    fields_double(f, "request_rate", config->request_rate);
    fields_double(f, "burstiness", config->burstiness);
    put_uint_or_null(f, "max_concurrency", config->max_concurrency);
    if (config->ramp_up_strategy != RAMP_UP_NONE) {
        fields_text(f, "ramp_up_strategy", ramp_name(config->ramp_up_strategy));
        put_whole(f, "ramp_up_start_rps", config->ramp_up_start_rps);
        put_whole(f, "ramp_up_end_rps", config->ramp_up_end_rps);
    }
}

static void put_goodput(struct fields *f, const struct run_report *report)
{
    if (!fields_key(f, "request_goodput"))
        return;
    if (report->config->goodput.any && !report->pooling)
        js_double(&f->w, report->summary->request_goodput);
    else
        js_null(&f->w);
}

static void put_totals(struct fields *f, const struct run_report *report)
{
    const struct summary *s = report->summary;
    fields_double(f, "duration", s->duration_s);
    fields_uint(f, "completed", s->completed);
    fields_uint(f, "failed", s->failed);
    fields_uint(f, "total_input_tokens", s->total_input_tokens);
    if (report->pooling) {
        fields_uint(f, "total_input_sequences", s->total_input_sequences);
        fields_double(f, "request_throughput", s->request_throughput);
        fields_double(f, "input_sequence_throughput", s->input_sequence_throughput);
        fields_double(f, "total_token_throughput", s->total_token_throughput);
        put_goodput(f, report);
        return;
    }
    fields_uint(f, "total_output_tokens", s->total_output_tokens);
    fields_double(f, "request_throughput", s->request_throughput);
    put_goodput(f, report);
    fields_double(f, "input_throughput", s->input_throughput);
    fields_double(f, "output_throughput", s->output_throughput);
    fields_double(f, "total_token_throughput", s->total_token_throughput);
}

static void put_rps_changes(struct fields *f, const struct run_report *report)
{
    if (report->config->ramp_up_strategy == RAMP_UP_NONE || !fields_key(f, "rps_change_events"))
        return;
    js_begin_array(&f->w);
    for (size_t i = 0; i < report->rps_change_count; i++) {
        const struct rps_change *change = &report->rps_changes[i];
        time_t seconds = (time_t)(change->real_ns / 1000000000u);
        unsigned micros = (unsigned)(change->real_ns % 1000000000u / 1000u);
        struct tm local = {0};
        char text[64];
        localtime_r(&seconds, &local);
        size_t len = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &local);
        snprintf(text + len, sizeof(text) - len, ".%06u", micros);
        js_begin_object(&f->w);
        js_key(&f->w, "rps");
        js_int(&f->w, change->rps);
        js_key(&f->w, "timestamp");
        js_cstring(&f->w, text);
        js_end_object(&f->w);
    }
    js_end_array(&f->w);
}

static void put_metric(struct fields *f, const struct run_report *report, enum metric_id metric)
{
    const struct series_stats *series = report_series(report, metric);
    const char *name = config_metric_name(metric);
    char key[128];
    snprintf(key, sizeof(key), "mean_%s_ms", name);
    fields_double(f, key, series->mean_ms);
    snprintf(key, sizeof(key), "median_%s_ms", name);
    fields_double(f, key, series->median_ms);
    snprintf(key, sizeof(key), "std_%s_ms", name);
    fields_double(f, key, series->std_ms);
    for (size_t i = 0; i < report->config->percentile_count; i++) {
        char p[NUM_TEXT_MAX];
        num_format_short(p, report->config->percentiles[i]);
        snprintf(key, sizeof(key), "p%s_%s_ms", p, name);
        fields_double(f, key, series->percentiles_ms[i]);
    }
}

static void member_double(struct js_writer *w, const char *name, double value)
{
    js_key(w, name);
    js_double(w, value);
}

static void member_uint(struct js_writer *w, const char *name, uint64_t value)
{
    js_key(w, name);
    js_uint(w, value);
}

static void write_window(struct js_writer *w, const struct steady_state *st)
{
    js_begin_object(w);
    member_double(w, "start_s", st->start_s);
    member_double(w, "end_s", st->end_s);
    member_double(w, "duration_s", st->duration_s);
    member_uint(w, "target_concurrency", st->target_concurrency);
    member_double(w, "threshold", st->threshold);
    member_uint(w, "threshold_abs", st->threshold_abs);
    member_uint(w, "observed_peak", st->observed_peak);
    member_uint(w, "requests_started_in_window", st->requests_started);
    member_uint(w, "requests_completed_in_window", st->requests_completed);
    member_uint(w, "requests_total", st->requests_total);
    js_key(w, "warning");
    js_cstring(w, st->has_warning ? st->warning : NULL);
    member_uint(w, "gaps", st->gaps);
    member_double(w, "gap_s", st->gap_s);
    js_end_object(w);
}

static void put_steady(struct fields *f, const struct run_report *report)
{
    const struct steady_state *st = &report->summary->steady;
    if (!fields_key(f, "steady_state"))
        return;
    struct js_writer *w = &f->w;
    if (!st->found) {
        js_null(w);
        return;
    }
    js_begin_object(w);
    js_key(w, "window");
    write_window(w, st);
    member_double(w, "request_throughput", st->request_throughput);
    member_double(w, "input_throughput", st->input_throughput);
    member_double(w, "output_throughput", st->output_throughput);
    member_double(w, "total_token_throughput", st->total_token_throughput);
    member_double(w, "mean_ttft_ms", st->mean_ttft_ms);
    member_double(w, "median_ttft_ms", st->median_ttft_ms);
    js_key(w, "percentiles_ttft_ms");
    js_begin_array(w);
    for (size_t i = 0; i < report->config->percentile_count && !report->pooling; i++) {
        js_begin_array(w);
        js_double(w, report->config->percentiles[i]);
        js_double(w, st->percentiles_ttft_ms[i]);
        js_end_array(w);
    }
    js_end_array(w);
    member_double(w, "mean_tpot_ms", st->mean_tpot_ms);
    member_double(w, "median_tpot_ms", st->median_tpot_ms);
    member_double(w, "p90_tpot_ms", st->p90_tpot_ms);
    member_double(w, "p99_tpot_ms", st->p99_tpot_ms);
    js_end_object(w);
}

static void member_lag(struct js_writer *w, const char *name, const struct hist *h)
{
    js_key(w, name);
    js_begin_object(w);
    member_double(w, "p50", (double)hist_percentile_ns(h, 50) / 1e3);
    member_double(w, "p99", (double)hist_percentile_ns(h, 99) / 1e3);
    member_double(w, "max", h->count > 0 ? (double)h->max_ns / 1e3 : 0.0);
    member_double(w, "mean", h->count > 0 ? hist_mean_ns(h) / 1e3 : 0.0);
    js_end_object(w);
}

static double share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0.0;
}

static void write_observations(struct js_writer *w, const struct client_stats *c)
{
    static const char *const STAMPS[] = {
        [STAMP_KERNEL] = "kernel", [STAMP_USER] = "user", [STAMP_MIXED] = "mixed"};
    js_key(w, "version");
    js_cstring(w, VB_VERSION);
    member_uint(w, "threads", c->threads);
    js_key(w, "timestamps");
    js_cstring(w, STAMPS[client_stamp_source(c)]);
    member_lag(w, "receive_lag_us", &c->receive_lag);
    member_lag(w, "send_lag_us", &c->send_lag);
    member_lag(w, "connect_us", &c->connect_time);
    if (c->tls_handshakes > 0) {
        member_uint(w, "tls_handshakes", c->tls_handshakes);
        member_double(w, "mean_tls_us", (double)c->tls_total_ns / (double)c->tls_handshakes / 1e3);
    }
    member_double(w, "merged_read_share", share(c->merged_reads, c->event_reads));
    member_double(w, "merged_event_share", share(c->merged_events, c->token_events));
    member_double(w, "longest_stall_ms", (double)c->longest_stall_ns / 1e6);
    member_double(w, "cpu_share", share(c->cpu_ns, c->wall_ns));
    member_uint(w, "tcp_retransmits", c->tcp_retransmits);
    member_uint(w, "connections", c->connections);
    member_uint(w, "reconnects", c->reconnects);
    member_uint(w, "requests_connecting", c->requests_connecting);
    member_double(w, "dns_ms", c->dns_ms);
    js_key(w, "address");
    js_cstring(w, c->address);
    member_uint(w, "clock_steps", c->clock_steps);
}

static void write_verdict(struct js_writer *w, const struct run_report *report)
{
    char rule[400] = "";
    enum verdict verdict = report_verdict(report, rule, sizeof(rule));
    js_key(w, "verdict");
    js_cstring(w, verdict_name(verdict));
    js_key(w, "verdict_rule");
    js_cstring(w, verdict == VERDICT_CLEAN ? "none" : rule);
}

void result_client(struct fields *f, const struct run_report *report)
{
    const struct summary *s = report->summary;
    struct js_writer *w = &f->w;
    if (!fields_key(f, "client"))
        return;
    js_begin_object(w);
    write_observations(w, report->client);
    write_verdict(w, report);
    member_double(w, "mean_queue_ms", s->mean_queue_ms);
    member_double(w, "p99_queue_ms", s->p99_queue_ms);
    js_key(w, "failures");
    js_begin_object(w);
    for (enum failure_kind kind = FAILURE_NONE + 1; kind < FAILURE_COUNT; kind++)
        member_uint(w, failure_name(kind), s->failures[kind]);
    js_end_object(w);
    if (!report->pooling) {
        js_key(w, "output_tokens_from");
        js_begin_object(w);
        member_uint(w, "usage", s->output_from_usage);
        member_uint(w, "text", s->output_from_text);
        member_uint(w, "fallback", s->output_from_fallback);
        js_end_object(w);
    }
    if (report->config->save_detailed && !report->config->multi_turn.on)
        detail_client(w, report);
    js_end_object(w);
}

void result_json(const struct run_report *report, struct buf *out)
{
    const struct summary *s = report->summary;
    bool detailed = report->config->save_detailed;
    struct fields f;
    fields_begin(&f, out, &report->config->metadata);
    put_settings(&f, report);
    put_totals(&f, report);
    if (detailed)
        detail_requests(&f, report);
    if (!report->pooling) {
        fields_double(&f, "max_output_tokens_per_s", s->max_output_tokens_per_s);
        fields_uint(&f, "max_concurrent_requests", s->max_concurrent_requests);
        fields_double(&f, "rtfx", s->rtfx);
    }
    detail_failures(&f, report);
    if (detailed)
        detail_server_times(&f, report);
    extra_probe(&f, report);
    put_rps_changes(&f, report);
    extra_server(&f, report);
    for (enum metric_id metric = 0; metric < METRIC_COUNT; metric++)
        if (report_shows_metric(report, metric))
            put_metric(&f, report, metric);
    put_steady(&f, report);
    fields_uint(&f, "num_requests_sent", s->sent);
    if (report->config->duration_ns > 0) {
        fields_double(&f, "duration_limit", (double)report->config->duration_ns / 1e9);
        fields_double(&f, "grace", (double)report->config->grace_ns / 1e9);
        fields_uint(&f, "unfinished", s->unfinished);
    }
    fields_uint(&f, "exact_max_concurrent_requests", s->exact_max_concurrent_requests);
    if (!report->pooling)
        fields_double(&f, "exact_max_output_tokens_per_s", s->exact_max_output_tokens_per_s);
    extra_tokens(&f, report);
    if (report->interrupted && fields_key(&f, "interrupted"))
        js_bool(&f.w, true);
    result_client(&f, report);
    fields_end(&f);
}

/* Python's automatic name; the parts are joined by dashes. */
static void add_file_name(const struct run_report *report, struct buf *out)
{
    const struct config *config = report->config;
    char a[NUM_TEXT_MAX];
    char b[NUM_TEXT_MAX];
    char date[16];
    buf_add_str(out, config->label != NULL && config->label[0] != '\0' ? config->label
                                                                       : config->backend);
    if (config->ramp_up_strategy != RAMP_UP_NONE) {
        num_format_short(a, config->ramp_up_start_rps);
        num_format_short(b, config->ramp_up_end_rps);
        buf_add_fmt(out, "-ramp-up-%s-%sqps-%sqps", ramp_name(config->ramp_up_strategy), a, b);
    } else {
        num_format_double(a, config->request_rate);
        buf_add_fmt(out, "-%sqps", a);
    }
    if (config->max_concurrency > 0)
        buf_add_fmt(out, "-concurrency%llu", (unsigned long long)config->max_concurrency);
    const char *model = report->model_id != NULL ? report->model_id : "";
    const char *slash = strrchr(model, '/');
    report_date(report->date, date);
    buf_add_fmt(out, "-%s-%s.json", slash != NULL ? slash + 1 : model, date);
}

void result_path(const struct run_report *report, struct buf *path)
{
    const struct config *config = report->config;
    const char *name = config->result_filename;
    const char *dir = config->result_dir;
    if (dir != NULL && dir[0] != '\0' && !(name != NULL && name[0] == '/')) {
        buf_add_str(path, dir);
        if (dir[strlen(dir) - 1] != '/')
            buf_add_char(path, '/');
    }
    if (name != NULL && name[0] != '\0')
        buf_add_str(path, name);
    else
        add_file_name(report, path);
}

/* Makes the folder that the file goes into. */
static bool make_parent(const char *path, struct error *err)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL || slash == path)
        return true;
    struct buf dir = {0};
    buf_add(&dir, sv_make(path, (size_t)(slash - path)));
    bool ok = file_make_dirs(buf_cstr(&dir), err);
    buf_done(&dir);
    return ok;
}

bool result_name_is_automatic(const struct config *config)
{
    return config->result_filename == NULL || config->result_filename[0] == '\0' ||
           config->result_name_made;
}

bool result_claim_name(struct buf *path, const char *ending, unsigned *number)
{
    size_t stem = path->len - strlen(ending);
    for (unsigned n = *number;; n = n < 2 ? 2 : n + 1) {
        path->len = stem;
        if (n > 0)
            buf_add_fmt(path, "-%u", n);
        buf_add_str(path, ending);
        /* Two runs that end at once must not find the same name free. */
        int fd = open(buf_cstr(path), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
        if (fd >= 0)
            close(fd);
        else if (errno == EEXIST)
            continue;
        *number = n;
        return fd >= 0; /* else writing the result will say why */
    }
}

bool result_claim(const struct config *config, struct buf *path)
{
    unsigned number = 0;
    return result_name_is_automatic(config) && !config->append_result &&
           result_claim_name(path, ".json", &number);
}

enum { FALLBACK_NAMES = 100 }; /* runs of one program that end in the same second */

static bool save_in(const char *dir, time_t when, const char *ending, struct sv content,
                    struct buf *path)
{
    char date[16];
    struct error ignored;
    report_date(when, date);
    for (int i = 0; i < FALLBACK_NAMES; i++) {
        buf_reset(path);
        buf_add_fmt(path, "%s/vllm-bench-result-%s-%ld", dir, date, (long)getpid());
        if (i > 0)
            buf_add_fmt(path, "-%d", i);
        buf_add_str(path, ending);
        if (file_write_new(buf_cstr(path), content, &ignored))
            return true;
        if (ignored.sys != EEXIST)
            return false;
    }
    return false;
}

/* What was measured cannot be measured again. */
void result_save_elsewhere(time_t date, const char *ending, struct sv content, struct error *err)
{
    const char *temporary = getenv("TMPDIR");
    struct error why = *err;
    struct buf path = {0};
    bool saved = (temporary != NULL && temporary[0] == '/' &&
                  save_in(temporary, date, ending, content, &path)) ||
                 save_in("/tmp", date, ending, content, &path);
    if (saved) {
        /* a long name is cut, so that the place is seen */
        error_set(err, why.code, "%.600s; the result was written to '%s' instead", why.message,
                  buf_cstr(&path));
        err->sys = why.sys;
    }
    buf_done(&path);
}

bool result_save(const struct run_report *report, char **path, struct error *err)
{
    if (path != NULL)
        *path = NULL;
    if (!report->config->save_result && !report->config->append_result)
        return true;
    struct buf name = {0};
    struct buf json = {0};
    result_path(report, &name);
    result_json(report, &json);
    bool ok = make_parent(buf_cstr(&name), err);
    bool claimed = ok && result_claim(report->config, &name);
    const char *file = buf_cstr(&name);
    ok = ok && (report->config->append_result ? file_append_record(file, buf_sv(&json), err)
                                              : file_write_atomic(file, buf_sv(&json), err));
    if (!ok)
        result_save_elsewhere(report->date, ".json", buf_sv(&json), err);
    if (claimed && !ok)
        unlink(file);
    ok = ok && (!pytorch_wanted() || pytorch_save(report, file, buf_sv(&json), err));
    buf_done(&json);
    if (ok && path != NULL)
        *path = buf_take(&name);
    buf_done(&name);
    return ok;
}
