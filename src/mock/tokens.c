/* Words have at most six letters.  Made-up words are consonant-vowel pairs, 16 * 5 of them
 * a syllable, and their id is the number that the three syllables write in base 80; no common word has that form. */
#include "mock/tokens.h"

#include <stdlib.h>

#include "base/alloc.h"

enum {
    PAIRS_AT = 256,
    WORDS_AT = PAIRS_AT + 26 * 26,
    WORD_MAX = 6,
    SYLLABLES = 80,
};

static const char consonants[16 + 1] = "bdfghjklmnprstvz";
static const char vowels[5 + 1] = "aeiou";

/* Sorted, so that encoding can search: a unit test checks the order. */
static const char words[][WORD_MAX + 2] = {
    " a",      " about",  " above",  " across", " add",    " after",  " again",  " air",
    " all",    " also",   " always", " am",     " an",     " and",    " animal", " answer",
    " any",    " are",    " around", " as",     " ask",    " at",     " away",   " back",
    " be",     " became", " been",   " began",  " best",   " better", " big",    " bird",
    " black",  " blue",   " boat",   " body",   " book",   " both",   " box",    " boy",
    " bring",  " brown",  " but",    " by",     " call",   " came",   " can",    " car",
    " carry",  " change", " check",  " city",   " clear",  " close",  " cold",   " come",
    " could",  " cut",    " day",    " deep",   " did",    " do",     " dog",    " done",
    " door",   " down",   " draw",   " dry",    " each",   " early",  " earth",  " east",
    " eat",    " end",    " enough", " even",   " ever",   " every",  " eye",    " face",
    " fall",   " far",    " fast",   " father", " feet",   " few",    " field",  " find",
    " fire",   " first",  " fish",   " five",   " fly",    " follow", " food",   " for",
    " form",   " found",  " four",   " fox",    " friend", " from",   " full",   " game",
    " gave",   " get",    " girl",   " give",   " go",     " gold",   " good",   " got",
    " great",  " green",  " ground", " group",  " grow",   " had",    " half",   " hand",
    " hard",   " has",    " have",   " he",     " head",   " hear",   " help",   " her",
    " here",   " high",   " him",    " his",    " home",   " horse",  " hot",    " hour",
    " house",  " how",    " idea",   " if",     " in",     " is",     " island", " it",
    " jump",   " just",   " keep",   " kind",   " king",   " knew",   " know",   " land",
    " large",  " last",   " late",   " lazy",   " learn",  " leave",  " left",   " less",
    " let",    " letter", " life",   " light",  " like",   " line",   " list",   " listen",
    " little", " live",   " long",   " look",   " love",   " low",    " made",   " main",
    " make",   " man",    " many",   " map",    " mark",   " may",    " me",     " mean",
    " men",    " might",  " mile",   " miss",   " moon",   " more",   " most",   " mother",
    " move",   " much",   " music",  " must",   " my",     " name",   " near",   " need",
    " never",  " new",    " next",   " night",  " no",     " north",  " not",    " now",
    " number", " of",     " off",    " often",  " old",    " on",     " once",   " one",
    " only",   " open",   " or",     " order",  " other",  " our",    " out",    " over",
    " own",    " page",   " paper",  " part",   " people", " piece",  " place",  " plan",
    " plane",  " plant",  " play",   " point",  " press",  " quick",  " rain",   " ran",
    " read",   " red",    " rest",   " right",  " river",  " rock",   " room",   " round",
    " run",    " said",   " same",   " saw",    " say",    " school", " sea",    " second",
    " see",    " seem",   " sentry", " set",    " seven",  " she",    " ship",   " short",
    " should", " show",   " side",   " simple", " sing",   " sit",    " six",    " size",
    " slow",   " small",  " snow",   " so",     " some",   " song",   " soon",   " sound",
    " south",  " space",  " spell",  " stand",  " star",   " start",  " state",  " stay",
    " step",   " still",  " stop",   " story",  " strong", " study",  " such",   " sun",
    " sure",   " table",  " take",   " talk",   " tell",   " ten",    " than",   " that",
    " the",    " their",  " them",   " then",   " there",  " these",  " they",   " thing",
    " think",  " third",  " this",   " those",  " three",  " time",   " to",     " today",
    " too",    " took",   " top",    " town",   " travel", " tree",   " true",   " try",
    " turn",   " two",    " under",  " until",  " up",     " us",     " use",    " very",
    " voice",  " walk",   " want",   " warm",   " was",    " watch",  " water",  " way",
    " we",     " well",   " went",   " were",   " west",   " what",   " wheel",  " when",
    " where",  " which",  " while",  " white",  " who",    " why",    " will",   " wind",
    " with",   " wood",   " word",   " work",   " world",  " would",  " write",  " year",
    " yes",    " you",    " young",  " your",
};

enum { WORDS = sizeof(words) / sizeof(words[0]), MADE_AT = WORDS_AT + WORDS };

_Static_assert(MOCK_TOKEN_MEDIA - MADE_AT <= SYLLABLES * SYLLABLES * SYLLABLES, "enough words");

void mock_tokens_add(struct mock_tokens *tokens, uint32_t id)
{
    MEM_GROW(tokens->ids, tokens->count, tokens->cap);
    tokens->ids[tokens->count++] = id;
}

void mock_tokens_done(struct mock_tokens *tokens)
{
    free(tokens->ids);
    *tokens = (struct mock_tokens){0};
}

static bool is_small(char c)
{
    return c >= 'a' && c <= 'z';
}

/* The syllable's number, or -1. */
static int syllable(const char *at)
{
    const char *c = memchr(consonants, at[0], 16);
    const char *v = memchr(vowels, at[1], 5);
    return c != NULL && v != NULL ? (int)((c - consonants) * 5 + (v - vowels)) : -1;
}

/* Six letters: the id of a made-up word, or 0. */
static uint32_t find_made(const char *letters)
{
    int a = syllable(letters), b = syllable(letters + 2), c = syllable(letters + 4);
    if (a < 0 || b < 0 || c < 0)
        return 0;
    uint32_t id = MADE_AT + (uint32_t)((a * SYLLABLES + b) * SYLLABLES + c);
    return id < MOCK_TOKEN_MEDIA ? id : 0;
}

/* Place of the first common word that does not sort before the two letters; few words share two letters. */
static size_t words_from(char first, char second)
{
    size_t low = 0, high = WORDS;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const char *word = words[middle] + 1;
        if (word[0] < first || (word[0] == first && word[1] < second))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The longest common word that `letters` begins with: its id and length, or 0. */
static uint32_t find_common(const char *letters, size_t n, size_t *len)
{
    uint32_t found = 0;
    *len = 0;
    size_t i = words_from(letters[0], '\0');
    if (i < WORDS && words[i][1] == letters[0] && words[i][2] == '\0') {
        found = WORDS_AT + (uint32_t)i;
        *len = 1;
    }
    if (n < 2)
        return found;
    for (i = words_from(letters[0], letters[1]); i < WORDS; i++) {
        const char *word = words[i] + 1;
        if (word[0] != letters[0] || word[1] != letters[1])
            break;
        size_t k = strlen(word);
        if (k <= n && k > *len && memcmp(word, letters, k) == 0) {
            found = WORDS_AT + (uint32_t)i;
            *len = k;
        }
    }
    return found;
}

/* A blank and a word at the start of `rest`: the id, its length in *len; 0 when none is there. */
static uint32_t find_word(struct sv rest, size_t *len)
{
    size_t n = 0;
    while (n < WORD_MAX && n + 1 < rest.len && is_small(rest.ptr[n + 1]))
        n++;
    if (rest.ptr[0] != ' ' || n == 0)
        return 0;
    uint32_t id = n == WORD_MAX ? find_made(rest.ptr + 1) : 0;
    *len = WORD_MAX;
    if (id == 0)
        id = find_common(rest.ptr + 1, n, len);
    *len += 1;
    return id;
}

static uint32_t find_token(struct sv rest, size_t *len)
{
    uint32_t id = find_word(rest, len);
    if (id != 0)
        return id;
    if (rest.len >= 2 && is_small(rest.ptr[0]) && is_small(rest.ptr[1])) {
        *len = 2;
        return PAIRS_AT + (uint32_t)((rest.ptr[0] - 'a') * 26 + (rest.ptr[1] - 'a'));
    }
    *len = 1;
    return (unsigned char)rest.ptr[0];
}

size_t mock_tokens_encode(struct sv text, struct mock_tokens *out)
{
    size_t count = 0;
    while (text.len > 0) {
        size_t len = 1;
        uint32_t id = find_token(text, &len);
        if (out != NULL)
            mock_tokens_add(out, id);
        count++;
        text = sv_skip(text, len);
    }
    return count;
}

void mock_tokens_decode(uint64_t id, struct buf *out)
{
    uint32_t n = (uint32_t)(id % MOCK_TOKENS_COUNT);
    if (n < PAIRS_AT) {
        buf_add_char(out, (char)n);
    } else if (n < WORDS_AT) {
        buf_add_char(out, (char)('a' + (n - PAIRS_AT) / 26));
        buf_add_char(out, (char)('a' + (n - PAIRS_AT) % 26));
    } else if (n < MADE_AT) {
        buf_add_str(out, words[n - WORDS_AT]);
    } else if (n == MOCK_TOKEN_MEDIA) {
        buf_add_str(out, "<|media_pad|>");
    } else if (n == MOCK_TOKEN_START) {
        buf_add_str(out, "<|im_start|>");
    } else if (n == MOCK_TOKEN_END) {
        buf_add_str(out, "<|im_end|>");
    } else {
        n -= MADE_AT;
        buf_add_char(out, ' ');
        for (uint32_t unit = SYLLABLES * SYLLABLES; unit > 0; unit /= SYLLABLES) {
            uint32_t s = n / unit % SYLLABLES;
            buf_add_char(out, consonants[s / 5]);
            buf_add_char(out, vowels[s % 5]);
        }
    }
}

struct sv mock_tokens_word(size_t n)
{
    return sv_from(words[n % WORDS]);
}
