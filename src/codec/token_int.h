/* SPDX-License-Identifier: MIT */
/* What the files that issue and verify tokens share. */
#ifndef GATEHOUSE_CODEC_TOKEN_INT_H
#define GATEHOUSE_CODEC_TOKEN_INT_H

#include "codec/token.h"

/* Checks the times of a genuine token by the rules' clock; *reason_out is set unless the result is TOKEN_GOOD. */
enum token_result token_check_times(const struct token_rules *rules, const struct token_claims *claims,
                                    const char **reason_out);

#endif
