/**
 * Compiles a message layout to a function that decodes its fields. Lengths and counts in a message
 * are checked against the available bytes before they are used.
 *
 * Extra bytes after a variable-length part are ignored: VPP 26.06 allocates some messages by the
 * size of its own structures (nat44_lb_static_mapping_details: 5 extra bytes per local). A message
 * of fixed size must have exactly that size.
 */

import { isByte } from './encoder.ts';
import { withPath } from './field-error.ts';
import {
  type FieldLayout,
  isFixed,
  type Layout,
  type MessageLayout,
  type NumberBase,
  type StructLayout,
  sizeOf,
  type UnionLayout,
} from './layout.ts';
import type { Reader } from './runtime.ts';
import * as runtime from './runtime.ts';

/**
 * Returns the fields of the message between `position` and `end`, without header fields.
 * @throws FieldError when the bytes are not a valid message
 */
export type Decode = (reader: Reader) => object;

const headerFields = new Set(['_vl_msg_id', 'client_index', 'context']);

const reads: Readonly<Record<NumberBase, (at: string) => string>> = {
  u8: (at) => `b[${at}]`,
  i8: (at) => `v.getInt8(${at})`,
  u16: (at) => `v.getUint16(${at})`,
  i16: (at) => `v.getInt16(${at})`,
  u32: (at) => `v.getUint32(${at})`,
  i32: (at) => `v.getInt32(${at})`,
};

export function compileDecoder(message: MessageLayout): Decode {
  const source = new Source();
  const fixed = sizeOf(message);
  const value = source.object(message.fields, (field) => headerFields.has(field.name));
  const text = `${source.functions.join('\n')}
return function decode(r) {
  const b = r.bytes, v = r.view, p = r.position;
  if (p + ${fixed} > r.end) throw runtime.tooShort();
  r.position = p + ${variableOffset(message)};
  const value = ${value};
  ${isFixed(message) ? 'if (r.position !== r.end) throw runtime.tooLong(r.end - r.position);' : ''}
  return value;
};`;
  return new Function('runtime', 'withPath', text)(runtime, withPath) as Decode;
}

class Source {
  readonly functions: string[] = [];
  readonly #structs = new Map<StructLayout, string>();
  #names = 0;

  /**
   * An expression for the object at `p`. `r.position` is at the start of the variable-size field,
   * which is always the last one, or after the object if there is none.
   */
  object(fields: readonly FieldLayout[], skip: (field: FieldLayout) => boolean): string {
    const offsets = new Map<string, string>();
    let offset = 0;
    for (const field of fields) {
      offsets.set(field.name, offset === 0 ? 'p' : `p + ${offset}`);
      offset += sizeOf(field.layout);
    }
    const numberAt = (name: string) => {
      const field = fields.find((other) => other.name === name);
      if (field?.layout.kind !== 'number') throw new Error(`${name} is not a number`);
      return reads[field.layout.base](offsets.get(name)!);
    };
    const members = fields
      .filter((field) => field.countOf === undefined && !skip(field))
      .map((field) => {
        const { layout, name } = field;
        const at = offsets.get(name)!;
        const key = JSON.stringify(name);
        if (layout.kind === 'counted')
          return `${key}: ${this.#counted(layout.of, key)}(r, ${numberAt(layout.count)})`;
        if (layout.kind === 'longText') return `${key}: runtime.getLongText(r, ${key})`;
        if (!isFixed(layout)) return `${key}: ${this.#variableStruct(layout, key)}(r)`;
        if (layout.kind === 'union' && field.discriminator !== undefined)
          return `${key}: ${this.#union(layout, at, numberAt(field.discriminator))}`;
        return `${key}: ${this.#fixed(layout, at)}`;
      });
    return `{${members.join(', ')}}`;
  }

  #fixed(layout: Layout, at: string): string {
    switch (layout.kind) {
      case 'number':
        return reads[layout.base](at);
      case 'bigint':
        return `v.getBig${layout.base === 'u64' ? 'Uint' : 'Int'}64(${at})`;
      case 'f64':
        return `v.getFloat64(${at}, true)`;
      case 'bool':
        return `b[${at}] !== 0`;
      case 'bytes':
        return `runtime.getBytes(b, ${at}, ${layout.length})`;
      case 'text':
        return `runtime.getText(b, ${at}, ${layout.length})`;
      case 'struct':
        return `${this.#struct(layout)}(r, ${at})`;
      case 'array':
        return `${this.#array(layout.of, layout.length)}(r, ${at})`;
      case 'union':
        return `runtime.getBytes(b, ${at}, ${layout.size})`;
      default:
        throw new Error(`${layout.kind} is not fixed`);
    }
  }

  /** Plain bytes if all members are bytes or the discriminator selects no member. */
  #union(layout: UnionLayout, at: string, discriminator: string): string {
    const raw = this.#fixed(layout, at);
    if (layout.isBytes) return raw;
    return layout.members
      .filter((member) => member.case !== undefined)
      .reduceRight((otherwise, member) => {
        const value = `{${JSON.stringify(member.name)}: ${this.#fixed(member.layout, at)}}`;
        return `${discriminator} === ${member.case} ? ${value} : ${otherwise}`;
      }, raw);
  }

  /** Name of `(r, p) => object` for a struct of fixed size; the caller has checked the length. */
  #struct(layout: StructLayout): string {
    let name = this.#structs.get(layout);
    if (name === undefined) {
      name = this.#name(layout.name);
      this.#structs.set(layout, name);
      const value = this.object(layout.fields, () => false);
      this.functions.push(
        `function ${name}(r, p) { const b = r.bytes, v = r.view; return ${value}; }`,
      );
    }
    return name;
  }

  /** Name of `(r) => object` for a struct with a variable-length part, starting at `r.position`. */
  #variableStruct(layout: Layout, label: string): string {
    if (layout.kind !== 'struct') throw new Error(`${layout.kind} is not variable`);
    const name = this.#name(layout.name);
    const value = this.object(layout.fields, () => false);
    this.functions.push(`function ${name}(r) {
try {
  const b = r.bytes, v = r.view, p = r.position;
  r.position = p + ${variableOffset(layout)};
  return ${value};
} catch (e) { throw withPath(e, ${label}); }
}`);
    return name;
  }

  /** Name of `(r, p) => array`. All-zero arrays of plain structs (most label stacks) are shared. */
  #array(of: Layout, length: number): string {
    const name = this.#name('array');
    const size = sizeOf(of);
    const start = 'const b = r.bytes, v = r.view;';
    const list = `const list = [];
for (let q = p; q < p + ${size * length}; q += ${size}) list.push(${this.#fixed(of, 'q')});`;
    if (isPlain(of))
      this.functions.push(`let zero_${name};
function ${name}(r, p) {
  ${start}
  const zero = runtime.isZero(r, p, ${size * length});
  if (zero && zero_${name} !== undefined) return zero_${name};
  ${list}
  return zero ? (zero_${name} = runtime.immutableList(list)) : list;
}`);
    else this.functions.push(`function ${name}(r, p) { ${start} ${list} return list; }`);
    return name;
  }

  /** Name of `(r, n) => array` for an array of n elements, starting at `r.position`. */
  #counted(of: Layout, label: string): string {
    const name = this.#name('counted');
    const size = sizeOf(of);
    const start = `if (n * ${size} > r.end - r.position) throw runtime.countTooLarge(${label}, n);
const b = r.bytes, v = r.view; let q = r.position; r.position += n * ${size};`;
    const list = isByte(of)
      ? 'return runtime.getBytes(b, q, n);'
      : `const list = [];
for (let i = 0; i < n; i++, q += ${size}) list.push(${this.#fixed(of, 'q')});
return list;`;
    this.functions.push(`function ${name}(r, n) { ${start}\n${list} }`);
    return name;
  }

  #name(prefix: string): string {
    return `${prefix}_${this.#names++}`;
  }
}

/** Offset of the variable-size field; the size of the struct if there is none. */
function variableOffset({ fields }: StructLayout): number {
  return fields
    .filter((field) => isFixed(field.layout))
    .reduce((sum, field) => sum + sizeOf(field.layout), 0);
}

/** Whether the layout is a struct of numbers and bools only. */
function isPlain(layout: Layout): boolean {
  return (
    layout.kind === 'struct' &&
    layout.fields.every(({ layout: { kind } }) => kind === 'number' || kind === 'bool')
  );
}
