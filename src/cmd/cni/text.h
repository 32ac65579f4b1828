/* Text of a limited size. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>

/* What does not fit is dropped. */
struct text {
  char *bytes;
  size_t size;
  size_t length;
};

void add_byte(struct text *text, unsigned char byte);
void add(struct text *text, const char *string);
void add_number(struct text *text, unsigned long number);

/* A JSON string of the first bytes, valid for any content: bytes that are not UTF-8 become U+FFFD. */
void add_json(struct text *text, const char *string);

#endif
