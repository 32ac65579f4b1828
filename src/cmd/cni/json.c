#include "json.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "text.h"

struct scanner {
  const unsigned char *at;
  const unsigned char *end;
};

/* -1 at the end. */
static int peek(const struct scanner *scanner) {
  return scanner->at < scanner->end ? *scanner->at : -1;
}

static bool take(struct scanner *scanner, int byte) {
  if (peek(scanner) != byte) return false;
  scanner->at++;
  return true;
}

static void skip_space(struct scanner *scanner) {
  for (;;) {
    int byte = peek(scanner);
    if (byte != ' ' && byte != '\t' && byte != '\n' && byte != '\r') return;
    scanner->at++;
  }
}

static bool take_word(struct scanner *scanner, const char *word) {
  for (; *word != '\0'; word++)
    if (!take(scanner, *word)) return false;
  return true;
}

static bool is_digit(int byte) {
  return byte >= '0' && byte <= '9';
}

static bool take_digits(struct scanner *scanner) {
  if (!is_digit(peek(scanner))) return false;
  while (is_digit(peek(scanner))) scanner->at++;
  return true;
}

static bool take_number(struct scanner *scanner) {
  take(scanner, '-');
  if (!take(scanner, '0') && !take_digits(scanner)) return false;
  if (take(scanner, '.') && !take_digits(scanner)) return false;
  if (take(scanner, 'e') || take(scanner, 'E')) {
    if (!take(scanner, '+')) take(scanner, '-');
    return take_digits(scanner);
  }
  return true;
}

static bool take_hex(struct scanner *scanner, uint32_t *code) {
  *code = 0;
  for (int digit = 0; digit < 4; digit++) {
    int byte = peek(scanner);
    uint32_t value;
    if (is_digit(byte)) value = (uint32_t)(byte - '0');
    else if (byte >= 'a' && byte <= 'f') value = (uint32_t)(byte - 'a' + 10);
    else if (byte >= 'A' && byte <= 'F') value = (uint32_t)(byte - 'A' + 10);
    else return false;
    *code = *code * 16 + value;
    scanner->at++;
  }
  return true;
}

/* Adds a character as UTF-8; half of a surrogate pair becomes U+FFFD. */
static void add_character(struct text *text, uint32_t code) {
  if (code >= 0xd800 && code < 0xe000) code = 0xfffd;
  if (code < 0x80) {
    add_byte(text, (unsigned char)code);
    return;
  }
  if (code < 0x800) {
    add_byte(text, (unsigned char)(0xc0 | code >> 6));
  } else {
    if (code < 0x10000) {
      add_byte(text, (unsigned char)(0xe0 | code >> 12));
    } else {
      add_byte(text, (unsigned char)(0xf0 | code >> 18));
      add_byte(text, (unsigned char)(0x80 | (code >> 12 & 0x3f)));
    }
    add_byte(text, (unsigned char)(0x80 | (code >> 6 & 0x3f)));
  }
  add_byte(text, (unsigned char)(0x80 | (code & 0x3f)));
}

/* After `\u`. */
static bool take_unicode(struct scanner *scanner, struct text *text) {
  uint32_t code;
  if (!take_hex(scanner, &code)) return false;
  if (code >= 0xd800 && code < 0xdc00) {
    struct scanner ahead = *scanner;
    uint32_t low;
    if (take_word(&ahead, "\\u") && take_hex(&ahead, &low) && low >= 0xdc00 && low < 0xe000) {
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      *scanner = ahead;
    }
  }
  add_character(text, code);
  return true;
}

/* Adds the content of a string to the text. */
static bool take_string(struct scanner *scanner, struct text *text) {
  static const char escapes[] = "\"\\/bfnrt";
  static const char meanings[] = "\"\\/\b\f\n\r\t";
  if (!take(scanner, '"')) return false;
  for (;;) {
    int byte = peek(scanner);
    if (byte < 0x20) return false;
    scanner->at++;
    if (byte == '"') return true;
    if (byte != '\\') {
      add_byte(text, (unsigned char)byte);
    } else if (take(scanner, 'u')) {
      if (!take_unicode(scanner, text)) return false;
    } else {
      int escape = peek(scanner);
      const char *found = escape > 0 ? strchr(escapes, escape) : NULL;
      if (found == NULL) return false;
      add_byte(text, (unsigned char)meanings[found - escapes]);
      scanner->at++;
    }
  }
}

/* A name of an object's field with its colon. */
static bool take_name(struct scanner *scanner, struct text *text) {
  skip_space(scanner);
  if (!take_string(scanner, text)) return false;
  skip_space(scanner);
  return take(scanner, ':');
}

static bool take_scalar(struct scanner *scanner) {
  struct text nowhere = {NULL, 0, 0};
  switch (peek(scanner)) {
    case '"': return take_string(scanner, &nowhere);
    case 't': return take_word(scanner, "true");
    case 'f': return take_word(scanner, "false");
    case 'n': return take_word(scanner, "null");
    default: return take_number(scanner);
  }
}

/* Any value. Keeps the open brackets in a list: no document may fill the stack. */
static bool take_value(struct scanner *scanner) {
  struct text nowhere = {NULL, 0, 0};
  char closing[JSON_MAX_DEPTH];
  size_t depth = 0;
  for (;;) {
    skip_space(scanner);
    int byte = peek(scanner);
    if (byte == '{' || byte == '[') {
      if (depth == JSON_MAX_DEPTH) return false;
      scanner->at++;
      closing[depth++] = byte == '{' ? '}' : ']';
      skip_space(scanner);
      if (peek(scanner) != closing[depth - 1]) {
        if (byte == '{' && !take_name(scanner, &nowhere)) return false;
        continue;
      }
    } else if (!take_scalar(scanner)) {
      return false;
    }
    /* After a value: it may end what contains it. */
    for (;;) {
      if (depth == 0) return true;
      skip_space(scanner);
      if (take(scanner, closing[depth - 1])) {
        depth--;
      } else if (take(scanner, ',')) {
        if (closing[depth - 1] == '}' && !take_name(scanner, &nowhere)) return false;
        break;
      } else {
        return false;
      }
    }
  }
}

static bool take_field(struct scanner *scanner, struct json_field *field) {
  skip_space(scanner);
  if (peek(scanner) != '"') {
    field->kind = peek(scanner) == 'n' ? JSON_ABSENT : JSON_OTHER;
    field->value[0] = '\0';
    return take_value(scanner);
  }
  /* One byte more than fits shows that a string does not. */
  struct text value = {field->value, sizeof field->value, 0};
  if (!take_string(scanner, &value)) return false;
  bool fits = value.length < value.size && memchr(field->value, '\0', value.length) == NULL;
  field->kind = fits ? JSON_STRING : JSON_OTHER;
  field->value[fits ? value.length : 0] = '\0';
  return true;
}

static struct json_field *find_field(struct json_field *fields, size_t count, const struct text *name) {
  for (size_t at = 0; at < count; at++)
    if (strlen(fields[at].name) == name->length &&
        memcmp(fields[at].name, name->bytes, name->length) == 0)
      return &fields[at];
  return NULL;
}

static bool take_object(struct scanner *scanner, struct json_field *fields, size_t count) {
  if (!take(scanner, '{')) return false;
  skip_space(scanner);
  if (take(scanner, '}')) return true;
  do {
    /* Longer than every name that is searched. */
    char bytes[64];
    struct text name = {bytes, sizeof bytes, 0};
    if (!take_name(scanner, &name)) return false;
    struct json_field *field = find_field(fields, count, &name);
    if (field == NULL ? !take_value(scanner) : !take_field(scanner, field)) return false;
    skip_space(scanner);
  } while (take(scanner, ','));
  return take(scanner, '}');
}

static void clear(struct json_field *fields, size_t count) {
  for (size_t at = 0; at < count; at++) {
    fields[at].kind = JSON_ABSENT;
    fields[at].value[0] = '\0';
  }
}

enum json_document json_scan(const char *bytes, size_t length, struct json_field *fields, size_t count) {
  struct scanner scanner = {(const unsigned char *)bytes, (const unsigned char *)bytes + length};
  clear(fields, count);
  skip_space(&scanner);
  bool is_object = peek(&scanner) == '{';
  bool is_valid = is_object ? take_object(&scanner, fields, count) : take_value(&scanner);
  skip_space(&scanner);
  if (!is_valid || scanner.at != scanner.end) {
    clear(fields, count);
    return JSON_INVALID;
  }
  return is_object ? JSON_OBJECT : JSON_NOT_OBJECT;
}
