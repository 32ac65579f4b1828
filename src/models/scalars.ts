/** Protobuf's scalar types: how JSON data is read into the canonical form and written from it. */
import { FieldProblem, shown } from './problem.ts';

export interface Kind {
  /** The value that stands for "not set"; undefined for messages. */
  readonly zero: unknown;
  /** @throws FieldProblem */
  readonly read: (input: unknown) => unknown;
  readonly write: (value: unknown) => unknown;
  /** Of map keys, which are always text in JSON; default: `read`. */
  readonly readKey?: (text: string) => unknown;
}

const same = (value: unknown): unknown => value;

const text: Kind = {
  zero: '',
  read: (input) => {
    if (typeof input !== 'string') throw new FieldProblem(`expected text, found ${shown(input)}`);
    if (!input.isWellFormed()) throw new FieldProblem('text is not valid Unicode');
    return input;
  },
  write: same,
};

const bool: Kind = {
  zero: false,
  read: (input) => {
    if (typeof input === 'boolean') return input;
    throw new FieldProblem(`expected true or false, found ${shown(input)}`);
  },
  write: same,
  readKey: (key) => {
    if (key === 'true' || key === 'false') return key;
    throw new FieldProblem(`expected true or false, found ${shown(key)}`);
  },
};

const BASE64 = /^(?:[A-Za-z0-9+/_-]{4})*(?:[A-Za-z0-9+/_-]{2}(?:==)?|[A-Za-z0-9+/_-]{3}=?)?$/;

/** Accepts the two base64 alphabets and raw bytes; kept as standard base64 with padding. */
const bytes: Kind = {
  zero: '',
  read: (input) => {
    if (input instanceof Uint8Array) return Buffer.from(input).toString('base64');
    if (typeof input === 'string' && BASE64.test(input)) {
      return Buffer.from(input, 'base64').toString('base64');
    }
    throw new FieldProblem(`expected base64, found ${shown(input)}`);
  },
  write: same,
};

function integer(min: number, max: number): Kind {
  return {
    zero: 0,
    read: (input) => {
      const value = typeof input === 'string' && WHOLE_NUMBER.test(input) ? Number(input) : input;
      if (typeof value !== 'number' || !Number.isInteger(value)) {
        throw new FieldProblem(`expected a whole number, found ${shown(input)}`);
      }
      if (value < min || value > max) {
        throw new FieldProblem(`${value} is not between ${min} and ${max}`);
      }
      return value === 0 ? 0 : value;
    },
    write: same,
  };
}

const WHOLE_NUMBER = /^-?\d{1,20}$/;

/** JSON numbers beyond the safe integers have lost digits already: only text may carry those. */
function long(min: bigint, max: bigint): Kind {
  return {
    zero: 0,
    read: (input) => {
      const value = wide(input);
      if (value < min || value > max) {
        throw new FieldProblem(`${value} is not between ${min} and ${max}`);
      }
      const small = Number(value);
      return Number.isSafeInteger(small) ? small : value;
    },
    write: (value) => String(value),
  };
}

function wide(input: unknown): bigint {
  if (typeof input === 'bigint') return input;
  if (typeof input === 'string' && WHOLE_NUMBER.test(input)) return BigInt(input);
  if (typeof input === 'number' && Number.isSafeInteger(input)) return BigInt(input);
  throw new FieldProblem(`expected a whole number (as text beyond 2^53), found ${shown(input)}`);
}

const named: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
};

function float(round: (value: number) => number): Kind {
  return {
    zero: 0,
    read: (input) => {
      const value = typeof input === 'string' ? floatText(input) : input;
      if (typeof value !== 'number') {
        throw new FieldProblem(`expected a number, found ${shown(input)}`);
      }
      return round(value);
    },
    write: (value) => (Number.isFinite(value) ? value : String(value)),
  };
}

function floatText(input: string): number {
  const value = named[input] ?? (input.trim() === '' ? Number.NaN : Number(input));
  if (Number.isNaN(value) && input !== 'NaN') {
    throw new FieldProblem(`expected a number, found ${shown(input)}`);
  }
  return value;
}

const int32 = integer(-(2 ** 31), 2 ** 31 - 1);
const uint32 = integer(0, 2 ** 32 - 1);
const int64 = long(-(2n ** 63n), 2n ** 63n - 1n);
const uint64 = long(0n, 2n ** 64n - 1n);

const kinds: Readonly<Record<string, Kind>> = {
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

export function scalarKind(type: string): Kind {
  const kind = kinds[type];
  // the generator has resolved every type name; what arrives here is a scalar
  if (kind === undefined) throw new TypeError(`no scalar type ${type}`);
  return kind;
}
