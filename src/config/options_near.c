/* The nearest known name to a mistyped one: an abbreviation first, else the least edit distance (insertions,
 * deletions, exchanges, neighbours swapped) that is still small for the word's length. */
#include "config/options_priv.h"

enum { NEAR_MAX = 64 };

static char fold(char c)
{
    if (c == '_') {
        return '-';
    }
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;
    return m < c ? m : c;
}

/* Optimal string alignment over three rows; both words at most NEAR_MAX long. */
static size_t distance(struct sv a, struct sv b)
{
    size_t rows[3][NEAR_MAX + 1];
    for (size_t j = 0; j <= b.len; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a.len; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i - 1) % 3];
        const size_t *above2 = rows[(i + 1) % 3]; /* i - 2 */
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            char x = fold(a.ptr[i - 1]);
            char y = fold(b.ptr[j - 1]);
            row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == fold(b.ptr[j - 2]) && y == fold(a.ptr[i - 2]) &&
                above2[j - 2] + 1 < row[j]) {
                row[j] = above2[j - 2] + 1;
            }
        }
    }
    return rows[a.len % 3][b.len];
}

static bool is_prefix(struct sv prefix, struct sv name)
{
    return prefix.len >= 2 && prefix.len < name.len &&
           option_names_alike(prefix, sv_make(name.ptr, prefix.len));
}

struct sv option_near(const char *names, struct sv word)
{
    struct sv best = sv_make(names, 0);
    struct sv longer = best;
    size_t limit = word.len < 6 ? (word.len + 1) / 3 : word.len / 4 + 1;
    size_t best_distance = limit < 4 ? limit + 1 : 4;
    struct sv rest = sv_from(names);
    struct sv name;
    if (word.len == 0 || word.len > NEAR_MAX) {
        return best;
    }
    while (option_next_name(&rest, &name)) {
        if (option_names_alike(name, word)) {
            return name;
        }
        if (is_prefix(word, name) && (longer.len == 0 || name.len < longer.len)) {
            longer = name;
        }
        size_t gap = name.len > word.len ? name.len - word.len : word.len - name.len;
        if (name.len <= NEAR_MAX && gap < best_distance) {
            size_t d = distance(word, name);
            if (d < best_distance) {
                best_distance = d;
                best = name;
            }
        }
    }
    return longer.len > 0 ? longer : best;
}
