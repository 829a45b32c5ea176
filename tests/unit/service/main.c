/* SPDX-License-Identifier: MIT */
/* Runs the unit tests of this floor. */
#include "harness.h"

#define MODULES(X)                                                                                                     \
    X(health)                                                                                                          \
    X(inspect)                                                                                                         \
    X(grant)                                                                                                           \
    X(signed_link)                                                                                                     \
    X(signed_link_refused)                                                                                             \
    X(use_log)                                                                                                         \
    X(sign_up)                                                                                                         \
    X(sign_in)                                                                                                         \
    X(member)                                                                                                          \
    X(equal_work)                                                                                                      \
    X(authority)                                                                                                       \
    X(mail_flood)                                                                                                      \
    X(blob_move)                                                                                                       \
    X(confinement)                                                                                                     \
    X(change_follower)                                                                                                 \
    X(shared_token_cache)                                                                                              \
    X(lease_holder)                                                                                                    \
    X(fsck)                                                                                                            \
    X(reseal)                                                                                                          \
    X(purge)                                                                                                           \
    X(scrub)                                                                                                           \
    X(scrub_memory)                                                                                                    \
    X(settings_update)                                                                                                 \
    X(backup)                                                                                                          \
    X(backup_manifest)                                                                                                 \
    X(maintenance_refusal)                                                                                             \
    X(file_bulk)                                                                                                       \
    X(file_update)                                                                                                     \
    X(upload)                                                                                                          \
    X(login_throttle)                                                                                                  \
    X(stats)                                                                                                           \
    X(notification)                                                                                                    \
    X(refused_codes)                                                                                                   \
    X(refused_people)                                                                                                  \
    X(refused_sessions)                                                                                                \
    X(refused_files)                                                                                                   \
    X(inspect_files)                                                                                                   \
    X(own_profile)                                                                                                     \
    X(refused_settings)                                                                                                \
    X(mail_queue)                                                                                                      \
    X(startup)                                                                                                         \
    X(refused_tries)                                                                                                   \
    X(resumable)
HARNESS_MAIN("service", MODULES)
