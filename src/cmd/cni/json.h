/* Finds strings of the top-level object of a JSON document, and checks that the document is valid. */
#ifndef JSON_H
#define JSON_H

#include <stddef.h>

/* A path of Linux, with its NUL. */
enum { JSON_VALUE_SIZE = 4096, JSON_MAX_DEPTH = 512 };

enum json_kind {
  JSON_ABSENT, /* or null */
  JSON_STRING,
  JSON_OTHER, /* also a string that contains a NUL or does not fit */
};

struct json_field {
  const char *name;
  enum json_kind kind;
  char value[JSON_VALUE_SIZE];
};

enum json_document { JSON_INVALID, JSON_NOT_OBJECT, JSON_OBJECT };

/* Of fields with the same name the last one counts. A document that is nested deeper than JSON_MAX_DEPTH is
   invalid. */
enum json_document json_scan(const char *bytes, size_t length, struct json_field *fields, size_t count);

#endif
