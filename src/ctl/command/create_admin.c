/* SPDX-License-Identifier: MIT */
/* gatehousectl create-admin: makes an internal administrator. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/name.h"
#include "base/secret.h"
#include "codec/address.h"
#include "codec/random.h"
#include "codec/visible.h"
#include "ctl/ctl_int.h"
#include "service/account/sign_up.h"
#include "service/runtime/service.h"
#include "service/runtime/startup.h"

static const char *or_else(const char *value, const char *fallback)
{
    return value != NULL ? value : fallback;
}

static struct sign_up_customer read_person(const struct run *run)
{
    return (struct sign_up_customer){.email = ctl_value(run, "email"),
                                     .first_name = or_else(ctl_value(run, "first-name"), "Internal"),
                                     .last_name = or_else(ctl_value(run, "last-name"), "Administrator")};
}

static struct error *check_person(struct arena *arena, const struct sign_up_customer *person)
{
    struct validation validation;
    validation_init(&validation, arena);
    const char *const names[][2] = {{"first-name", person->first_name}, {"last-name", person->last_name}};
    enum address_fault wrong = address_validate(arena, person->email);
    if (wrong != ADDRESS_GOOD)
        validation_add(&validation, "format", address_fault_text(wrong), "--email");
    for (size_t i = 0; i < 2; i++)
        if (!utf8_valid(names[i][1], strlen(names[i][1])) || utf8_count(names[i][1]) > LIMIT_NAME_CHARACTERS ||
            names[i][1][0] == '\0')
            validation_add(&validation, "length", "must have 1 to " LIMIT_TEXT(LIMIT_NAME_CHARACTERS) " characters",
                           "--%s", names[i][0]);
        else if (!name_is_good(names[i][1]))
            validation_add(&validation, "format", NAME_FORMAT, "--%s", names[i][0]);
        else if (!visible_text(names[i][1]))
            validation_add(&validation, "format", VISIBLE_FORMAT, "--%s", names[i][0]);
    return validation.error;
}

static struct error *create(struct run *run, const struct sign_up_customer *person, const char *password_file,
                            const char **generated_out, struct user *user_out)
{
    struct configuration *configuration;
    struct service service;
    struct secret password;
    TRY(check_person(run->arena, person));
    TRY(startup_load(run->arena, run->config, NULL, &configuration));
    TRY(service_open(run->arena, configuration, &service));
    *generated_out = random_text(run->arena, RANDOM_PASSWORD_CHARACTERS);
    password = secret_of(*generated_out);
    struct error *error = NULL;
    if (password_file != NULL) {
        *generated_out = NULL;
        error = secret_read(run->arena, password_file, &password);
    }
    if (error == NULL)
        error = sign_up_admin(&service, run->arena, person, password, user_out);
    service_close(&service);
    return error;
}

static void write_administrator(struct arena *arena, const struct user *user, const char *generated)
{
    struct ctl_json json = {.arena = arena};
    ctl_json_open(&json, NULL, '{');
    ctl_json_text(&json, "id", id_text(arena, user->id));
    ctl_json_text(&json, "organisationId", id_text(arena, user->organisation_id));
    ctl_json_text(&json, "email", user->email);
    ctl_json_text(&json, "password", generated);
    ctl_json_close(&json);
}

static int create_admin(struct run *run)
{
    struct user user = {0};
    struct sign_up_customer person = read_person(run);
    const char *generated = NULL;
    struct error *error = create(run, &person, ctl_value(run, "password-file"), &generated, &user);
    if (error != NULL)
        return ctl_fail(error);
    if (run->json)
        write_administrator(run->arena, &user, generated);
    else if (generated != NULL)
        (void)printf("%s\n", generated);
    return EXIT_SUCCESS;
}

static const struct ctl_option options[] = {
    {"email", "ADDRESS", "the administrator's e-mail address", true},
    {"first-name", "NAME", "Internal without it", false},
    {"last-name", "NAME", "Administrator without it", false},
    {"password-file", "FILE", "take the password from there; else a random one is printed", false},
    {0},
};

const struct ctl_command ctl_create_admin = {.name = "create-admin",
                                             .summary = "create an internal administrator",
                                             .options = options,
                                             .json = true,
                                             .run = create_admin};
