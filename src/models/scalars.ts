/** Protobuf's scalar types: conversion between JSON data and the canonical form. */
import { describe, FieldError } from './field-error.ts';
import { Secret } from './secret.ts';

export interface ScalarCodec {
  /** The value that stands for "not set"; undefined for messages. */
  readonly zero: unknown;
  /**
   * @param unknown collects the names of unknown fields; undefined: they are an error
   * @throws FieldProblem
   */
  readonly read: (input: unknown, unknown?: string[]) => unknown;
  readonly write: (value: unknown) => unknown;
  /** For map keys, which are always strings in JSON; default: `read`. */
  readonly readKey?: (text: string) => unknown;
}

const same = (value: unknown): unknown => value;

const text: ScalarCodec = {
  zero: '',
  read: (input) => {
    if (typeof input !== 'string') throw new FieldError(`expected text, found ${describe(input)}`);
    if (!input.isWellFormed()) throw new FieldError('text is not valid Unicode');
    return input;
  },
  write: same,
};

/** A text that masks itself; errors do not show it either. */
export const secret: ScalarCodec = {
  zero: Secret.none,
  read: (input) => {
    if (input instanceof Secret)
      return input === Secret.none || input.reveal() !== '' ? input : Secret.none;
    if (typeof input !== 'string') throw new FieldError('expected text');
    if (!input.isWellFormed()) throw new FieldError('text is not valid Unicode');
    return input === '' ? Secret.none : new Secret(input);
  },
  // a value of a recording has the mask as a text
  write: (value) => (value === '' ? undefined : value),
};

const bool: ScalarCodec = {
  zero: false,
  read: (input) => {
    if (typeof input === 'boolean') return input;
    throw new FieldError(`expected true or false, found ${describe(input)}`);
  },
  write: same,
  readKey: (key) => {
    if (key === 'true' || key === 'false') return key;
    throw new FieldError(`expected true or false, found ${describe(key)}`);
  },
};

const BASE64 = /^(?:[A-Za-z0-9+/_-]{4})*(?:[A-Za-z0-9+/_-]{2}(?:==)?|[A-Za-z0-9+/_-]{3}=?)?$/;

/** Accepts both base64 alphabets and raw bytes; the canonical form is standard base64 with padding. */
const bytes: ScalarCodec = {
  zero: '',
  read: (input) => {
    if (input instanceof Uint8Array) return Buffer.from(input).toString('base64');
    if (typeof input === 'string' && BASE64.test(input)) {
      return Buffer.from(input, 'base64').toString('base64');
    }
    throw new FieldError(`expected base64, found ${describe(input)}`);
  },
  write: same,
};

function integer(min: number, max: number): ScalarCodec {
  return {
    zero: 0,
    read: (input) => {
      const value = typeof input === 'string' && WHOLE_NUMBER.test(input) ? Number(input) : input;
      if (typeof value !== 'number' || !Number.isInteger(value)) {
        throw new FieldError(`expected a whole number, found ${describe(input)}`);
      }
      if (value < min || value > max) {
        throw new FieldError(`${value} is not between ${min} and ${max}`);
      }
      return value === 0 ? 0 : value;
    },
    write: same,
  };
}

const WHOLE_NUMBER = /^-?\d{1,20}$/;

/** JSON numbers beyond the safe integers have lost digits, so such values must be strings. */
function long(min: bigint, max: bigint): ScalarCodec {
  return {
    zero: 0,
    read: (input) => {
      const value = toBigInt(input);
      if (value < min || value > max) {
        throw new FieldError(`${value} is not between ${min} and ${max}`);
      }
      const small = Number(value);
      return Number.isSafeInteger(small) ? small : value;
    },
    write: (value) => String(value),
  };
}

function toBigInt(input: unknown): bigint {
  if (typeof input === 'bigint') return input;
  if (typeof input === 'string' && WHOLE_NUMBER.test(input)) return BigInt(input);
  if (typeof input === 'number' && Number.isSafeInteger(input)) return BigInt(input);
  throw new FieldError(`expected a whole number (as text beyond 2^53), found ${describe(input)}`);
}

const specialNumbers: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
};

function float(round: (value: number) => number): ScalarCodec {
  return {
    zero: 0,
    read: (input) => {
      const value = typeof input === 'string' ? floatText(input) : input;
      if (typeof value !== 'number') {
        throw new FieldError(`expected a number, found ${describe(input)}`);
      }
      return round(value);
    },
    write: (value) => (Number.isFinite(value) ? value : String(value)),
  };
}

function floatText(input: string): number {
  const value = specialNumbers[input] ?? (input.trim() === '' ? Number.NaN : Number(input));
  if (Number.isNaN(value) && input !== 'NaN') {
    throw new FieldError(`expected a number, found ${describe(input)}`);
  }
  return value;
}

const int32 = integer(-(2 ** 31), 2 ** 31 - 1);
const uint32 = integer(0, 2 ** 32 - 1);
const int64 = long(-(2n ** 63n), 2n ** 63n - 1n);
const uint64 = long(0n, 2n ** 64n - 1n);

const scalarCodecs: Readonly<Record<string, ScalarCodec>> = {
  string: text,
  bool,
  bytes,
  int32,
  sint32: int32,
  sfixed32: int32,
  uint32,
  fixed32: uint32,
  int64,
  sint64: int64,
  sfixed64: int64,
  uint64,
  fixed64: uint64,
  float: float(Math.fround),
  double: float((value) => value),
};

export function scalarCodec(type: string): ScalarCodec {
  const kind = scalarCodecs[type];
  // the generator has resolved all type names; only scalars remain
  if (kind === undefined) throw new TypeError(`unknown scalar type ${type}`);
  return kind;
}
