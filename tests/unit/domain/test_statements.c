/* SPDX-License-Identifier: MIT */
/*
 * The second wall between organisations, read off the sources: each SQL text on the rows of a
 * tenant names the organisation it is about. The exceptions stand here by name, each with its reason; a new
 * one has to be argued for in this table.
 */
#include "harness.h"

#include <ctype.h>
#include <fts.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"

static const struct {
    const char *place; /* file:name of the statement */
    const char *reason;
} exceptions[] = {
    {"user.c:find_by_key", "login: there is no caller whose organisation could bind"},
    {"user.c:find_by_id", "login: there is no caller whose organisation could bind"},
    {"user.c:find_any", "login by id, and staff who hold `a` (audited)"},
    {"erasure.c:find_begun", "the job runner finishes what any organisation has begun"},
    {"provisioning.c:list_stale", "the job runner finishes what any organisation left half-done"},
    {"user_list.c:each_user", "the operator's commands go over everyone"},
    {"file.c:find_any", "staff who hold `a` (audited)"},
    {"file.c:FROM_EACH", "binds the organisation, but for staff who hold `a` (audited)"},
    {"user.c:CANDIDATE", "login: there is no caller whose organisation could bind"},
    {"file_link.c:find_linked", "the signed link names its row; nobody calls"},
    {"file_link.c:count_use", "the signed link names its row; nobody calls"},
    {"file_link.c:purge_links", "the job runner removes what is over in all organisations"},
    {"file_admin.c:each_file", "the operator's commands go over every file"},
    {"file_admin.c:find_file", "the operator's commands look again before they act"},
    {"file_admin.c:known_files", "the operator's commands ask which bytes have a row"},
    {"file_damage.c:mark_file", "the scrub reads the files of all organisations, and nobody calls"},
    {"file_damage.c:clear_file", "the scrub reads the files of all organisations, and nobody calls"},
    {"file_damage.c:count_damaged", "what the operator is told of all organisations together"},
    {"file_damage.c:note_lost", "the scrub reads the files of all organisations, and nobody calls"},
    {"file_damage.c:each_damaged", "the operator's commands list what was found in all organisations"},
    {"principal.c:load_known", "finds out which organisation the caller is of"},
    {"principal.c:load_any", "finds out which organisation the caller is of"},
    {"principal.c:load_details", "the caller's own rows"},
    {"principal_rebuild.c:compare", "the operator's commands go over everyone"},
    {"principal_rebuild.c:hold_users", "the operator's commands go over everyone"},
    {"principal_rebuild.c:hold_roles", "the operator's commands go over everyone"},
    {"principal_rebuild.c:empty", "the operator's commands go over everyone"},
    {"principal_selftest.c:compare", "rows that the self-test itself has made, and all roles"},
    {"user_rights.c:hold_user", "holds a row and reads nothing of it"},
    {"user_rights.c:find_reaching", "the operator is told of everyone who reaches other organisations"},
    {"user_rights.c:share_user", "holds a row and reads nothing of it"},
    {"address_keys.c:list_foreign", "the operator's migration goes over everyone"},
    {"address_keys.c:list_plain", "the operator's migration goes over everyone"},
    {"address_keys.c:give_up_key", "a key that stands in another's way, whoever has it"},
    {"address_keys.c:find_plain", "an address belongs to one user of all organisations"},
    {"address_keys.c:count_plain", "what the operator is told of all organisations together"},
    {"address_keys.c:list_keys", "what the operator is told of all organisations together"},
    {"address_keys.c:write_key", "the operator's migration goes over everyone"},
    {"user_subject.c:find_subject", "a verified token or the provider names the account; nobody calls yet"},
    {"user_subject.c:find_other", "an account belongs to one user of all organisations"},
    {"session_family.c:find_token", "the refresh token that was sent names the session"},
    {"remote_account.c:awaits_first", "an invitation is sent again; the caller has read the user's row"},
    {"remote_account.c:may_begin", "finds out whether a token's session may begin"},
    {"password_intent.c:find_due", "the job runner finishes what any organisation left half-done"},
    {"email_change.c:find_owner", "an address belongs to one user of all organisations"},
    {"file_link.c:delete_links", "a restore ends the links of all organisations"},
    {"provisioning.c:find_address", "an address belongs to one user of all organisations"},
};
#define EXCEPTIONS (sizeof exceptions / sizeof *exceptions)

/* Tables whose rows belong to an organisation. */
static const char *const tables[] = {"user", "user_role", "file", "file_link", "file_tag", "file_usage"};

struct statement_text {
    const char *place;
    const char *sql; /* string literals and macro names, blanks squeezed */
    bool is_part;    /* what a macro holds */
};

struct statement_list {
    struct statement_text *items;
    size_t count;
};

#define STATEMENTS_MAX 400

/* Up to `end`: the literals' contents, and the names of macros between them. */
static const char *read_sql(struct arena *arena, const char *at, char end)
{
    struct buffer sql;
    buffer_init(&sql, arena);
    while (*at != end) {
        assert_true(*at != '\0');
        if (*at == '\\' && at[1] == '\n') {
            at += 2;
            continue;
        }
        if (*at != '"') {
            bool blank = isspace((unsigned char)*at) != 0;
            if (!blank || (sql.length > 0 && sql.bytes[sql.length - 1] != ' '))
                buffer_add_char(&sql, blank ? ' ' : *at);
            at++;
            continue;
        }
        for (at++; *at != '"'; at++)
            buffer_add_char(&sql, *at);
        at++;
    }
    return sql.bytes;
}

static struct statement_text *add(struct statement_list *list)
{
    assert_true(list->count < STATEMENTS_MAX);
    return &list->items[list->count++];
}

/* A part of a statement that a macro holds binds the organisation itself, so it counts as a statement. */
static void read_macros(struct arena *arena, const char *at, const char *name, struct statement_list *list)
{
    static const char mark[] = "\n#define ";
    while ((at = strstr(at, mark)) != NULL) {
        at += sizeof mark - 1;
        size_t end = strcspn(at, " (\n");
        const char *sql = read_sql(arena, at + end, '\n');
        if (strchr(sql, '?') != NULL)
            *add(list) =
                (struct statement_text){arena_format(arena, "%s:%.*s", name, (int)end, at), sql, .is_part = true};
        at += end;
    }
}

static void read_file(struct arena *arena, const char *path, const char *name, struct statement_list *list)
{
    static const char mark[] = "static const struct statement ";
    size_t length;
    const char *begin = harness_read(arena, path, &length);
    const char *at = begin;
    while ((at = strstr(at, mark)) != NULL) {
        at += sizeof mark - 1;
        size_t end = strcspn(at, " ");
        struct statement_text *text = add(list);
        text->place = arena_format(arena, "%s:%.*s", name, (int)end, at);
        at = strchr(at, '{');
        assert_non_null(at);
        text->sql = read_sql(arena, at + 1, '}');
    }
    read_macros(arena, begin, name, list);
}

/* Reads every source of the floor, those of its wings too. */
static struct statement_list read_all(struct arena *arena)
{
    struct statement_list list = {arena_array(arena, STATEMENTS_MAX, sizeof *list.items), 0};
    char *const floor[] = {(char *)harness_source(arena, "src/domain"), NULL};
    FTS *tree = fts_open(floor, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    assert_non_null(tree);
    for (FTSENT *entry; (entry = fts_read(tree)) != NULL;)
        if (entry->fts_namelen > 2 && strcmp(entry->fts_name + entry->fts_namelen - 2, ".c") == 0)
            read_file(arena, entry->fts_path, entry->fts_name, &list);
    assert_int_equal(fts_close(tree), 0);
    return list;
}

/* Whether the text reads or writes the table: the word after FROM, JOIN, INTO, UPDATE. */
static bool uses_table(const char *sql, const char *table)
{
    static const char *const words[] = {"FROM ", "JOIN ", "INTO ", "UPDATE "};
    size_t length = strlen(table);
    for (size_t i = 0; i < 4; i++)
        for (const char *at = sql; (at = strstr(at, words[i])) != NULL;) {
            at += strlen(words[i]);
            if (strncmp(at, table, length) == 0 && !isalnum((unsigned char)at[length]) && at[length] != '_')
                return true;
        }
    return false;
}

static bool is_tenants(const char *sql)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (uses_table(sql, tables[i]))
            return true;
    /* The principal's tables stand in a macro. */
    return strstr(sql, "PRINCIPAL_TABLES") != NULL;
}

/* The organisation is bound: compared with a parameter or the caller's own column, or a column of an INSERT.
 */
static bool names_organisation(const char *sql)
{
    if (strncmp(sql, "INSERT INTO", 11) == 0 && strstr(sql, "VALUES") != NULL)
        return strstr(sql, "organisation_id") != NULL;
    return strstr(sql, "organisation_id = ?") != NULL || strstr(sql, "t.organisation_id = f.organisation_id") != NULL ||
           strstr(sql, "f.id = ? AND NOT STRCMP(f.organisation_id, p.organisation_id)") != NULL;
}

static const char *exception_for(const char *place)
{
    for (size_t i = 0; i < EXCEPTIONS; i++)
        if (strcmp(exceptions[i].place, place) == 0)
            return exceptions[i].reason;
    return NULL;
}

static void each_statement_on_a_tenants_rows_binds_the_organisation(void **state)
{
    struct arena *arena = harness_arena(state);
    struct statement_list list = read_all(arena);
    size_t tenants = 0;
    size_t excepted = 0;
    for (size_t i = 0; i < list.count; i++) {
        if (!is_tenants(list.items[i].sql))
            continue;
        tenants++;
        bool bound = names_organisation(list.items[i].sql);
        bool exception = exception_for(list.items[i].place) != NULL;
        excepted += exception;
        if (!bound && !exception)
            fail_msg("%s is about a tenant's rows and does not bind organisation_id: %s", list.items[i].place,
                     list.items[i].sql);
        if (bound && exception)
            fail_msg("%s binds organisation_id: take it off the exceptions", list.items[i].place);
    }
    /* Found what there is to find: a check without input has checked nothing. */
    assert_true(list.count >= 40);
    assert_true(tenants >= 20);
    assert_int_equal(excepted, EXCEPTIONS);
}

static void no_statement_is_made_at_run_time(void **state)
{
    struct arena *arena = harness_arena(state);
    struct statement_list list = read_all(arena);
    static const char *const verbs[] = {"SELECT ", "INSERT ", "UPDATE ", "DELETE "};
    for (size_t i = 0; i < list.count; i++) {
        const char *sql = list.items[i].sql;
        /* The statements of a table are written by macros of the same file. */
        bool known = list.items[i].is_part || strchr(list.items[i].place, '[') != NULL;
        for (size_t v = 0; v < 4; v++)
            known = known || strncmp(sql, verbs[v], strlen(verbs[v])) == 0;
        if (!known || strchr(sql, '%') != NULL || strchr(sql, ';') != NULL)
            fail_msg("%s does not look like one fixed statement: %s", list.items[i].place, sql);
    }
}

/* A node of a cluster knows nothing of the named locks of another one: row_lock.h has locks that all nodes know. */
static void no_statement_takes_a_named_lock(void **state)
{
    struct arena *arena = harness_arena(state);
    static const char *const words[] = {"GET_LOCK(", "RELEASE_LOCK(", "RELEASE_ALL_LOCKS(", "IS_USED_LOCK("};
    char *const folders[] = {(char *)harness_source(arena, "src"), (char *)harness_source(arena, "include"),
                             (char *)harness_source(arena, "sql"), NULL};
    size_t count = 0;
    FTS *tree = fts_open(folders, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    assert_non_null(tree);
    for (FTSENT *entry; (entry = fts_read(tree)) != NULL;) {
        const char *end = strrchr(entry->fts_name, '.');
        if (entry->fts_info != FTS_F || end == NULL ||
            (strcmp(end, ".c") != 0 && strcmp(end, ".h") != 0 && strcmp(end, ".sql") != 0))
            continue;
        size_t length;
        const char *text = harness_read(arena, entry->fts_path, &length);
        count++;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (strcasestr(text, words[i]) != NULL)
                fail_msg("%s uses %s)", entry->fts_path, words[i]);
    }
    assert_int_equal(fts_close(tree), 0);
    assert_true(count > 300);
}

static void the_lint_sees_what_it_is_meant_to_see(void **state)
{
    (void)state;
    assert_true(is_tenants("SELECT 1 FROM file f WHERE f.id = ?"));
    assert_true(is_tenants("DELETE t FROM file_tag t WHERE t.file_id = ?"));
    assert_true(is_tenants("UPDATE user SET status = ? WHERE id = ?"));
    assert_true(is_tenants("SELECT 1 FROM role r JOIN user_role u ON u.role_id = r.id"));
    assert_false(is_tenants("SELECT 1 FROM role_permission"));
    assert_false(is_tenants("UPDATE outbox SET user_id = ?"));
    assert_true(names_organisation("UPDATE file SET name = ? WHERE id = ? AND organisation_id = ?"));
    assert_false(names_organisation("SELECT f.organisation_id FROM file f WHERE f.id = ?"));
    assert_false(names_organisation("INSERT INTO file_tag (file_id, tag) VALUES (?, ?)"));
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(each_statement_on_a_tenants_rows_binds_the_organisation),
    HARNESS_TEST(no_statement_is_made_at_run_time),
    HARNESS_TEST(no_statement_takes_a_named_lock),
    HARNESS_TEST(the_lint_sees_what_it_is_meant_to_see),
};
HARNESS_MODULE(statements, cases)
