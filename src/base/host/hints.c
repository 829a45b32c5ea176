/* SPDX-License-Identifier: MIT */
/* Hints and the newest change version in the host's shared memory: each is one atomic number. */
#include "base/host/hints.h"

#include "base/host_memory_int.h"

uint64_t host_hints_change_version(void)
{
    return atomic_load(&host_memory()->change_version);
}

void host_hints_publish_change_version(uint64_t version)
{
    _Atomic uint64_t *newest = &host_memory()->change_version;
    uint64_t known = atomic_load(newest);
    while (known < version && !atomic_compare_exchange_weak(newest, &known, version))
        continue;
}

/* The low bits of a hint choose its place; the high 32 bits are what the place holds. */
static _Atomic uint32_t *place_of(uint64_t value)
{
    return &host_memory()->hints[value % HOST_HINTS];
}

void host_hints_put(uint64_t value)
{
    atomic_store_explicit(place_of(value), (uint32_t)(value >> 32), memory_order_relaxed);
}

bool host_hints_has(uint64_t value)
{
    return !host_memory_is_shared() ||
           atomic_load_explicit(place_of(value), memory_order_relaxed) == (uint32_t)(value >> 32);
}
