/* SPDX-License-Identifier: MIT */
/*
 * The null responder with one bare round trip: the very statement of an authorised read, prepared once, executed with
 * random ids, its columns fetched and thrown away. No token, no decision, no log.
 *
 *     roundtrip SOCKET USER DATABASE IDS
 *
 * IDS holds lines "user session file", each id as 32 hexadecimal digits.
 */
#include <fcgiapp.h>
#include <mysql.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "domain/permission/principal.h"
#include "store/database/database.h"

#define ID_SIZE 16
#define COLUMNS_MAX 64
#define CELL_BYTES 4096

struct ids {
    unsigned char user[ID_SIZE];
    unsigned char session[ID_SIZE];
    unsigned char file[ID_SIZE];
};

static struct ids *ids;
static size_t id_count;
static MYSQL_STMT *statement;
static MYSQL_BIND columns[COLUMNS_MAX];
static char cells[COLUMNS_MAX][CELL_BYTES];
static unsigned long lengths[COLUMNS_MAX];

static void die(const char *what)
{
    (void)fprintf(stderr, "roundtrip: %s\n", what);
    exit(1);
}

static void read_hex(const char *text, unsigned char *out)
{
    for (size_t i = 0; i < ID_SIZE; i++) {
        unsigned value;
        if (sscanf(text + 2 * i, "%2x", &value) != 1)
            die("an id is not hexadecimal");
        out[i] = (unsigned char)value;
    }
}

static void read_ids(const char *path)
{
    FILE *file = fopen(path, "r");
    char user[33], session[33], name[33];
    if (file == NULL)
        die("the ids cannot be read");
    while (fscanf(file, "%32s %32s %32s", user, session, name) == 3) {
        ids = realloc(ids, (id_count + 1) * sizeof *ids);
        if (ids == NULL)
            die("out of memory");
        read_hex(user, ids[id_count].user);
        read_hex(session, ids[id_count].session);
        read_hex(name, ids[id_count].file);
        id_count++;
    }
    (void)fclose(file);
    if (id_count == 0)
        die("there are no ids");
}

/* The session is the product's own in what the answer depends on; see store/database/connection.c. */
static void open_database(char **arguments)
{
    const char *sql = principal_statement(true)->sql;
    MYSQL *mysql = mysql_init(NULL);
    if (mysql == NULL || mysql_real_connect(mysql, NULL, arguments[2], "", arguments[3], 0, arguments[1], 0) == NULL)
        die(mysql_error(mysql));
    if (mysql_query(mysql, "SET NAMES utf8mb4 COLLATE utf8mb4_nopad_bin, tx_isolation = 'READ-COMMITTED'") != 0)
        die(mysql_error(mysql));
    statement = mysql_stmt_init(mysql);
    if (mysql_stmt_prepare(statement, sql, strlen(sql)) != 0)
        die(mysql_stmt_error(statement));
    if (mysql_stmt_param_count(statement) != 2 || mysql_stmt_field_count(statement) > COLUMNS_MAX)
        die("the statement has changed: see principal_statement()");
    for (size_t i = 0; i < COLUMNS_MAX; i++)
        columns[i] = (MYSQL_BIND){
            .buffer_type = MYSQL_TYPE_STRING, .buffer = cells[i], .buffer_length = CELL_BYTES, .length = &lengths[i]};
}

static void run(const struct ids *one)
{
    MYSQL_BIND bound[2];
    const unsigned char *values[2] = {one->file, one->user};
    for (size_t i = 0; i < 2; i++)
        bound[i] = (MYSQL_BIND){.buffer_type = MYSQL_TYPE_BLOB, .buffer = (void *)values[i], .buffer_length = ID_SIZE};
    if (mysql_stmt_bind_param(statement, bound) != 0 || mysql_stmt_execute(statement) != 0 ||
        mysql_stmt_store_result(statement) != 0 || mysql_stmt_bind_result(statement, columns) != 0)
        die(mysql_stmt_error(statement));
    unsigned rows = 0;
    while (mysql_stmt_fetch(statement) == 0)
        rows++;
    if (rows == 0)
        die("the statement found nothing");
    (void)mysql_stmt_free_result(statement);
}

int main(int argc, char **argv)
{
    static char text[512] = "Status: 200 OK\r\nContent-Type: application/json; charset=utf-8\r\n\r\n{\"message\":\"";
    FCGX_Request request;
    if (argc != 5)
        die("usage: roundtrip SOCKET USER DATABASE IDS");
    read_ids(argv[4]);
    open_database(argv);
    size_t head = strlen(text);
    memset(text + head, '.', 185);
    strcpy(text + head + 185, "\"}");
    srandom((unsigned)getpid());
    if (FCGX_Init() != 0 || FCGX_InitRequest(&request, 0, 0) != 0)
        die("libfcgi could not be initialised");
    while (FCGX_Accept_r(&request) == 0) {
        run(&ids[(size_t)random() % id_count]);
        FCGX_PutStr(text, (int)strlen(text), request.out);
        FCGX_Finish_r(&request);
    }
    return 0;
}
