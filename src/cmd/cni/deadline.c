#include "deadline.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <time.h>

/* Shorter in tests. */
#ifndef SECOND_MS
#define SECOND_MS 1000
#endif

static int64_t start;
static int64_t deadline;
static int limit;

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void start_deadline(int seconds) {
  start = now_ms();
  limit = seconds;
  deadline = start + (int64_t)seconds * SECOND_MS;
}

int limit_seconds(void) {
  return limit;
}

unsigned long elapsed_ms(void) {
  return (unsigned long)(now_ms() - start);
}

int remaining_ms(void) {
  int64_t remaining = deadline - now_ms();
  return remaining > 0 ? (int)remaining : 0;
}

bool wait_for(int fd, short events) {
  struct pollfd one = {fd, events, 0};
  int ready;
  do ready = poll(&one, 1, remaining_ms());
  while (ready < 0 && errno == EINTR);
  return ready != 0;
}
