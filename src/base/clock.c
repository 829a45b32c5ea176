/* SPDX-License-Identifier: MIT */
/* Reads the clocks of the system, sleeps, and writes and reads times as text. */
#include "base/clock.h"

#include <stddef.h>
#include <time.h>

int64_t clock_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clock_now_microseconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t clock_monotonic(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void clock_sleep(int64_t microseconds)
{
    const struct timespec time = {.tv_sec = microseconds / 1000000, .tv_nsec = microseconds % 1000000 * 1000};
    (void)nanosleep(&time, NULL);
}

/* Writes the last `count` digits of a number and the character after them; returns the place behind. */
static char *write_digits(char *at, int number, int count, char after)
{
    for (int i = count - 1; i >= 0; i--, number /= 10)
        at[i] = (char)('0' + (number < 0 ? 0 : number % 10));
    at[count] = after;
    return at + count + 1;
}

#define DAY_SECONDS 86400

/*
 * The date of a day, counted from 1970-01-01, in the Gregorian calendar. The calculation uses eras of 400 years that
 * begin on 1 March, so that a leap day is the last day of a year. gmtime_r() takes a lock and looks at the time zone
 * first; it was most of the time that a log line took.
 */
static char *write_date(char *at, int64_t day)
{
    int64_t shifted = day + 719468;
    int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    int in_era = (int)(shifted - era * 146097);
    int year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    int in_year = in_era - (365 * year + year / 4 - year / 100);
    int month = (5 * in_year + 2) / 153;
    int calendar_month = month < 10 ? month + 3 : month - 9;
    at = write_digits(at, (int)(year + era * 400) + (calendar_month <= 2), 4, '-');
    at = write_digits(at, calendar_month, 2, '-');
    return write_digits(at, in_year - (153 * month + 2) / 5 + 1, 2, 'T');
}

void clock_format(int64_t milliseconds, char text_out[CLOCK_TEXT_BYTES])
{
    int64_t seconds = milliseconds / 1000;
    int64_t day = (seconds >= 0 ? seconds : seconds - (DAY_SECONDS - 1)) / DAY_SECONDS;
    int of_day = (int)(seconds - day * DAY_SECONDS);
    char *at = write_date(text_out, day);
    at = write_digits(at, of_day / 3600, 2, ':');
    at = write_digits(at, of_day / 60 % 60, 2, ':');
    at = write_digits(at, of_day % 60, 2, '.');
    at = write_digits(at, (int)(milliseconds % 1000), 3, 'Z');
    *at = '\0';
}

/* The number that `count` digits make; -1 when one of them is no digit. */
static int read_digits(const char *text, int count)
{
    int value = 0;
    for (int i = 0; i < count; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

/* The offset "Z" or "+hh:mm" at the end of the text, in minutes; false when it is neither. */
static bool read_offset(const char *text, int *minutes_out)
{
    *minutes_out = 0;
    if ((text[0] == 'Z' || text[0] == 'z') && text[1] == '\0')
        return true;
    if (text[0] != '+' && text[0] != '-')
        return false;
    int hours = read_digits(text + 1, 2);
    if (hours < 0 || hours > 23 || text[3] != ':')
        return false;
    int minutes = read_digits(text + 4, 2);
    if (minutes < 0 || minutes > 59 || text[6] != '\0')
        return false;
    *minutes_out = (text[0] == '-' ? -1 : 1) * (hours * 60 + minutes);
    return true;
}

/* Reads ".123456" at *text and moves *text behind it. The milliseconds; -1 without a digit or with more than nine. */
static int read_fraction(const char **text)
{
    int milliseconds = 0;
    int digits = 0;
    if (**text != '.')
        return 0;
    for ((*text)++; **text >= '0' && **text <= '9'; (*text)++, digits++)
        if (digits < 3)
            milliseconds = milliseconds * 10 + (**text - '0');
    for (int i = digits; i < 3; i++)
        milliseconds *= 10;
    return digits >= 1 && digits <= 9 ? milliseconds : -1;
}

/* Reads "YYYY-MM-DDThh:mm:ss" from the left, so that nothing behind the end of the text is read. */
static const char shape[] = "dddd-dd-ddTdd:dd:dd";

static bool has_shape(const char *text)
{
    for (size_t i = 0; shape[i] != '\0'; i++) {
        bool digit = text[i] >= '0' && text[i] <= '9';
        bool blank = shape[i] == 'T' && (text[i] == 't' || text[i] == ' ');
        if (shape[i] == 'd' ? !digit : text[i] != shape[i] && !blank)
            return false;
    }
    return true;
}

bool clock_parse(const char *text, int64_t *milliseconds_out)
{
    if (!has_shape(text))
        return false;
    struct tm parts = {
        .tm_year = read_digits(text, 4) - 1900,
        .tm_mon = read_digits(text + 5, 2) - 1,
        .tm_mday = read_digits(text + 8, 2),
        .tm_hour = read_digits(text + 11, 2),
        .tm_min = read_digits(text + 14, 2),
        .tm_sec = read_digits(text + 17, 2),
    };
    const char *rest = text + sizeof shape - 1;
    int minutes;
    int fraction = read_fraction(&rest);
    if (fraction < 0 || !read_offset(rest, &minutes) || parts.tm_year < 70 || parts.tm_hour > 23 || parts.tm_min > 59 ||
        parts.tm_sec > 60)
        return false;
    /*
     * A leap second becomes the second after it. timegm() turns an impossible date into a possible one, so the result
     * is compared with the input.
     */
    int leap = parts.tm_sec == 60;
    parts.tm_sec -= leap;
    struct tm given = parts;
    time_t seconds = timegm(&parts) + leap;
    if (parts.tm_mon != given.tm_mon || parts.tm_mday != given.tm_mday)
        return false;
    *milliseconds_out = ((int64_t)seconds - (int64_t)minutes * 60) * 1000 + fraction;
    return true;
}

static _Thread_local int64_t horizon;

void clock_set_horizon(int64_t until)
{
    horizon = until;
}

int64_t clock_within_horizon(int64_t until)
{
    return horizon != 0 && (until == 0 || until > horizon) ? horizon : until;
}
