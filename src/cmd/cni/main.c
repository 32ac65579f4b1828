/*
 * contiv-cni: the container runtime runs it for each pod that is created or deleted. The agent decides all;
 * this program brings it the call, runs the IPAM plugins that it names, and ends with its result. Without a
 * result from the agent it ends with an error of the CNI specification.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent.h"
#include "deadline.h"
#include "json.h"
#include "outcome.h"
#include "plugin.h"
#include "text.h"

/* Seconds for the whole call; the runtime repeats it. */
static const struct {
  const char *name;
  int limit;
} commands[] = {
    /* Below the two minutes after which kubelet cancels its own call. */
    {"ADD", 100}, {"DEL", 100}, {"GC", 100}, {"CHECK", 30}, {"STATUS", 10}, {"VERSION", 10},
};

enum { PREFACE_SIZE = sizeof PREFACE - 1, MAX_INPUT_SIZE = 8 * 1024 * 1024 };

/* The preface and the first message; the environment has to leave room for the input. */
static char request[PREFACE_SIZE + MESSAGE_HEAD_SIZE + MAX_BODY_SIZE];
static size_t request_length = PREFACE_SIZE + MESSAGE_HEAD_SIZE;

enum { SERVER, LOG_FILE, VERSION, NAME, FIELDS };
static struct json_field fields[FIELDS] = {
    [SERVER] = {.name = "grpcServer"},
    [LOG_FILE] = {.name = "logFile"},
    [VERSION] = {.name = "cniVersion"},
    [NAME] = {.name = "name"},
};

extern char **environ;

/* A pipe that is opened as 0, 1 or 2 must not become standard input or output. */
static void open_standard_files(void) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd) _exit(1);
}

static void read_command(void) {
  static const char supported[] = "supported commands: ADD, DEL, CHECK, GC, STATUS, VERSION";
  const char *given = getenv("CNI_COMMAND");
  start_deadline(commands[0].limit);
  if (given == NULL || given[0] == '\0')
    fail(CODE_ENVIRONMENT, "CNI_COMMAND is not set", supported);
  for (size_t at = 0; at < sizeof commands / sizeof commands[0]; at++)
    if (strcmp(given, commands[at].name) == 0) {
      call.command = commands[at].name;
      start_deadline(commands[at].limit);
      return;
    }
  struct text message = {(char[256]){0}, 255, 0};
  add(&message, "unknown CNI_COMMAND: ");
  add(&message, given);
  fail(CODE_ENVIRONMENT, message.bytes, supported);
}

static void add_environment(void) {
  for (char **variable = environ; *variable != NULL; variable++) {
    if (strncmp(*variable, "CNI_", 4) != 0) continue;
    size_t size = strlen(*variable) + 1;
    if (size > sizeof request - MAX_INPUT_SIZE - 2 - request_length)
      fail(CODE_ENVIRONMENT, "the variables CNI_* are too long", NULL);
    memcpy(request + request_length, *variable, size);
    request_length += size;
  }
  request[request_length++] = '\0';
}

static void add_input(void) {
  const size_t start = request_length;
  for (;;) {
    if (!wait_for(STDIN_FILENO, POLLIN)) fail(CODE_IO, "standard input does not end", NULL);
    /* One byte more than may be sent shows that there is too much. */
    size_t rest = MAX_INPUT_SIZE + 1 - (request_length - start);
    ssize_t length = read(STDIN_FILENO, request + request_length, rest);
    if (length == 0) return;
    if (length > 0) request_length += (size_t)length;
    else if (errno != EAGAIN && errno != EINTR)
      fail(CODE_IO, "cannot read standard input", strerror(errno));
    if (request_length - start > MAX_INPUT_SIZE)
      fail(CODE_CONFIG, "the network configuration is longer than 8 MiB", NULL);
  }
}

/* Finds the agent, and what errors and the log need. The agent checks everything else. */
static void read_configuration(const char *text, size_t length) {
  static const char default_log_file[] = "/tmp/contiv-cni.log";
  enum json_document document = json_scan(text, length, fields, FIELDS);
  call.version = fields[VERSION].value;
  if (strcmp(call.command, "VERSION") == 0) finish_version();
  if (document == JSON_INVALID)
    fail(CODE_DECODE, "the network configuration is not valid JSON", NULL);
  if (document == JSON_NOT_OBJECT)
    fail(CODE_CONFIG, "the network configuration is invalid: expected an object", NULL);
  if (fields[SERVER].kind != JSON_STRING || fields[SERVER].value[0] == '\0')
    fail(CODE_CONFIG, "grpcServer is invalid: expected the path of a socket or address:port", NULL);
  call.network = fields[NAME].value;
  call.log_file = fields[LOG_FILE].value[0] == '\0' ? default_log_file : fields[LOG_FILE].value;
}

/* Runs the plugin that the agent asks for. */
static void obey(const struct message *message) {
  const char *name = message->body;
  size_t name_size = strlen(name) + 1;
  if (name_size > message->length) fail_invalid_reply();
  const char *command = name + name_size;
  size_t command_size = strlen(command) + 1;
  if (name_size + command_size > message->length) fail_invalid_reply();
  run_plugin(name, command, command + command_size, message->length - name_size - command_size);
}

static noreturn void finish_as(const struct message *message) {
  if (message->length == 0) fail_invalid_reply();
  const char *log = message->body + 1;
  size_t log_size = strlen(log) + 1;
  if (1 + log_size > message->length) fail_invalid_reply();
  finish((unsigned char)message->body[0], log, log + log_size, message->length - 1 - log_size);
}

int main(void) {
  open_standard_files();
  signal(SIGPIPE, SIG_IGN);
  /* A runtime that ignores it would hide the end of the IPAM plugin. */
  signal(SIGCHLD, SIG_DFL);
  read_command();
  add_environment();
  const size_t input_start = request_length;
  add_input();
  read_configuration(request + input_start, request_length - input_start);
  memcpy(request, PREFACE, PREFACE_SIZE);
  write_head(request + PREFACE_SIZE, MESSAGE_CALL, request_length - PREFACE_SIZE - MESSAGE_HEAD_SIZE);
  connect_agent(fields[SERVER].value);
  send_agent(request, request_length);
  for (;;) {
    struct message message = receive_agent();
    if (message.kind == MESSAGE_RESULT) finish_as(&message);
    obey(&message);
  }
}
