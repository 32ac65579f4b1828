/**
 * How values lie on the wire: the definitions with every name resolved. VPP packs everything
 * without padding and in network byte order, f64 excepted: its conversion functions for f64 do
 * nothing, so f64 travels as the (little endian) machine has it. What the codec compiles from.
 */
import {
  crcOf,
  type Definitions,
  enumOf,
  type FieldDefinition,
  type FieldOptions,
  fieldsOf,
  type MessageDefinition,
  type TypeDefinition,
  typeName,
} from '../definitions.ts';

export type Layout =
  | { readonly kind: 'number'; readonly base: NumberBase }
  | { readonly kind: 'bigint'; readonly base: 'u64' | 'i64' }
  | { readonly kind: 'f64' }
  | { readonly kind: 'bool' }
  /** `u8 x[N]` */
  | { readonly kind: 'bytes'; readonly length: number }
  /** `string x[N]`, ended by a NUL */
  | { readonly kind: 'text'; readonly length: number }
  /** `string x[]`, a u32 length before it */
  | { readonly kind: 'longText' }
  | { readonly kind: 'array'; readonly of: Layout; readonly length: number }
  /** An array whose length stands in an earlier field. */
  | { readonly kind: 'counted'; readonly of: Layout; readonly count: string }
  | StructLayout
  | UnionLayout;

export type NumberBase = 'u8' | 'i8' | 'u16' | 'i16' | 'u32' | 'i32';

export interface StructLayout {
  readonly kind: 'struct';
  readonly name: string;
  readonly fields: readonly FieldLayout[];
}

export interface UnionLayout {
  readonly kind: 'union';
  readonly name: string;
  readonly size: number;
  /** All members are byte arrays: the value is plain bytes. */
  readonly isBytes: boolean;
  readonly members: readonly MemberLayout[];
}

export interface MemberLayout {
  readonly name: string;
  readonly layout: Layout;
  /** Value of the discriminator that means this member. */
  readonly case: number | undefined;
}

export interface FieldLayout {
  readonly name: string;
  readonly layout: Layout;
  /** Sent when the field is left out; without one the field must be given. */
  readonly default: number | bigint | boolean | undefined;
  /** Set when this field is only the length of that array: callers do not see it. */
  readonly countOf: string | undefined;
  /** The field of the same struct that says which member of a union is meant. */
  readonly discriminator: string | undefined;
}

export interface MessageLayout extends StructLayout {
  readonly crc: string;
}

const numbers: Readonly<Record<NumberBase, number>> = {
  u8: 1,
  i8: 1,
  u16: 2,
  i16: 2,
  u32: 4,
  i32: 4,
};

const primitives: Readonly<Record<string, Layout>> = {
  u8: { kind: 'number', base: 'u8' },
  i8: { kind: 'number', base: 'i8' },
  u16: { kind: 'number', base: 'u16' },
  i16: { kind: 'number', base: 'i16' },
  u32: { kind: 'number', base: 'u32' },
  i32: { kind: 'number', base: 'i32' },
  u64: { kind: 'bigint', base: 'u64' },
  i64: { kind: 'bigint', base: 'i64' },
  f64: { kind: 'f64' },
  bool: { kind: 'bool' },
};

/** Bytes on the wire; of a layout with a variable part, the bytes without that part. */
export function sizeOf(layout: Layout): number {
  switch (layout.kind) {
    case 'number':
      return numbers[layout.base];
    case 'bigint':
    case 'f64':
      return 8;
    case 'bool':
      return 1;
    case 'bytes':
    case 'text':
      return layout.length;
    case 'longText':
      return 4;
    case 'array':
      return sizeOf(layout.of) * layout.length;
    case 'counted':
      return 0;
    case 'struct':
      return layout.fields.reduce((sum, field) => sum + sizeOf(field.layout), 0);
    case 'union':
      return layout.size;
  }
}

export function isFixed(layout: Layout): boolean {
  if (layout.kind === 'longText' || layout.kind === 'counted') return false;
  if (layout.kind === 'array') return isFixed(layout.of);
  if (layout.kind === 'struct') return layout.fields.every((field) => isFixed(field.layout));
  return true;
}

/** Resolves names of types to layouts; each type once. */
export class Layouts {
  readonly #structs: ReadonlyMap<string, TypeDefinition>;
  readonly #unions: ReadonlyMap<string, TypeDefinition>;
  readonly #enums = new Map<string, Layout>();
  readonly #cases = new Map<string, number>();
  readonly #aliases: Definitions['aliases'];
  readonly #known = new Map<string, Layout>();

  constructor(definitions: Definitions) {
    this.#structs = new Map(definitions.types.map((type) => [type[0], type]));
    this.#unions = new Map(definitions.unions.map((type) => [type[0], type]));
    this.#aliases = definitions.aliases;
    for (const definition of [...definitions.enums, ...definitions.enumflags]) {
      const { name, base, values } = enumOf(definition);
      this.#enums.set(name, this.#primitive(base));
      for (const [key, value] of values) this.#cases.set(key, value);
    }
  }

  /** @throws Error when a type is not defined, or a variable part stands where none may be */
  message(definition: MessageDefinition): MessageLayout {
    return { ...this.#struct(definition), crc: crcOf(definition) };
  }

  #primitive(name: string): Layout {
    const layout = primitives[name];
    if (!layout) throw new Error(`no type is called ${name}`);
    return layout;
  }

  #resolve(written: string): Layout {
    const name = typeName(written);
    if (name === written) return this.#primitive(name);
    let layout = this.#known.get(name);
    if (!layout) {
      layout = this.#make(name);
      this.#known.set(name, layout);
    }
    return layout;
  }

  #make(name: string): Layout {
    const alias = this.#aliases[name];
    if (alias) {
      const of = this.#resolve(alias.type);
      return alias.length === undefined ? of : arrayOf(of, alias.length);
    }
    const union = this.#unions.get(name);
    if (union) return this.#union(union);
    const struct = this.#structs.get(name);
    if (struct) return this.#struct(struct);
    const base = this.#enums.get(name);
    if (!base) throw new Error(`no type is called ${name}`);
    return base;
  }

  #struct(definition: TypeDefinition | MessageDefinition): StructLayout {
    const fields = fieldsOf(definition);
    const countOf = new Map(
      fields.filter((field) => field[2] === 0).map(([, name, , count]) => [count, name]),
    );
    const layouts = fields.map((field, position): FieldLayout => {
      const options = field.find((part): part is FieldOptions => typeof part === 'object');
      const layout = this.#field(field);
      if (!isFixed(layout) && position !== fields.length - 1)
        throw new Error(`${definition[0]}.${field[1]} is variable but not the last field`);
      return {
        name: field[1],
        layout,
        default: defaultOf(layout, options?.default),
        countOf: countOf.get(field[1]),
        discriminator: options?.discriminator,
      };
    });
    return { kind: 'struct', name: definition[0], fields: layouts };
  }

  #field(field: FieldDefinition): Layout {
    const [type, , length, count] = field;
    if (type === 'string')
      return typeof length === 'number' && length > 0
        ? { kind: 'text', length }
        : { kind: 'longText' };
    const of = this.#resolve(type);
    if (typeof length !== 'number') return of;
    if (!isFixed(of)) throw new Error(`${field[1]}: elements of variable size`);
    if (length > 0) return arrayOf(of, length);
    if (typeof count !== 'string') throw new Error(`${field[1]}: nothing says how long it is`);
    return { kind: 'counted', of, count };
  }

  #union(definition: TypeDefinition): UnionLayout {
    const members = fieldsOf(definition).map((field): MemberLayout => {
      const options = field.find((part): part is FieldOptions => typeof part === 'object');
      const layout = this.#field(field);
      if (!isFixed(layout)) throw new Error(`${definition[0]}.${field[1]} is variable`);
      const name = options?.case;
      return {
        name: field[1],
        layout,
        case: name === undefined ? undefined : this.#cases.get(name),
      };
    });
    return {
      kind: 'union',
      name: definition[0],
      size: Math.max(...members.map((member) => sizeOf(member.layout))),
      isBytes: members.every((member) => member.layout.kind === 'bytes'),
      members,
    };
  }
}

function arrayOf(of: Layout, length: number): Layout {
  const isByte = of.kind === 'number' && of.base === 'u8';
  return isByte ? { kind: 'bytes', length } : { kind: 'array', of, length };
}

/** The definitions write the default of a bool as text or as a number. */
function defaultOf(layout: Layout, written: FieldOptions['default']): FieldLayout['default'] {
  if (written === undefined) return undefined;
  if (layout.kind === 'bool') return !/^(false|0)$/i.test(String(written));
  if (layout.kind === 'bigint') return BigInt(written);
  return Number(written);
}
