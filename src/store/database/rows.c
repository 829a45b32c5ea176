/* SPDX-License-Identifier: MIT */
/*
 * Results of queries: copied once from the client library's buffer into the arena, and read through functions that know
 * each column's type. A wrong type or place is a mistake in our code. To go on would mean to decide on wrong data, so
 * the process ends.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/text.h"
#include "store/database/database_int.h"

/* "2026-11-21 08:52:00.123" with its end. */
#define TIME_BYTES 24

struct cell {
    const char *bytes; /* NULL for an integer and for NULL; else followed by a NUL */
    size_t length;
    int64_t integer;
    bool is_null;
};

static _Noreturn void misuse(const char *what)
{
    LOG(FATAL, STORE, "a result was read wrongly", LOG_TEXT("reason", what));
    abort();
}

/* The bytes of one column of the current row. */
static bool fetch_bytes(struct prepared *prepared, struct arena *arena, unsigned column, struct cell *cell)
{
    unsigned long length = prepared->slots[column].length;
    char *bytes = arena_alloc(arena, length + 1);
    cell->bytes = bytes;
    cell->length = length;
    if (length <= SLOT_BYTES) {
        memcpy(bytes, prepared->slots[column].bytes, length);
        return true;
    }
    my_bool is_null = 0, error = 0;
    unsigned long fetched = 0;
    MYSQL_BIND bind = {.buffer_type = MYSQL_TYPE_STRING,
                       .buffer = bytes,
                       .buffer_length = length + 1,
                       .length = &fetched,
                       .is_null = &is_null,
                       .error = &error};
    return mysql_stmt_fetch_column(prepared->handle, &bind, column, 0) == 0;
}

static char *put_digits(char *at, unsigned number, int count, char after)
{
    for (int i = count - 1; i >= 0; i--, number /= 10)
        at[i] = (char)('0' + number % 10);
    at[count] = after;
    return at + count + 1;
}

/*
 * The time as text, as the server would write it: "2026-11-21 08:52:00.123". The server sends it in binary, which is
 * cheaper for both sides.
 */
static void keep_time(struct arena *arena, const MYSQL_TIME *time, struct cell *cell)
{
    char *text = arena_alloc(arena, TIME_BYTES);
    char *at = put_digits(text, time->year, 4, '-');
    at = put_digits(at, time->month, 2, '-');
    at = put_digits(at, time->day, 2, ' ');
    at = put_digits(at, time->hour, 2, ':');
    at = put_digits(at, time->minute, 2, ':');
    at = put_digits(at, time->second, 2, '.');
    at = put_digits(at, (unsigned)(time->second_part / 1000), 3, '\0');
    cell->bytes = text;
    cell->length = (size_t)(at - text) - 1;
}

static bool fetch_cell(struct prepared *prepared, struct arena *arena, unsigned column, struct cell *cell)
{
    const struct slot *slot = &prepared->slots[column];
    cell->is_null = slot->is_null != 0;
    if (cell->is_null)
        return true;
    if (slot->is_time) {
        keep_time(arena, &slot->time, cell);
        return true;
    }
    if (!slot->is_integer)
        return fetch_bytes(prepared, arena, column, cell);
    cell->integer = slot->is_unsigned && slot->integer < 0 ? INT64_MAX : slot->integer;
    return true;
}

bool rows_fetch(struct prepared *prepared, struct arena *arena, struct rows **rows_out)
{
    struct rows *rows = arena_alloc(arena, sizeof *rows);
    rows->arena = arena;
    rows->columns = prepared->columns;
    rows->count = (size_t)mysql_stmt_num_rows(prepared->handle);
    struct cell *cells = arena_array(arena, rows->count, rows->columns * sizeof *cells);
    rows->cells = cells;
    for (size_t row = 0; row < rows->count; row++) {
        if (mysql_stmt_fetch(prepared->handle) != 0)
            return false;
        for (unsigned column = 0; column < rows->columns; column++)
            if (!fetch_cell(prepared, arena, column, cells++))
                return false;
    }
    *rows_out = rows;
    return true;
}

static const struct cell *cell_at(const struct rows *rows, size_t row, size_t column)
{
    if (row >= rows->count || column >= rows->columns)
        misuse("there is no such cell");
    return &rows->cells[row * rows->columns + column];
}

bool rows_is_null(const struct rows *rows, size_t row, size_t column)
{
    return cell_at(rows, row, column)->is_null;
}

const char *rows_text(const struct rows *rows, size_t row, size_t column)
{
    const struct cell *cell = cell_at(rows, row, column);
    if (cell->is_null || cell->bytes != NULL)
        return cell->bytes;
    return arena_format(rows->arena, "%lld", (long long)cell->integer);
}

const void *rows_bytes(const struct rows *rows, size_t row, size_t column, size_t *length_out)
{
    const struct cell *cell = cell_at(rows, row, column);
    if (!cell->is_null && cell->bytes == NULL)
        misuse("bytes of an integer column");
    *length_out = cell->length;
    return cell->bytes;
}

int64_t rows_integer(const struct rows *rows, size_t row, size_t column)
{
    const struct cell *cell = cell_at(rows, row, column);
    int64_t value = cell->integer;
    /* SUM() and similar functions return DECIMAL, as text. */
    if (cell->bytes != NULL && !text_to_integer(cell->bytes, INT64_MIN, INT64_MAX, &value))
        misuse("the integer of a column that holds none");
    return value;
}

bool rows_boolean(const struct rows *rows, size_t row, size_t column)
{
    return rows_integer(rows, row, column) != 0;
}

struct id rows_id(const struct rows *rows, size_t row, size_t column)
{
    const struct cell *cell = cell_at(rows, row, column);
    struct id id = {{0}};
    if (cell->is_null)
        return id;
    if (cell->bytes == NULL || cell->length != ID_BYTES)
        misuse("the id of a column that holds none");
    memcpy(id.bytes, cell->bytes, ID_BYTES);
    return id;
}

/* "YYYY-MM-DD hh:mm:ss" with or without a fraction. */
static bool is_time(const char *text)
{
    static const char shape[] = "dddd-dd-dd dd:dd:dd";
    for (size_t i = 0; i < sizeof shape - 1; i++)
        if (shape[i] == 'd' ? !text_is_digit(text[i]) : text[i] != shape[i])
            return false;
    const char *fraction = text + sizeof shape - 1;
    return *fraction == '\0' || *fraction == '.';
}

static int digits_at(const char *text, int count)
{
    int value = 0;
    for (int i = 0; i < count; i++)
        value = value * 10 + (text[i] - '0');
    return value;
}

/* The milliseconds of a fraction such as ".12" or ".123456". */
static int milliseconds_of(const char *fraction)
{
    int value = 0, digits = 0;
    if (*fraction == '.')
        for (fraction++; digits < 3 && text_is_digit(*fraction); digits++, fraction++)
            value = value * 10 + (*fraction - '0');
    for (; digits < 3; digits++)
        value *= 10;
    return value;
}

const char *rows_time(const struct rows *rows, size_t row, size_t column)
{
    const char *text = cell_at(rows, row, column)->bytes;
    if (rows_is_null(rows, row, column))
        return NULL;
    if (text == NULL || !is_time(text))
        misuse("the time of a column that holds none");
    char *time = arena_alloc(rows->arena, TIME_BYTES + 1);
    memcpy(time, text, 19);
    time[10] = 'T';
    time[19] = '.';
    *put_digits(time + 20, (unsigned)milliseconds_of(text + 19), 3, 'Z') = '\0';
    return time;
}

/* Days from 1970-01-01 to a date of the Gregorian calendar; a year begins in March. */
static int64_t days_to(int year, int month, int day)
{
    int shifted = month > 2 ? year : year - 1;
    int month_from_march = month > 2 ? month - 3 : month + 9;
    int64_t leap_days = shifted / 4 - shifted / 100 + shifted / 400;
    return (int64_t)shifted * 365 + leap_days + (153 * month_from_march + 2) / 5 + day - 1 - 719468;
}

int64_t rows_time_milliseconds(const struct rows *rows, size_t row, size_t column)
{
    const char *text = rows_time(rows, row, column);
    if (text == NULL)
        return 0;
    int64_t days = days_to(digits_at(text, 4), digits_at(text + 5, 2), digits_at(text + 8, 2));
    int64_t minutes = days * 1440 + digits_at(text + 11, 2) * 60 + digits_at(text + 14, 2);
    return (minutes * 60 + digits_at(text + 17, 2)) * 1000 + digits_at(text + 20, 3);
}
