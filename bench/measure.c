/* Runs a command and writes what it used: a small parent, because a child's peak memory counts from the fork on and
 * would otherwise be that of the script that started it.
 *
 *   measure REPORT COMMAND [ARGUMENT ...]
 *
 * REPORT gets one line "user_s system_s peak_kib wall_s"; the exit status is the command's. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fputs("usage: measure REPORT COMMAND [ARGUMENT ...]\n", stderr);
        return 2;
    }
    double began = now_s();
    pid_t child = fork();
    if (child < 0) {
        perror("measure: fork");
        return 1;
    }
    if (child == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    int status;
    struct rusage used;
    if (wait4(child, &status, 0, &used) != child) {
        perror("measure: wait4");
        return 1;
    }
    double wall = now_s() - began;
    FILE *report = fopen(argv[1], "w");
    if (report == NULL) {
        perror(argv[1]);
        return 1;
    }
    fprintf(report, "%.6f %.6f %ld %.6f\n", seconds(used.ru_utime), seconds(used.ru_stime),
            used.ru_maxrss, wall);
    if (fclose(report) != 0)
        return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
