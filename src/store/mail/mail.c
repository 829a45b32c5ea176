/* SPDX-License-Identifier: MIT */
/*
 * Composes messages. Every value of a header is checked before the first byte is written: addresses by a grammar
 * without line ends, the subject and names for control characters.
 */
#include "store/mail/mail.h"

#include <string.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "codec/address.h"
#include "codec/encoding.h"
#include "codec/random.h"
#include "store/mail/mail_encode_int.h"

#define LOCAL_PART_BYTES 64
#define BOUNDARY_RANDOM_BYTES 16

/* ---- addresses ----------------------------------------------------------------------------------- */

/* Letters beyond ASCII are allowed (RFC 6531), but no controls, no-break blanks or line separators. */
static bool foreign_letters(const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    for (size_t at = 0, step; at < length; at += step) {
        uint32_t code_point = 0;
        step = utf8_next(bytes + at, length - at, &code_point);
        if (step == 0 || (step > 1 && (code_point <= 0xa0 || (code_point >= 0x2000 && code_point <= 0x206f) ||
                                       code_point == 0x3000 || code_point == 0xfeff)))
            return false;
    }
    return true;
}

static bool alphanumeric(char character)
{
    return text_is_alpha(character) || text_is_digit(character) || (unsigned char)character >= 0x80;
}

static bool local_part(const char *text, size_t length)
{
    if (length == 0 || length > LOCAL_PART_BYTES)
        return false;
    for (size_t i = 0; i < length; i++)
        if (!alphanumeric(text[i]) && (text[i] == '\0' || strchr("!#$%&'*+-/=?^_`{|}~.", text[i]) == NULL))
            return false;
    return true;
}

static bool host_name(const char *text)
{
    char before = '.';
    for (; *text != '\0'; before = *text++) {
        bool first = before == '.';
        if (!alphanumeric(*text) && (first || (*text != '-' && *text != '.')))
            return false;
        if (*text == '.' && before == '-')
            return false;
    }
    return before != '.' && before != '-';
}

bool mail_address_valid(const char *address)
{
    const char *at = strchr(address, '@');
    return at != NULL && strlen(address) <= LIMIT_EMAIL_BYTES && foreign_letters(address, strlen(address)) &&
           local_part(address, (size_t)(at - address)) && host_name(at + 1);
}

struct sender {
    const char *name; /* "" for none */
    const char *address;
};

/* "Name <address>", "\"Name\" <address>" or an address. */
static bool parse_sender(struct arena *arena, const char *from, struct sender *sender)
{
    const char *open = strrchr(from, '<');
    size_t length = strlen(from);
    *sender = (struct sender){.name = "", .address = from};
    if (open != NULL) {
        if (from[length - 1] != '>')
            return false;
        sender->address = arena_copy(arena, open + 1, (size_t)(from + length - 1 - (open + 1)));
        while (open > from && open[-1] == ' ')
            open--;
        size_t name_length = (size_t)(open - from);
        if (name_length >= 2 && from[0] == '"' && open[-1] == '"')
            sender->name = arena_copy(arena, from + 1, name_length - 2);
        else
            sender->name = arena_copy(arena, from, name_length);
    }
    return mail_address_valid(sender->address) && mail_text_is_line(sender->name);
}

bool mail_sender_valid(struct arena *arena, const char *from)
{
    struct sender sender;
    return parse_sender(arena, from, &sender);
}

/* ---- composing ----------------------------------------------------------------------------------- */

static void add_headers(struct buffer *out, const struct sender *sender, const struct mail *mail, int64_t now)
{
    char id[ID_TEXT_BYTES];
    id_format(id_is_none(mail->id) ? id_new() : mail->id, id);
    buffer_add_text(out, "Date: ");
    mail_add_date(out, now);
    buffer_add_text(out, "\r\nFrom: ");
    if (*sender->name != '\0') {
        mail_add_phrase(out, sender->name);
        buffer_add_format(out, " <%s>", sender->address);
    } else {
        buffer_add_text(out, sender->address);
    }
    buffer_add_format(out, "\r\nTo: %s\r\nSubject: ", address_wire(out->arena, mail->to));
    mail_add_words(out, mail->subject);
    buffer_add_format(out, "\r\nMessage-ID: <%s@%s>\r\n", id, strchr(sender->address, '@') + 1);
    /* Prevents automatic replies, such as holiday notices (RFC 3834). */
    buffer_add_text(out, "Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n");
}

static void add_part(struct buffer *out, const char *type, const char *text)
{
    buffer_add_format(out, "Content-Type: %s; charset=UTF-8\r\n", type);
    mail_add_body(out, text);
}

/* A quoted-printable part cannot hold the boundary ("=_"), and nobody can guess it for a plain one. */
static void add_alternatives(struct buffer *out, const struct mail *mail)
{
    unsigned char random[BOUNDARY_RANDOM_BYTES];
    random_bytes(random, sizeof random);
    const char *boundary = arena_format(out->arena, "=_%s", hex_encode(out->arena, random, sizeof random));
    buffer_add_format(out, "Content-Type: multipart/alternative; boundary=\"%s\"\r\n\r\n--%s\r\n", boundary, boundary);
    add_part(out, "text/plain", mail->text);
    buffer_add_format(out, "\r\n--%s\r\n", boundary);
    add_part(out, "text/html", mail->html);
    buffer_add_format(out, "\r\n--%s--\r\n", boundary);
}

static struct error *check(struct arena *arena, const struct mail *mail)
{
    if (!mail_address_valid(mail->to))
        return error_new(arena, ERROR_INTERNAL, "the mail's recipient is not an address");
    if (*mail->subject == '\0' || !mail_text_is_line(mail->subject))
        return error_new(arena, ERROR_INTERNAL, "the mail's subject is empty or not one line of text");
    if (!utf8_valid(mail->text, strlen(mail->text)) ||
        (mail->html != NULL && !utf8_valid(mail->html, strlen(mail->html))))
        return error_new(arena, ERROR_INTERNAL, "the mail's text is not UTF-8");
    return NULL;
}

struct error *mail_compose(struct arena *arena, const char *from, const struct mail *mail, int64_t now,
                           struct mail_message *message_out)
{
    struct sender sender;
    struct buffer out;
    TRY(check(arena, mail));
    if (!parse_sender(arena, from, &sender))
        return error_new(arena, ERROR_INTERNAL, "the sender in [mail] from is not \"Name <address>\"");
    buffer_init(&out, arena);
    add_headers(&out, &sender, mail, now);
    if (mail->html == NULL)
        add_part(&out, "text/plain", mail->text);
    else
        add_alternatives(&out, mail);
    *message_out = (struct mail_message){.from = arena_text(arena, sender.address),
                                         .to = arena_text(arena, address_wire(arena, mail->to)),
                                         .bytes = out.bytes,
                                         .length = out.length};
    return NULL;
}

/* ---- sending ------------------------------------------------------------------------------------- */

enum mail_outcome mail_send(const struct mail_transport *transport, struct arena *arena,
                            const struct mail_message *message, const char **reason_out)
{
    *reason_out = NULL;
    return transport->send(transport->context, arena, message, reason_out);
}

bool mail_probe(const struct mail_transport *transport, struct arena *arena, unsigned seconds, const char **reason_out)
{
    *reason_out = NULL;
    return transport->probe == NULL || transport->probe(transport->context, arena, seconds, reason_out);
}

static enum mail_tls tls_of(const char *text)
{
    if (strcmp(text, "none") == 0)
        return MAIL_TLS_NONE;
    return strcmp(text, "opportunistic") == 0 ? MAIL_TLS_OPPORTUNISTIC : MAIL_TLS_REQUIRED;
}

struct error *mail_transport_load(struct arena *arena, const struct configuration *configuration,
                                  struct mail_transport **transport_out)
{
    if (strcmp(configuration->mail.transport, "file") == 0) {
        if (configuration->mail.directory == NULL)
            return error_message(error_plain(arena, ERROR_INTERNAL),
                                 "Set directory in [mail], or another transport than file.");
        *transport_out = mail_transport_file(arena, configuration->mail.directory);
        return NULL;
    }
    struct mail_smtp_options options = {.url = configuration->mail.smtp_url,
                                        .user = configuration->mail.smtp_user,
                                        .tls = tls_of(configuration->mail.smtp_tls)};
    if (configuration->mail.smtp_password_file != NULL)
        TRY(secret_read(arena, configuration->mail.smtp_password_file, &options.password));
    TRY(mail_transport_smtp(arena, &options, transport_out));
    return NULL;
}
