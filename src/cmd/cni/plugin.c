#include "plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"
#include "deadline.h"
#include "outcome.h"
#include "text.h"

enum { MAX_OUTPUT_SIZE = 1024 * 1024, PATH_SIZE = 4096 };

/* The message to the agent. */
static char report[MESSAGE_HEAD_SIZE + 2 + PATH_SIZE + MAX_OUTPUT_SIZE];

struct running {
  const char *path;
  pid_t pid;
  /* Ends of its pipes; -1 when closed. */
  int input;
  int output;
};

/* Writes the path of the first program of this name in CNI_PATH. */
static bool find_plugin(const char *name, char *path) {
  const char *folder = getenv("CNI_PATH");
  /* Only programs of these folders may be run. */
  if (folder == NULL || name[0] == '\0' || strchr(name, '/') != NULL) return false;
  for (;;) {
    size_t length = strcspn(folder, ":");
    if (length > 0 && length + strlen(name) + 2 <= PATH_SIZE) {
      struct text text = {path, PATH_SIZE, 0};
      for (size_t at = 0; at < length; at++) add_byte(&text, (unsigned char)folder[at]);
      add(&text, "/");
      add(&text, name);
      add_byte(&text, '\0');
      if (access(path, X_OK) == 0) return true;
    }
    if (folder[length] == '\0') return false;
    folder += length + 1;
  }
}

static noreturn void become_plugin(const char *path, const char *command, pid_t parent) {
  char *arguments[] = {(char *)path, NULL};
  /* A plugin without the program would allocate after the DEL that follows. */
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  signal(SIGPIPE, SIG_DFL);
  if (getppid() == parent && setenv("CNI_COMMAND", command, 1) == 0) {
    execv(path, arguments);
    /* Becomes the details of the error. */
    const char *reason = strerror(errno);
    if (write(STDOUT_FILENO, reason, strlen(reason)) < 0) _exit(126);
  }
  _exit(127);
}

/* 0, or the number of an error. */
static int start_plugin(struct running *plugin, const char *command) {
  int input[2], output[2];
  if (pipe2(input, O_CLOEXEC) != 0) return errno;
  if (pipe2(output, O_CLOEXEC) != 0) return errno;
  pid_t parent = getpid();
  plugin->pid = fork();
  if (plugin->pid < 0) return errno;
  if (plugin->pid == 0) {
    dup2(input[0], STDIN_FILENO);
    dup2(output[1], STDOUT_FILENO);
    become_plugin(plugin->path, command, parent);
  }
  close(input[0]);
  close(output[1]);
  plugin->input = input[1];
  plugin->output = output[0];
  fcntl(plugin->input, F_SETFL, O_NONBLOCK);
  fcntl(plugin->output, F_SETFL, O_NONBLOCK);
  return 0;
}

static noreturn void kill_late(struct running *plugin) {
  static char bytes[PATH_SIZE + 64];
  struct text message = {bytes, sizeof bytes - 1, 0};
  kill(plugin->pid, SIGKILL);
  add(&message, "the IPAM plugin ");
  add(&message, plugin->path);
  add(&message, " has not ended in time");
  fail(CODE_LATER, bytes, NULL);
}

static void close_end(int *fd) {
  close(*fd);
  *fd = -1;
}

/* Writes the input while the output is read: a plugin may do one before the other. False when the output is
   too long. */
static bool communicate(struct running *plugin, const char *input, size_t length, struct text *output) {
  while (plugin->output >= 0) {
    if (plugin->input >= 0 && length == 0) close_end(&plugin->input);
    struct pollfd both[] = {{plugin->output, POLLIN, 0}, {plugin->input, POLLOUT, 0}};
    int ready = poll(both, 2, remaining_ms());
    if (ready == 0) kill_late(plugin);
    if (both[1].revents != 0) {
      ssize_t written = write(plugin->input, input, length);
      if (written > 0) {
        input += written;
        length -= (size_t)written;
      } else if (written < 0 && errno != EAGAIN && errno != EINTR) {
        /* A plugin that exits without reading its input reports the error itself. */
        close_end(&plugin->input);
      }
    }
    if (both[0].revents != 0) {
      char *free_bytes = output->bytes + output->length;
      ssize_t received = read(plugin->output, free_bytes, output->size - output->length);
      if (received > 0) output->length += (size_t)received;
      else if (received == 0 || (errno != EAGAIN && errno != EINTR)) close_end(&plugin->output);
      if (output->length == output->size) return false;
    }
  }
  return true;
}

/* The status of waitpid(2). */
static int await_end(struct running *plugin) {
  const struct timespec pause = {0, 1000000};
  int status = 0;
  if (plugin->input >= 0) close_end(&plugin->input);
  while (waitpid(plugin->pid, &status, WNOHANG) == 0) {
    if (remaining_ms() == 0) kill_late(plugin);
    nanosleep(&pause, NULL);
  }
  return status;
}

static void send_report(char end, int number, size_t length) {
  write_head(report, MESSAGE_ENDED, length - MESSAGE_HEAD_SIZE);
  report[MESSAGE_HEAD_SIZE] = end;
  report[MESSAGE_HEAD_SIZE + 1] = (char)number;
  send_agent(report, length);
}

void run_plugin(const char *name, const char *command, const char *input, size_t length) {
  static char path[PATH_SIZE];
  struct running plugin = {path, 0, -1, -1};
  struct text text = {report, sizeof report, MESSAGE_HEAD_SIZE + 2};
  bool is_found = find_plugin(name, path);
  add(&text, is_found ? path : "");
  add_byte(&text, '\0');
  if (!is_found) {
    send_report(PLUGIN_NOT_FOUND, 0, text.length);
    return;
  }
  int error = start_plugin(&plugin, command);
  if (error != 0) {
    add(&text, strerror(error));
    send_report(PLUGIN_FAILED, 0, text.length);
    return;
  }
  size_t start = text.length;
  if (!communicate(&plugin, input, length, &text)) {
    kill(plugin.pid, SIGKILL);
    text.length = start;
    add(&text, "the output has more than 1 MiB");
    send_report(PLUGIN_FAILED, 0, text.length);
    return;
  }
  int status = await_end(&plugin);
  if (WIFSIGNALED(status)) send_report(PLUGIN_KILLED, WTERMSIG(status), text.length);
  else send_report(PLUGIN_EXITED, WEXITSTATUS(status), text.length);
}
