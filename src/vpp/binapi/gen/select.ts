import {
  type Definitions,
  fieldsOf,
  type MessageDefinition,
  type TypeDefinition,
  typeName,
} from '../definitions.ts';

/**
 * The definitions of the named requests, of their answers, and of all types in them. Sorted, so that
 * the same names give the same bundle.
 * @throws Error when a name or a type is not defined
 */
export function selectDefinitions(all: Definitions, names: readonly string[]): Definitions {
  const messages = new Map(all.messages.map((message) => [message[0], message]));
  const selectedNames = new Set<string>();
  for (const name of names) {
    selectedNames.add(name);
    const service = all.services[name];
    if (!service) throw new Error(`no definition of service ${name}`);
    for (const answer of [service.reply, service.stream_msg, ...(service.events ?? [])])
      if (answer !== undefined && answer !== 'null') selectedNames.add(answer);
  }
  const selected = [...selectedNames].sort().map((name): MessageDefinition => {
    const message = messages.get(name);
    if (!message) throw new Error(`no definition of message ${name}`);
    return message;
  });
  const types = usedTypes(all, selected);
  const isUsed = (definition: readonly [string, ...unknown[]]) => types.has(definition[0]);
  const byName = (a: readonly [string, ...unknown[]], b: readonly [string, ...unknown[]]) =>
    a[0] < b[0] ? -1 : 1;
  return {
    types: all.types.filter(isUsed).sort(byName),
    unions: all.unions.filter(isUsed).sort(byName),
    enums: all.enums.filter(isUsed).sort(byName),
    enumflags: all.enumflags.filter(isUsed).sort(byName),
    aliases: Object.fromEntries(
      Object.entries(all.aliases)
        .filter(([name]) => types.has(name))
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
    messages: selected,
    services: Object.fromEntries([...names].sort().map((name) => [name, all.services[name]!])),
  };
}

function usedTypes(all: Definitions, messages: readonly MessageDefinition[]): Set<string> {
  const structs = new Map([...all.types, ...all.unions].map((type) => [type[0], type]));
  const leaves = new Set([...all.enums, ...all.enumflags].map((definition) => definition[0]));
  const used = new Set<string>();
  const follow = (written: string): void => {
    const name = typeName(written);
    if (name === written || used.has(name)) return;
    used.add(name);
    const alias = all.aliases[name];
    const struct = structs.get(name);
    if (alias) follow(alias.type);
    else if (struct) followFields(struct);
    else if (!leaves.has(name)) throw new Error(`no definition of type ${name}`);
  };
  const followFields = (definition: TypeDefinition | MessageDefinition): void => {
    for (const field of fieldsOf(definition)) follow(field[0]);
  };
  messages.forEach(followFields);
  return used;
}

/** One definition per line, so that changes of the message list are readable in a diff. */
export function definitionsText(definitions: Definitions): string {
  const lines = (parts: readonly string[], open: string, close: string) =>
    parts.length === 0 ? `${open}${close}` : `${open}\n${parts.join(',\n')}\n${close}`;
  const list = (parts: readonly unknown[]) =>
    lines(
      parts.map((part) => JSON.stringify(part)),
      '[',
      ']',
    );
  const record = (parts: Readonly<Record<string, unknown>>) =>
    lines(
      Object.entries(parts).map(
        ([name, part]) => `${JSON.stringify(name)}:${JSON.stringify(part)}`,
      ),
      '{',
      '}',
    );
  const members = [
    `"types":${list(definitions.types)}`,
    `"unions":${list(definitions.unions)}`,
    `"enums":${list(definitions.enums)}`,
    `"enumflags":${list(definitions.enumflags)}`,
    `"aliases":${record(definitions.aliases)}`,
    `"messages":${list(definitions.messages)}`,
    `"services":${record(definitions.services)}`,
  ];
  return `{\n${members.join(',\n')}\n}\n`;
}
