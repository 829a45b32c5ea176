/* SPDX-License-Identifier: MIT */
/*
 * Sends mail over SMTP (RFC 5321), by libcurl. What a failure means depends on how far the dialogue had come. libcurl
 * does not report that, so its trace of the dialogue is read (and never logged, since it holds the password). Only a
 * permanent answer of the server (5xx) to the recipient or to the message itself is final. Every other failure, a wrong
 * password included, is tried again later: the operator can correct it, and no mail is lost.
 */
#include <curl/curl.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/network.h"
#include "base/text.h"
#include "store/mail/mail.h"

#define CONNECT_TIMEOUT_SECONDS 5
#define TIMEOUT_SECONDS 30
#define REPLY_BYTES 200

struct smtp {
    struct mail_smtp_options options;
};

/* The parts of the server's URL that are needed. */
struct place {
    bool local; /* this machine */
    bool tls;   /* smtps:// */
};

enum stage { STAGE_CONNECT, STAGE_LOGIN, STAGE_SENDER, STAGE_RECIPIENT, STAGE_MESSAGE };

/* One message on its way. */
struct dialogue {
    const struct mail_message *message;
    size_t sent;
    int64_t deadline; /* clock_monotonic() */
    enum stage stage; /* these three: of the last command before QUIT */
    bool over;
    int code;
    char reply[REPLY_BYTES + 1];
};

/* ---- following the dialogue ---------------------------------------------------------------------- */

static bool says(const char *data, size_t size, const char *verb)
{
    size_t length = strlen(verb);
    return size > length && strncmp(data, verb, length) == 0 && (data[length] == ' ' || data[length] == '\r');
}

static void note_command(struct dialogue *dialogue, const char *data, size_t size)
{
    if (says(data, size, "QUIT"))
        dialogue->over = true;
    else if (says(data, size, "MAIL"))
        dialogue->stage = STAGE_SENDER;
    else if (says(data, size, "RCPT"))
        dialogue->stage = STAGE_RECIPIENT;
    else if (says(data, size, "DATA"))
        dialogue->stage = STAGE_MESSAGE;
    else if (says(data, size, "AUTH"))
        dialogue->stage = STAGE_LOGIN;
}

static void note_reply(struct dialogue *dialogue, const char *data, size_t size)
{
    if (dialogue->over || size < 3 || !text_is_digit(data[0]) || !text_is_digit(data[1]) || !text_is_digit(data[2]))
        return;
    dialogue->code = (data[0] - '0') * 100 + (data[1] - '0') * 10 + (data[2] - '0');
    size_t length = 0;
    for (size_t i = 0; i < size && length < REPLY_BYTES && data[i] != '\r' && data[i] != '\n'; i++)
        dialogue->reply[length++] = data[i] >= ' ' && data[i] <= '~' ? data[i] : '?';
    dialogue->reply[length] = '\0';
}

static int follow(CURL *curl, curl_infotype kind, char *data, size_t size, void *context)
{
    (void)curl;
    if (kind == CURLINFO_HEADER_OUT)
        note_command(context, data, size);
    else if (kind == CURLINFO_HEADER_IN)
        note_reply(context, data, size);
    return 0;
}

static size_t read_message(char *out, size_t size, size_t count, void *context)
{
    struct dialogue *dialogue = context;
    size_t left = dialogue->message->length - dialogue->sent;
    size_t length = left < size * count ? left : size * count;
    memcpy(out, dialogue->message->bytes + dialogue->sent, length);
    dialogue->sent += length;
    return length;
}

/*
 * libcurl's own timeout does not apply while it waits for the answer to the message or to QUIT. libcurl calls this
 * about once a second all the time.
 */
static int in_time(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    const struct dialogue *dialogue = context;
    (void)a;
    (void)b;
    (void)c;
    (void)d;
    return clock_monotonic() > dialogue->deadline;
}

static size_t drop(char *bytes, size_t size, size_t count, void *context)
{
    (void)bytes;
    (void)context;
    return size * count;
}

/* ---- sending ------------------------------------------------------------------------------------- */

static void set_tls(CURL *curl, const struct mail_smtp_options *options)
{
    static const long wanted[] = {[MAIL_TLS_NONE] = CURLUSESSL_NONE,
                                  [MAIL_TLS_OPPORTUNISTIC] = CURLUSESSL_TRY,
                                  [MAIL_TLS_REQUIRED] = CURLUSESSL_ALL};
    bool verify = options->tls == MAIL_TLS_REQUIRED;
    (void)curl_easy_setopt(curl, CURLOPT_USE_SSL, wanted[options->tls]);
    (void)curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    (void)curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, verify ? 1L : 0L);
    (void)curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, verify ? 2L : 0L);
    if (options->ca_file != NULL)
        (void)curl_easy_setopt(curl, CURLOPT_CAINFO, options->ca_file);
}

static void set_connection(CURL *curl, const struct mail_smtp_options *options)
{
    (void)curl_easy_setopt(curl, CURLOPT_URL, options->url);
    (void)curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    (void)curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    (void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    /* As in http_client.c: a silent name server must not delay the end. */
    (void)curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)options->connect_timeout_seconds);
    (void)curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)options->timeout_seconds);
    (void)curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, 1L);
    if (options->user == NULL)
        return;
    (void)curl_easy_setopt(curl, CURLOPT_USERNAME, options->user);
    (void)curl_easy_setopt(curl, CURLOPT_PASSWORD, secret_reveal(options->password));
}

static void set_following(CURL *curl, struct dialogue *dialogue)
{
    (void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, drop);
    (void)curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, drop);
    (void)curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    (void)curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, in_time);
    (void)curl_easy_setopt(curl, CURLOPT_XFERINFODATA, dialogue);
    (void)curl_easy_setopt(curl, CURLOPT_VERBOSE, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_DEBUGFUNCTION, follow);
    (void)curl_easy_setopt(curl, CURLOPT_DEBUGDATA, dialogue);
}

static void set_message(CURL *curl, struct dialogue *dialogue)
{
    (void)curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_READFUNCTION, read_message);
    (void)curl_easy_setopt(curl, CURLOPT_READDATA, dialogue);
    (void)curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)dialogue->message->length);
    set_following(curl, dialogue);
}

/* A reply to the password is not logged: a server may repeat what it received. */
static const char *reason_of(struct arena *arena, CURLcode result, const struct dialogue *dialogue)
{
    if (result == CURLE_ABORTED_BY_CALLBACK)
        result = CURLE_OPERATION_TIMEDOUT;
    const char *words = curl_easy_strerror(result);
    if (dialogue->code >= 400 && dialogue->stage != STAGE_LOGIN)
        return arena_format(arena, "the mail server said: %s", dialogue->reply);
    if (dialogue->code >= 400)
        return arena_format(arena, "the mail server refused the login (%d)", dialogue->code);
    return arena_format(arena, "the mail server could not be used: %s", words);
}

/* 530 asks for a login first, after any command. */
static enum mail_outcome outcome_of(CURLcode result, const struct dialogue *dialogue)
{
    if (result == CURLE_OK)
        return MAIL_SENT;
    bool final = dialogue->code >= 500 && dialogue->code <= 599 && dialogue->code != 530;
    bool ours = dialogue->stage == STAGE_RECIPIENT || dialogue->stage == STAGE_MESSAGE;
    return final && ours ? MAIL_REFUSED : MAIL_LATER;
}

static enum mail_outcome send_by_smtp(void *context, struct arena *arena, const struct mail_message *message,
                                      const char **reason_out)
{
    const struct smtp *smtp = context;
    int64_t patience = (int64_t)smtp->options.timeout_seconds * 1000000;
    struct dialogue dialogue = {.message = message, .deadline = clock_monotonic() + patience};
    CURL *curl = curl_easy_init();
    struct curl_slist *recipients = curl_slist_append(NULL, message->to);
    if (curl == NULL || recipients == NULL) {
        curl_easy_cleanup(curl);
        curl_slist_free_all(recipients);
        *reason_out = "the mail client could not be started";
        return MAIL_LATER;
    }
    set_connection(curl, &smtp->options);
    set_tls(curl, &smtp->options);
    set_message(curl, &dialogue);
    (void)curl_easy_setopt(curl, CURLOPT_MAIL_FROM, message->from);
    (void)curl_easy_setopt(curl, CURLOPT_MAIL_RCPT, recipients);
    CURLcode result = curl_easy_perform(curl);
    curl_easy_cleanup(curl);
    curl_slist_free_all(recipients);
    if (result != CURLE_OK)
        *reason_out = reason_of(arena, result, &dialogue);
    return outcome_of(result, &dialogue);
}

/* libcurl greets, starts TLS and signs in, and stops before the sender. */
static bool probe_smtp(void *context, struct arena *arena, unsigned seconds, const char **reason_out)
{
    const struct smtp *smtp = context;
    struct mail_smtp_options options = smtp->options;
    struct dialogue dialogue = {.deadline = clock_monotonic() + (int64_t)seconds * 1000000};
    CURL *curl = curl_easy_init();
    if (curl == NULL) {
        *reason_out = "the mail client could not be started";
        return false;
    }
    options.timeout_seconds = seconds;
    options.connect_timeout_seconds =
        options.connect_timeout_seconds < seconds ? options.connect_timeout_seconds : seconds;
    set_connection(curl, &options);
    set_tls(curl, &options);
    set_following(curl, &dialogue);
    (void)curl_easy_setopt(curl, CURLOPT_CONNECT_ONLY, 1L);
    CURLcode result = curl_easy_perform(curl);
    curl_easy_cleanup(curl);
    if (result != CURLE_OK)
        *reason_out = reason_of(arena, result, &dialogue);
    return result == CURLE_OK;
}

/* ---- options ------------------------------------------------------------------------------------- */

/* smtp:// or smtps://, a host, maybe a port, and nothing else. */
static bool parse_url(const char *url, struct place *place_out)
{
    CURLU *parts = curl_url();
    char *scheme = NULL, *host = NULL, *user = NULL, *path = NULL, *query = NULL;
    bool good = parts != NULL && curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
                curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
                curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
                curl_url_get(parts, CURLUPART_PATH, &path, 0) == CURLUE_OK &&
                curl_url_get(parts, CURLUPART_USER, &user, 0) != CURLUE_OK &&
                curl_url_get(parts, CURLUPART_QUERY, &query, 0) != CURLUE_OK &&
                (strcmp(scheme, "smtp") == 0 || strcmp(scheme, "smtps") == 0) && strcmp(path, "/") == 0;
    if (good)
        *place_out = (struct place){.local = network_is_loopback(host), .tls = strcmp(scheme, "smtps") == 0};
    curl_free(scheme);
    curl_free(host);
    curl_free(user);
    curl_free(path);
    curl_free(query);
    curl_url_cleanup(parts);
    return good;
}

static struct error *refuse(struct arena *arena, const char *sentence)
{
    return error_message(error_new(arena, ERROR_INTERNAL, "%s", sentence), "%s", sentence);
}

static struct error *check(struct arena *arena, const struct mail_smtp_options *options, struct place place)
{
    if (options->user != NULL && options->password.bytes == NULL)
        return refuse(arena, "Set smtp_password_file in [mail] along with smtp_user.");
    if (place.local || place.tls)
        return NULL;
    if (options->tls == MAIL_TLS_NONE)
        return refuse(arena, "smtp_tls = none in [mail] is for a mail server on this machine only.");
    if (options->user != NULL && options->tls != MAIL_TLS_REQUIRED)
        return refuse(arena, "A password is sent with smtp_tls = required in [mail] only.");
    return NULL;
}

struct error *mail_transport_smtp(struct arena *arena, const struct mail_smtp_options *options,
                                  struct mail_transport **transport_out)
{
    struct place place;
    if (options->url == NULL || !parse_url(options->url, &place))
        return refuse(arena, "smtp_url in [mail] must look like smtp://host:port or smtps://host:port.");
    TRY(check(arena, options, place));
    struct smtp *smtp = arena_alloc(arena, sizeof *smtp);
    smtp->options = *options;
    smtp->options.url = arena_text(arena, options->url);
    smtp->options.user = arena_text(arena, options->user);
    smtp->options.ca_file = arena_text(arena, options->ca_file);
    if (options->password.bytes != NULL)
        smtp->options.password = secret_copy(arena, options->password.bytes, options->password.length);
    if (place.tls)
        smtp->options.tls = MAIL_TLS_REQUIRED;
    if (options->connect_timeout_seconds == 0)
        smtp->options.connect_timeout_seconds = CONNECT_TIMEOUT_SECONDS;
    if (options->timeout_seconds == 0)
        smtp->options.timeout_seconds = TIMEOUT_SECONDS;
    struct mail_transport *transport = arena_alloc(arena, sizeof *transport);
    transport->send = send_by_smtp;
    transport->probe = probe_smtp;
    transport->context = smtp;
    *transport_out = transport;
    return NULL;
}
