/* Readiness and warm-up: small runs of the load engine whose records nobody keeps. */
#include "load/ready.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "net/tls.h"

static const uint64_t RETRY_NS = 5 * NS_PER_S;

/* Copies of request 0, or the requests of another workload in turn; all due at once. */
static bool send_copies(const struct load_plan *main_plan, const struct workload *fresh,
                        uint64_t count, struct load_result *result, struct error *err)
{
    struct load_plan plan = *main_plan;
    uint32_t *order = mem_array(count, sizeof(*order));
    if (fresh != NULL)
        plan.workload = fresh;
    for (size_t i = 0; fresh != NULL && i < count; i++)
        order[i] = (uint32_t)(i % fresh->count);
    plan.order = order;
    plan.count = count;
    plan.due_ns = NULL;
    plan.id_prefix = NULL;
    plan.text = LOAD_TEXT_NONE;
    plan.progress = NULL;
    plan.draining = NULL;
    plan.impatient = true;
    plan.started = NULL;
    bool ok = load_run(&plan, result, err);
    free(order);
    if (ok && result->interrupted) {
        load_result_done(result);
        return error_set(err, E_INTERRUPTED, "interrupted before the benchmark began");
    }
    return ok;
}

/* Sleeps in steps of at most a second, so that the countdown is seen. */
static void wait_until(uint64_t until_ns, uint64_t deadline_ns, ready_tick_fn *tick, void *user,
                       const char *last_error)
{
    for (;;) {
        uint64_t now = clock_mono_ns();
        if (tick != NULL)
            tick(user, deadline_ns > now ? (deadline_ns - now + NS_PER_S - 1) / NS_PER_S : 0,
                 last_error);
        if (now >= until_ns)
            return;
        clock_sleep_until_ns(until_ns - now < NS_PER_S ? until_ns : now + NS_PER_S);
    }
}

/* One test request; a failed one puts its reason into *why. */
static bool try_once(const struct load_plan *main_plan, bool *ready, struct error *why,
                     struct error *err)
{
    struct load_result result;
    if (!send_copies(main_plan, NULL, 1, &result, err))
        return false;
    const struct record *r = &result.records[0];
    *ready = record_ok(r);
    if (!*ready)
        error_set(why, E_NETWORK, SV_FMT, SV_ARG(r->error));
    load_result_done(&result);
    return true;
}

bool ready_check(const struct load_plan *main_plan, uint64_t timeout_s, ready_tick_fn *tick,
                 void *user, struct error *err)
{
    uint64_t deadline = clock_mono_ns() + timeout_s * NS_PER_S;
    struct error why = {.message = "no attempt was made"};
    for (;;) {
        uint64_t began = clock_mono_ns();
        if (began >= deadline)
            break;
        struct load_plan plan = *main_plan;
        if (plan.request_timeout_ns > deadline - began)
            plan.request_timeout_ns = deadline - began;
        bool ready;
        if (!try_once(&plan, &ready, &why, err))
            return false;
        if (ready)
            return true;
        if (strstr(why.message, TLS_NOT_SPOKEN) != NULL)
            return error_set(err, E_NETWORK, "%s", why.message);
        uint64_t now = clock_mono_ns();
        wait_until(now + RETRY_NS < deadline ? now + RETRY_NS : deadline, deadline, tick, user,
                   why.message);
    }
    return error_set(err, E_NETWORK, "the server is not ready after %llu s: %s",
                     (unsigned long long)timeout_s, why.message);
}

bool ready_warm_up(const struct load_plan *main_plan, const struct workload *fresh, uint64_t count,
                   uint64_t *failed, struct error *err)
{
    struct load_result result;
    *failed = 0;
    if (!send_copies(main_plan, fresh, count, &result, err))
        return false;
    for (size_t i = 0; i < result.count; i++)
        *failed += !record_ok(&result.records[i]);
    load_result_done(&result);
    return true;
}
