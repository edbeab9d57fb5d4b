/* ffmpeg gets the frames through a pipe and writes a file of its own folder: an MP4's index is written by seeking. */
#include "datasets/format/video.h"

#include "base/arena.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* The rates are OpenCV's; -qmin limits the size first. */
enum { FRAMES_PER_SECOND = 30, BITS_PER_PIXEL = 64, WORDS_MAX = 48 };

extern char **environ;

struct encoder {
    char folder[64];
    char video[96];
    char messages[96];
    pid_t pid;
    int pipe;
};

static bool start(struct encoder *e, char *const *words, const char *messages, struct error *err)
{
    posix_spawn_file_actions_t actions;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return error_set(err, E_IO, "cannot make a pipe: %s", strerror(errno));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, messages,
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int status = posix_spawnp(&e->pid, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    e->pipe = ends[1];
    if (status == 0)
        return true;
    close(ends[1]);
    return error_set(
        err, E_UNSUPPORTED,
        "videos are made by the program 'ffmpeg', which cannot be started: %s; install "
        "it, or give sizes with more than one frame the weight 0",
        strerror(status));
}

/* False when the program ended in any other way than well. */
static bool finish(struct encoder *e)
{
    int status = 0;
    close(e->pipe);
    while (waitpid(e->pid, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool video_check(struct error *err)
{
    char program[] = "ffmpeg";
    char flag[] = "-version";
    char *const words[] = {program, flag, NULL};
    struct encoder e;
    if (!start(&e, words, "/dev/null", err))
        return false;
    return finish(&e) || error_set(err, E_UNSUPPORTED, "'ffmpeg -version' failed");
}

static bool encode_into(struct encoder *e, const uint8_t *bgr, size_t len, const char *size,
                        const char *rate, struct error *err)
{
    struct arena arena = {0};
    char *words[WORDS_MAX];
    size_t count = 0;
    struct sv rest = arena_fmt(
        &arena,
        "ffmpeg -nostdin -v error -y -f rawvideo -pix_fmt bgr24 -r 30 -s %s -i - "
        "-vf crop=trunc(iw/2)*2:trunc(ih/2)*2:0:0 -c:v mpeg4 -vtag mp4v -pix_fmt yuv420p -b:v %s "
        "-qmin 3 -g 12 -threads 1 -fflags +bitexact -flags:v +bitexact",
        size, rate);
    struct sv word;
    while (count + 2 < WORDS_MAX && sv_split(&rest, ' ', &word))
        words[count++] = arena_strdup(&arena, arena_copy(&arena, word).ptr);
    words[count++] = e->video;
    words[count] = NULL;
    bool started = start(e, words, e->messages, err);
    arena_done(&arena);
    if (!started)
        return false;
    bool sent = file_write_all(e->pipe, sv_make((const char *)bgr, len));
    if (finish(e) && sent)
        return true;
    struct buf said = {0};
    struct error ignored;
    bool read = file_read(e->messages, &said, &ignored);
    struct sv text = read ? sv_trim(buf_sv(&said)) : SV_LIT("");
    error_set(err, E_IO, "ffmpeg made no video of %s pixels: " SV_FMT, size, SV_ARG(text));
    buf_done(&said);
    return false;
}

bool video_encode(const uint8_t *bgr, uint32_t width, uint32_t height, uint32_t frames,
                  struct buf *out, struct error *err)
{
    struct encoder e = {.pid = -1};
    char size[32], rate[32];
    if (width < 2 || height < 2)
        return error_set(err, E_CONFIG, "a video of %ux%u pixels: each side needs two at least",
                         width, height);
    double bits = (double)BITS_PER_PIXEL * FRAMES_PER_SECOND * width * height;
    snprintf(size, sizeof(size), "%ux%u", width, height);
    snprintf(rate, sizeof(rate), "%.0f", bits < INT32_MAX / 2.0 ? bits : INT32_MAX / 2.0);
    const char *parent = getenv("TMPDIR");
    snprintf(e.folder, sizeof(e.folder), "%.40s/vllm-bench-XXXXXX",
             parent != NULL && parent[0] == '/' && strlen(parent) <= 40 ? parent : "/tmp");
    if (mkdtemp(e.folder) == NULL)
        return error_set(err, E_IO, "cannot make the folder '%s': %s", e.folder, strerror(errno));
    snprintf(e.video, sizeof(e.video), "%s/video.mp4", e.folder);
    snprintf(e.messages, sizeof(e.messages), "%s/messages", e.folder);
    bool ok = encode_into(&e, bgr, (size_t)width * height * 3 * frames, size, rate, err) &&
              file_read(e.video, out, err);
    unlink(e.video);
    unlink(e.messages);
    rmdir(e.folder);
    return ok;
}
