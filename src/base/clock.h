/* clock.h - the clocks, in integer nanoseconds.
 * clock_mono_ns is the one time scale of all measurements; clock_real_ns only maps kernel stamps and prints dates.
 * Threads: safe.  Errors: none. */
#ifndef VB_BASE_CLOCK_H
#define VB_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_S  UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_US UINT64_C(1000)

static inline uint64_t clock_read_ns(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static inline uint64_t clock_mono_ns(void)
{
    return clock_read_ns(CLOCK_MONOTONIC);
}

static inline uint64_t clock_real_ns(void)
{
    return clock_read_ns(CLOCK_REALTIME);
}

/* CPU time of the calling thread, and of the whole process. */
static inline uint64_t clock_thread_cpu_ns(void)
{
    return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

static inline uint64_t clock_process_cpu_ns(void)
{
    return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* Sleeps until the monotonic instant; returns early only when a signal arrives (false). */
static inline int clock_sleep_until_ns(uint64_t when_ns)
{
    struct timespec t = {(time_t)(when_ns / NS_PER_S), (long)(when_ns % NS_PER_S)};
    return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == 0;
}

#endif
