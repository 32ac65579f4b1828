/* The end of the call: its result or error for the runtime, and its line in the log file. */
#ifndef OUTCOME_H
#define OUTCOME_H

#include <stddef.h>
#include <stdnoreturn.h>

/* Error codes of the CNI specification; the agent returns more of them. */
enum error_code {
  CODE_ENVIRONMENT = 4,
  CODE_IO = 5,
  CODE_DECODE = 6,
  CODE_CONFIG = 7,
  CODE_LATER = 11,
  CODE_UNAVAILABLE = 50,
};

/* What is known of the call. */
struct call {
  const char *command;
  /* The `cniVersion` of the configuration; empty without. */
  const char *version;
  /* The `name` of the configuration. */
  const char *network;
  /* NULL until the configuration was read: until then nothing is logged. */
  const char *log_file;
};

extern struct call call;

/* Ends with an error result. Details may be NULL. */
noreturn void fail(enum error_code code, const char *message, const char *details);

/* Ends with a result. `log` are further fields for the line in the log file: `,"name":value`. */
noreturn void finish(int status, const char *log, const char *output, size_t length);

/* Ends with the result of VERSION. */
noreturn void finish_version(void);

#endif
