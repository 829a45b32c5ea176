/* SPDX-License-Identifier: MIT */
/*
 * Declares the handlers and schemas of all endpoints, for the route table.
 *
 * A handler serves the operation of its row (api/route.h). It reads call->query, call->body, call->id and call->file,
 * and fills call->result, call->results, call->success or call->reply, as the row's reply kind says. Its errors are
 * those that the row lists. What it makes lies in the call's arena. A *_validate_* function adds to the validation what
 * the schemas cannot see; its own error is one of the database.
 */
#ifndef GATEHOUSE_API_HANDLERS_INT_H
#define GATEHOUSE_API_HANDLERS_INT_H

struct call;
struct request;
struct error;
struct schema;
struct user;
struct validation;

/* accounts.c */
extern const struct schema accounts_signup_schema, accounts_signup_reply_schema;
extern const struct schema accounts_login_schema, accounts_login_reply_schema;
extern const struct schema accounts_refresh_schema, accounts_refresh_reply_schema;
extern const struct schema accounts_logout_schema;
extern const struct schema accounts_me_schema;
struct error *accounts_signup(struct call *call);
struct error *accounts_validate_login(struct call *call, struct validation *validation);
struct error *accounts_login(struct call *call);
struct error *accounts_check_refresh(struct call *call);
struct error *accounts_validate_refresh(struct call *call, struct validation *validation);
struct error *accounts_refresh(struct call *call);
struct error *accounts_validate_logout(struct call *call, struct validation *validation);
struct error *accounts_logout(struct call *call);
struct error *accounts_me(struct call *call);

/* The body of a request that names a user and nothing else. */
struct username_body {
    const char *username;
};

/* The body of a request that shows a code for the user whom it names. */
struct confirm_body {
    const char *username;
    const char *code;
};

/* members.c */
extern const struct schema members_user_schema, members_create_schema, members_confirm_schema, members_username_schema;
extern const struct schema members_list_query_schema, members_list_schema, members_patch_schema;
/* Replies with members_user_schema. */
struct error *members_reply_user(struct call *call, const struct user *user);
struct error *members_validate_new(struct call *call, struct validation *validation);
struct error *members_validate_patch(struct call *call, struct validation *validation);
struct error *members_create(struct call *call);
struct error *members_confirm(struct call *call);
struct error *members_resend(struct call *call);
struct error *members_admin_confirm(struct call *call);
struct error *members_list(struct call *call);
struct error *members_get(struct call *call);
struct error *members_patch(struct call *call);

/* permissions.c */
extern const struct schema permissions_roles_schema, permissions_catalogue_schema, permissions_of_user_schema;
struct error *permissions_roles(struct call *call);
struct error *permissions_catalogue(struct call *call);
struct error *permissions_of_user(struct call *call);

/* authorise.c */
extern const struct schema authorise_schema, authorise_reply_schema, authorise_list_schema;
extern const struct schema authorise_simulate_schema, authorise_simulate_reply_schema;
struct error *authorise_validate(struct call *call, struct validation *validation);
struct error *authorise(struct call *call);
struct error *authorise_validate_simulate(struct call *call, struct validation *validation);
struct error *authorise_simulate(struct call *call);

/* member_help.c */
struct error *members_send_again(struct call *call);
struct error *members_unlock(struct call *call);
struct error *members_erase(struct call *call);

/* organisations.c */
extern const struct schema organisations_reply_schema, organisations_own_schema, organisations_patch_schema;
extern const struct schema organisations_list_query_schema, organisations_list_schema;
struct error *organisations_validate_patch(struct call *call, struct validation *validation);
struct error *organisations_own(struct call *call);
struct error *organisations_patch_own(struct call *call);
struct error *organisations_list(struct call *call);
struct error *organisations_get(struct call *call);
struct error *organisations_patch(struct call *call);

/* passwords.c */
extern const struct schema passwords_change_schema, passwords_reset_schema, passwords_admin_set_schema;
struct error *passwords_change(struct call *call);
struct error *passwords_forgotten(struct call *call);
struct error *passwords_reset(struct call *call);
struct error *passwords_admin_set(struct call *call);

/* own_account.c */
extern const struct schema own_account_patch_schema, own_account_change_email_schema;
extern const struct schema own_account_confirm_email_schema;
struct error *own_account_validate_patch(struct call *call, struct validation *validation);
struct error *own_account_patch(struct call *call);
struct error *own_account_change_email(struct call *call);
struct error *own_account_confirm_email(struct call *call);
struct error *own_account_cancel_email(struct call *call);

/* audit.c. AUDIT_ACTIONS has every action that is written to the audit trail. */
#define AUDIT_ACTIONS                                                                                                  \
    "access.crossOrganisation|access.denied|audit.purge|cache.update|customer.create|file.archive|file.damaged|file."  \
    "download|file.link|file.infected|file.purge|file.repaired|file.restore|file.unlink|file.update|file.upload|link." \
    "open|organisation.disable|organisation.update|session.end|session."                                               \
    "refreshFailed|session.reuse|secrets.rotate|settings.update|"                                                      \
    "user.adminConfirm|user.changePassword|user.confirm|user.confirmFailed|user.create|user.createAdmin|user.disable|" \
    "user.emailChanged|user.emailChangeCancelled|user.emailChangeRequested|user.erase|user.forgottenPassword|"         \
    "user.login|user.loginFailed|user.logout|user.logoutEverywhere|user.logoutOthers|user.resendConfirmation|"         \
    "user.resendInvitation|user.resetFailed|user.resetPassword|user.setPassword|user.setTemporaryPassword|user."       \
    "unlock|user.update|upload.create|upload.expire|upload.terminate"
extern const struct schema audits_query_schema, audits_own_query_schema, audits_reply_schema, audits_headers_schema;
struct error *audits_list(struct call *call);
struct error *audits_list_own(struct call *call);

/* sessions.c */
extern const struct schema sessions_list_schema;
struct error *sessions_list(struct call *call);
struct error *sessions_end(struct call *call);
struct error *sessions_list_of(struct call *call);
struct error *sessions_end_of(struct call *call);
struct error *sessions_end_all_of(struct call *call);

/* files.c */
extern const struct schema files_info_schema, files_record_schema;
extern const struct schema files_list_query_schema, files_list_schema, files_patch_schema;
struct error *files_upload(struct call *call);
struct error *files_admit(struct call *call);
struct error *files_info(struct call *call);
struct error *files_archive(struct call *call);
struct error *files_restore(struct call *call);
struct error *files_validate_patch(struct call *call, struct validation *validation);
struct error *files_patch(struct call *call);
struct error *files_validate_list(struct call *call, struct validation *validation);
struct error *files_list(struct call *call);

/* uploads.c. uploads_set_headers(): adds what every reply has on the paths of resumable uploads. */
extern const struct schema uploads_head_schema, uploads_create_schema, uploads_patch_schema;
extern const struct schema uploads_options_answer_schema, uploads_create_answer_schema, uploads_head_answer_schema,
    uploads_patch_answer_schema, uploads_delete_answer_schema;
void uploads_set_headers(struct call *call);
/* Some clients can send POST only, and say which method they mean in X-HTTP-Method-Override. */
void uploads_override_method(struct request *request);
struct error *uploads_check_version(struct call *call);
struct error *uploads_admit(struct call *call);
struct error *uploads_options(struct call *call);
struct error *uploads_create(struct call *call);
struct error *uploads_head(struct call *call);
struct error *uploads_patch(struct call *call);
struct error *uploads_delete(struct call *call);

/* file_bulk.c */
extern const struct schema files_bulk_schema, files_bulk_reply_schema;
struct error *files_validate_bulk(struct call *call, struct validation *validation);
struct error *files_archive_all(struct call *call);
struct error *files_restore_all(struct call *call);

/* downloads.c */
extern const struct schema downloads_query_schema, downloads_headers_schema;
struct error *downloads_file(struct call *call);
struct error *downloads_link(struct call *call);

/* links.c */
extern const struct schema links_make_schema, links_made_schema, links_query_schema, links_list_schema;
struct error *links_make(struct call *call);
struct error *links_list(struct call *call);
struct error *links_revoke(struct call *call);

/* cache.c */
extern const struct schema cache_body_schema, cache_numbers_schema;
struct error *cache_update(struct call *call);
struct error *cache_numbers(struct call *call);

/* limits.c */
extern const struct schema limits_schema;
struct error *limits_get(struct call *call);

/* settings.c */
extern const struct schema settings_document_schema, settings_change_schema;
extern const struct schema settings_condition_schema, settings_headers_schema;
extern const struct schema settings_history_query_schema, settings_history_schema;
struct error *settings_validate(struct call *call, struct validation *validation);
struct error *settings_get(struct call *call);
struct error *settings_put(struct call *call);
struct error *settings_history(struct call *call);

/* system.c */
extern const struct schema system_health_schema, system_version_schema, system_success_schema;
/* The headers of a row that is `tagged`. */
extern const struct schema system_tag_schema;
extern const struct schema system_branding_schema, system_stats_query_schema, system_stats_schema;
struct error *system_live(struct call *call);
struct error *system_ready(struct call *call);
struct error *system_metrics(struct call *call);
struct error *system_version(struct call *call);
struct error *system_openapi(struct call *call);
struct error *system_keys(struct call *call);
struct error *system_branding(struct call *call);
struct error *system_stats(struct call *call);

#endif
