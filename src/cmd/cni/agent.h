/*
 * The agent at the end of its socket. After "CNI1" both sides send messages: one byte with the kind, the
 * length of the body in four bytes (most significant first), the body.
 */
#ifndef AGENT_H
#define AGENT_H

#include <stddef.h>
#include <stdnoreturn.h>

enum {
  /* To the agent: the variables CNI_* as NAME=value with a NUL after each and one more, then the
     network configuration. */
  MESSAGE_CALL = 'C',
  /* From the agent: run an IPAM plugin. Name and CNI_COMMAND with a NUL after each, then its input. */
  MESSAGE_PLUGIN = 'P',
  /* To the agent: the IPAM plugin has ended. One byte with the kind of its end and one with a number,
     its path with a NUL, then its output. */
  MESSAGE_ENDED = 'E',
  /* From the agent, the last one: one byte with the exit status, fields for the log with a NUL, then the
     output. */
  MESSAGE_RESULT = 'R',

  MESSAGE_HEAD_SIZE = 5,
  MAX_BODY_SIZE = 9 * 1024 * 1024,
};

#define PREFACE "CNI1"

struct message {
  unsigned char kind;
  char *body;
  size_t length;
};

/* Each of them ends the program with an error result when the agent does not do its part. */

/* Path of a unix socket, or address:port. */
void connect_agent(const char *server);

/* Puts the head of a message at `head`. */
void write_head(char *head, unsigned char kind, size_t body_length);

void send_agent(const char *bytes, size_t length);

/* The body has a NUL behind it and is valid until the next call. */
struct message receive_agent(void);

noreturn void fail_invalid_reply(void);

#endif
