/* SPDX-License-Identifier: MIT */
/*
 * The attacks on tokens, as tables: one row a case, with the reason it must be refused for. A row that is
 * refused for another reason proves nothing about the check it was written for, so the reason is compared
 * too.
 *
 * Claims and headers are signed with our own key, so that the only thing wrong is the one the row names.
 */
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "codec/token.h"
#include "forge.h"
#include "harness.h"

struct claim_attack {
    const char *reason;
    const char *claim;
    const char *value; /* JSON text; NULL: the claim is missing */
};

#define HUGE "99999999999999999999999999999999999999999999999999"

static const struct claim_attack claim_attacks[] = {
    {"exp", "exp", NULL},
    {"exp", "exp", "\"1700000840\""},
    {"exp", "exp", "1700000840.5"},
    {"exp", "exp", "-1"},
    {"exp", "exp", "-1700000840"},
    {"exp", "exp", "1e400"},
    {"exp", "exp", "1e30"},
    {"exp", "exp", HUGE},
    {"exp", "exp", "9223372036854775807"},
    {"exp", "exp", "18446744075409552456"},
    {"exp", "exp", "9007199254740993"},
    {"exp", "exp", "253402300800"},
    {"exp", "exp", "null"},
    {"exp", "exp", "true"},
    {"exp", "exp", "[1700000840]"},
    {"exp", "exp", "{\"exp\":1700000840}"},
    {"exp before iat", "exp", "0"},
    {"exp before iat", "exp", "1699999940"},
    {"iat", "iat", NULL},
    {"iat", "iat", "\"1699999940\""},
    {"iat", "iat", "1699999940.25"},
    {"iat", "iat", "-5"},
    {"iat", "iat", "null"},
    {"iat", "iat", "false"},
    {"iat", "iat", "-1e400"},
    {"iat in the future", "iat", "1700000031"},
    {"nbf", "nbf", "\"1699999940\""},
    {"nbf", "nbf", "1699999940.125"},
    {"nbf", "nbf", "-1"},
    {"nbf", "nbf", "null"},
    {"nbf", "nbf", "[]"},
    {"nbf", "nbf", HUGE},
    {"nbf in the future", "nbf", "1700000031"},
    {"nbf in the future", "nbf", "1700000839"},
    {"iss", "iss", NULL},
    {"iss", "iss", "\"\""},
    {"iss", "iss", "\"https://evil.example.com\""},
    {"iss", "iss", "\"https://accounts.example.com/\""},
    {"iss", "iss", "\"https://accounts.example.com.evil.example\""},
    {"iss", "iss", "\"https://Accounts.example.com\""},
    {"iss", "iss", "\"http://accounts.example.com\""},
    {"iss", "iss", "\"https://accounts.example.co\""},
    {"iss", "iss", "[\"https://accounts.example.com\"]"},
    {"iss", "iss", "null"},
    {"iss", "iss", "1"},
    {"no aud or client_id", "aud", NULL},
    {"aud", "aud", "\"\""},
    {"aud", "aud", "[\"" FORGE_AUDIENCE "\",7]"},
    {"aud", "aud", "\"other\""},
    {"aud", "aud", "\"Gatehouse\""},
    {"aud", "aud", "\"gatehouse \""},
    {"aud", "aud", "\"gatehouse other\""},
    {"aud", "aud", "[]"},
    {"aud", "aud", "[\"other\"]"},
    {"aud", "aud", "[[\"gatehouse\"]]"},
    {"aud", "aud", "[\"gatehouse\",1]"},
    {"aud", "aud", "[\"gatehouse\",null]"},
    {"aud", "aud", "{\"gatehouse\":true}"},
    {"aud", "aud", "{\"0\":\"gatehouse\"}"},
    {"aud", "aud", "null"},
    {"aud", "aud", "true"},
    {"client_id", "client_id", "\"other\""},
    {"client_id", "client_id", "null"},
    {"client_id", "client_id", "[\"gatehouse\"]"},
    {"token_use", "token_use", NULL},
    {"token_use", "token_use", "\"id\""},
    {"token_use", "token_use", "\"refresh\""},
    {"token_use", "token_use", "\"Access\""},
    {"token_use", "token_use", "\"access \""},
    {"token_use", "token_use", "[\"access\"]"},
    {"token_use", "token_use", "null"},
    {"token_use", "token_use", "{\"access\":1}"},
    {"sub", "sub", NULL},
    {"sub", "sub", "\"\""},
    {"sub", "sub", "\"admin\""},
    {"sub", "sub", "\"01890A5D-AC96-774B-BCCE-B302099A8057\""},
    {"sub", "sub", "\"{01890a5d-ac96-774b-bcce-b302099a8057}\""},
    {"sub", "sub", "\"01890a5dac96774bbcceb302099a8057\""},
    {"sub", "sub", "\"01890a5d-ac96-774b-bcce-b302099a8057 \""},
    {"sub", "sub", "\" 01890a5d-ac96-774b-bcce-b302099a8057\""},
    {"sub", "sub", "\"01890a5d-ac96-774b-bcce-b302099a805\""},
    {"sub", "sub", "\"01890a5d-ac96-774b-bcce-b302099a80570\""},
    {"sub", "sub", "\"01890a5d-ac96-774b-bcce-b302099a805g\""},
    {"sub", "sub", "\"00000000-0000-0000-0000-000000000000\""},
    {"sub", "sub", "\"' or 1=1 -- 774b-bcce-b302099a8057xx\""},
    {"sub", "sub", "1"},
    {"sub", "sub", "null"},
    {"sub", "sub", "[\"" FORGE_SUBJECT "\"]"},
    {"json", "sub", "\"" FORGE_SUBJECT "\\u0000\""},
    {"json", "sub", "\"\\ud800\""},
    {"session", "sid", NULL},
    {"session", "sid", "\"\""},
    {"session", "sid", "\"session\""},
    {"session", "sid", "\"00000000-0000-0000-0000-000000000000\""},
    {"session", "sid", "7"},
    {"session", "sid", "null"},
    /* One member twice, whichever of the two a reader would take. */
    {"json", "exp\":1700000840,\"exp", "1700000840"},
    {"json", "jti\":\"a\",\"jti", "\"b\""},
    {"json", "sub\":\"" FORGE_SUBJECT "\",\"sub", "\"" FORGE_SESSION "\""},
    {"json", "token_use", "\"access\",\"token_use\":\"id\""},
    {"json", "token_use", "\"id\",\"token_use\":\"access\""},
    {"json", "sub", "\"" FORGE_SUBJECT "\",\"s\\u0075b\":\"" FORGE_SESSION "\""},
    {"json", "exp", "0,\"\\u0065xp\":1700000840"},
    {"json", "nested", "{\"a\":1,\"a\":1}"},
};

static void a_claim_that_does_not_hold_is_refused_though_we_signed_it(void **state)
{
    struct arena *arena = harness_arena(state);
    struct token_rules rules = forge_rules(arena);
    size_t count = sizeof claim_attacks / sizeof *claim_attacks;
    assert_true(count >= 78);
    for (size_t i = 0; i < count; i++) {
        const struct claim_attack *attack = &claim_attacks[i];
        const char *payload = forge_payload(arena, attack->claim, attack->value);
        const char *token = forge_token(arena, forge_header(arena), payload, FORGE_RS256);
        forge_assert_refused(arena, &rules, token, strlen(token), attack->reason, payload);
    }
}

struct bytes_attack {
    const char *reason;
    const char *bytes;
    size_t length;
};

#define BYTES(literal) (literal), sizeof(literal) - 1

static const struct bytes_attack payload_attacks[] = {
    {"not an object", BYTES("[]")},
    {"not an object", BYTES("[{\"exp\":1700000840}]")},
    {"not an object", BYTES("\"text\"")},
    {"not an object", BYTES("1")},
    {"not an object", BYTES("null")},
    {"not an object", BYTES("true")},
    {"iss", BYTES("{}")},
    {"json", BYTES("{")},
    {"json", BYTES(" ")},
    {"json", BYTES("{\"iss\":NaN}")},
    {"json", BYTES("{'iss':'x'}")},
    {"json", BYTES("{\"iss\":\"x\",}")},
    {"json", BYTES("\xef\xbb\xbf{}")},
    {"json", BYTES("{\"a\":\"\xff\"}")},
    {"json", BYTES("{\"a\":\"\xc0\xaf\"}")},
    {"json", BYTES("{\"a\":\"\n\"}")},
    {"json", BYTES("{\"a\":01}")},
    {"json", BYTES("{\"a\":[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]}")},
    {"json", BYTES("{}{}")},
    {"json", BYTES("{}\0junk")},
    {"json", BYTES("\0{}")},
};

static void a_payload_that_is_not_one_strict_object_is_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    struct token_rules rules = forge_rules(arena);
    const char *header = forge_header(arena);
    for (size_t i = 0; i < sizeof payload_attacks / sizeof *payload_attacks; i++) {
        const struct bytes_attack *attack = &payload_attacks[i];
        const char *token = forge_bytes(arena, header, strlen(header), attack->bytes, attack->length, FORGE_RS256);
        forge_assert_refused(arena, &rules, token, strlen(token), attack->reason, attack->bytes);
    }
    /* A whole good payload with something behind it. */
    static const char *const tails[] = {"x", "{}", ",", "]", "\xef\xbb\xbf", "//", "\v"};
    const char *good = forge_payload(arena, NULL, NULL);
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        const char *token = forge_token(arena, header, arena_format(arena, "%s%s", good, tails[i]), FORGE_RS256);
        forge_assert_refused(arena, &rules, token, strlen(token), "json", tails[i]);
    }
    char *with_nul = arena_copy(arena, good, strlen(good) + 5);
    memcpy(with_nul + strlen(good) + 1, "junk", 4);
    const char *token = forge_bytes(arena, header, strlen(header), with_nul, strlen(good) + 5, FORGE_RS256);
    forge_assert_refused(arena, &rules, token, strlen(token), "json", "NUL and junk");
}

struct header_attack {
    const char *reason;
    const char *header; /* @ stands for our kid */
    enum forge_signature signature;
};

static const struct header_attack header_attacks[] = {
    {"alg", "{\"alg\":\"none\",\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_RS256},
    {"alg", "{\"alg\":\"None\",\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_RS256},
    {"alg", "{\"alg\":\"nOnE\",\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_ZEROS},
    {"alg", "{\"alg\":\"\",\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_RS256},
    {"alg", "{\"alg\":\"HS256\",\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_HS256_PEM},
    {"alg", "{\"alg\":\"HS256\",\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_HS256_DER},
    {"alg", "{\"alg\":\"HS256\",\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_HS256_EMPTY},
    {"alg", "{\"alg\":\"HS256\",\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_RS256},
    {"alg", "{\"alg\":\"hs256\",\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_HS256_PEM},
    {"alg", "{\"alg\":\"HS384\",\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_HS384_PEM},
    {"alg", "{\"alg\":\"HS512\",\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_HS512_PEM},
    {"signature", "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_HS256_PEM},
    {"signature", "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_HS512_PEM},
    {"alg", "{\"alg\":\"RS384\",\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_RS384},
    {"alg", "{\"alg\":\"RS512\",\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_RS512},
    {"alg", "{\"alg\":\"PS256\",\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_PS256},
    {"alg", "{\"alg\":\"ES256\",\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_ZEROS},
    {"alg", "{\"alg\":\"EdDSA\",\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_RS256},
    {"alg", "{\"alg\":\"rs256\",\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_RS256},
    {"alg", "{\"alg\":\"RS256 \",\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_RS256},
    {"alg", "{\"alg\":[\"RS256\"],\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_RS256},
    {"alg", "{\"alg\":256,\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_RS256},
    {"alg", "{\"alg\":null,\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_RS256},
    {"alg", "{\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_RS256},
    {"signature", "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_RS384},
    {"signature", "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_RS512},
    {"signature", "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_RS1},
    {"signature", "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_PS256},
    {"signature", "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_OTHER_KEY},
    {"signature", "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_ZEROS},
    {"empty part", "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"@\"}", FORGE_NOTHING},
    {"empty part", "{\"alg\":\"none\"}", FORGE_NOTHING},
    {"typ", "{\"alg\":\"RS256\",\"typ\":\"at+jwt\",\"kid\":\"@\"}", FORGE_RS256},
    {"typ", "{\"alg\":\"RS256\",\"typ\":\"jwt\",\"kid\":\"@\"}", FORGE_RS256},
    {"typ", "{\"alg\":\"RS256\",\"typ\":\"JWE\",\"kid\":\"@\"}", FORGE_RS256},
    {"typ", "{\"alg\":\"RS256\",\"typ\":\"\",\"kid\":\"@\"}", FORGE_RS256},
    {"typ", "{\"alg\":\"RS256\",\"typ\":null,\"kid\":\"@\"}", FORGE_RS256},
    {"typ", "{\"alg\":\"RS256\",\"typ\":1,\"kid\":\"@\"}", FORGE_RS256},
    {"typ", "{\"alg\":\"RS256\",\"typ\":[\"JWT\"],\"kid\":\"@\"}", FORGE_RS256},
    {"no kid", "{\"alg\":\"RS256\",\"typ\":\"JWT\"}", FORGE_RS256},
    {"no kid", "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":1}", FORGE_RS256},
    {"no kid", "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":null}", FORGE_RS256},
    {"no kid", "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":[\"@\"]}", FORGE_RS256},
    {"unknown kid", "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"\"}", FORGE_RS256},
    {"unknown kid", "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"other\"}", FORGE_RS256},
    {"unknown kid", "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"@ \"}", FORGE_RS256},
    {"unknown kid", "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"../../dev/null\"}", FORGE_HS256_EMPTY},
    {"unknown kid", "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"x' union select 'k\"}", FORGE_RS256},
    {"json", "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"@\\u0000\"}", FORGE_RS256},
    {"json", "{\"alg\":\"RS256\",\"alg\":\"RS256\",\"kid\":\"@\"}", FORGE_RS256},
    {"json", "{\"alg\":\"RS256\",\"alg\":\"none\",\"kid\":\"@\"}", FORGE_RS256},
    {"json", "{\"alg\":\"none\",\"a\\u006cg\":\"RS256\",\"kid\":\"@\"}", FORGE_RS256},
    {"json", "{\"alg\":\"RS256\",\"kid\":\"other\",\"kid\":\"@\"}", FORGE_RS256},
    {"header member", "{\"alg\":\"RS256\",\"ALG\":\"none\",\"kid\":\"@\"}", FORGE_RS256},
    {"header member", "{\"alg\":\"RS256\",\"kid\":\"@\",\"crit\":[\"exp\"]}", FORGE_RS256},
    {"header member", "{\"alg\":\"RS256\",\"kid\":\"@\",\"crit\":[\"b64\"],\"b64\":false}", FORGE_RS256},
    {"header member", "{\"alg\":\"RS256\",\"kid\":\"@\",\"b64\":true}", FORGE_RS256},
    {"header member", "{\"alg\":\"RS256\",\"kid\":\"@\",\"zip\":\"DEF\"}", FORGE_RS256},
    {"header member", "{\"alg\":\"RS256\",\"kid\":\"@\",\"jku\":\"https://evil.example.com/keys\"}", FORGE_RS256},
    {"header member", "{\"alg\":\"RS256\",\"kid\":\"@\",\"jwk\":{\"kty\":\"RSA\"}}", FORGE_OTHER_KEY},
    {"header member", "{\"alg\":\"RS256\",\"kid\":\"@\",\"x5u\":\"https://evil.example.com/\"}", FORGE_RS256},
    {"header member", "{\"alg\":\"RS256\",\"kid\":\"@\",\"x5c\":[\"MIIB\"]}", FORGE_OTHER_KEY},
    {"header member", "{\"alg\":\"RS256\",\"kid\":\"@\",\"x5t\":\"AA\"}", FORGE_RS256},
    {"header member", "{\"alg\":\"RS256\",\"kid\":\"@\",\"cty\":\"JWT\"}", FORGE_RS256},
    {"header member", "{\"alg\":\"RS256\",\"kid\":\"@\",\"enc\":\"A128GCM\"}", FORGE_RS256},
    {"header member", "{\"alg\":\"RS256\",\"kid\":\"@\",\"\":1}", FORGE_RS256},
    {"header member", "{\"alg\":\"RS256\",\"kid\":\"@\",\"iss\":\"" FORGE_ISSUER "\"}", FORGE_RS256},
    {"not an object", "[\"RS256\"]", FORGE_RS256},
    {"not an object", "\"RS256\"", FORGE_RS256},
    {"not an object", "null", FORGE_RS256},
    {"alg", "{}", FORGE_RS256},
    {"json", "{\"alg\":\"RS256\",\"kid\":\"@\"}}", FORGE_RS256},
    {"json", "{\"alg\":\"RS256\",\"kid\":\"@\"", FORGE_RS256},
    {"json", "\xef\xbb\xbf{\"alg\":\"RS256\",\"kid\":\"@\"}", FORGE_RS256},
    {"json", "{\"alg\":\"RS256\",\"kid\":\"@\\xff\"}", FORGE_RS256},
};

static const char *with_kid(struct arena *arena, const char *header)
{
    const char *at = strchr(header, '@');
    return at == NULL ? header : arena_format(arena, "%.*s%s%s", (int)(at - header), header, forge_pair()->kid, at + 1);
}

static void a_header_that_is_not_ours_is_refused_whoever_signed(void **state)
{
    struct arena *arena = harness_arena(state);
    struct token_rules rules = forge_rules(arena);
    const char *payload = forge_payload(arena, NULL, NULL);
    size_t count = sizeof header_attacks / sizeof *header_attacks;
    assert_true(count >= 60);
    for (size_t i = 0; i < count; i++) {
        const char *header = with_kid(arena, header_attacks[i].header);
        const char *token = forge_token(arena, header, payload, header_attacks[i].signature);
        forge_assert_refused(arena, &rules, token, strlen(token), header_attacks[i].reason, header);
    }
}

/*
 * Blanks are good JSON, but nobody needs many of them: 384 bytes are 512 characters, the most that is read.
 */
static void the_header_is_bounded_exactly(void **state)
{
    struct arena *arena = harness_arena(state);
    struct token_rules rules = forge_rules(arena);
    const char *header = with_kid(arena, "{\"alg\":\"RS256\",\"kid\":\"@\"}");
    const char *payload = forge_payload(arena, NULL, NULL);
    const char *longest = arena_format(arena, "%384s", header);
    const char *token = forge_token(arena, longest, payload, FORGE_RS256);
    struct token_claims claims;
    assert_int_equal(token_verify(arena, &rules, token, strlen(token), &claims, NULL), TOKEN_GOOD);
    token = forge_token(arena, arena_format(arena, " %s", longest), payload, FORGE_RS256);
    forge_assert_refused(arena, &rules, token, strlen(token), "header length", "padded header");
}

/* A kid in other letters' case is another kid. */
static void kids_are_compared_exactly(void **state)
{
    struct arena *arena = harness_arena(state);
    struct token_rules rules = forge_rules(arena);
    char *kid = arena_text(arena, forge_pair()->kid);
    size_t letter = strcspn(kid, "abcdefghijklmnopqrstuvwxyz");
    kid[letter] = (char)(kid[letter] - 'a' + 'A');
    const char *header = arena_format(arena, "{\"alg\":\"RS256\",\"kid\":\"%s\"}", kid);
    const char *token = forge_token(arena, header, forge_payload(arena, NULL, NULL), FORGE_RS256);
    forge_assert_refused(arena, &rules, token, strlen(token), "unknown kid", header);
    header = arena_format(arena, "{\"alg\":\"RS256\",\"kid\":\"%.42s\"}", forge_pair()->kid);
    token = forge_token(arena, header, forge_payload(arena, NULL, NULL), FORGE_RS256);
    forge_assert_refused(arena, &rules, token, strlen(token), "unknown kid", header);
}

struct text_attack {
    const char *reason;
    const char *format; /* of header, payload and signature */
};

static const struct text_attack text_attacks[] = {
    {"over two dots", "%s.%s.%s."},
    {"over two dots", "%s.%s.%s.x.y"},
    {"over two dots", ".%s.%s.%s"},
    {"empty part", "%.0s.%s.%s"},
    {"empty part", "%s.%.0s.%s"},
    {"empty part", "%s.%s.%.0s"},
    {"one dot", "%s.%s%.0s"},
    {"one dot", "%s%s.%s"},
    {"no dot", "%s%s%s"},
    {"signature base64url", "%s.%s.%s="},
    {"signature base64url", "%s.%s.%s=="},
    {"signature base64url", "%s.%s.%s\n"},
    {"signature base64url", "%s.%s.%s "},
    {"signature base64url", "%s.%s.%s!"},
    {"signature base64url", "%s.%s. %s"},
    {"signature base64url", "%s.%s.%s,%%"},
    {"signature base64url", "%s.%s.%sAAA"},
    {"signature", "%s.%s.%sAA"},
    {"signature", "%s.%s.AAAA%s"},
    {"signature", "%s.%s.%.12s"},
    {"signature base64url", "%s.%s.%.9s"},
    {"base64url", " %s.%s.%s"},
    {"base64url", "\"%s.%s.%s\""},
    {"base64url", "Bearer %s.%s.%s"},
    {"base64url", "%s .%s.%s"},
    {"base64url", "%s=.%s.%s"},
    {"signature", "%s.%s=.%s"},
    {"signature", "%s. %s.%s"},
};

static void a_token_has_one_spelling(void **state)
{
    struct arena *arena = harness_arena(state);
    struct token_rules rules = forge_rules(arena);
    char *header = forge_token(arena, forge_header(arena), forge_payload(arena, NULL, NULL), FORGE_RS256);
    char *payload = strchr(header, '.') + 1;
    char *signature = strchr(payload, '.') + 1;
    payload[-1] = '\0';
    signature[-1] = '\0';
    for (size_t i = 0; i < sizeof text_attacks / sizeof *text_attacks; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        const char *token = arena_format(arena, text_attacks[i].format, header, payload, signature);
#pragma GCC diagnostic pop
        forge_assert_refused(arena, &rules, token, strlen(token), text_attacks[i].reason, text_attacks[i].format);
    }
    /* The last character of a 256-byte signature carries two unused bits: four letters, one of them right. */
    char *last = signature + strlen(signature) - 1;
    char right = *last;
    for (int flip = 1; flip < 4; flip++) {
        static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        *last = letters[(strchr(letters, right) - letters) ^ flip];
        const char *token = arena_format(arena, "%s.%s.%s", header, payload, signature);
        forge_assert_refused(arena, &rules, token, strlen(token), "signature base64url", "unused bits");
    }
    *last = right;
    /* The standard alphabet's two letters for the URL-safe ones. */
    char *standard = arena_text(arena, signature);
    for (char *at = standard; *at != '\0'; at++)
        *at = (char)(*at == '-' ? '+' : *at == '_' ? '/' : *at);
    assert_string_not_equal(standard, signature);
    const char *token = arena_format(arena, "%s.%s.%s", header, payload, standard);
    forge_assert_refused(arena, &rules, token, strlen(token), "signature base64url", "standard alphabet");
}

static void texts_that_are_no_tokens_are_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    struct token_rules rules = forge_rules(arena);
    const char *good = forge_token(arena, forge_header(arena), forge_payload(arena, NULL, NULL), FORGE_RS256);
    forge_assert_refused(arena, &rules, "", 0, "length", "nothing");
    forge_assert_refused(arena, &rules, ".", 1, "one dot", "a dot");
    forge_assert_refused(arena, &rules, "..", 2, "empty part", "two dots");
    forge_assert_refused(arena, &rules, "...", 3, "over two dots", "three dots");
    const char *with_nul = arena_copy(arena, good, strlen(good) + 1);
    forge_assert_refused(arena, &rules, with_nul, strlen(good) + 1, "signature base64url", "with its NUL");
    char *dots = arena_alloc(arena, LIMIT_TOKEN_BYTES + 2);
    memset(dots, '.', LIMIT_TOKEN_BYTES + 1);
    forge_assert_refused(arena, &rules, dots, LIMIT_TOKEN_BYTES, "over two dots", "8192 dots");
    forge_assert_refused(arena, &rules, dots, LIMIT_TOKEN_BYTES + 1, "length", "8193 dots");
    const char *two = arena_format(arena, "%s,%s", good, good);
    forge_assert_refused(arena, &rules, two, strlen(two), "over two dots", "two tokens");
    const char *json = arena_format(arena, "{\"payload\":\"%s\"}", good);
    forge_assert_refused(arena, &rules, json, strlen(json), "base64url", "JSON serialisation");
    static const char *const strangers[] = {"null", "undefined", "../../etc/passwd", "%s%n%s", "' or '1'='1"};
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        struct token_claims claims;
        assert_int_equal(token_verify(arena, &rules, strangers[i], strlen(strangers[i]), &claims, NULL), TOKEN_INVALID);
    }
}

/* 8192 characters pass, 8193 do not, though both are genuine. */
static void the_length_is_bounded_exactly(void **state)
{
    struct arena *arena = harness_arena(state);
    struct token_rules rules = forge_rules(arena);
    const char *header = forge_header(arena);
    size_t low = 0;
    size_t high = 9000;
    const char *longest = NULL;
    struct token_claims claims;
    while (low + 1 < high) {
        size_t middle = (low + high) / 2;
        const char *filler = arena_format(arena, "\"%0*d\"", (int)middle, 7);
        const char *token = forge_token(arena, header, forge_payload(arena, "filler", filler), FORGE_RS256);
        const char *reason = NULL;
        enum token_result result = token_verify(arena, &rules, token, strlen(token), &claims, &reason);
        assert_true((result == TOKEN_GOOD) == (strlen(token) <= LIMIT_TOKEN_BYTES));
        if (result == TOKEN_GOOD) {
            low = middle;
            longest = token;
        } else {
            assert_string_equal(reason, "length");
            high = middle;
        }
    }
    assert_non_null(longest);
    assert_true(strlen(longest) > LIMIT_TOKEN_BYTES - 2);
}

/* A part of one genuine token in another. */
static void parts_of_two_genuine_tokens_do_not_mix(void **state)
{
    struct arena *arena = harness_arena(state);
    struct token_rules rules = forge_rules(arena);
    const char *mine = forge_token(arena, forge_header(arena), forge_payload(arena, NULL, NULL), FORGE_RS256);
    const char *other =
        forge_token(arena, forge_header(arena), forge_payload(arena, "sub", "\"" FORGE_SESSION "\""), FORGE_RS256);
    const char *mixed = arena_format(arena, "%.*s%s", (int)(strrchr(mine, '.') - mine), mine, strrchr(other, '.'));
    forge_assert_refused(arena, &rules, mixed, strlen(mixed), "signature", "swapped signature");
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_claim_that_does_not_hold_is_refused_though_we_signed_it),
    HARNESS_TEST(a_payload_that_is_not_one_strict_object_is_refused),
    HARNESS_TEST(a_header_that_is_not_ours_is_refused_whoever_signed),
    HARNESS_TEST(the_header_is_bounded_exactly),
    HARNESS_TEST(kids_are_compared_exactly),
    HARNESS_TEST(a_token_has_one_spelling),
    HARNESS_TEST(texts_that_are_no_tokens_are_refused),
    HARNESS_TEST(the_length_is_bounded_exactly),
    HARNESS_TEST(parts_of_two_genuine_tokens_do_not_mix),
};
HARNESS_MODULE(token_attack, cases)
