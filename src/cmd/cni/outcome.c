#include "outcome.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "deadline.h"
#include "text.h"

struct call call = {"", "", "", NULL};

/* As in version.ts of the agent. */
static const char *const versions[] = {"0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"};
enum { VERSIONS = sizeof versions / sizeof versions[0] };
static const char *const newest = "1.1.0";

static void write_all(int fd, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t written = write(fd, bytes, length);
    if (written >= 0) {
      bytes += written;
      length -= (size_t)written;
    } else if (errno == EAGAIN) {
      if (!wait_for(fd, POLLOUT)) return;
    } else if (errno != EINTR) {
      return;
    }
  }
}

static void add_field(struct text *text, const char *name, const char *value) {
  add(text, ",\"");
  add(text, name);
  add(text, "\":");
  add_json(text, value);
}

static void add_time(struct text *text) {
  struct timespec now;
  struct tm utc;
  char date[32];
  clock_gettime(CLOCK_REALTIME, &now);
  gmtime_r(&now.tv_sec, &utc);
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc);
  unsigned long ms = (unsigned long)now.tv_nsec / 1000000;
  add(text, "\"");
  add(text, date);
  add(text, ms < 10 ? ".00" : ms < 100 ? ".0" : ".");
  add_number(text, ms);
  add(text, "Z\"");
}

static bool append_line(const struct text *start, const char *rest) {
  /* O_NONBLOCK: a FIFO without a reader must not stop the call. */
  int fd = open(call.log_file, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  /* One call, so that the lines of concurrent calls do not mix. */
  struct iovec parts[] = {{start->bytes, start->length}, {(void *)rest, strlen(rest)}, {"}\n", 2}};
  ssize_t written = writev(fd, parts, 3);
  close(fd);
  return written >= 0;
}

static void log_call(bool is_failure, const char *rest) {
  /* Five values of at most 4 KiB, each byte of which becomes up to six. */
  static char bytes[5 * 6 * 4096 + 4096];
  struct text line = {bytes, sizeof bytes - 1, 0};
  const char *container = getenv("CNI_CONTAINERID");
  const char *interface = getenv("CNI_IFNAME");
  const char *args = getenv("CNI_ARGS");
  add(&line, "{\"time\":");
  add_time(&line);
  add_field(&line, "level", is_failure ? "error" : "info");
  add_field(&line, "command", call.command);
  add_field(&line, "network", call.network);
  if (container != NULL && container[0] != '\0') {
    add_field(&line, "container", container);
    add_field(&line, "ifname", interface == NULL ? "" : interface);
    add_field(&line, "args", args == NULL ? "" : args);
  }
  add(&line, ",\"ms\":");
  add_number(&line, elapsed_ms());
  if (append_line(&line, rest)) return;
  /* The runtime logs the standard error; the call itself may have succeeded. */
  const char *reason = strerror(errno);
  line.bytes[line.length] = '\0';
  const char *const parts[] = {"contiv-cni: cannot write the log ", call.log_file, ": ", reason, "\n",
                               line.bytes, rest, "}\n"};
  for (size_t at = 0; at < sizeof parts / sizeof parts[0]; at++)
    write_all(STDERR_FILENO, parts[at], strlen(parts[at]));
}

noreturn void finish(int status, const char *log, const char *output, size_t length) {
  /* Logs first: the runtime may kill this process as soon as it has the result. */
  if (call.log_file != NULL) log_call(status != 0, log);
  write_all(STDOUT_FILENO, output, length);
  _exit(status);
}

noreturn void fail(enum error_code code, const char *message, const char *details) {
  static char log_bytes[64 * 1024], output_bytes[64 * 1024];
  struct text log = {log_bytes, sizeof log_bytes - 1, 0};
  struct text output = {output_bytes, sizeof output_bytes, 0};
  const char *version = newest;
  for (size_t at = 0; at < VERSIONS; at++)
    if (strcmp(call.version, versions[at]) == 0) version = versions[at];
  add(&log, ",\"code\":");
  add_number(&log, code);
  add_field(&log, "msg", message);
  if (details != NULL) add_field(&log, "details", details);
  log.bytes[log.length] = '\0';
  add(&output, "{\"cniVersion\":");
  add_json(&output, version);
  add(&output, log.bytes);
  add(&output, "}\n");
  finish(1, log.bytes, output.bytes, output.length);
}

noreturn void finish_version(void) {
  static char bytes[32 * 1024];
  struct text output = {bytes, sizeof bytes, 0};
  add(&output, "{\"cniVersion\":");
  add_json(&output, call.version[0] == '\0' ? newest : call.version);
  add(&output, ",\"supportedVersions\":[");
  for (size_t at = 0; at < VERSIONS; at++) {
    if (at > 0) add(&output, ",");
    add_json(&output, versions[at]);
  }
  add(&output, "]}\n");
  finish(0, "", output.bytes, output.length);
}
