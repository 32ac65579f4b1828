/** eBPF instructions (RFC 9669), as far as the programs of the agent need them, to bytes for the kernel. */

/** `r0` result, `r1` to `r5` arguments (lost in a call), `r6` to `r9` kept over calls, `r10` end of the stack. */
export type Register = 'r0' | 'r1' | 'r2' | 'r3' | 'r4' | 'r5' | 'r6' | 'r7' | 'r8' | 'r9' | 'r10';

/** Width of a load or store in bytes. */
export type Width = 1 | 2 | 4 | 8;

const widthCodes: Readonly<Record<Width, number>> = { 4: 0x00, 2: 0x08, 1: 0x10, 8: 0x18 };

const LOAD = 0x61;
const STORE_IMMEDIATE = 0x62;
const STORE_REGISTER = 0x63;
/** Of two instructions. */
const LOAD_LONG = 0x18;
/** Of `LOAD_LONG`: the number is the descriptor of a map. */
const MAP_FILE = 1;
const CALL = 0x85;
const EXIT = 0x95;
const JUMP = 0x05;
const ALU64 = 0x07;
const ALU32 = 0x04;
/** Added to an operation: the operand is a register. */
const FROM_REGISTER = 0x08;

/** Of 64 bits, in one step for all processors; the immediate 0 adds. */
const ATOMIC = 0xdb;

const operations = {
  add: 0x00,
  subtract: 0x10,
  multiply: 0x20,
  or: 0x40,
  and: 0x50,
  modulo: 0x90,
  move: 0xb0,
} as const;
const conditions = { equal: 0x15, notEqual: 0x55, greater: 0x25, hasAnyOf: 0x45 } as const;

type Operand = Register | number;

interface Jump {
  readonly at: number;
  readonly label: string;
}

const INSTRUCTION_LENGTH = 8;
const MAX_OFFSET = 0x7fff;

/** Jumps go forward only: the kernel then needs to prove no end of a loop. */
export class Assembler {
  readonly #code: Buffer[] = [];
  readonly #labels = new Map<string, number>();
  readonly #jumps: Jump[] = [];

  load(to: Register, width: Width, from: Register, offset: number): this {
    return this.#emit(LOAD | widthCodes[width], to, from, offset, 0);
  }

  store(width: Width, to: Register, offset: number, value: Operand): this {
    return typeof value === 'number'
      ? this.#emit(STORE_IMMEDIATE | widthCodes[width], to, 'r0', offset, value)
      : this.#emit(STORE_REGISTER | widthCodes[width], to, value, offset, 0);
  }

  /** 64 bits. */
  set(to: Register, value: Operand): this {
    return this.#operate(ALU64 | operations.move, to, value);
  }

  add(to: Register, value: Operand): this {
    return this.#operate(ALU64 | operations.add, to, value);
  }

  subtract(to: Register, value: Operand): this {
    return this.#operate(ALU64 | operations.subtract, to, value);
  }

  multiply(to: Register, value: Operand): this {
    return this.#operate(ALU64 | operations.multiply, to, value);
  }

  or(to: Register, value: Operand): this {
    return this.#operate(ALU64 | operations.or, to, value);
  }

  and(to: Register, value: Operand): this {
    return this.#operate(ALU64 | operations.and, to, value);
  }

  /** Adds 64 bits to memory that other processors may change at the same time. */
  addTo(to: Register, offset: number, value: Register): this {
    return this.#emit(ATOMIC, to, value, offset, 0);
  }

  /** Remainder of 32 bits without sign. */
  modulo(to: Register, value: Operand): this {
    return this.#operate(ALU32 | operations.modulo, to, value);
  }

  setLong(to: Register, value: bigint): this {
    const low = Number(BigInt.asIntN(32, value));
    this.#code.push(instruction(LOAD_LONG, to, 0, 0, low));
    return this.#emit(0, 'r0', 'r0', 0, Number(BigInt.asIntN(32, value >> 32n)));
  }

  /** Sets a register to a map. @param file descriptor of the map */
  map(to: Register, file: number): this {
    this.#code.push(instruction(LOAD_LONG, to, MAP_FILE, 0, file));
    return this.#emit(0, 'r0', 'r0', 0, 0);
  }

  call(helper: number): this {
    return this.#emit(CALL, 'r0', 'r0', 0, helper);
  }

  jump(label: string): this {
    this.#jumps.push({ at: this.#code.length, label });
    return this.#emit(JUMP, 'r0', 'r0', 0, 0);
  }

  /** Jumps if the comparison of 64 bits without sign holds. */
  jumpIf(left: Register, condition: keyof typeof conditions, right: Operand, label: string): this {
    this.#jumps.push({ at: this.#code.length, label });
    return this.#operate(conditions[condition], left, right);
  }

  label(name: string): this {
    this.#labels.set(name, this.#code.length);
    return this;
  }

  exit(): this {
    return this.#emit(EXIT, 'r0', 'r0', 0, 0);
  }

  /** The instructions. @throws RangeError for a jump without a target behind it */
  bytes(): Buffer {
    for (const { at, label } of this.#jumps) {
      const distance = (this.#labels.get(label) ?? -1) - at - 1;
      if (distance < 0 || distance > MAX_OFFSET) throw new RangeError(`jump to ${label}`);
      this.#code[at]!.writeInt16LE(distance, 2);
    }
    return Buffer.concat(this.#code);
  }

  #operate(code: number, to: Register, value: Operand): this {
    return typeof value === 'number'
      ? this.#emit(code, to, 'r0', 0, value)
      : this.#emit(code | FROM_REGISTER, to, value, 0, 0);
  }

  #emit(code: number, to: Register, from: Register, offset: number, immediate: number): this {
    this.#code.push(instruction(code, to, numberOf(from), offset, immediate));
    return this;
  }
}

function numberOf(register: Register): number {
  return Number(register.slice(1));
}

function instruction(
  code: number,
  to: Register,
  source: number,
  offset: number,
  immediate: number,
): Buffer {
  const bytes = Buffer.alloc(INSTRUCTION_LENGTH);
  bytes.writeUInt8(code, 0);
  bytes.writeUInt8((source << 4) | numberOf(to), 1);
  bytes.writeInt16LE(offset, 2);
  bytes.writeInt32LE(immediate | 0, 4);
  return bytes;
}
