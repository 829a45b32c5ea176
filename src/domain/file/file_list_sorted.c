/* SPDX-License-Identifier: MIT */
/*
 * Lists files in other orders: by the time they were added (oldest first, and newest first within a period), by name,
 * by size. Each order has an index that holds the key, the id and every column that filters use. The page's ids
 * come from the index alone, and only rows on the page are read. So a first page costs the same whatever the number of
 * files.
 *
 * A tag, the beginning of a name or a period may leave few files of many. So each is counted first, up to FEW. A set
 * that is smaller is sorted at once. Files of a larger one mostly fill a page from the first NEAR files of the order.
 * Where they do not, since the set is a hundredth of the files or its files stand together far behind (names are often
 * numbered as time goes by), the set is sorted after all. Of a million files in the order of their names those of the
 * last tenth of the time were found in 21 s when the walk went on.
 */
#include "domain/file/file_list_int.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "domain/columns_int.h"

/* A set of fewer files than this is sorted at once. */
#define FEW 1000

/* How many files of the order are looked at before a larger set is sorted, as text in a statement. */
#define NEAR "2000"

/*
 * The tag is looked up for each file that is passed. An EXISTS in its place would let the server read all files of the
 * tag first.
 */
#define FILTERS                                                                                                        \
    " AND f.bucket = COALESCE(?, f.bucket) AND f.type = COALESCE(?, f.type)"                                           \
    " AND f.user_id = COALESCE(?, f.user_id) AND f.name BETWEEN ? AND ?"                                               \
    " AND (? IS NULL OR (SELECT 1 FROM file_tag t WHERE t.file_id = f.id"                                              \
    " AND t.organisation_id = f.organisation_id AND t.tag = ? LIMIT 1) = 1)"
#define PERIOD " AND f.created_at >= ? AND f.created_at < ?"

/* What follows the cursor in an order. The server reads it as two ranges of the index. */
#define BEHIND(key, sign) " AND (f." key " " sign " ? OR (f." key " = ? AND f.id " sign " ?))"
#define BEHIND_CREATED_UP BEHIND("created_at", ">")
#define BEHIND_CREATED_DOWN BEHIND("created_at", "<")
#define BEHIND_NAME BEHIND("name", ">")
#define BEHIND_SIZE BEHIND("size", "<")

#define BY_CREATED_UP " ORDER BY f.created_at, f.id LIMIT "
#define BY_CREATED_DOWN " ORDER BY f.created_at DESC, f.id DESC LIMIT "
#define BY_NAME " ORDER BY f.name, f.id LIMIT "
#define BY_SIZE " ORDER BY f.size DESC, f.id DESC LIMIT "

/* One status: two of them have two places in the index, and the page is merged of both. */
#define ARM(index, behind, order)                                                                                      \
    "(SELECT f.id FROM file f FORCE INDEX (" index                                                                     \
    ") WHERE f.organisation_id = ? AND f.status = ?" behind PERIOD FILTERS order "?)"

/* The same among the first files of the order, of both statuses together. */
#define NEAR_ARM(index, behind, order)                                                                                 \
    "(SELECT f.id, f.organisation_id, f.user_id, f.bucket, f.type, f.name, f.size, f.created_at"                       \
    " FROM file f FORCE INDEX (" index ") WHERE f.organisation_id = ? AND f.status = ?" behind order NEAR ")"
#define FIRST(index, behind, order)                                                                                    \
    {PAGE("SELECT f.id FROM (SELECT * FROM (" NEAR_ARM(index, behind, order) " UNION ALL " NEAR_ARM(                   \
              index, behind, order) ") f" order NEAR ") f WHERE TRUE" PERIOD FILTERS order "?",                        \
          order)}

#define PAGE(ids, order)                                                                                               \
    "SELECT " FILE_COLUMNS ", (SELECT " FILE_LIST_TOTAL " FROM file_usage n WHERE n.organisation_id = ?) FROM "        \
    "(" ids ") found STRAIGHT_JOIN file f FORCE INDEX (PRIMARY) ON f.id = found.id" order "?"

#define WALK(index, behind, order) {PAGE(ARM(index, behind, order) " UNION ALL " ARM(index, behind, order), order)}

/* A set that was counted: by the index that holds it. */
#define NARROW(index, behind, order)                                                                                   \
    {PAGE("SELECT f.id FROM file f FORCE INDEX (" index                                                                \
          ") WHERE f.organisation_id = ? AND f.status IN (?, ?)" behind PERIOD FILTERS order "?",                      \
          order)}
#define TAGGED(behind, order)                                                                                          \
    {PAGE("SELECT f.id FROM file_tag n FORCE INDEX (file_tag_listing) STRAIGHT_JOIN file f FORCE INDEX (PRIMARY)"      \
          " ON f.id = n.file_id AND f.organisation_id = n.organisation_id"                                             \
          " WHERE n.organisation_id = ? AND n.tag = ? AND f.status IN (?, ?)" behind PERIOD FILTERS order "?",         \
          order)}

/* Where the files of a listing are looked for. */
enum source { SOURCE_ALL, SOURCE_NEAR, SOURCE_TAG, SOURCE_NAME, SOURCE_PERIOD, SOURCE_COUNT };

#define SOURCES(index, behind, order)                                                                                  \
    {                                                                                                                  \
        [SOURCE_ALL] = WALK(index, behind, order),                                                                     \
        [SOURCE_NEAR] = FIRST(index, behind, order),                                                                   \
        [SOURCE_TAG] = TAGGED(behind, order),                                                                          \
        [SOURCE_NAME] = NARROW("file_name", behind, order),                                                            \
        [SOURCE_PERIOD] = NARROW("file_created", behind, order),                                                       \
    }

static const struct statement pages[][SOURCE_COUNT] = {
    [FILE_NEWEST] = SOURCES("file_created", BEHIND_CREATED_DOWN, BY_CREATED_DOWN),
    [FILE_OLDEST] = SOURCES("file_created", BEHIND_CREATED_UP, BY_CREATED_UP),
    [FILE_BY_NAME] = SOURCES("file_name", BEHIND_NAME, BY_NAME),
    [FILE_LARGEST] = SOURCES("file_size", BEHIND_SIZE, BY_SIZE),
};

static const struct statement count_tag = {
    "SELECT COUNT(*) FROM (SELECT n.file_id FROM file_tag n FORCE INDEX (file_tag_listing)"
    " WHERE n.organisation_id = ? AND n.tag = ? LIMIT ?) few"};

static const struct statement count_name = {
    "SELECT COUNT(*) FROM (SELECT f.id FROM file f FORCE INDEX (file_name)"
    " WHERE f.organisation_id = ? AND f.status IN (?, ?) AND f.name BETWEEN ? AND ? LIMIT ?) few"};

static const struct statement count_period = {"SELECT COUNT(*) FROM (SELECT f.id FROM file f FORCE INDEX (file_created)"
                                              " WHERE f.organisation_id = ? AND f.status IN (?, ?)" PERIOD
                                              " LIMIT ?) few"};

/*
 * The end of a range of names with one beginning: that beginning and as many of the last character as a name can have.
 */
#define LAST_CHARACTER "\xf4\x8f\xbf\xbf"

const char *file_list_end_of_prefix(struct arena *arena, const char *prefix)
{
    struct buffer end;
    buffer_init(&end, arena);
    buffer_add(&end, prefix, strlen(prefix));
    for (size_t i = 0; i < LIMIT_FILE_NAME_BYTES; i += sizeof LAST_CHARACTER - 1)
        buffer_add(&end, LAST_CHARACTER, sizeof LAST_CHARACTER - 1);
    return end.bytes;
}

/* ---- what is bound ------------------------------------------------------------------------------- */

/* The last moment that a row can hold, in milliseconds since 1970: the end of the year 9999. None is before 1970. */
#define LAST_MOMENT INT64_C(253402300799999)

static struct database_value moment(struct arena *arena, int64_t milliseconds)
{
    if (milliseconds < 0)
        milliseconds = 0;
    return database_time(arena, milliseconds > LAST_MOMENT ? LAST_MOMENT : milliseconds);
}

/* The key of the cursor; without one, a key before all others. */
static struct database_value bind_key(struct arena *arena, const struct file_filter *filter)
{
    bool first = id_is_none(filter->before);
    switch (filter->sort) {
    case FILE_BY_NAME:
        return database_text(first ? "" : filter->before_name);
    case FILE_LARGEST:
        return database_integer(first ? INT64_MAX : filter->before_number);
    case FILE_OLDEST:
        return moment(arena, first ? INT64_MIN : filter->before_number);
    default:
        return moment(arena, first ? INT64_MAX : filter->before_number);
    }
}

/* The values of a statement, in its order. */
struct values {
    struct database_value items[48];
    size_t count;
};

static void add(struct values *values, struct database_value value)
{
    values->items[values->count++] = value;
}

static void add_cursor(struct values *values, struct arena *arena, const struct file_filter *filter)
{
    struct database_value key = bind_key(arena, filter);
    add(values, key);
    add(values, key);
    add(values, database_id(filter->before));
}

/* Period, filters and the number of rows: how every part of a statement ends. */
static void add_conditions(struct values *values, struct arena *arena, const struct file_filter *filter)
{
    const char *prefix = filter->name_prefix == NULL ? "" : filter->name_prefix;
    add(values, moment(arena, filter->period ? filter->since : INT64_MIN));
    add(values, moment(arena, filter->period ? filter->until : INT64_MAX));
    add(values, database_text(filter->bucket));
    add(values, database_text(filter->type));
    add(values, database_id_or_null(filter->user_id));
    add(values, database_text(prefix));
    add(values, database_text(file_list_end_of_prefix(arena, prefix)));
    add(values, database_text(filter->tag));
    add(values, database_text(filter->tag));
    add(values, database_integer((int64_t)filter->limit + 1));
}

/* The statuses asked for: two texts, the second of no row where one status is asked for. */
static struct database_value status(const struct file_filter *filter, size_t index)
{
    if (filter->any_status)
        return database_text(file_status_text(index == 0 ? FILE_ACTIVE : FILE_ARCHIVED));
    return database_text(index == 0 ? file_status_text(filter->status) : "");
}

/* One status of an order. */
static void add_arm(struct values *values, struct arena *arena, const struct file_filter *filter, size_t index)
{
    add(values, database_id(filter->organisation_id));
    add(values, status(filter, index));
    add_cursor(values, arena, filter);
}

/* A set that was counted. */
static void add_set(struct values *values, const struct file_filter *filter, enum source source)
{
    add(values, database_id(filter->organisation_id));
    if (source == SOURCE_TAG)
        add(values, database_text(filter->tag));
    add(values, status(filter, 0));
    add(values, status(filter, 1));
}

/* The values of a page's statement. */
static void bind_page(struct values *values, struct arena *arena, const struct file_filter *filter, enum source source)
{
    add(values, database_id(filter->organisation_id));
    if (source == SOURCE_ALL || source == SOURCE_NEAR) {
        add_arm(values, arena, filter, 0);
        if (source == SOURCE_ALL)
            add_conditions(values, arena, filter);
        add_arm(values, arena, filter, 1);
    } else {
        add_set(values, filter, source);
        add_cursor(values, arena, filter);
    }
    add_conditions(values, arena, filter);
    add(values, database_integer((int64_t)filter->limit + 1));
}

/* ---- asking -------------------------------------------------------------------------------------- */

static struct error *count(struct database *database, struct arena *arena, const struct file_filter *filter,
                           enum source source, bool *few_out)
{
    struct values values = {.count = 0};
    struct rows *rows;
    const struct statement *statement = source == SOURCE_TAG    ? &count_tag
                                        : source == SOURCE_NAME ? &count_name
                                                                : &count_period;
    if (source == SOURCE_TAG) {
        add(&values, database_id(filter->organisation_id));
        add(&values, database_text(filter->tag));
    } else {
        add_set(&values, filter, source);
    }
    if (source == SOURCE_NAME) {
        add(&values, database_text(filter->name_prefix));
        add(&values, database_text(file_list_end_of_prefix(arena, filter->name_prefix)));
    } else if (source == SOURCE_PERIOD) {
        add(&values, moment(arena, filter->since));
        add(&values, moment(arena, filter->until));
    }
    add(&values, database_integer(FEW));
    TRY(database_query(database, arena, statement, values.items, values.count, &rows));
    *few_out = rows_integer(rows, 0, 0) < FEW;
    return NULL;
}

/* Whether the filter names such a set, and the order's own index does not have it side by side. */
static bool names(const struct file_filter *filter, enum source source)
{
    if (source == SOURCE_TAG)
        return filter->tag != NULL;
    if (source == SOURCE_NAME)
        return filter->sort != FILE_BY_NAME && filter->name_prefix != NULL && *filter->name_prefix != '\0';
    return (filter->sort == FILE_BY_NAME || filter->sort == FILE_LARGEST) && filter->period;
}

/*
 * Finds where to look. *few_out: that is a set of few files. Otherwise it is the first set that the filter names, or
 * all files where it names none.
 */
static struct error *choose(struct database *database, struct arena *arena, const struct file_filter *filter,
                            enum source *source_out, bool *few_out)
{
    *source_out = SOURCE_ALL;
    *few_out = false;
    for (enum source source = SOURCE_TAG; source < SOURCE_COUNT; source++) {
        if (!names(filter, source))
            continue;
        TRY(count(database, arena, filter, source, few_out));
        if (*few_out || *source_out == SOURCE_ALL)
            *source_out = source;
        if (*few_out)
            return NULL;
    }
    return NULL;
}

static struct error *ask(struct database *database, struct arena *arena, const struct file_filter *filter,
                         enum source source, struct rows **rows_out)
{
    struct values values = {.count = 0};
    bind_page(&values, arena, filter, source);
    return database_query(database, arena, &pages[filter->sort][source], values.items, values.count, rows_out);
}

struct error *file_list_sorted(struct database *database, struct arena *arena, const struct file_filter *filter,
                               struct rows **rows_out)
{
    enum source source;
    bool few;
    TRY(choose(database, arena, filter, &source, &few));
    if (source != SOURCE_ALL && !few) {
        TRY(ask(database, arena, filter, SOURCE_NEAR, rows_out));
        if ((*rows_out)->count > filter->limit)
            return NULL;
    }
    return ask(database, arena, filter, source, rows_out);
}
