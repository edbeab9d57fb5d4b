/* Runs a fuzz target on files instead of random input: every argument is a file or a folder of
 * files.  A crash or a failed assertion ends the program, so reaching the end is the test.  The
 * input lies in a block of exactly its size, so that a sanitizer sees a read past the end.  A
 * folder that is missing or empty is an error: a target without seeds tests nothing. */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { REPLAY_MAX_BYTES = 16 << 20 };

static bool replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "replay: cannot open '%s': %s\n", path, strerror(errno));
        return false;
    }
    bool done = false;
    struct stat info;
    if (fstat(fileno(file), &info) == 0 && info.st_size <= REPLAY_MAX_BYTES) {
        size_t size = (size_t)info.st_size;
        uint8_t *data = malloc(size > 0 ? size : 1);
        if (data != NULL && fread(data, 1, size, file) == size) {
            (void)LLVMFuzzerTestOneInput(data, size);
            done = true;
        }
        free(data);
    }
    if (!done)
        fprintf(stderr, "replay: cannot read '%s'\n", path);
    fclose(file);
    return done;
}

/* Number of files run, or -1 when one could not be read. */
static long replay_folder(const char *path)
{
    DIR *folder = opendir(path);
    if (folder == NULL) {
        fprintf(stderr, "replay: cannot open '%s': %s\n", path, strerror(errno));
        return -1;
    }
    long count = 0;
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (entry->d_name[0] == '.')
            continue;
        char file[4096];
        int length = snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
        if (length < 0 || (size_t)length >= sizeof(file) || !replay_file(file)) {
            count = -1;
            break;
        }
        count++;
    }
    closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    long total = 0;
    (void)LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++) {
        struct stat info;
        long count = -1;
        if (stat(argv[i], &info) == 0 && !S_ISDIR(info.st_mode))
            count = replay_file(argv[i]) ? 1 : -1;
        else
            count = replay_folder(argv[i]);
        if (count < 0)
            return 1;
        total += count;
    }
    printf("%ld inputs replayed\n", total);
    return total > 0 ? 0 : 1;
}
