/* SPDX-License-Identifier: MIT */
/* The least that a libfcgi program can do: 200 bytes of JSON. What every FastCGI service pays before it has begun. */
#include <fcgiapp.h>
#include <string.h>

static const char reply[] = "Status: 200 OK\r\nContent-Type: application/json; charset=utf-8\r\n\r\n"
                            "{\"status\":\"success\",\"message\":\"";

int main(void)
{
    static char text[sizeof reply + 200];
    FCGX_Request request;
    strcpy(text, reply);
    memset(text + sizeof reply - 1, '.', 165);
    strcpy(text + sizeof reply - 1 + 165, "\"}");
    if (FCGX_Init() != 0 || FCGX_InitRequest(&request, 0, 0) != 0)
        return 1;
    while (FCGX_Accept_r(&request) == 0) {
        FCGX_PutStr(text, (int)strlen(text), request.out);
        FCGX_Finish_r(&request);
    }
    return 0;
}
