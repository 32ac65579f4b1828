/** A kind of object that is reflected: how the API server names it. */
export interface WatchedKind {
  /** e.g. `Pod` */
  readonly kind: string;
  /** e.g. `/api/v1/pods`, `/apis/discovery.k8s.io/v1/endpointslices` */
  readonly path: string;
  /** Those of other versions with the same objects, for servers that do not serve the first one. */
  readonly otherPaths?: readonly string[];
}

/** `namespace` is empty for objects of the cluster. */
export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

/** Reports of the API server about one kind. Calls come in order; none comes after `close` of the watch. */
export interface KindHandlers {
  /** A list begins. It replaces everything when `listed` comes; it may begin again without `listed`. */
  listing(): void;
  /** Objects of the list, in parts, or of the watch. Raw JSON, not validated. */
  changed(objects: readonly unknown[]): void;
  /** Events of the watch only. */
  deleted(name: ObjectName): void;
  /** The list is complete: what was not in it does not exist. */
  listed(): void;
  /** The watch was lost, or begins again: the objects may be out of date, until `resumed` or `listed`. */
  interrupted(): void;
  /** The watch continues, and the changes that were missed have been handed on. */
  resumed(): void;
  /**
   * The kind does not exist at this server, e.g. a custom resource definition that is not installed yet.
   * The watch continues when the kind is installed. Nothing may be deleted because of it.
   */
  absent(): void;
}

/**
 * `listing`: a list is being read. `watching`: the list is complete and a watch is open. `waiting`: the
 * last attempt failed; the next one follows by itself.
 */
export type WatchState = 'listing' | 'watching' | 'waiting';

export interface KindWatch {
  /** This and the next two are for status and metrics. */
  readonly state: WatchState;
  /** When the state began, in milliseconds since the epoch. */
  readonly since: number;
  /** Why the watch waits. */
  readonly error: Error | undefined;
  /**
   * Begins the watch again: a connection that hangs shows only after minutes. Calls `interrupted`, unless the
   * objects count as out of date already; the next `resumed` or `listed` is about their state after this call.
   */
  refresh(): void;
  close(): void;
}

export interface ApiServer {
  watch(kind: WatchedKind, handlers: KindHandlers): KindWatch;
  /**
   * Replaces fields of the status of an object (a JSON merge patch of its status subresource).
   * @param path of the object, e.g. `/apis/nodeconfig.contiv.vpp/v1/nodeconfigs/node1`
   */
  patchStatus(path: string, status: object, signal: AbortSignal): Promise<void>;
}
