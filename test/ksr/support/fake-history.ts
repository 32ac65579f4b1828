/** An object as tests write it; the server adds the resource version. */
export interface FakeObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

export interface RecordedChange {
  readonly revision: number;
  readonly path: string;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: FakeObject;
}

/** The rest of a list that was read in part, as of its beginning. */
interface Snapshot {
  readonly revision: number;
  readonly rest: readonly FakeObject[];
}

/** The database of the fake API server: objects, revisions, and the changes that led to them. */
export class FakeHistory {
  readonly #kinds = new Map<string, Map<string, FakeObject>>();
  readonly #snapshots = new Map<string, Snapshot>();
  #changes: RecordedChange[] = [];
  #revision = 100;
  #compacted = 0;
  #tokens = 0;

  get revision(): number {
    return this.#revision;
  }

  has(path: string): boolean {
    return this.#kinds.has(path);
  }

  install(path: string): void {
    if (!this.has(path)) this.#kinds.set(path, new Map());
  }

  uninstall(path: string): void {
    this.#kinds.delete(path);
  }

  objects(path: string): FakeObject[] {
    return [...this.#kind(path).values()];
  }

  put(path: string, object: FakeObject): RecordedChange {
    const kind = this.#kind(path);
    const key = keyOf(object.metadata);
    const type = kind.has(key) ? 'MODIFIED' : 'ADDED';
    const stored = this.#numbered(object);
    kind.set(key, stored);
    return this.#record({ revision: this.#revision, path, type, object: stored });
  }

  delete(path: string, name: string, namespace?: string): RecordedChange | undefined {
    const kind = this.#kind(path);
    const key = keyOf({ name, namespace });
    const object = kind.get(key);
    if (!object) return undefined;
    kind.delete(key);
    const last = this.#numbered(object);
    return this.#record({ revision: this.#revision, path, type: 'DELETED', object: last });
  }

  compact(): void {
    this.#compacted = this.#revision;
    this.#changes = [];
  }

  restore(revision: number, objects: 'keep' | 'clear'): void {
    this.#revision = revision;
    this.#compacted = 0;
    this.#changes = [];
    this.#snapshots.clear();
    if (objects === 'clear') for (const kind of this.#kinds.values()) kind.clear();
  }

  /** Changes of a kind after a revision; undefined when they are compacted. */
  since(path: string, revision: number): RecordedChange[] | undefined {
    if (revision < this.#compacted) return undefined;
    return this.#changes.filter((change) => change.path === path && change.revision > revision);
  }

  /** A page of a list as JSON; undefined when the token has expired. */
  page(path: string, limit: number, token: string | undefined): string | undefined {
    const snapshot = token ? this.#snapshots.get(token) : this.#snapshot(path);
    if (!snapshot || (token && snapshot.revision < this.#compacted)) return undefined;
    const items = limit > 0 ? snapshot.rest.slice(0, limit) : snapshot.rest;
    const rest = snapshot.rest.slice(items.length);
    const next = rest.length > 0 ? `page+/=${++this.#tokens}` : '';
    if (next) this.#snapshots.set(next, { revision: snapshot.revision, rest });
    const metadata = {
      resourceVersion: String(snapshot.revision),
      ...(next && { continue: next, remainingItemCount: rest.length }),
    };
    return JSON.stringify({ kind: 'List', apiVersion: 'v1', metadata, items });
  }

  #snapshot(path: string): Snapshot {
    const rest = this.objects(path).sort((a, b) =>
      keyOf(a.metadata) < keyOf(b.metadata) ? -1 : 1,
    );
    return { revision: this.#revision, rest };
  }

  #record(change: RecordedChange): RecordedChange {
    this.#changes.push(change);
    return change;
  }

  #numbered(object: FakeObject): FakeObject {
    const resourceVersion = String(++this.#revision);
    return { ...object, metadata: { ...object.metadata, resourceVersion } };
  }

  #kind(path: string): Map<string, FakeObject> {
    const kind = this.#kinds.get(path);
    if (!kind) throw new Error(`kind is not installed: ${path}`);
    return kind;
  }
}

const keyOf = ({ namespace = '', name }: { name: string; namespace?: string | undefined }) =>
  `${namespace}/${name}`;
