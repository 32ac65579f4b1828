import {
  type Definitions,
  enumOf,
  type FieldDefinition,
  type FieldOptions,
  fieldsOf,
  type MessageDefinition,
  type TypeDefinition,
  typeName,
} from '../definitions.ts';

const NOTICE =
  '// Made by scripts/gen-binapi.ts from the definitions of VPP. Do not edit: change used.ts.\n';

/** Filled in by the connection, so callers never see them. */
const headerFields = new Set(['_vl_msg_id', 'client_index', 'context']);

const primitives: Readonly<Record<string, string>> = {
  u8: 'number',
  i8: 'number',
  u16: 'number',
  i16: 'number',
  u32: 'number',
  i32: 'number',
  u64: 'bigint',
  i64: 'bigint',
  f64: 'number',
  bool: 'boolean',
  string: 'string',
};

/** `ip_route_add_del` is called `IpRouteAddDel`. */
export function pascal(name: string): string {
  return name
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

/** Text of enums.gen.ts: the values of every enum, under VPP's own names. */
export function enumsText(definitions: Definitions): string {
  const parts = [...definitions.enums, ...definitions.enumflags].map((definition) => {
    const { name, base, values } = enumOf(definition);
    const rows = values.map(([key, value]) => `  ${key}: ${value},\n`).join('');
    return `/** \`${name}\`, ${base} */\nexport const ${pascal(name)} = {\n${rows}} as const;\nexport type ${pascal(name)} = number;\n`;
  });
  return [NOTICE, ...parts].join('\n');
}

/** Text of messages.gen.ts: the types of messages and what they are made of. */
export function messagesText(definitions: Definitions, session: readonly string[]): string {
  const byName = new Map(definitions.messages.map((message) => [message[0], message]));
  const enumNames = [...definitions.enums, ...definitions.enumflags].map((e) => pascal(e[0]));
  const parts = [
    ...Object.entries(definitions.aliases).map(([name, alias]) => aliasText(name, alias)),
    ...definitions.types.map((type) => interfaceText(type[0], structFields(type))),
    ...definitions.unions.map((union) => unionText(definitions, union)),
  ];
  const requests: string[] = [];
  const dumps: string[] = [];
  const events: string[] = [];
  const made = new Set<string>();
  const message = (
    name: string,
    optional: 'defaults' | 'none',
    leaveOut: readonly string[] = [],
  ) => {
    if (!made.has(name))
      parts.push(interfaceText(name, messageFields(byName.get(name)!, optional, leaveOut)));
    made.add(name);
    return pascal(name);
  };
  for (const [name, service] of Object.entries(definitions.services)) {
    if (session.includes(name)) continue;
    for (const event of service.events ?? [])
      events.push(`  readonly ${event}: ${message(event, 'none')};\n`);
    if (service.stream) {
      const cursor = service.stream_msg === undefined ? [] : ['cursor'];
      const request = message(name, 'defaults', cursor);
      const details = message(service.stream_msg ?? service.reply, 'none');
      dumps.push(
        `  readonly ${name}: { readonly request: ${request}; readonly details: ${details} };\n`,
      );
    } else {
      const request = message(name, 'defaults');
      const reply = message(service.reply, 'none');
      requests.push(
        `  readonly ${name}: { readonly request: ${request}; readonly reply: ${reply} };\n`,
      );
    }
  }
  return [
    NOTICE,
    `import type {\n${enumNames.map((name) => `  ${name},\n`).join('')}} from './enums.gen.ts';\n`,
    ...parts,
    `/** Answered by one reply. */\nexport interface Requests {\n${requests.join('')}}\n`,
    `/** Answered by any number of details. */\nexport interface Dumps {\n${dumps.join('')}}\n`,
    `export interface EventsByName {\n${events.join('')}}\n`,
  ].join('\n');
}

function aliasText(name: string, alias: { type: string; length?: number }): string {
  const array = alias.length === undefined ? '' : `/** ${alias.length} bytes */\n`;
  if (alias.length !== undefined && alias.type !== 'u8')
    throw new Error(`alias ${name}: an array of ${alias.type} has no type yet`);
  const type = alias.length === undefined ? plainType(alias.type) : 'Uint8Array';
  return `${array}export type ${pascal(name)} = ${type};\n`;
}

function interfaceText(name: string, fields: readonly string[]): string {
  if (fields.length === 0)
    return `export type ${pascal(name)} = Readonly<Record<string, never>>;\n`;
  return `export interface ${pascal(name)} {\n${fields.join('')}}\n`;
}

/** Plain bytes for a union of byte arrays; otherwise an object with the member that is meant. */
function unionText(definitions: Definitions, union: TypeDefinition): string {
  const members = fieldsOf(union);
  const name = pascal(union[0]);
  const lengths = members.map(([type]) => {
    const alias = definitions.aliases[typeName(type)];
    return alias?.type === 'u8' ? alias.length : undefined;
  });
  if (lengths.every((length) => length !== undefined)) {
    const doc = `/** ${lengths.join(' or ')} bytes; decoded always ${Math.max(...lengths)} */\n`;
    return `${doc}export type ${name} = Uint8Array;\n`;
  }
  const options = members.map((member) => `  | { readonly ${member[1]}: ${fieldType(member)} }\n`);
  const doc = '/** One member; raw bytes when a decoded message does not say which. */\n';
  return `${doc}export type ${name} =\n${options.join('')}  | Uint8Array;\n`;
}

function structFields(type: TypeDefinition): string[] {
  const fields = fieldsOf(type);
  const counts = countNames(fields);
  return fields.filter(([, name]) => !counts.has(name)).map((field) => fieldText(field, false));
}

function messageFields(
  message: MessageDefinition,
  optional: 'defaults' | 'none',
  leaveOut: readonly string[],
): string[] {
  const fields = fieldsOf(message);
  const counts = countNames(fields);
  return fields
    .filter(([, name]) => !counts.has(name) && !headerFields.has(name) && !leaveOut.includes(name))
    .map((field) => fieldText(field, optional === 'defaults'));
}

/** The codec keeps them: an array says its own length. */
function countNames(fields: readonly FieldDefinition[]): Set<unknown> {
  return new Set(fields.filter((field) => field[2] === 0).map((field) => field[3]));
}

function fieldText(field: FieldDefinition, defaultsOptional: boolean): string {
  const [, name] = field;
  const options = field.find((part): part is FieldOptions => typeof part === 'object');
  const value = options?.default;
  const comment = [
    arrayComment(field),
    ...(value !== undefined && defaultsOptional ? [`default ${String(value).toLowerCase()}`] : []),
  ].filter((part) => part !== '');
  const doc = comment.length === 0 ? '' : `  /** ${comment.join(', ')} */\n`;
  const mark = value !== undefined && defaultsOptional ? '?' : '';
  return `${doc}  readonly ${name}${mark}: ${fieldType(field)};\n`;
}

function arrayComment([type, , length]: FieldDefinition): string {
  if (typeof length !== 'number' || length === 0) return '';
  if (type === 'string') return `at most ${length - 1} bytes`;
  return type === 'u8' ? `${length} bytes` : `${length} elements; empty for all zero`;
}

function fieldType([type, , length]: FieldDefinition): string {
  if (typeof length !== 'number' || type === 'string') return plainType(type);
  return type === 'u8' ? 'Uint8Array' : `readonly ${plainType(type)}[]`;
}

function plainType(written: string): string {
  const name = typeName(written);
  if (name !== written) return pascal(name);
  const primitive = primitives[written];
  if (!primitive) throw new Error(`no type is called ${written}`);
  return primitive;
}
