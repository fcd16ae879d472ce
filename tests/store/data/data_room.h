/* tests/store/data/data_room.h: what the tests of data.v1 with processes, kills and failing disks
 * share: a data root in memory, statements, numbers, and this program again as a child.
 *
 * Included by those tests alone. One thread. */
#ifndef CALIPER_TESTS_DATA_ROOM_H
#define CALIPER_TESTS_DATA_ROOM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <cmocka.h>

#include "store/data/data_store.h"
#include "store_folder.h"

/* A fresh folder; store_folder_remove takes it away. */
void data_room_make(char out[64]);
/* Whether a database was moved aside. */
bool data_room_lost_a_file(const char *root);

/* Runs one statement whole. False and *error when it was refused or broke off. */
bool data_room_run(DataStore *store, const char *sql, DatabaseError *error);
/* The first BIGINT of the first row; fails the test when there is none. */
int64_t data_room_number(DataStore *store, const char *sql);

/* This program again: ITSELF child MODE ROOT NUMBER. It dies with the test. */
pid_t data_room_start(const char *mode, const char *root, int number);
/* In the child, first of all: so that it does die with the test, and is silent. */
void data_room_child(void);

/* Whether CALIPER_TEST_LONG asks for the long form. */
bool data_room_long(void);
/* Microseconds of CLOCK_MONOTONIC. */
int64_t data_room_now_us(void);
/* The same numbers each time, 0 to limit - 1. */
uint64_t data_room_random(uint64_t limit);

#endif
