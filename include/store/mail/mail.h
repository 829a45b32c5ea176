/* SPDX-License-Identifier: MIT */
/*
 * Mail: composing a message (RFC 5322, MIME) and the transports that take it away. A message is composed
 * whole before it is handed over; a transport reports one of three outcomes, which tell the job runner
 * whether to try again.
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
    struct id id;        /* becomes the Message-ID; keep it for a retry, so that a double can be told */
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
 * Composes `mail` as sent by `from` ("Name <address>" or an address) at `now` (milliseconds). Each line of
 * the text part comes out of any MIME decoder as it went in, however long. INTERNAL when an address is none,
 * or an address or the subject holds a control character: no value can add a header.
 */
struct error *mail_compose(struct arena *arena, const char *from, const struct mail *mail, int64_t now,
                           struct mail_message *message_out);

/*
 * Whether mail_compose() takes `address`: one @, an unquoted local part, a host name, at most
 * LIMIT_EMAIL_BYTES.
 */
bool mail_address_valid(const char *address);

enum mail_outcome {
    MAIL_SENT,    /* the next hop answers for it */
    MAIL_REFUSED, /* for good: this recipient or this message will never pass */
    MAIL_LATER    /* try again later */
};

/* A way out of the house. */
struct mail_transport {
    enum mail_outcome (*send)(void *context, struct arena *arena, const struct mail_message *message,
                              const char **reason_out);
    /* See mail_probe(); NULL: there is nothing to try. */
    bool (*probe)(void *context, struct arena *arena, unsigned seconds, const char **reason_out);
    void *context;
};

/*
 * Hands a message over. *reason_out is a sentence for the log and the operator when it was not sent (without
 * secrets), else NULL.
 */
enum mail_outcome mail_send(const struct mail_transport *transport, struct arena *arena,
                            const struct mail_message *message, const char **reason_out);

/*
 * Goes as far as the way leads without a message, within `seconds`: to the mail server with TLS and login, or into the directory.
 * False, with a sentence as above in *reason_out, where it cannot be gone.
 */
bool mail_probe(const struct mail_transport *transport, struct arena *arena, unsigned seconds, const char **reason_out);

/* Whether `from` is "Name <address>" or an address, as mail_compose() wants it. */
bool mail_sender_valid(struct arena *arena, const char *from);

/*
 * Writes each message as <time>-<random>.eml (mode 0600, lines end with \n as in a Maildir), complete or not
 * at all, oldest first by name. `directory` is made (0700) when missing. The transport lives as long as
 * `arena`.
 */
struct mail_transport *mail_transport_file(struct arena *arena, const char *directory);

enum mail_tls {
    MAIL_TLS_NONE,          /* for a mail server on this machine only */
    MAIL_TLS_OPPORTUNISTIC, /* where offered, certificate unchecked; no password but to this machine */
    MAIL_TLS_REQUIRED       /* STARTTLS (or smtps://) with a good certificate, or nothing is sent */
};

struct mail_smtp_options {
    const char *url; /* smtp://host:port or smtps://host:port */
    const char *user; /* NULL: no authentication */
    struct secret password;
    enum mail_tls tls;
    const char *ca_file;              /* NULL: the system's authorities */
    unsigned connect_timeout_seconds; /* 0: 5 */
    unsigned timeout_seconds;         /* for the whole message; 0: 30 */
};

/*
 * INTERNAL when the options contradict each other (see enum mail_tls) or the url is none. Everything is
 * copied.
 */
struct error *mail_transport_smtp(struct arena *arena, const struct mail_smtp_options *options,
                                  struct mail_transport **transport_out);

/* The transport that [mail] asks for. */
struct error *mail_transport_load(struct arena *arena, const struct configuration *configuration,
                                  struct mail_transport **transport_out);

#endif
