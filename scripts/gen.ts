/**
 * Generates a `.gen.ts` from each `.proto` of the models: readonly interfaces of the canonical form,
 * the reflection, and a handle for each message and service. `--check` writes nothing and exits with 1
 * when a committed file differs.
 */
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import protobuf from 'protobufjs';

/** Imports of a `.proto` are relative to its folder. */
const folders = ['src/models', 'src/kubernetes/models'] as const;
const check = process.argv.includes('--check');

interface Parsed {
  readonly folder: string;
  /** Path in the folder. */
  readonly name: string;
  readonly imports: readonly string[];
  readonly package: string;
  readonly reflection: Readonly<Record<string, object>>;
  readonly types: readonly (protobuf.Type | protobuf.Enum | protobuf.Service)[];
}

type ProtoPath = Pick<Parsed, 'folder' | 'name'>;

const all = new protobuf.Root();
/** The file that declares a type, by full name of the type. */
const owners = new Map<string, Parsed>();

function parse({ folder, name }: ProtoPath): Parsed {
  const source = readFileSync(join(folder, name), 'utf8');
  const own = protobuf.parse(source, new protobuf.Root(), { keepCase: true });
  const reflection = own.root.toJSON().nested as Record<string, protobuf.AnyNestedObject>;
  all.addJSON(structuredClone(reflection));
  const types: Parsed['types'][number][] = [];
  const parsed: Parsed = {
    folder,
    name,
    imports: own.imports ?? [],
    package: own.package ?? '',
    reflection,
    types,
  };
  const visit = (space: protobuf.NamespaceBase): void => {
    for (const member of space.nestedArray) {
      const isType = member instanceof protobuf.Type || member instanceof protobuf.Enum;
      if (isType || member instanceof protobuf.Service) {
        owners.set(member.fullName.slice(1), parsed);
        types.push(all.lookup(member.fullName) as Parsed['types'][number]);
      }
      if (member instanceof protobuf.Namespace) visit(member);
    }
  };
  visit(own.root);
  return parsed;
}

/** `Interface.RxMode` of the package becomes `InterfaceRxMode`. */
function localName(file: Parsed, fullName: string): string {
  const prefix = file.package === '' ? '' : `${file.package}.`;
  return fullName.slice(1).slice(prefix.length).replaceAll('.', '');
}

/** Name of a type in `file`; records the import. */
function reference(file: Parsed, type: protobuf.ReflectionObject, uses: Uses): string {
  const owner = owners.get(type.fullName.slice(1));
  if (owner === undefined) throw new Error(`${file.name}: ${type.fullName} is not declared`);
  const name = localName(owner, type.fullName);
  if (owner === file) return name;
  if (!file.imports.includes(owner.name)) {
    throw new Error(`${file.name} uses ${type.fullName} but does not import "${owner.name}"`);
  }
  return uses.add(owner, name);
}

/** Imported names of a file; a name that two files declare is prefixed with the name of its file. */
class Uses {
  readonly byFile = new Map<Parsed, Map<string, string>>();
  readonly #taken: Set<string>;

  constructor(file: Parsed) {
    this.#taken = new Set(file.types.map((type) => localName(file, type.fullName)));
  }

  add(owner: Parsed, name: string): string {
    let names = this.byFile.get(owner);
    if (names === undefined) {
      names = new Map();
      this.byFile.set(owner, names);
    }
    let alias = names.get(name);
    if (alias === undefined) {
      alias = this.#taken.has(name) ? `${camel(owner.name, true)}${name}` : name;
      this.#taken.add(alias);
      names.set(name, alias);
    }
    return alias;
  }
}

function camel(path: string, upperFirst: boolean): string {
  const joined = path
    .replace(/\.proto$/, '')
    .replace(/[^A-Za-z0-9]+([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  return upperFirst ? joined.charAt(0).toUpperCase() + joined.slice(1) : joined;
}

const numbers = ['int32', 'sint32', 'sfixed32', 'uint32', 'fixed32', 'float', 'double'];
const longs = ['int64', 'sint64', 'sfixed64', 'uint64', 'fixed64'];

function fieldType(file: Parsed, field: protobuf.Field, uses: Uses): string {
  if (field.resolvedType !== null) return reference(file, field.resolvedType, uses);
  if (numbers.includes(field.type)) return 'number';
  if (longs.includes(field.type)) return 'Int64';
  if (field.type === 'bool') return 'boolean';
  if (field.options?.['debug_redact'] === true) return secretType(file, field);
  if (field.type === 'string' || field.type === 'bytes') return 'string';
  throw new Error(`${file.name}: no TypeScript type for ${field.fullName} (${field.type})`);
}

function secretType(file: Parsed, field: protobuf.Field): string {
  if (field.type === 'string' && !(field.repeated || field instanceof protobuf.MapField))
    return 'Secret';
  throw new Error(`${file.name}: ${field.fullName} must be one string to be secret`);
}

function comment(text: string | null, indent: string): string {
  if (text === null || text === '') return '';
  const lines = text.replaceAll('*/', '* /').split('\n');
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`;
}

function messageSource(file: Parsed, type: protobuf.Type, uses: Uses, texts: Texts): string {
  const name = localName(file, type.fullName);
  let body = '';
  for (const field of type.fieldsArray) {
    const plain = fieldType(file, field, uses);
    const explicit = field.partOf !== null && field.partOf !== undefined;
    const message = field.resolvedType instanceof protobuf.Type;
    body += comment(texts.get(field.fullName) ?? null, '  ');
    if (field instanceof protobuf.MapField) {
      body += `  readonly ${field.name}: Readonly<Record<string, ${plain}>>;\n`;
    } else if (field.repeated) {
      body += `  readonly ${field.name}: readonly ${plain}[];\n`;
    } else {
      body += `  readonly ${field.name}${explicit || message ? '?' : ''}: ${plain};\n`;
    }
  }
  const typeName = type.fullName.slice(1);
  return (
    `${comment(texts.get(type.fullName) ?? null, '')}export interface ${name} {\n${body}}\n` +
    `export const ${name}: MessageType<${name}> = messageType(file, '${typeName}');\n`
  );
}

function enumSource(file: Parsed, type: protobuf.Enum): string {
  const names = Object.keys(type.values).map((name) => `  | '${name}'`);
  return `export type ${localName(file, type.fullName)} =\n${names.join('\n')};\n`;
}

function serviceSource(file: Parsed, service: protobuf.Service, uses: Uses): string {
  const path = service.fullName.slice(1);
  const methods = service.methodsArray.map((method) => {
    method.resolve();
    if (method.resolvedRequestType === null || method.resolvedResponseType === null) {
      throw new Error(`${file.name}: types of ${method.fullName} are not declared`);
    }
    const request = reference(file, method.resolvedRequestType, uses);
    const response = reference(file, method.resolvedResponseType, uses);
    return (
      `  ${method.name}: {\n    path: '/${path}/${method.name}',\n    request: ${request},\n` +
      `    response: ${response},\n    requestStream: ${method.requestStream === true},\n` +
      `    responseStream: ${method.responseStream === true},\n  },\n`
    );
  });
  return `export const ${localName(file, service.fullName)}Service = {\n${methods.join('')}} as const;\n`;
}

/** Comments of types and fields by full name; the parser keeps them only in a special mode. */
type Texts = Map<string, string>;

function comments({ folder, name }: ProtoPath): Texts {
  const source = readFileSync(join(folder, name), 'utf8');
  const options = { keepCase: true, alternateCommentMode: true };
  const { root } = protobuf.parse(source, new protobuf.Root(), options);
  const texts: Texts = new Map();
  const visit = (object: protobuf.ReflectionObject): void => {
    if (object.comment !== null && object.comment !== undefined && object.comment !== '') {
      texts.set(object.fullName, object.comment);
    }
    if (object instanceof protobuf.Type) for (const field of object.fieldsArray) visit(field);
    if (object instanceof protobuf.Namespace)
      for (const member of object.nestedArray) visit(member);
  };
  visit(root);
  return texts;
}

function source(file: Parsed): string {
  const uses = new Uses(file);
  const texts = comments(file);
  const parts: string[] = [];
  // services name the handles of messages, which must precede them
  const services: string[] = [];
  for (const type of file.types) {
    if (type instanceof protobuf.Enum) parts.push(enumSource(file, type));
    else if (type instanceof protobuf.Service) services.push(serviceSource(file, type, uses));
    else parts.push(messageSource(file, type, uses, texts));
  }
  const body = [...parts, ...services].join('\n');
  const from = (target: string): string => {
    const path = relative(dirname(file.name), target).replaceAll('\\', '/');
    return path.startsWith('.') ? path : `./${path}`;
  };
  const messageModule = file.folder === 'src/models' ? from('message.ts') : '#models/message.ts';
  let head = `// Made from ${file.name} by \`npm run gen\`; do not edit.\n`;
  const machinery = [
    ...(/\bInt64\b/.test(body) ? ['type Int64'] : []),
    ...(/\bmessageType\(/.test(body) ? ['type MessageType', 'messageType'] : []),
    'type ProtoFile',
  ].sort((a, b) => (a.replace('type ', '') < b.replace('type ', '') ? -1 : 1));
  head += `import { ${machinery.join(', ')} } from '${messageModule}';\n`;
  if (/: Secret;/.test(body))
    head += `import type { Secret } from '${messageModule.replace('message.ts', 'secret.ts')}';\n`;
  for (const imported of file.imports) {
    const module = from(imported.replace(/\.proto$/, '.gen.ts'));
    const owner = [...uses.byFile.keys()].find((each) => each.name === imported);
    const names = [...(owner === undefined ? [] : (uses.byFile.get(owner) ?? []))];
    const used = names.map(([name, alias]) => {
      const asValue = new RegExp(`: ${alias},`).test(body) ? '' : 'type ';
      return `, ${asValue}${name === alias ? name : `${name} as ${alias}`}`;
    });
    head += `import { file as ${camel(imported, false)}File${used.join('')} } from '${module}';\n`;
  }
  const imports = file.imports.map((imported) => `${camel(imported, false)}File`).join(', ');
  const described = JSON.stringify(file.reflection, null, 1).replace(/\n */g, ' ');
  return (
    `${head}\nexport const file: ProtoFile = {\n  name: '${file.name}',\n` +
    `  imports: [${imports}],\n  nested: ${described},\n};\n${body === '' ? '' : `\n${body}`}`
  );
}

const paths = folders.flatMap((folder) =>
  globSync('**/*.proto', { cwd: folder })
    .sort()
    .map((name) => ({ folder, name })),
);
const files = paths.map(parse);
all.resolveAll();
let stale = 0;
for (const file of files) {
  const path = join(file.folder, file.name.replace(/\.proto$/, '.gen.ts'));
  const made = source(file);
  if (existsSync(path) && readFileSync(path, 'utf8') === made) continue;
  stale++;
  if (check) console.error(`${path} differs from ${file.name}: run npm run gen`);
  else writeFileSync(path, made);
}
const orphans = folders
  .flatMap((folder) => globSync('**/*.gen.ts', { cwd: folder }).map((path) => join(folder, path)))
  .filter((path) => !existsSync(path.replace(/\.gen\.ts$/, '.proto')));
for (const orphan of orphans) console.error(`${orphan} has no .proto`);
if (check && stale + orphans.length > 0) process.exitCode = 1;
