#include "text.h"

#include <string.h>

/* Of a string in JSON. */
static const size_t MAX_JSON_BYTES = 4096;

void add_byte(struct text *text, unsigned char byte) {
  if (text->length < text->size) text->bytes[text->length++] = (char)byte;
}

void add(struct text *text, const char *string) {
  for (; *string != '\0'; string++) add_byte(text, (unsigned char)*string);
}

void add_number(struct text *text, unsigned long number) {
  char digits[24];
  size_t at = sizeof digits;
  digits[--at] = '\0';
  do {
    digits[--at] = (char)('0' + number % 10);
    number /= 10;
  } while (number > 0);
  add(text, digits + at);
}

/* Bytes of the UTF-8 character at the start; 0 for an invalid one. The string ends with a NUL. */
static size_t character_length(const unsigned char *at) {
  if (at[0] < 0x80) return 1;
  size_t length = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
  if (at[0] < 0xc2 || at[0] > 0xf4) return 0;
  for (size_t next = 1; next < length; next++)
    if ((at[next] & 0xc0) != 0x80) return 0;
  /* Longer forms of shorter characters, surrogates, and what is above U+10FFFF. */
  if (at[0] == 0xe0 && at[1] < 0xa0) return 0;
  if (at[0] == 0xed && at[1] > 0x9f) return 0;
  if (at[0] == 0xf0 && at[1] < 0x90) return 0;
  if (at[0] == 0xf4 && at[1] > 0x8f) return 0;
  return length;
}

void add_json(struct text *text, const char *string) {
  static const char hex[] = "0123456789abcdef";
  const unsigned char *at = (const unsigned char *)string;
  const unsigned char *end = at + strnlen(string, MAX_JSON_BYTES);
  add_byte(text, '"');
  while (at < end) {
    size_t length = character_length(at);
    if (length == 0) {
      add(text, "\\ufffd");
      at++;
    } else if (*at < 0x20 || *at == 0x7f) {
      add(text, "\\u00");
      add_byte(text, (unsigned char)hex[*at >> 4]);
      add_byte(text, (unsigned char)hex[*at & 15]);
      at++;
    } else {
      if (*at == '"' || *at == '\\') add_byte(text, '\\');
      for (; length > 0; length--) add_byte(text, *at++);
    }
  }
  add_byte(text, '"');
}
