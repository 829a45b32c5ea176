/* SPDX-License-Identifier: MIT */
/* Fills the values of each mail, and queues it. */
#include "service/account/notification.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/name.h"
#include "domain/account/email_change.h"
#include "domain/account/one_time_code.h"
#include "domain/account/user.h"
#include "service/account/mail_queue.h"
#include "service/runtime/service.h"

static const char *link_to(struct service *service, struct arena *arena, const char *page, const struct user *user)
{
    return arena_format(arena, "%s/%s?id=%s", service->configuration->service.web_url, page, id_text(arena, user->id));
}

/*
 * Names that could become a link in a mail are refused when they are set. Older ones are mailed without what makes the
 * link.
 */
#define PERSON(arena, user)                                                                                            \
    {"firstName", name_for_mail((arena), (user)->first_name)},                                                         \
        {"lastName", name_for_mail((arena), (user)->last_name)},                                                       \
    {                                                                                                                  \
        "email", (user)->email                                                                                         \
    }

#define QUEUE(service, arena, template, user, values)                                                                  \
    mail_queue_add((service), (arena), (template), (user)->id, (user)->email, (user)->locale, (values),                \
                   sizeof(values) / sizeof *(values))

struct error *notification_first_login(struct service *service, struct arena *arena, const struct user *user,
                                       const char *organisation, struct secret temporary_password)
{
    int64_t days = service->configuration->identity.temporary_password_seconds / 86400;
    const struct mail_template_value values[] = {
        PERSON(arena, user),
        {"organisation", name_for_mail(arena, organisation)},
        {"temporaryPassword", secret_reveal(temporary_password)},
        {"link", link_to(service, arena, "first-login", user)},
        {"days", arena_format(arena, "%lld", (long long)days)},
    };
    return QUEUE(service, arena, "first-login", user, values);
}

struct error *notification_confirm(struct service *service, struct arena *arena, const struct user *user,
                                   const char *organisation, struct secret code)
{
    const struct mail_template_value values[] = {
        PERSON(arena, user),
        {"organisation", name_for_mail(arena, organisation)},
        {"code", secret_reveal(code)},
        {"link", link_to(service, arena, "confirm", user)},
        {"hours", arena_format(arena, "%d", ONE_TIME_CODE_CONFIRM_SECONDS / 3600)},
    };
    return QUEUE(service, arena, "confirm", user, values);
}

struct error *notification_reset(struct service *service, struct arena *arena, const struct user *user,
                                 struct secret code)
{
    const struct mail_template_value values[] = {
        PERSON(arena, user),
        {"code", secret_reveal(code)},
        {"link", link_to(service, arena, "reset", user)},
        {"minutes", arena_format(arena, "%d", ONE_TIME_CODE_RESET_SECONDS / 60)},
    };
    return QUEUE(service, arena, "reset", user, values);
}

struct error *notification_email_change(struct service *service, struct arena *arena, const struct user *user,
                                        const char *email, struct secret code)
{
    const struct mail_template_value values[] = {
        {"email", email},
        {"code", secret_reveal(code)},
        {"hours", arena_format(arena, "%d", EMAIL_CHANGE_SECONDS / 3600)},
    };
    return mail_queue_add(service, arena, "email-change", user->id, email, user->locale, values,
                          sizeof values / sizeof *values);
}

struct error *notification_email_notice(struct service *service, struct arena *arena, const struct user *user,
                                        const char *email, struct secret code)
{
    const struct mail_template_value values[] = {
        PERSON(arena, user),
        {"newEmail", email},
        {"code", secret_reveal(code)},
        {"link", link_to(service, arena, "cancel-email", user)},
        {"hours", arena_format(arena, "%d", EMAIL_CHANGE_SECONDS / 3600)},
    };
    return QUEUE(service, arena, "email-notice", user, values);
}

struct error *notification_email_taken(struct service *service, struct arena *arena, const struct user *user)
{
    const struct mail_template_value values[] = {PERSON(arena, user)};
    return QUEUE(service, arena, "email-taken", user, values);
}

struct error *notification_email_cancelled(struct service *service, struct arena *arena, const struct user *user)
{
    const struct mail_template_value values[] = {PERSON(arena, user)};
    return QUEUE(service, arena, "email-cancelled", user, values);
}

struct error *notification_password_changed(struct service *service, struct arena *arena, const struct user *user)
{
    char now[CLOCK_TEXT_BYTES];
    clock_format(clock_now(), now);
    const struct mail_template_value values[] = {
        PERSON(arena, user),
        {"time", arena_format(arena, "%.10s %.5s UTC", now, now + 11)},
    };
    return QUEUE(service, arena, "password-changed", user, values);
}
