/* The time limit of the whole call. */
#ifndef DEADLINE_H
#define DEADLINE_H

#include <stdbool.h>

void start_deadline(int seconds);

int limit_seconds(void);

/* Since the start of the program. */
unsigned long elapsed_ms(void);

int remaining_ms(void);

/* Waits for events of poll(2). False at the deadline. */
bool wait_for(int fd, short events);

#endif
