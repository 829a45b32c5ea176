/* SPDX-License-Identifier: MIT */
/*
 * Corpora as text files, which can be read and reviewed: one input a line. A backslash begins an escape: \n, \r, \t,
 * \\ and \xHH. Lines that begin with # and empty lines are passed over; an empty input is the line \e.
 */
#ifndef GATEHOUSE_TESTS_FUZZ_CORPUS_H
#define GATEHOUSE_TESTS_FUZZ_CORPUS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct arena;

/* The inputs of a corpus, in the arena. */
struct corpus {
    struct corpus_input {
        uint8_t *bytes;
        size_t size;
        size_t line;
    } *inputs;
    size_t count;
};

/* Reads the corpus of a target. Ends the program when the file cannot be read or a line has a broken escape. */
struct corpus corpus_read(struct arena *arena, const char *target);

/* Writes an input as a line. */
void corpus_write_line(FILE *file, const uint8_t *bytes, size_t size);

#endif
