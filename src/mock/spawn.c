/* A mock server in a process of its own, so that it shares neither threads nor memory with the client it is measured by.
 * The child tells its port, or why it could not start, over a pipe. */
#include "mock/mock.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct report {
    uint16_t port; /* 0: err says why */
    struct error err;
};

static bool read_report(int fd, struct report *report)
{
    char *at = (char *)report;
    size_t left = sizeof(*report);
    while (left > 0) {
        ssize_t n = read(fd, at, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        left -= (size_t)n;
    }
    return true;
}

/* Blocked, so that sigwait gets it even when the parent had set a handler. */
static void wait_for_term(void)
{
    sigset_t set;
    int number = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    while (sigwait(&set, &number) != 0)
        continue;
}

static void prepare_signals(void)
{
    sigset_t set;
    struct sigaction ignore;
    memset(&ignore, 0, sizeof(ignore));
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignore, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
    sigfillset(&set);
    sigprocmask(SIG_SETMASK, &set, NULL);
}

_Noreturn static void run_child(const struct mock_options *o, int fd, pid_t parent)
{
    struct report report;
    memset(&report, 0, sizeof(report));
    prepare_signals();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(0); /* it ended before the line above */
    struct mock_server *server = mock_start(o, &report.err);
    if (server != NULL)
        report.port = mock_port(server);
    file_write_all(fd, sv_make((const char *)&report, sizeof(report)));
    close(fd);
    if (server == NULL)
        _exit(1);
    wait_for_term();
    _exit(mock_stop(server, &report.err) ? 0 : 1);
}

bool mock_spawn(const struct mock_options *o, pid_t *pid, uint16_t *port, struct error *err)
{
    int ends[2];
    struct report report;
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_sys(err, E_IO, errno, "cannot make a pipe for the mock server");
    pid_t child = fork();
    if (child < 0) {
        int sys = errno;
        close(ends[0]);
        close(ends[1]);
        return error_sys(err, E_IO, sys, "cannot start a process for the mock server");
    }
    if (child == 0) {
        close(ends[0]);
        run_child(o, ends[1], parent);
    }
    close(ends[1]);
    bool told = read_report(ends[0], &report);
    close(ends[0]);
    if (!told || report.port == 0) {
        mock_reap(child);
        if (told)
            *err = report.err;
        return told ? error_context(err, "mock server")
                    : error_set(err, E_IO, "the mock server ended before it was ready");
    }
    *pid = child;
    *port = report.port;
    return true;
}

void mock_reap(pid_t pid)
{
    int status;
    if (pid <= 0)
        return;
    kill(pid, SIGTERM);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
}
