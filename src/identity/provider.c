/* SPDX-License-Identifier: MIT */
/* Hands each call of the interface on to the provider in use, and measures those that a client waits for. */
#include "identity/provider.h"

#include <stddef.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/metrics.h"
#include "codec/token.h"

static const char *const outcomes[PROVIDER_OUTCOME_COUNT] = {
    [PROVIDER_OK] = "ok",
    [PROVIDER_NEW_PASSWORD_REQUIRED] = "newPasswordRequired",
    [PROVIDER_PERMANENT_PASSWORD] = "permanentPassword",
    [PROVIDER_BAD_CREDENTIALS] = "badCredentials",
    [PROVIDER_TEMPORARY_EXPIRED] = "temporaryExpired",
    [PROVIDER_DISABLED] = "disabled",
    [PROVIDER_UNCONFIRMED] = "unconfirmed",
    [PROVIDER_SAME_PASSWORD] = "samePassword",
    [PROVIDER_PASSWORD_REFUSED] = "passwordRefused",
    [PROVIDER_CHALLENGE_SPENT] = "challengeSpent",
    [PROVIDER_TOKEN_INVALID] = "tokenInvalid",
    [PROVIDER_TOKEN_REUSED] = "tokenReused",
    [PROVIDER_EXISTS] = "exists",
    [PROVIDER_ABSENT] = "absent",
    [PROVIDER_CODE_WRONG] = "codeWrong",
    [PROVIDER_STATE] = "state",
};

/*
 * Measures a call: when it began, and how it ended. `outcome` is NULL where the call has none. Passes the error on.
 */
static struct error *counted(int64_t begun, struct error *error, const enum provider_outcome *outcome)
{
    metrics_observe(METRIC_PROVIDER_CALL, clock_monotonic() - begun);
    if (error != NULL)
        metrics_add(METRIC_PROVIDER_FAILED, 1);
    else
        metrics_add(outcome == NULL || *outcome == PROVIDER_OK ? METRIC_PROVIDER_OK : METRIC_PROVIDER_REFUSED, 1);
    return error;
}

const char *provider_outcome_text(enum provider_outcome outcome)
{
    return outcomes[outcome];
}

bool provider_joins_transaction(const struct provider *provider)
{
    return provider->functions->joins_transaction;
}

struct error *provider_create(struct provider *provider, struct arena *arena, const struct provider_account *account,
                              const char **subject_out, enum provider_outcome *outcome_out)
{
    int64_t begun = clock_monotonic();
    TRY(counted(begun, provider->functions->administration->create(provider, arena, account, subject_out, outcome_out),
                outcome_out));
    return NULL;
}

struct error *provider_login(struct provider *provider, struct arena *arena, const struct provider_login *login,
                             struct provider_tokens *tokens_out, struct provider_challenge *challenge_out,
                             enum provider_outcome *outcome_out)
{
    int64_t begun = clock_monotonic();
    TRY(counted(begun, provider->functions->login(provider, arena, login, tokens_out, challenge_out, outcome_out),
                outcome_out));
    return NULL;
}

struct error *provider_answer_new_password(struct provider *provider, struct arena *arena,
                                           const struct provider_challenge *challenge, struct secret new_password,
                                           struct provider_tokens *tokens_out, enum provider_outcome *outcome_out)
{
    int64_t begun = clock_monotonic();
    TRY(counted(
        begun,
        provider->functions->answer_new_password(provider, arena, challenge, new_password, tokens_out, outcome_out),
        outcome_out));
    return NULL;
}

struct error *provider_refresh(struct provider *provider, struct arena *arena, const char *refresh_token,
                               struct provider_tokens *tokens_out, enum provider_outcome *outcome_out)
{
    int64_t begun = clock_monotonic();
    TRY(counted(begun, provider->functions->refresh(provider, arena, refresh_token, tokens_out, outcome_out),
                outcome_out));
    return NULL;
}

struct error *provider_logout(struct provider *provider, struct arena *arena, const char *subject, struct id session)
{
    int64_t begun = clock_monotonic();
    TRY(counted(begun, provider->functions->logout(provider, arena, subject, session), NULL));
    return NULL;
}

struct error *provider_logout_all(struct provider *provider, struct arena *arena, const char *subject)
{
    int64_t begun = clock_monotonic();
    TRY(counted(begun, provider->functions->logout_all(provider, arena, subject), NULL));
    return NULL;
}

struct error *provider_logout_others(struct provider *provider, struct arena *arena, const char *subject,
                                     struct id kept)
{
    int64_t begun = clock_monotonic();
    TRY(counted(begun, provider->functions->logout_others(provider, arena, subject, kept), NULL));
    return NULL;
}

struct error *provider_change_password(struct provider *provider, struct arena *arena, const char *subject,
                                       struct id session, struct secret password, struct secret new_password,
                                       enum provider_outcome *outcome_out)
{
    int64_t begun = clock_monotonic();
    TRY(counted(
        begun,
        provider->functions->change_password(provider, arena, subject, session, password, new_password, outcome_out),
        outcome_out));
    return NULL;
}

struct error *provider_set_password(struct provider *provider, struct arena *arena, const char *subject,
                                    struct secret password, bool temporary, enum provider_outcome *outcome_out)
{
    int64_t begun = clock_monotonic();
    TRY(counted(
        begun,
        provider->functions->administration->set_password(provider, arena, subject, password, temporary, outcome_out),
        outcome_out));
    return NULL;
}

struct error *provider_invite_again(struct provider *provider, struct arena *arena, const char *subject,
                                    struct secret password, enum provider_outcome *outcome_out)
{
    int64_t begun = clock_monotonic();
    TRY(counted(begun,
                provider->functions->administration->invite_again(provider, arena, subject, password, outcome_out),
                outcome_out));
    return NULL;
}

struct error *provider_confirm(struct provider *provider, struct arena *arena, const char *subject,
                               enum provider_outcome *outcome_out)
{
    int64_t begun = clock_monotonic();
    TRY(counted(begun, provider->functions->administration->confirm(provider, arena, subject, outcome_out),
                outcome_out));
    return NULL;
}

struct error *provider_set_enabled(struct provider *provider, struct arena *arena, const char *subject, bool enabled,
                                   enum provider_outcome *outcome_out)
{
    int64_t begun = clock_monotonic();
    TRY(counted(begun, provider->functions->administration->set_enabled(provider, arena, subject, enabled, outcome_out),
                outcome_out));
    return NULL;
}

struct error *provider_holds_address(struct provider *provider, struct arena *arena, const char *subject,
                                     struct id user, const char *email, bool *other_out)
{
    const struct provider_administration *administration = provider->functions->administration;
    *other_out = false;
    if (administration->holds_address == NULL)
        return NULL;
    return administration->holds_address(provider, arena, subject, user, email, other_out);
}

struct error *provider_set_attributes(struct provider *provider, struct arena *arena, const char *subject,
                                      const struct provider_attributes *attributes, enum provider_outcome *outcome_out)
{
    int64_t begun = clock_monotonic();
    TRY(counted(begun,
                provider->functions->administration->set_attributes(provider, arena, subject, attributes, outcome_out),
                outcome_out));
    return NULL;
}

bool provider_has_codes(const struct provider *provider)
{
    return provider->codes != NULL;
}

struct error *provider_send_code(struct provider *provider, struct arena *arena, const char *subject,
                                 enum provider_code code, enum provider_outcome *outcome_out)
{
    int64_t begun = clock_monotonic();
    TRY(counted(begun, provider->codes->send(provider, arena, subject, code, outcome_out), outcome_out));
    return NULL;
}

struct error *provider_confirm_by_code(struct provider *provider, struct arena *arena, const char *subject,
                                       const char *code, enum provider_outcome *outcome_out)
{
    int64_t begun = clock_monotonic();
    TRY(counted(begun, provider->codes->confirm(provider, arena, subject, code, outcome_out), outcome_out));
    return NULL;
}

struct error *provider_reset_by_code(struct provider *provider, struct arena *arena, const char *subject,
                                     const char *code, struct secret new_password, enum provider_outcome *outcome_out)
{
    int64_t begun = clock_monotonic();
    TRY(counted(begun, provider->codes->reset(provider, arena, subject, code, new_password, outcome_out), outcome_out));
    return NULL;
}

struct error *provider_remove(struct provider *provider, struct arena *arena, struct id user, const char *email)
{
    int64_t begun = clock_monotonic();
    TRY(counted(begun, provider->functions->administration->remove(provider, arena, user, email), NULL));
    return NULL;
}

void provider_rules(struct provider *provider, struct token_rules *rules_out)
{
    *rules_out = (struct token_rules){0};
    provider->functions->rules(provider, rules_out);
}

struct error *provider_resolve(struct provider *provider, struct arena *arena, struct token_claims *claims,
                               bool *known_out)
{
    TRY(provider->functions->resolve(provider, arena, claims, known_out));
    return NULL;
}

struct error *provider_keys(struct provider *provider, struct arena *arena, bool stale, const struct key_set **keys_out)
{
    TRY(provider->functions->keys(provider, arena, stale, keys_out));
    return NULL;
}

struct error *provider_unreconciled(struct provider *provider, struct arena *arena, unsigned limit,
                                    struct id **users_out, size_t *count_out)
{
    *count_out = 0;
    if (provider->functions->reconciliation != NULL)
        TRY(provider->functions->reconciliation->list(provider, arena, limit, users_out, count_out));
    return NULL;
}

struct error *provider_reconcile(struct provider *provider, struct arena *arena, struct id user,
                                 enum provider_reconciliation *reconciliation_out)
{
    TRY(provider->functions->reconciliation->reconcile(provider, arena, user, reconciliation_out));
    return NULL;
}

struct error *provider_check(struct provider *provider, struct arena *arena)
{
    TRY(provider->functions->check(provider, arena));
    return NULL;
}

struct error *provider_check_sealed(struct provider *provider, struct arena *arena)
{
    if (provider->functions->signing_keys != NULL)
        TRY(provider->functions->signing_keys->check_sealed(provider, arena));
    return NULL;
}

void provider_forget(struct provider *provider)
{
    provider->functions->forget(provider);
}

struct error *provider_tidy(struct provider *provider, struct arena *arena)
{
    TRY(provider->functions->tidy(provider, arena));
    return NULL;
}

void provider_free(struct provider **provider)
{
    if (*provider != NULL)
        (*provider)->functions->free(*provider);
    *provider = NULL;
}

struct error *provider_rotate_keys(struct provider *provider, struct arena *arena, enum provider_outcome *outcome_out)
{
    *outcome_out = PROVIDER_STATE;
    if (provider->functions->signing_keys == NULL)
        return NULL;
    TRY(provider->functions->signing_keys->rotate(provider, arena));
    *outcome_out = PROVIDER_OK;
    return NULL;
}
