#include "agent.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "deadline.h"
#include "json.h"
#include "outcome.h"
#include "text.h"

union address {
  struct sockaddr any;
  struct sockaddr_un path;
  struct sockaddr_in ipv4;
  struct sockaddr_in6 ipv6;
};

static const char *server;
static int connection;

/* The message is `before`, the server and `after`. To STATUS each of these errors is the answer. */
static noreturn void fail_with_server(enum error_code code, const char *before, const char *after,
                                      const char *details) {
  static char bytes[JSON_VALUE_SIZE + 256];
  struct text message = {bytes, sizeof bytes - 1, 0};
  add(&message, before);
  add(&message, server);
  add(&message, after);
  fail(strcmp(call.command, "STATUS") == 0 ? CODE_UNAVAILABLE : code, bytes, details);
}

static noreturn void fail_unreachable(int error) {
  fail_with_server(CODE_LATER, "the agent is unreachable at ", "", strerror(error));
}

/* The agent was stopped or killed during the call. */
static noreturn void fail_closed(void) {
  fail_with_server(CODE_LATER, "the agent at ", " closed the connection without a reply", NULL);
}

noreturn void fail_invalid_reply(void) {
  fail_with_server(CODE_IO, "", " sent an invalid reply", NULL);
}

static noreturn void fail_late(void) {
  char bytes[64] = "";
  struct text details = {bytes, sizeof bytes - 1, 0};
  add(&details, "the limit is ");
  add_number(&details, (unsigned long)limit_seconds());
  add(&details, " s");
  fail_with_server(CODE_LATER, "no reply from the agent at ", " in time", bytes);
}

/* Size of the address; 0 for an invalid one. */
static socklen_t read_path(const char *path, union address *address) {
  size_t length = strlen(path);
  if (length >= sizeof address->path.sun_path) return 0;
  address->path.sun_family = AF_UNIX;
  memcpy(address->path.sun_path, path, length + 1);
  return sizeof address->path;
}

static bool read_port(const char *digits, in_port_t *port) {
  unsigned long number = 0;
  if (*digits == '\0') return false;
  for (; *digits != '\0'; digits++) {
    if (*digits < '0' || *digits > '9' || number > UINT16_MAX) return false;
    number = number * 10 + (unsigned long)(*digits - '0');
  }
  *port = htons((uint16_t)number);
  return number <= UINT16_MAX;
}

static socklen_t read_host_and_port(const char *text, union address *address) {
  char host[INET6_ADDRSTRLEN + 2] = "";
  const char *colon = strrchr(text, ':');
  in_port_t port;
  if (colon == NULL || !read_port(colon + 1, &port)) return 0;
  size_t length = (size_t)(colon - text);
  bool is_bracketed = length >= 2 && text[0] == '[' && colon[-1] == ']';
  if (is_bracketed) length -= 2;
  if (length >= sizeof host) return 0;
  memcpy(host, text + (is_bracketed ? 1 : 0), length);
  address->ipv4.sin_port = port;
  if (inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host,
                &address->ipv4.sin_addr) == 1) {
    address->ipv4.sin_family = AF_INET;
    return sizeof address->ipv4;
  }
  address->ipv6.sin6_port = port;
  address->ipv6.sin6_family = AF_INET6;
  return inet_pton(AF_INET6, host, &address->ipv6.sin6_addr) == 1 ? sizeof address->ipv6 : 0;
}

void connect_agent(const char *text) {
  union address address = {0};
  server = text;
  bool is_path = strchr(text, '/') != NULL;
  const char *path = text;
  if (strncmp(path, "unix:", 5) == 0) path += strncmp(path + 5, "//", 2) == 0 ? 7 : 5;
  socklen_t size = is_path ? read_path(path, &address) : read_host_and_port(text, &address);
  if (size == 0)
    fail(CODE_CONFIG, "grpcServer is invalid: expected the path of a socket or address:port", text);
  connection = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection < 0) fail_unreachable(errno);
  /* Limits connect(2), which waits while the agent does not accept. 0 would be no limit. */
  int limit_ms = remaining_ms() + 1;
  struct timeval limit = {limit_ms / 1000, limit_ms % 1000 * 1000};
  setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  while (connect(connection, &address.any, size) != 0) {
    if (errno == EAGAIN || errno == EINPROGRESS) fail_late();
    if (errno != EINTR) fail_unreachable(errno);
  }
}

void write_head(char *head, unsigned char kind, size_t body_length) {
  head[0] = (char)kind;
  for (int byte = 0; byte < 4; byte++) head[1 + byte] = (char)(body_length >> (24 - 8 * byte) & 0xff);
}

void send_agent(const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t sent = send(connection, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes += sent;
      length -= (size_t)sent;
    } else if (errno == EAGAIN) {
      if (!wait_for(connection, POLLOUT)) fail_late();
    } else if (errno != EINTR) {
      /* What the agent has sent before it closed the connection still counts. */
      return;
    }
  }
}

static void receive(char *bytes, size_t length) {
  while (length > 0) {
    if (!wait_for(connection, POLLIN)) fail_late();
    ssize_t received = recv(connection, bytes, length, MSG_DONTWAIT);
    if (received > 0) {
      bytes += received;
      length -= (size_t)received;
    } else if (received == 0 || (errno != EAGAIN && errno != EINTR)) {
      fail_closed();
    }
  }
}

struct message receive_agent(void) {
  static char body[MAX_BODY_SIZE + 1];
  unsigned char head[MESSAGE_HEAD_SIZE];
  receive((char *)head, 1);
  if (head[0] != MESSAGE_PLUGIN && head[0] != MESSAGE_RESULT) fail_invalid_reply();
  receive((char *)head + 1, sizeof head - 1);
  size_t length = (size_t)head[1] << 24 | (size_t)head[2] << 16 | (size_t)head[3] << 8 | head[4];
  if (length > MAX_BODY_SIZE) fail_invalid_reply();
  receive(body, length);
  body[length] = '\0';
  return (struct message){head[0], body, length};
}
