/* SPDX-License-Identifier: MIT */
/*
 * Which files, connections and system calls a process of the service keeps once it has started, by its configuration:
 * the folders of [files], [cache], [metrics], [log] and [mail] to write, those of secrets, certificates, name service
 * and libraries to read, and the ports of the database, the mail server and the identity provider to connect to.
 */
#ifndef GATEHOUSE_SERVICE_RUNTIME_CONFINEMENT_H
#define GATEHOUSE_SERVICE_RUNTIME_CONFINEMENT_H

#include "base/sandbox/sandbox.h"

struct arena;
struct configuration;

/* The plan in *plan_out; its texts are in `arena`. */
void confinement_plan(struct arena *arena, const struct configuration *configuration, struct sandbox_plan *plan_out);

/*
 * Raises the walls (base/sandbox.h), when all is open that the process needs, and logs which ones hold. With [service]
 * sandbox = false it logs a warning and does nothing. `arena` must live as long as the process.
 */
void confinement_enter(struct arena *arena, const struct configuration *configuration);

#endif
