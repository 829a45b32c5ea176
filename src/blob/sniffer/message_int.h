/* SPDX-License-Identifier: MIT */
/*
 * The messages between worker, keeper and sniffer: one packet each on a socket that keeps packets apart, a head and as
 * many bytes behind it as the head says. Neither side trusts what the other one sends.
 */
#ifndef GATEHOUSE_BLOB_SNIFFER_MESSAGE_INT_H
#define GATEHOUSE_BLOB_SNIFFER_MESSAGE_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MESSAGE_REASON_BYTES 200
#define MESSAGE_TYPE_BYTES 128 /* a media type with its NUL */

enum message_kind {
    MESSAGE_START = 1, /* worker to keeper, with the sniffer's end of a socket: end the sniffer, fork another one */
    MESSAGE_STARTED,   /* keeper to worker: how the sniffer before ended */
    MESSAGE_READY,     /* sniffer to worker: what walls it has */
    MESSAGE_EXAMINE,   /* worker to sniffer: the first bytes of a file */
    MESSAGE_READ,      /* sniffer to worker: wants bytes of the rest */
    MESSAGE_REST,      /* worker to sniffer: these bytes */
    MESSAGE_ANSWER     /* sniffer to worker: what the file is */
};

struct message {
    uint32_t kind;
    uint32_t length; /* of the bytes that follow */
    uint64_t number; /* START: 1 with walls; EXAMINE: 1 when there is a rest; READ: the offset; ANSWER: the pixels */
};

struct message_started {
    int32_t status;                     /* of wait(2) for the former sniffer; -1: there was none */
    int32_t pid;                        /* of the new one; -1: there is none */
    char problem[MESSAGE_REASON_BYTES]; /* why there is none */
};

struct message_ready {
    int32_t landlock;
    uint8_t calls;
    uint8_t bounds;                     /* on memory, processor time, files and processes */
    char problem[MESSAGE_REASON_BYTES]; /* which wall is missing; empty: none is */
};

struct message_read {
    uint32_t length;
};

struct message_answer {
    uint8_t text;
    uint8_t last; /* the sniffer ends now: it has had its share of the processor */
    char media_type[MESSAGE_TYPE_BYTES];
    char complaint[MESSAGE_REASON_BYTES]; /* struct sniffed */
};

enum message_end {
    MESSAGE_GOT,
    MESSAGE_ENDED, /* the other side is gone */
    MESSAGE_LATE,  /* it said nothing in time */
    MESSAGE_BROKEN /* it said something that is no message, or one with another number of bytes than it says */
};

/*
 * Sends a message, and the descriptor `attached` along with it unless that is -1. False when the other side is gone or
 * does not listen.
 */
bool message_send(int socket, enum message_kind kind, uint64_t number, const void *bytes, size_t length, int attached);

/*
 * Receives a message with at most `capacity` bytes behind the head. Waits until `until` (clock_monotonic(); 0: ever).
 * A descriptor that comes along is stored in *descriptor_out (-1: none came), or dropped where that is NULL.
 */
enum message_end message_receive(int socket, int64_t until, struct message *head_out, void *bytes_out, size_t capacity,
                                 int *descriptor_out);

/* Copies a text into a member of a message, cut to its capacity. */
void message_text(char *member, size_t capacity, const char *text);

#endif
