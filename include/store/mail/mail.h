/* SPDX-License-Identifier: MIT */
/*
 * Mail: composes a message (RFC 5322, MIME) and hands it to a transport. A message is composed as a whole before it is
 * handed over. A transport reports one of three outcomes, which tell the job runner whether to try again.
 */
#ifndef GATEHOUSE_STORE_MAIL_MAIL_H
#define GATEHOUSE_STORE_MAIL_MAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/secret.h"

struct arena;
struct configuration;
struct error;

struct mail {
    struct id id;        /* becomes the Message-ID; a retry uses the same, so that duplicates can be recognised */
    const char *to;      /* one bare address */
    const char *subject; /* UTF-8, one line */
    const char *text;    /* UTF-8, lines end with \n */
    const char *html;    /* likewise; NULL: there is no HTML part */
};

/* A composed message. All in the arena. */
struct mail_message {
    const char *from; /* bare addresses, for the envelope */
    const char *to;
    const char *bytes; /* headers and body, lines end with CR LF */
    size_t length;
};

/*
 * Composes `mail` as sent by `from` ("Name <address>" or an address) at `now` (milliseconds). Every MIME decoder
 * restores each line of the text part exactly, however long. INTERNAL when an address is not valid, or when an address
 * or the subject holds a control character: no value can add a header.
 */
struct error *mail_compose(struct arena *arena, const char *from, const struct mail *mail, int64_t now,
                           struct mail_message *message_out);

/* Whether mail_compose() accepts `address`: one @, an unquoted local part, a host name, at most LIMIT_EMAIL_BYTES. */
bool mail_address_valid(const char *address);

enum mail_outcome {
    MAIL_SENT,    /* the next server has accepted it */
    MAIL_REFUSED, /* refused for good: a later try with this recipient or message will fail too */
    MAIL_LATER    /* try again later */
};

/* A transport: how messages leave. */
struct mail_transport {
    enum mail_outcome (*send)(void *context, struct arena *arena, const struct mail_message *message,
                              const char **reason_out);
    /* see mail_probe(); NULL: there is nothing to test */
    bool (*probe)(void *context, struct arena *arena, unsigned seconds, const char **reason_out);
    void *context;
};

/*
 * Hands a message over. When it was not sent, *reason_out is a sentence for the log and the operator, without secrets;
 * else NULL.
 */
enum mail_outcome mail_send(const struct mail_transport *transport, struct arena *arena,
                            const struct mail_message *message, const char **reason_out);

/*
 * Tests the transport without a message, within `seconds`: connects to the mail server with TLS and login, or looks at
 * the directory. False, with such a sentence in *reason_out, when that fails.
 */
bool mail_probe(const struct mail_transport *transport, struct arena *arena, unsigned seconds, const char **reason_out);

/* Whether `from` is "Name <address>" or an address, as mail_compose() needs it. */
bool mail_sender_valid(struct arena *arena, const char *from);

/*
 * Writes each message as <time>-<random>.eml (mode 0600, lines end with \n as in a Maildir), complete or not at all;
 * sorted by name, the oldest comes first. `directory` is created (0700) when missing. The transport lives as long as
 * `arena`.
 */
struct mail_transport *mail_transport_file(struct arena *arena, const char *directory);

enum mail_tls {
    MAIL_TLS_NONE,          /* for a mail server on this machine only */
    MAIL_TLS_OPPORTUNISTIC, /* TLS where the server offers it, certificate unchecked; a password only to this machine */
    MAIL_TLS_REQUIRED       /* STARTTLS (or smtps://) with a valid certificate, or nothing is sent */
};

struct mail_smtp_options {
    const char *url;  /* smtp://host:port or smtps://host:port */
    const char *user; /* NULL: no authentication */
    struct secret password;
    enum mail_tls tls;
    const char *ca_file;              /* NULL: the system's authorities */
    unsigned connect_timeout_seconds; /* 0: 5 */
    unsigned timeout_seconds;         /* for the whole message; 0: 30 */
};

/* INTERNAL when the options contradict each other (see enum mail_tls) or the URL is not valid. Everything is copied. */
struct error *mail_transport_smtp(struct arena *arena, const struct mail_smtp_options *options,
                                  struct mail_transport **transport_out);

/* The transport that [mail] configures. */
struct error *mail_transport_load(struct arena *arena, const struct configuration *configuration,
                                  struct mail_transport **transport_out);

#endif
