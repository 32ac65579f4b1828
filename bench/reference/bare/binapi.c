/*
 * A bare client of VPP's API socket: the least that sending requests and counting replies costs.
 *
 * binapi <API socket> <message>_<crc> <hex of its payload> <counter> <count> <window>
 *
 * Sends the message <count> times, <window> of them in flight, with this client's message ID, client index
 * and context. <counter> is the offset of four bytes to which the number of the request is added, 0 for none.
 * Prints as one line of JSON, in milliseconds: elapsed time, processor time, and the longest time without a
 * reply. Fails when VPP refuses a request.
 */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { HEADER = 16, HANDSHAKE = 15, NAME = 64, BUFFER = 1 << 20 };

static uint8_t in[BUFFER];
static size_t filled;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static uint16_t get16(const uint8_t *at) { return (uint16_t)(at[0] << 8 | at[1]); }

static uint32_t get32(const uint8_t *at) {
  uint32_t value;
  memcpy(&value, at, 4);
  return ntohl(value);
}

static void put32(uint8_t *at, uint32_t value) {
  value = htonl(value);
  memcpy(at, &value, 4);
}

static void put16(uint8_t *at, uint16_t value) {
  at[0] = value >> 8;
  at[1] = value & 255;
}

static void send_all(int fd, const uint8_t *bytes, size_t length) {
  while (length > 0) {
    ssize_t sent = write(fd, bytes, length);
    if (sent <= 0) fail("write");
    bytes += sent;
    length -= (size_t)sent;
  }
}

static void receive(int fd) {
  ssize_t got = read(fd, in + filled, BUFFER - filled);
  if (got <= 0) fail("read");
  filled += (size_t)got;
}

/* Length of the first frame in the buffer with its header, 0 while it is incomplete. */
static size_t frame_at(size_t at) {
  if (filled - at < HEADER) return 0;
  size_t length = HEADER + get32(in + at + 8);
  return filled - at < length ? 0 : length;
}

/* Sets the client index, and the ID of the message with this name and CRC. */
static void handshake(int fd, const char *message, uint32_t *client, uint16_t *id) {
  uint8_t create[HEADER + 6 + NAME] = {0};
  put32(create + 8, sizeof create - HEADER);
  put16(create + HEADER, HANDSHAKE);
  strcpy((char *)create + HEADER + 6, "bare");
  send_all(fd, create, sizeof create);
  size_t length;
  while ((length = frame_at(0)) == 0) receive(fd);
  /* id, client index, context, response, index, count, entries of index and name */
  const uint8_t *reply = in + HEADER;
  *client = get32(reply + 14);
  uint16_t count = get16(reply + 18);
  *id = 0;
  for (int i = 0; i < count; i++) {
    const uint8_t *entry = reply + 20 + i * (2 + NAME);
    if (strncmp((const char *)entry + 2, message, NAME) == 0) *id = get16(entry);
  }
  if (*id == 0) {
    fprintf(stderr, "VPP has no %s\n", message);
    exit(1);
  }
  memmove(in, in + length, filled -= length);
}

static double milliseconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int main(int argc, char **argv) {
  if (argc != 7) {
    fprintf(stderr, "usage: binapi <API socket> <message>_<crc> <hex> <counter> <count> <window>\n");
    return 1;
  }
  size_t payload = strlen(argv[3]) / 2, length = HEADER + payload;
  uint32_t counter = (uint32_t)atoi(argv[4]), count = (uint32_t)atoi(argv[5]);
  uint32_t window = (uint32_t)atoi(argv[6]);
  uint8_t *out = calloc(window, length);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, argv[1], sizeof address.sun_path - 1);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) fail(argv[1]);
  uint32_t client;
  uint16_t id;
  handshake(fd, argv[2], &client, &id);

  for (uint32_t i = 0; i < window; i++) {
    uint8_t *message = out + i * length;
    put32(message + 8, (uint32_t)payload);
    for (size_t at = 0; at < payload; at++)
      sscanf(argv[3] + 2 * at, "%2hhx", message + HEADER + at);
    put16(message + HEADER, id);
    put32(message + HEADER + 2, client);
  }
  uint32_t first = counter ? get32(out + HEADER + counter) : 0;
  uint32_t sent = 0, answered = 0, refused = 0;
  double start = milliseconds(CLOCK_MONOTONIC), cpu = milliseconds(CLOCK_PROCESS_CPUTIME_ID);
  double before = start, longest = 0;
  while (answered < count) {
    uint32_t more = 0;
    for (; sent < count && sent < answered + window; sent++, more++) {
      uint8_t *message = out + more * length + HEADER;
      put32(message + 6, sent);
      if (counter) put32(message + counter, first + sent);
    }
    send_all(fd, out, more * length);
    receive(fd);
    double now = milliseconds(CLOCK_MONOTONIC);
    if (now - before > longest) longest = now - before;
    before = now;
    size_t at = 0, frame;
    while ((frame = frame_at(at)) != 0) {
      /* id, context, return value */
      if (get32(in + at + HEADER + 6) != 0) refused++;
      answered++;
      at += frame;
    }
    memmove(in, in + at, filled -= at);
  }
  if (refused > 0) {
    fprintf(stderr, "VPP refused %u requests\n", refused);
    return 1;
  }
  printf("{\"ms\":%.3f,\"cpuMs\":%.3f,\"longestMs\":%.3f}\n", milliseconds(CLOCK_MONOTONIC) - start,
         milliseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu, longest);
  return 0;
}
