/* This machine: whether its clocks, limits and processors are fit for the load that the settings ask for. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/num.h"
#include "load/load.h"
#include "modes/doctor_priv.h"

/* Descriptors beside the connections: standard streams, files, event queues, probes. */
enum { OTHER_FILES = 64, SLEEPS = 100, READINGS = 10000, WATCH_MS = 300 };

/* The first line of a small file; empty when it cannot be read. */
static void read_line(const char *path, char *line, size_t cap)
{
    FILE *f = fopen(path, "re");
    line[0] = '\0';
    if (f == NULL)
        return;
    if (fgets(line, (int)cap, f) == NULL)
        line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    fclose(f);
}

/* ---- clocks ----------------------------------------------------------------------------------------------------- */

static void check_clock(struct doctor *d)
{
    char source[64];
    read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
              sizeof(source));
    uint64_t begin = clock_mono_ns();
    for (int i = 0; i < READINGS - 1; i++)
        (void)clock_mono_ns();
    double ns = (double)(clock_mono_ns() - begin) / READINGS;
    const char *name = source[0] != '\0' ? source : "unknown";
    if (ns > 500)
        doctor_warn(
            d, "clock",
            "a slow clock source (hpet, acpi_pm, a virtual one): boot with clocksource=tsc if "
            "the processor can",
            "source '%s': reading it takes %.0f ns", name, ns);
    else
        doctor_ok(d, "clock", "source '%s', %.0f ns a reading", name, ns);
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* How late a sleeping thread wakes: what a busy or throttled machine does to arrival times. */
static void check_wakeups(struct doctor *d)
{
    uint64_t late[SLEEPS];
    for (int i = 0; i < SLEEPS; i++) {
        uint64_t due = clock_mono_ns() + 500 * NS_PER_US;
        clock_sleep_until_ns(due);
        uint64_t now = clock_mono_ns();
        late[i] = now > due ? now - due : 0;
    }
    qsort(late, SLEEPS, sizeof(late[0]), by_size);
    double p50 = (double)late[SLEEPS / 2] / 1e6;
    double p95 = (double)late[SLEEPS * 95 / 100] / 1e6;
    if (p95 > 2)
        doctor_warn(d, "wake-ups", "stop other programs, or run the client on a machine of its own",
                    "a sleeping thread wakes %.2f ms late (median), %.2f ms (p95)", p50, p95);
    else
        doctor_ok(d, "wake-ups", "%.3f ms late (median), %.3f ms (p95)", p50, p95);
}

/* ---- limits ----------------------------------------------------------------------------------------------------- */

static void check_files(struct doctor *d)
{
    struct rlimit limit;
    uint64_t need = doctor_concurrency(d) + OTHER_FILES;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < need)
        doctor_fail(d, "files",
                    "raise it: 'ulimit -Hn N' as root, LimitNOFILE=, or "
                    "/etc/security/limits.conf; or lower --max-concurrency",
                    "%llu open files are allowed, these settings need %llu",
                    (unsigned long long)limit.rlim_max, (unsigned long long)need);
    else
        doctor_ok(d, "files", "%llu open files are allowed, %llu needed at most",
                  (unsigned long long)limit.rlim_max, (unsigned long long)need);
}

static void check_ports(struct doctor *d)
{
    char line[64];
    uint64_t low;
    uint64_t high;
    read_line("/proc/sys/net/ipv4/ip_local_port_range", line, sizeof(line));
    struct sv rest = sv_from(line);
    for (size_t i = 0; line[i] != '\0'; i++)
        line[i] = line[i] == '\t' ? ' ' : line[i];
    struct sv first;
    if (!sv_split(&rest, ' ', &first) || !num_parse_u64(first, &low) ||
        !num_parse_u64(sv_trim(rest), &high) || high < low)
        return;
    uint64_t ports = high - low + 1;
    if (doctor_concurrency(d) > ports)
        doctor_fail(d, "ports",
                    "sysctl net.ipv4.ip_local_port_range='1024 65535', or lower "
                    "--max-concurrency",
                    "%llu local ports for %llu connections", (unsigned long long)ports,
                    (unsigned long long)doctor_concurrency(d));
    else
        doctor_ok(d, "ports", "%llu local ports", (unsigned long long)ports);
}

/* ---- processors ------------------------------------------------------------------------------------------------- */

/* Jiffies of all processors since boot: idle, stolen by a hypervisor, all. */
static bool read_jiffies(uint64_t *idle, uint64_t *stolen, uint64_t *all)
{
    char line[256];
    read_line("/proc/stat", line, sizeof(line));
    struct sv rest = sv_from(line);
    struct sv word;
    uint64_t columns[10] = {0};
    size_t n = 0;
    if (!sv_split(&rest, ' ', &word) || !sv_eq(word, SV_LIT("cpu")))
        return false;
    while (n < 10 && sv_split(&rest, ' ', &word)) {
        if (word.len > 0 && num_parse_u64(word, &columns[n]))
            n++;
    }
    *all = 0;
    for (size_t i = 0; i < 8; i++) /* guest time is in user time already */
        *all += columns[i];
    *idle = columns[3] + columns[4];
    *stolen = columns[7];
    return n >= 8;
}

static double cgroup_cores(void)
{
    char line[64];
    double quota;
    double period;
    read_line("/sys/fs/cgroup/cpu.max", line, sizeof(line));
    struct sv rest = sv_from(line);
    struct sv first;
    if (!sv_split(&rest, ' ', &first) || !num_parse_double(first, &quota) ||
        !num_parse_double(rest, &period) || !(period > 0))
        return 0;
    return quota / period;
}

static void check_cores(struct doctor *d)
{
    cpu_set_t set;
    unsigned threads = d->config->client_threads;
    int cores = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
    double quota = cgroup_cores();
    if (threads == 0)
        threads = load_choose_threads(doctor_concurrency(d));
    if (quota > 0 && quota < threads)
        doctor_warn(d, "cores", "raise the container's share of the processors",
                    "%u threads would share %.1f cores (cgroup cpu.max): the kernel stops them in "
                    "between",
                    threads, quota);
    else if ((unsigned)cores < threads)
        doctor_warn(d, "cores", "lower --client-threads", "%u threads on %d cores", threads, cores);
    else
        doctor_ok(d, "cores", "%d cores, %u threads for %llu requests at once", cores, threads,
                  (unsigned long long)doctor_concurrency(d));
}

static void check_idle(struct doctor *d)
{
    uint64_t idle[2];
    uint64_t stolen[2];
    uint64_t all[2];
    bool ok = read_jiffies(&idle[0], &stolen[0], &all[0]);
    clock_sleep_until_ns(clock_mono_ns() + WATCH_MS * NS_PER_MS);
    if (!ok || !read_jiffies(&idle[1], &stolen[1], &all[1]) || all[1] <= all[0])
        return;
    double total = (double)(all[1] - all[0]);
    double free_share = (double)(idle[1] - idle[0]) / total * 100;
    double stolen_share = (double)(stolen[1] - stolen[0]) / total * 100;
    if (stolen_share > 5)
        doctor_warn(d, "cpu", "a virtual machine with processors of its own",
                    "the hypervisor takes %.0f %% of the time away", stolen_share);
    else if (free_share < 25)
        doctor_warn(d, "cpu", "stop what else runs here, or measure from another machine",
                    "only %.0f %% of the processors' time is free", free_share);
    else
        doctor_ok(d, "cpu", "%.0f %% of the processors' time is free", free_share);
}

void doctor_check_machine(struct doctor *d)
{
    check_clock(d);
    check_wakeups(d);
    check_files(d);
    check_ports(d);
    check_cores(d);
    check_idle(d);
}
