/* SPDX-License-Identifier: MIT */
/* Exchanges with the database, counted, and a connection that breaks before one of them. */
#ifndef GATEHOUSE_TESTS_STORE_SUPPORT_CUT_H
#define GATEHOUSE_TESTS_STORE_SUPPORT_CUT_H

#include <mysql.h>
#include <stddef.h>

struct support_cut {
    size_t exchanges; /* made so far */
    size_t at;        /* before which the connection breaks, counted from 1; 0: none */
};
extern struct support_cut support_cut;

/* An exchange over this connection begins. */
void support_cut_before(MYSQL *mysql);

#endif
