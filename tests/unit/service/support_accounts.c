/* SPDX-License-Identifier: MIT */
/* What the tests of the account flows share. */
#include "service/support_accounts.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/document.h"
#include "codec/seal.h"
#include "codec/token.h"
#include "domain/account/password_policy.h"
#include "domain/outbox.h"
#include "domain/permission/principal.h"
#include "harness.h"
#include "identity/embedded/provider.h"
#include "service/account/member.h"
#include "service/account/provider_sync.h"
#include "service/account/recovery.h"
#include "support_database.h"

/* ---- the decorator ------------------------------------------------------------------------------- */

static struct faulty_provider *faulty_of(struct provider *provider)
{
    return (struct faulty_provider *)provider;
}

static bool is_due(const struct faulty_provider *faulty)
{
    return faulty->at == 0 || faulty->calls == faulty->at;
}

static struct error *before(struct provider *provider, struct arena *arena)
{
    struct faulty_provider *faulty = faulty_of(provider);
    faulty->calls++;
    if (is_due(faulty) && faulty->fault == FAULT_DEATH_BEFORE)
        _exit(DEATH_STATUS);
    if (is_due(faulty) && faulty->fault == FAULT_BEFORE)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "the test's provider is down");
    return NULL;
}

static struct error *after(struct provider *provider, struct arena *arena)
{
    struct faulty_provider *faulty = faulty_of(provider);
    if (!is_due(faulty))
        return NULL;
    if (faulty->after != NULL)
        faulty->after(faulty->context);
    if (faulty->fault == FAULT_DEATH_AFTER)
        _exit(DEATH_STATUS);
    if (faulty->fault == FAULT_AFTER)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "the test's provider lost its answer");
    return NULL;
}

#define INNER faulty_of(provider)->inner
#define DECORATE(name, parameters, call)                                                                               \
    static struct error *faulty_##name parameters                                                                      \
    {                                                                                                                  \
        TRY(before(provider, arena));                                                                                  \
        TRY(call);                                                                                                     \
        return after(provider, arena);                                                                                 \
    }

DECORATE(create,
         (struct provider * provider, struct arena *arena, const struct provider_account *account,
          const char **subject_out, enum provider_outcome *outcome_out),
         provider_create(INNER, arena, account, subject_out, outcome_out))
DECORATE(login,
         (struct provider * provider, struct arena *arena, const struct provider_login *login,
          struct provider_tokens *tokens_out, struct provider_challenge *challenge_out,
          enum provider_outcome *outcome_out),
         provider_login(INNER, arena, login, tokens_out, challenge_out, outcome_out))
DECORATE(answer,
         (struct provider * provider, struct arena *arena, const struct provider_challenge *challenge,
          struct secret new_password, struct provider_tokens *tokens_out, enum provider_outcome *outcome_out),
         provider_answer_new_password(INNER, arena, challenge, new_password, tokens_out, outcome_out))
DECORATE(refresh,
         (struct provider * provider, struct arena *arena, const char *token, struct provider_tokens *tokens_out,
          enum provider_outcome *outcome_out),
         provider_refresh(INNER, arena, token, tokens_out, outcome_out))
DECORATE(logout, (struct provider * provider, struct arena *arena, const char *subject, struct id session),
         provider_logout(INNER, arena, subject, session))
DECORATE(logout_all, (struct provider * provider, struct arena *arena, const char *subject),
         provider_logout_all(INNER, arena, subject))
DECORATE(logout_others, (struct provider * provider, struct arena *arena, const char *subject, struct id kept),
         provider_logout_others(INNER, arena, subject, kept))
DECORATE(change_password,
         (struct provider * provider, struct arena *arena, const char *subject, struct id session,
          struct secret password, struct secret new_password, enum provider_outcome *outcome_out),
         provider_change_password(INNER, arena, subject, session, password, new_password, outcome_out))
DECORATE(set_password,
         (struct provider * provider, struct arena *arena, const char *subject, struct secret password, bool temporary,
          enum provider_outcome *outcome_out),
         provider_set_password(INNER, arena, subject, password, temporary, outcome_out))
DECORATE(invite_again,
         (struct provider * provider, struct arena *arena, const char *subject, struct secret password,
          enum provider_outcome *outcome_out),
         provider_invite_again(INNER, arena, subject, password, outcome_out))
DECORATE(confirm,
         (struct provider * provider, struct arena *arena, const char *subject, enum provider_outcome *outcome_out),
         provider_confirm(INNER, arena, subject, outcome_out))
DECORATE(set_enabled,
         (struct provider * provider, struct arena *arena, const char *subject, bool enabled,
          enum provider_outcome *outcome_out),
         provider_set_enabled(INNER, arena, subject, enabled, outcome_out))
DECORATE(set_attributes,
         (struct provider * provider, struct arena *arena, const char *subject,
          const struct provider_attributes *attributes, enum provider_outcome *outcome_out),
         provider_set_attributes(INNER, arena, subject, attributes, outcome_out))
DECORATE(remove, (struct provider * provider, struct arena *arena, struct id user, const char *email),
         provider_remove(INNER, arena, user, email))

/* None of these fails in the real one in a way that a flow could meet, so none is counted. */
static struct error *faulty_keys(struct provider *provider, struct arena *arena, bool stale,
                                 const struct key_set **keys_out)
{
    return provider_keys(INNER, arena, stale, keys_out);
}

static void faulty_rules(struct provider *provider, struct token_rules *rules_out)
{
    provider_rules(INNER, rules_out);
}

static struct error *faulty_resolve(struct provider *provider, struct arena *arena, struct token_claims *claims,
                                    bool *known_out)
{
    return provider_resolve(INNER, arena, claims, known_out);
}

static void faulty_forget(struct provider *provider)
{
    provider_forget(INNER);
}

static const struct provider_administration faulty_administration = {
    .create = faulty_create,
    .confirm = faulty_confirm,
    .set_password = faulty_set_password,
    .invite_again = faulty_invite_again,
    .set_enabled = faulty_set_enabled,
    .set_attributes = faulty_set_attributes,
    .remove = faulty_remove,
};

static const struct provider_functions faulty_functions = {
    .name = "faulty",
    .joins_transaction = true,
    .login = faulty_login,
    .answer_new_password = faulty_answer,
    .refresh = faulty_refresh,
    .logout = faulty_logout,
    .logout_all = faulty_logout_all,
    .logout_others = faulty_logout_others,
    .change_password = faulty_change_password,
    .rules = faulty_rules,
    .resolve = faulty_resolve,
    .keys = faulty_keys,
    .forget = faulty_forget,
    .administration = &faulty_administration,
};

void scene_fault(struct scene *scene, enum fault fault, unsigned at)
{
    scene->faulty.calls = 0;
    scene->faulty.fault = fault;
    scene->faulty.at = at;
    scene->faulty.after = NULL;
}

/* ---- the scene ----------------------------------------------------------------------------------- */

static void close_scene(void *argument)
{
    struct scene *scene = argument;
    provider_free(&scene->faulty.inner);
    database_free(&scene->database);
}

static void configure(struct scene *scene)
{
    scene->configuration.service.web_url = "https://gatehouse.test";
    scene->configuration.identity.temporary_password_seconds = 604800;
    scene->configuration.identity.issuer = "https://gatehouse.test";
    scene->configuration.identity.audience = "gatehouse";
    scene->configuration.limits.accounts_per_hour = 100;
    scene->configuration.limits.sessions_per_user = 1000;
    scene->configuration.limits.customers_per_hour = 1000;
    scene->configuration.log.level = "info";
    scene->configuration.mail.from = "Gatehouse <no-reply@gatehouse.test>";
    scene->configuration.mail.templates = harness_source(scene->arena, "share/mail");
    scene->configuration.service.language = "en";
    scene->configuration.branding.name = "Gatehouse";
    scene->configuration.branding.accent = "#1d4f7c";
}

struct scene *scene_join(struct arena *arena)
{
    struct scene *scene = arena_alloc(arena, sizeof *scene);
    const struct password_policy *passwords = NULL;
    scene->arena = arena;
    scene->database = support_database_new();
    configure(scene);
    struct embedded_options options = {
        .database = scene->database,
        .master = secret_of("0123456789abcdef0123456789abcdef"),
        .issuer = "https://gatehouse.test",
        .audience = "gatehouse",
        .access_token_seconds = 900,
        .refresh_token_seconds = 2592000,
        .refresh_grace_seconds = 10,
        .temporary_password_seconds = 604800,
        .cost = {.memory_kib = 8, .passes = 1},
    };
    expect_ok(embedded_new(arena, &options, &scene->faulty.inner));
    arena_defer(arena, close_scene, scene);
    expect_ok(password_policy_open(arena, harness_source(arena, "share/common-passwords.txt"), 12, &passwords));
    scene->faulty.provider.functions = &faulty_functions;
    scene->service = (struct service){
        .arena = arena,
        .configuration = &scene->configuration,
        .master = options.master,
        .database = scene->database,
        .provider = &scene->faulty.provider,
        .passwords = passwords,
        .memo = token_memo_new(arena),
    };
    scene->stranger = (struct caller){.client_address = "192.0.2.9", .request_id = "request-of-a-test"};
    return scene;
}

struct scene *scene_new(struct arena *arena)
{
    support_database_clear();
    return scene_join(arena);
}

struct error *scene_login(struct scene *scene, const char *username, const char *password, const char *new_password,
                          struct provider_tokens *tokens_out)
{
    struct provider_tokens tokens;
    struct user *user = NULL;
    const char *mark = NULL;
    struct sign_in_request login = {.username = username, .password = secret_of(password)};
    if (new_password != NULL)
        login.new_password = secret_of(new_password);
    return sign_in_with_password(&scene->service, scene->arena, &scene->stranger, &login,
                                 tokens_out != NULL ? tokens_out : &tokens, &user, &mark);
}

static struct caller *load(struct scene *scene, struct id user, struct id session)
{
    struct principal *principal = NULL;
    expect_ok(principal_load(scene->database, scene->arena, user, session, &principal));
    if (!principal_stands(principal))
        return NULL;
    /* Tests look at the whole of it. */
    struct user *whole;
    struct organisation *organisation;
    expect_ok(principal_details(scene->database, scene->arena, principal, &whole, &organisation));
    principal->user = *whole;
    principal->organisation = *organisation;
    struct caller *caller = arena_alloc(scene->arena, sizeof *caller);
    *caller = scene->stranger;
    caller->principal = principal;
    return caller;
}

struct caller *scene_caller(struct scene *scene, const char *username, const char *password)
{
    struct provider_tokens tokens;
    expect_ok(scene_login(scene, username, password, NULL, &tokens));
    struct caller *caller = load(scene, tokens.user_id, tokens.session_id);
    assert_non_null(caller);
    return caller;
}

struct caller *scene_reload(struct scene *scene, const struct caller *caller)
{
    return load(scene, caller_user(caller), caller->principal->session_id);
}

/* ---- people -------------------------------------------------------------------------------------- */

struct caller *given_staff(struct scene *scene)
{
    struct user user;
    struct sign_up_customer person = {.email = "staff@gatehouse.test", .first_name = "Sam", .last_name = "Staff"};
    expect_ok(sign_up_admin(&scene->service, scene->arena, &person, secret_of(CHOSEN), &user));
    return scene_caller(scene, person.email, CHOSEN);
}

struct error *make_customer(struct scene *scene, const struct caller *caller, const char *email, struct user *user_out)
{
    struct organisation organisation;
    struct user user;
    struct sign_up_customer customer = {
        .organisation_name = "Quarry",
        .email = email,
        .first_name = "Ada",
        .last_name = "Quill",
        .phone = "+4512345678",
        .services = TEXTS(scene->arena, "inventory"),
    };
    return sign_up_customer(&scene->service, scene->arena, caller, &customer, &organisation,
                            user_out != NULL ? user_out : &user);
}

struct error *make_member(struct scene *scene, const struct caller *caller, const char *email, struct user *user_out)
{
    struct user user;
    struct sign_up_member member = {
        .email = email,
        .password = secret_of(CHOSEN),
        .first_name = "Ben",
        .last_name = "Brick",
        .roles = TEXTS(scene->arena, "inv-manage"),
        .permissions = TEXTS(scene->arena, "cus:file:r"),
    };
    return sign_up_member(&scene->service, scene->arena, caller, &member, user_out != NULL ? user_out : &user);
}

struct caller *given_owner(struct scene *scene, const struct caller *staff, const char *email)
{
    struct user user;
    expect_ok(make_customer(scene, staff, email, &user));
    const char *temporary = mailed(scene, user.id, "temporaryPassword");
    assert_non_null(temporary);
    expect_ok(scene_login(scene, email, temporary, CHOSEN, NULL));
    (void)run_jobs(scene);
    return scene_caller(scene, email, CHOSEN);
}

struct user given_member(struct scene *scene, const struct caller *owner, const char *email)
{
    struct user user;
    expect_ok(make_member(scene, owner, email, &user));
    expect_ok(member_confirm(&scene->service, scene->arena, &scene->stranger, email, mailed(scene, user.id, "code")));
    (void)run_jobs(scene);
    return user;
}

/* ---- mails and jobs ------------------------------------------------------------------------------ */

const char *mailed(struct scene *scene, struct id user, const char *name)
{
    static const struct statement newest = {"SELECT payload FROM outbox WHERE kind = 'mail' AND status = 'waiting' AND "
                                            "user_id = ? ORDER BY id DESC LIMIT 1"};
    struct rows *rows;
    struct secret text;
    struct document *document;
    size_t length;
    expect_ok(database_query(scene->database, scene->arena, &newest, VALUES(database_id(user)), &rows));
    if (rows->count == 0)
        return NULL;
    const void *payload = rows_bytes(rows, 0, 0, &length);
    expect_ok(unseal(scene->arena, scene->service.master, "outbox", payload, length, &text));
    expect_ok(document_parse(scene->arena, secret_reveal(text), text.length, &document));
    const struct document *value = document_member(document_member(document, "values"), name);
    return value == NULL ? NULL : document_text(value);
}

int64_t mails_waiting(struct scene *scene, struct id user)
{
    return sql_integer(scene->database, scene->arena,
                       "SELECT COUNT(*) FROM outbox WHERE kind = 'mail' AND status = 'waiting' AND user_id = %s",
                       sql_id(scene->arena, user));
}

/* The next jobs that are due, but for mails and for what was queued behind `last`. */
static struct outbox_items claim_jobs(struct scene *scene, int64_t last)
{
    struct outbox_items items;
    sql(scene->database, scene->arena,
        "UPDATE outbox SET next_attempt_at = UTC_TIMESTAMP(3) + INTERVAL 1 HOUR"
        " WHERE status = 'waiting' AND (kind = 'mail' OR id > %lld)",
        (long long)last);
    expect_ok(outbox_claim(scene->database, scene->arena, 100, 60, &items));
    return items;
}

unsigned run_jobs(struct scene *scene)
{
    unsigned done = 0;
    int64_t last = sql_integer(scene->database, scene->arena, "SELECT COALESCE(MAX(id), 0) FROM outbox");
    sql(scene->database, scene->arena,
        "UPDATE outbox SET next_attempt_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE status = 'waiting'");
    for (;;) {
        struct outbox_items items = claim_jobs(scene, last);
        if (items.count == 0)
            return done;
        for (size_t i = 0; i < items.count; i++, done++) {
            const struct outbox_item *item = &items.items[i];
            if (strcmp(item->kind, PROVIDER_SYNC_KIND) == 0)
                expect_ok(provider_sync_run(&scene->service, scene->arena, item));
            else
                expect_ok(recovery_run(&scene->service, scene->arena, item));
        }
    }
}

void expect_entry(struct error *error, int code, const char *path, const char *entry_code)
{
    expect_error(error, code);
    for (const struct error_entry *entry = error->entries; entry != NULL; entry = entry->next)
        if (strcmp(entry->path, path) == 0 && strcmp(entry->code, entry_code) == 0)
            return;
    fail_msg("no entry %s %s", path, entry_code);
}
