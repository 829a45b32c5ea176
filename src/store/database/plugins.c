/* SPDX-License-Identifier: MIT */
/* Loads what libmariadb would load when a server asks for it: the ways in which an account signs in. */
#include "base/log.h"
#include "base/memory.h"
#include "store/database/database_int.h"

/* MYSQL_CLIENT_AUTHENTICATION_PLUGIN of mysql/client_plugin.h, which includes a file that no package has. */
#define AUTHENTICATION 2

/*
 * Those that answer with a password. Not that of Kerberos (auth_gssapi_client): its libraries load more, by files that
 * a worker may not read.
 */
static const char *const plugins[] = {"client_ed25519",  "parsec", "caching_sha2_password",
                                      "sha256_password", "dialog", "mysql_clear_password"};

void database_load_plugins(void)
{
    MYSQL *mysql = mysql_init(NULL);
    if (mysql == NULL)
        memory_end("the database client");
    for (size_t i = 0; i < sizeof plugins / sizeof *plugins; i++)
        if (mysql_client_find_plugin(mysql, plugins[i], AUTHENTICATION) == NULL)
            LOG(DEBUG, STORE, "a plugin of the database client is not loaded", LOG_TEXT("plugin", plugins[i]),
                LOG_TEXT("reason", mysql_error(mysql)));
    mysql_close(mysql);
}
