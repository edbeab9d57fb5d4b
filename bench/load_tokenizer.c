/* Loads one tokenizer as the program does and says what that cost, as one line of JSON:
 *   load_tokenizer NAME [TEXT [plain]]
 * wall and CPU from before the name is looked up until the text (default "hello world") is encoded, so that everything the
 * loader puts off is in it; resident memory that this added; how many bytes the vocabulary would take as a rank file.
 * plain: the file alone, without the configuration beside it. */
#include "base/clock.h"
#include "tokenizer/tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Pages of this process in memory, in bytes. */
static size_t resident(void)
{
    char line[128];
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL)
        return 0;
    char *got = fgets(line, sizeof(line), f);
    fclose(f);
    char *space = got != NULL ? strchr(line, ' ') : NULL;
    return space != NULL ? strtoull(space, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

/* Lines of base64, a space, the rank. */
static size_t rank_file_bytes(const struct tokenizer *t)
{
    size_t bytes = 0;
    for (uint32_t id = 0; id < tokenizer_vocab_size(t); id++) {
        struct sv token = tokenizer_token_text(t, id);
        if (token.ptr != NULL)
            bytes += (token.len + 2) / 3 * 4 + 2 + (size_t)snprintf(NULL, 0, "%u", id);
    }
    return bytes;
}

int main(int argc, char **argv)
{
    struct error err;
    struct token_ids ids = {0};
    if (argc < 2) {
        fprintf(stderr, "usage: load_tokenizer NAME [TEXT [plain]]\n");
        return 2;
    }
    enum tokenizer_use use = argc > 3 ? TOKENIZER_PLAIN : TOKENIZER_SERVE;
    size_t memory = resident();
    uint64_t cpu = clock_process_cpu_ns();
    uint64_t start = clock_mono_ns();
    struct tokenizer *t = tokenizer_resolve(argv[1], use, NULL, &err);
    uint64_t loaded = clock_mono_ns();
    if (t == NULL ||
        !tokenizer_encode(t, sv_from(argc > 2 ? argv[2] : "hello world"), false, &ids, &err)) {
        fprintf(stderr, "load_tokenizer: %s\n", err.message);
        return 1;
    }
    uint64_t ready = clock_mono_ns();
    cpu = clock_process_cpu_ns() - cpu;
    memory = resident() - memory;
    printf("{\"load_ms\": %.2f, \"wall_ms\": %.2f, \"cpu_ms\": %.2f, \"rss\": %zu, "
           "\"rank_file_bytes\": %zu, \"ids\": [",
           (double)(loaded - start) / 1e6, (double)(ready - start) / 1e6, (double)cpu / 1e6, memory,
           rank_file_bytes(t));
    for (size_t i = 0; i < ids.count; i++)
        printf("%s%u", i > 0 ? ", " : "", ids.items[i]);
    printf("]}\n");
    token_ids_done(&ids);
    tokenizer_free(t);
    return 0;
}
