/* SPDX-License-Identifier: MIT */
/* What provider_check() says of wrong settings, each by itself, with the strict servers. */
#include "harness.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/support.h"
#include "identity/support_remote.h"

static struct remote_options remote_options_of_test(struct scene *scene)
{
    return (struct remote_options){.database = scene->database,
                                   .master = secret_of("0123456789abcdef0123456789abcdef"),
                                   .calls_max = 1,
                                   .rest_seconds = 2};
}

/* What the check says; "" where nothing is wrong. Frees the provider. */
static const char *said(struct scene *scene, struct provider *provider)
{
    struct error *error = provider_check(provider, scene->arena);
    const char *sentence = error == NULL ? "" : error->message;
    if (error != NULL)
        assert_int_equal(error->code, ERROR_IDENTITY_UNAVAILABLE);
    provider_free(&provider);
    return sentence;
}

static const char *pool_said(struct scene *scene, const struct cognito_options *options)
{
    struct remote_options remote = remote_options_of_test(scene);
    struct provider *provider;
    expect_ok(cognito_new(scene->arena, &remote, options, &provider));
    return said(scene, provider);
}

static const char *realm_said(struct scene *scene, const struct keycloak_options *options)
{
    struct remote_options remote = remote_options_of_test(scene);
    struct provider *provider;
    expect_ok(keycloak_new(scene->arena, &remote, options, &provider));
    return said(scene, provider);
}

static void expect(const char *sentence, const char *wanted)
{
    if (strstr(sentence, wanted) == NULL)
        fail_msg("said \"%s\", not \"%s\"", sentence, wanted);
}

static void drop(struct scene *scene, const char *name)
{
    assert_int_equal(unlink(arena_format(scene->arena, "%s/%s", scene->directory, name)), 0);
}

/* A file of the server's directory that makes the fault, and what the check says of it. */
static const struct fault {
    const char *name;
    const char *text;
    const char *wanted;
} pool_faults[] =
    {
        {"denied", "AdminGetUser", "may not call AdminGetUser"},
        {"expired", "", "the clock of this host is wrong"},
        {"skew", "3600", "differ by 3"},
        {"noflow", "", "does not allow ALLOW_USER_PASSWORD_AUTH"},
        {"lacks", "custom:permissions", "lacks the attribute custom:permissions"},
        {"codes", "", "mails codes beside ours"},
},
  realm_faults[] = {
      {"norights", "", "lacks the role manage-users"},
      {"noaccount", "", "gatehouse-admin has no service account"},
      {"nogrants", "", "gatehouse has no direct access grants"},
      {"drops", "svcUserId", "does not declare permissions, svcUserId"},
      {"skew", "-3600", "differ by 3"},
};

static void a_pool_that_is_right_is_said_to_be_so(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    struct cognito_options options = cognito_scene_options(scene);
    assert_string_equal(pool_said(scene, &options), "");
    /* An access key that may not describe the pool is no fault. */
    (void)scene_put(scene, "denied", "DescribeUserPool");
    (void)scene_put(scene, "lacks", "custom:permissions");
    assert_string_equal(pool_said(scene, &options), "");
    scene_end(scene);
}

static void faults_of_a_pool_are_named(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    struct cognito_options options = cognito_scene_options(scene);
    for (size_t i = 0; i < sizeof pool_faults / sizeof *pool_faults; i++) {
        (void)scene_put(scene, pool_faults[i].name, pool_faults[i].text);
        expect(pool_said(scene, &options), pool_faults[i].wanted);
        drop(scene, pool_faults[i].name);
    }
    scene_end(scene);
}

static void wrong_settings_of_a_pool_are_named(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    const struct cognito_options right = cognito_scene_options(scene);
    struct cognito_options options = right;
    options.access_key_id = "AKIDOTHER";
    expect(pool_said(scene, &options), "does not know the access key AKIDOTHER");
    options = right;
    options.secret_access_key_file = scene_put(scene, "other", "not the key");
    expect(pool_said(scene, &options), "is not that of the access key");
    options = right;
    options.client_secret_file = options.secret_access_key_file;
    expect(pool_said(scene, &options), "does not take our SECRET_HASH");
    options = right;
    options.user_pool_id = "eu-central-1_Other";
    expect(pool_said(scene, &options), "no user pool eu-central-1_Other");
    options = right;
    options.client_id = "other";
    expect(pool_said(scene, &options), "no app client other");
    options = right;
    options.issuer = "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Other";
    expect(pool_said(scene, &options), "does not end with the user pool eu-central-1_Tests");
    scene_end(scene);
}

/* Addresses that do not answer, or not over TLS. */
static void wrong_addresses_are_named(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    const struct cognito_options right = cognito_scene_options(scene);
    struct cognito_options options = right;
    options.endpoint = "http://127.0.0.1:1";
    expect(pool_said(scene, &options), "Nothing answers at http://127.0.0.1:1 (endpoint in [cognito])");
    options = right;
    options.endpoint = arena_format(scene->arena, "https%s", scene->url + strlen("http"));
    expect(pool_said(scene, &options), "The TLS connection to https://127.0.0.1");
    options = right;
    options.keys_url = "http://127.0.0.1:1/keys";
    expect(pool_said(scene, &options), "(jwks_url in [cognito])");
    scene_end(scene);
}

static void faults_of_a_realm_are_named(void **state)
{
    struct scene *scene = keycloak_scripted(state);
    struct keycloak_options options = keycloak_scene_options(scene);
    assert_string_equal(realm_said(scene, &options), "");
    for (size_t i = 0; i < sizeof realm_faults / sizeof *realm_faults; i++) {
        (void)scene_put(scene, realm_faults[i].name, realm_faults[i].text);
        expect(realm_said(scene, &options), realm_faults[i].wanted);
        drop(scene, realm_faults[i].name);
    }
    scene_end(scene);
}

static void wrong_settings_of_a_realm_are_named(void **state)
{
    struct scene *scene = keycloak_scripted(state);
    const struct keycloak_options right = keycloak_scene_options(scene);
    struct keycloak_options options = right;
    options.realm = "other";
    expect(realm_said(scene, &options), "no realm other");
    options = right;
    options.issuer = "https://elsewhere.example/realms/gatehouse";
    expect(realm_said(scene, &options), "and not https://elsewhere.example/realms/gatehouse");
    options = right;
    options.client_secret_file = scene_put(scene, "other", "not the secret");
    expect(realm_said(scene, &options), "correct client_id or client_secret_file");
    options = right;
    options.admin_client_secret_file = options.client_secret_file = right.client_secret_file;
    expect(realm_said(scene, &options), "correct admin_client_id or admin_client_secret_file");
    options = right;
    options.keys_url = arena_format(scene->arena, "%s/nowhere", scene->url);
    expect(realm_said(scene, &options), "no key set for RS256");
    options = right;
    options.url = "http://127.0.0.1:1";
    expect(realm_said(scene, &options), "Nothing answers at");
    scene_end(scene);
}

/* What a call of the check is answered, and what the check says of it. */
static const struct said {
    const char *call;
    int status;
    const char *body, *wanted;
} pool_answers[] =
    {
        {"AdminGetUser", 400, "{\"__type\":\"InvalidClientTokenId\"}", "does not know the access key AKIDEXAMPLE"},
        {"AdminGetUser", 403, "{\"__type\":\"UnrecognizedClientException\"}", "does not know the access key"},
        {"AdminGetUser", 403,
         "{\"__type\":\"InvalidSignatureException\",\"message\":\"Signature not yet current: ...\"}",
         "the clock of this host is wrong"},
        {"AdminGetUser", 403, "{\"__type\":\"IncompleteSignatureException\"}", "is not that of the access key"},
        {"AdminGetUser", 400, "{\"__type\":\"NotAuthorizedException\"}", ""},
        {"AdminGetUser", 400, "{\"__type\":\"InvalidParameterException\"}", "with something else (Invalid"},
        {"AdminGetUser", 200, "{\"Username\":\"x\"}", "with something else (no exception)"},
        {"AdminGetUser", 200, "[]", "The identity provider cannot be reached"},
        {"InitiateAuth", 500, "{}", "The identity provider cannot be reached"},
        {"InitiateAuth", 400,
         "{\"__type\":\"NotAuthorizedException\",\"message\":\"Client x is not configured for secret\"}",
         "does not take our SECRET_HASH"},
        {"InitiateAuth", 400,
         "{\"__type\":\"InvalidParameterException\",\"message\":\"Auth flow not enabled for this client\"}",
         "does not allow ALLOW_USER_PASSWORD_AUTH"},
        {"InitiateAuth", 400, "{\"__type\":\"AccessDeniedException\"}", "The identity provider cannot be reached"},
        {"DescribeUserPool", 200, "{}", ""},
        {"DescribeUserPool", 400, "{\"__type\":\"ResourceNotFoundException\"}", ""},
        {"DescribeUserPool", 200, "{\"UserPool\":{\"SchemaAttributes\":[{\"Name\":\"custom:permissions\"}]}}",
         "lacks the attribute custom:svc_user_id"},
        {"DescribeUserPool", 200,
         "{\"UserPool\":{\"SchemaAttributes\":[{\"Name\":\"custom:permissions\"},{\"Name\":\"custom:svc_user_id\"}],"
         "\"UsernameAttributes\":[\"phone_number\"]}}",
         "are not e-mail addresses, which cannot be changed"},
        {"DescribeUserPool", 200,
         "{\"UserPool\":{\"SchemaAttributes\":[{\"Name\":\"custom:permissions\"},{\"Name\":\"custom:svc_user_id\"}],"
         "\"UsernameAttributes\":[\"email\"],\"MfaConfiguration\":\"ON\"}}",
         "demands a second factor"},
        {"DescribeUserPool", 200,
         "{\"UserPool\":{\"SchemaAttributes\":[{\"Name\":\"custom:permissions\"},{\"Name\":\"custom:svc_user_id\"}],"
         "\"UsernameAttributes\":[\"email\"],\"MfaConfiguration\":\"OPTIONAL\"}}",
         ""},
        {"Keys", 200, "{\"keys\":[]}", "no key set for RS256"},
        {"Keys", 404, "{}", "no key set for RS256"},
},
  realm_answers[] = {
      {"configuration", 503, "{}", "is not Keycloak: status 503"},
      {"configuration", 200, "\"<html>Welcome</html>\"", "is not Keycloak: status 200"},
      {"configuration", 200, "{}", ""},
      {"grant password", 401, "{\"error\":\"invalid_client\"}", "correct client_id or client_secret_file"},
      {"grant password", 400, "{\"error\":\"invalid_scope\"}", "The identity provider cannot be reached"},
      {"grant password", 200, "{}", "The identity provider cannot be reached"},
      {"grant client_credentials", 500, "{}", "The identity provider cannot be reached"},
      {"grant client_credentials", 200, "{}", "The identity provider cannot be reached"},
      {"POST users", 500, "{}", "The identity provider cannot be reached"},
      {"POST users", 409, "{}", ""},
      {"GET profile", 500, "{}", "The identity provider cannot be reached"},
      {"GET profile", 404, "{}", ""},
      {"GET profile", 200, "{}", "does not declare permissions, svcUserId"},
      {"certs", 200, "{\"keys\":[{\"kty\":\"EC\"}]}", "no key set for RS256"},
};

/* A sentence, or nothing where the answer is none that the service minds. */
static void expect_said(const struct said *row, const char *sentence)
{
    if (*row->wanted == '\0')
        assert_string_equal(sentence, "");
    else
        expect(sentence, row->wanted);
}

static void odd_answers_of_a_pool_are_named(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    struct cognito_options options = cognito_scene_options(scene);
    for (size_t i = 0; i < sizeof pool_answers / sizeof *pool_answers; i++) {
        const struct said *row = &pool_answers[i];
        scene_answer(scene, row->call, row->status, row->body);
        expect_said(row, pool_said(scene, &options));
    }
    scene_answer_end(scene);
    options.issuer = "eu-central-1_Tests";
    expect(pool_said(scene, &options), "does not end with the user pool eu-central-1_Tests");
    scene_end(scene);
}

static void odd_answers_of_a_realm_are_named(void **state)
{
    struct scene *scene = keycloak_scripted(state);
    struct keycloak_options options = keycloak_scene_options(scene);
    for (size_t i = 0; i < sizeof realm_answers / sizeof *realm_answers; i++) {
        const struct said *row = &realm_answers[i];
        scene_answer(scene, row->call, row->status, row->body);
        expect_said(row, realm_said(scene, &options));
    }
    scene_end(scene);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(odd_answers_of_a_pool_are_named),       HARNESS_TEST(odd_answers_of_a_realm_are_named),
    HARNESS_TEST(a_pool_that_is_right_is_said_to_be_so), HARNESS_TEST(faults_of_a_pool_are_named),
    HARNESS_TEST(wrong_settings_of_a_pool_are_named),    HARNESS_TEST(wrong_addresses_are_named),
    HARNESS_TEST(faults_of_a_realm_are_named),           HARNESS_TEST(wrong_settings_of_a_realm_are_named),
};
HARNESS_MODULE(remote_check, cases)
