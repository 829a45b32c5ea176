# SPDX-License-Identifier: MIT
"""What nice(1) gives the programs of a job. Of a processor that both want, a program gets three times as much as one of
the next row, and nine tenths beside an ordinary one if it is prompt."""

PROMPT = 0  # how soon it answers is tested
ORDINARY = 10
SPARE = 15
