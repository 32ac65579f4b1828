/* Scans the documents of standard input, each behind its length in four bytes, and prints a line for each: the
   kind of the document, and of each field the kind and the value as hexadecimal digits. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

static void print_fields(const struct json_field *fields, size_t count) {
  for (size_t field = 0; field < count; field++) {
    printf(" %d:", (int)fields[field].kind);
    for (const char *at = fields[field].value; *at != '\0'; at++) printf("%02x", (unsigned char)*at);
  }
}

int main(void) {
  static struct json_field fields[] = {{.name = "a"}, {.name = "name"}};
  unsigned char head[4];
  while (fread(head, sizeof head, 1, stdin) == 1) {
    size_t length = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];
    /* Of exactly this size, so that a sanitizer sees each byte that is read behind it. */
    char *bytes = malloc(length == 0 ? 1 : length);
    if (bytes == NULL || fread(bytes, 1, length, stdin) != length) return 1;
    printf("%d", (int)json_scan(bytes, length, fields, 2));
    print_fields(fields, 2);
    printf("\n");
    free(bytes);
  }
  return 0;
}
