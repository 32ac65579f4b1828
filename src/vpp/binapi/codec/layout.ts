/**
 * Wire layout of values: the definitions with all type names resolved, from which the codec is
 * compiled. VPP packs all fields without padding in network byte order, except f64: its conversion
 * functions for f64 do nothing, so f64 has the (little endian) byte order of the machine.
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
  /** `string x[N]`, terminated by NUL */
  | { readonly kind: 'text'; readonly length: number }
  /** `string x[]`, preceded by a u32 length */
  | { readonly kind: 'longText' }
  | { readonly kind: 'array'; readonly of: Layout; readonly length: number }
  /** An array whose length is in an earlier field. */
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
  /** Whether all members are byte arrays: the value is then plain bytes. */
  readonly isBytes: boolean;
  readonly members: readonly MemberLayout[];
}

export interface MemberLayout {
  readonly name: string;
  readonly layout: Layout;
  /** Value of the discriminator that selects this member. */
  readonly case: number | undefined;
}

export interface FieldLayout {
  readonly name: string;
  readonly layout: Layout;
  /** Sent when the field is omitted; a field without a default is mandatory. */
  readonly default: number | bigint | boolean | undefined;
  /** Name of the array whose length this field holds: callers do not see such fields. */
  readonly countOf: string | undefined;
  /** The field of the same struct that selects the member of a union. */
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

/** Size in bytes; a variable-length part is not counted. */
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

/** Resolves type names to layouts; each type is resolved once. */
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

  /** @throws Error when a type is not defined, or a variable-size field is not the last one */
  message(definition: MessageDefinition): MessageLayout {
    return { ...this.#struct(definition), crc: crcOf(definition) };
  }

  #primitive(name: string): Layout {
    const layout = primitives[name];
    if (!layout) throw new Error(`no definition of type ${name}`);
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
    if (!base) throw new Error(`no definition of type ${name}`);
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
    if (typeof count !== 'string') throw new Error(`${field[1]}: array without a count field`);
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

/** In the definitions, the default of a bool is a text or a number. */
function defaultOf(layout: Layout, written: FieldOptions['default']): FieldLayout['default'] {
  if (written === undefined) return undefined;
  if (layout.kind === 'bool') return !/^(false|0)$/i.test(String(written));
  if (layout.kind === 'bigint') return BigInt(written);
  return Number(written);
}
