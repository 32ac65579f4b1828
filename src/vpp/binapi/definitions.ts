/**
 * VPP's API definitions in the format of VPP (`*.api.json`). Type names are unique within a
 * release, so the files are merged into one set.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * `[type, name]`, then for an array its length (0: given by the count field, or by a string's own
 * length) and the name of the count field; then options.
 */
export type FieldDefinition = readonly [string, string, ...(number | string | FieldOptions)[]];

export interface FieldOptions {
  readonly default?: number | string | boolean;
  /** Of a union: the sibling field that selects the member. */
  readonly discriminator?: string;
  /** Of a member of a union: the enum value that selects this member. */
  readonly case?: string;
}

/** A name, then fields; at the end there may be options. */
export type TypeDefinition = readonly [string, ...(FieldDefinition | object)[]];

/** A name, then `[name, value]` pairs, then the base type. */
export type EnumDefinition = readonly [string, ...((string | number)[] | { enumtype: string })[]];

/** A name, then fields, then the CRC. */
export type MessageDefinition = readonly [string, ...(FieldDefinition | { crc: string })[]];

export interface ServiceDefinition {
  /** Name of the reply; of the details for a dump; 'null' when there is no answer. */
  readonly reply: string;
  readonly stream?: boolean;
  /** Name of the details of a cursor stream, whose `reply` carries the cursor. */
  readonly stream_msg?: string;
  readonly events?: readonly string[];
}

export interface Definitions {
  readonly types: readonly TypeDefinition[];
  readonly unions: readonly TypeDefinition[];
  readonly enums: readonly EnumDefinition[];
  readonly enumflags: readonly EnumDefinition[];
  readonly aliases: Readonly<Record<string, { readonly type: string; readonly length?: number }>>;
  readonly messages: readonly MessageDefinition[];
  readonly services: Readonly<Record<string, ServiceDefinition>>;
}

/** The fields of a type or message definition, without its name and options. */
export function fieldsOf(definition: TypeDefinition | MessageDefinition): FieldDefinition[] {
  return definition.slice(1).filter((part): part is FieldDefinition => Array.isArray(part));
}

export function crcOf(message: MessageDefinition): string {
  const { crc } = message.at(-1) as { crc: string };
  return crc.replace(/^0x/, '');
}

export function enumOf(definition: EnumDefinition): {
  readonly name: string;
  readonly base: string;
  readonly values: readonly (readonly [string, number])[];
} {
  const base = (definition.at(-1) as { enumtype: string }).enumtype;
  return { name: definition[0], base, values: definition.slice(1, -1) as [string, number][] };
}

/** `vl_api_address_t` is called `address` in the definitions. */
export function typeName(written: string): string {
  return written.replace(/^vl_api_(.*)_t$/, '$1');
}

/** Merges the contents of several files into one set. */
export function mergeDefinitions(files: readonly Definitions[]): Definitions {
  const unique = <T extends readonly [string, ...unknown[]]>(
    pick: (file: Definitions) => readonly T[],
  ): T[] => [...new Map(files.flatMap((file) => pick(file).map((d) => [d[0], d]))).values()];
  return {
    types: unique((file) => file.types),
    unions: unique((file) => file.unions),
    enums: unique((file) => file.enums),
    enumflags: unique((file) => file.enumflags),
    aliases: Object.assign({}, ...files.map((file) => file.aliases)),
    messages: unique((file) => file.messages),
    services: Object.assign({}, ...files.map((file) => file.services)),
  };
}

/** Reads all `*.api.json` below a folder, as VPP installs them in /usr/share/vpp/api. */
export async function readDefinitions(folder: string): Promise<Definitions> {
  const names = await readdir(folder, { recursive: true });
  const files = names.filter((name) => name.endsWith('.api.json')).sort();
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
  return mergeDefinitions(texts.map((text) => JSON.parse(text) as Definitions));
}
