/**
 * Keys with named parts, built and parsed by one template: `vpp/bd/{bd}/interface/{iface}`. Names may
 * contain slashes (`GigabitEthernet0/8/0`), so a part matches greedily unless it has a pattern.
 */

type Part<S extends string> = S extends `${string}{${infer P}}${infer Rest}`
  ? P | Part<Rest>
  : never;

export type KeyParts<S extends string> = Readonly<Record<Part<S>, string>>;

export interface KeyTemplate<S extends string> {
  /** Empty parts become `<invalid>`, as in the Go agent; repeated slashes are collapsed. */
  build(parts: Readonly<Record<Part<S>, string | number>>): string;
  /** Undefined for keys that do not match the template. */
  parse(key: string): KeyParts<S> | undefined;
  /** Common prefix of all keys with these first parts. */
  prefix(parts?: Readonly<Partial<Record<Part<S>, string | number>>>): string;
}

/** An empty part of a key. */
const MISSING = '<invalid>';

/** Whether a field that the key needs is not set: all such values have the same key. */
export function isIncompleteKey(key: string): boolean {
  return key.endsWith('/') || key.split('/').includes(MISSING);
}

/** @param patterns regular expressions (as strings, without groups) for parts; default `.+` */
export function keyTemplate<const S extends string>(
  template: S,
  patterns?: Readonly<Partial<Record<Part<S>, string>>>,
): KeyTemplate<S> {
  const pieces = template.split(/\{([^}]+)\}/);
  const names = pieces.filter((_, position) => position % 2 === 1) as Part<S>[];
  const expression = pieces
    .map((piece, position) =>
      position % 2 === 0 ? escaped(piece) : `(${patterns?.[piece as Part<S>] ?? '.+'})`,
    )
    .join('');
  const matcher = new RegExp(`^${expression}$`);
  const start = pieces[0] as string;
  return {
    build: (parts) => {
      let key = start;
      for (const [position, name] of names.entries()) {
        const value = parts[name];
        key += `${value === '' ? MISSING : value}${pieces[position * 2 + 2]}`;
      }
      return cleanKey(key);
    },
    parse: (key) => {
      if (!key.startsWith(start)) return undefined;
      const found = matcher.exec(key);
      if (found === null) return undefined;
      const parts = names.map((name, position) => [name, found[position + 1] as string] as const);
      return Object.fromEntries(parts) as KeyParts<S>;
    },
    prefix: (parts) => {
      let key = start;
      for (const [position, name] of names.entries()) {
        const value = parts?.[name];
        if (value === undefined) break;
        key += `${value}${pieces[position * 2 + 2]}`;
      }
      return key;
    },
  };
}

export function cleanKey(key: string): string {
  const single = key.includes('//') ? key.replace(/\/{2,}/g, '/') : key;
  return single.endsWith('/') ? single.slice(0, -1) : single;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^$()[\]\\|]/g, '\\$&');
}
