/** The namespaces that a batch uses, on the thread that carries it out. */
import { closeSync } from 'node:fs';
import type { NamespacePath } from '../api.ts';
import { NetlinkSocket } from '../netlink/socket.ts';
import { openNamespace } from './namespace-file.ts';
import type { SocketRegister } from './socket-register.ts';
import { closeSocket, type NetlinkKind, openSocket, receive, send, setns } from './system-calls.ts';

/** The thread's own namespace, to which it returns. */
const home = openNamespace(undefined);

interface OpenSocket {
  readonly file: number;
  readonly netlink: NetlinkSocket;
}

export class OpenNamespace {
  /** File descriptor of the namespace. */
  readonly file: number;
  readonly #register: SocketRegister;
  readonly #sockets = new Map<NetlinkKind, OpenSocket>();

  constructor(path: NamespacePath, register: SocketRegister) {
    this.file = openNamespace(path);
    this.#register = register;
  }

  get netlink(): NetlinkSocket {
    return this.#opened('route').netlink;
  }

  /** For requests about sockets of processes. */
  get processSockets(): NetlinkSocket {
    return this.#opened('sockets').netlink;
  }

  /** For what `ioctl` changes. */
  get socket(): number {
    return this.#opened('route').file;
  }

  /** Runs `work` in the namespace. */
  enter<T>(work: () => T): T {
    setns(this.file);
    try {
      return work();
    } finally {
      this.#leave();
    }
  }

  #leave(): void {
    try {
      setns(home);
    } catch {
      // elsewhere, every later command would change the wrong namespace: the thread ends
      process.exit(1);
    }
  }

  #opened(kind: NetlinkKind): OpenSocket {
    const known = this.#sockets.get(kind);
    if (known) return known;
    const file = this.enter(() => openSocket(kind));
    this.#register.add(file);
    const netlink = new NetlinkSocket({
      send: (bytes) => send(file, bytes),
      receive: (into) => receive(file, into),
    });
    const opened = { file, netlink };
    this.#sockets.set(kind, opened);
    return opened;
  }

  close(): void {
    for (const { file } of this.#sockets.values()) {
      this.#register.remove(file);
      closeSocket(file);
    }
    closeSync(this.file);
  }
}

/** Entered at most once each, and closed with the batch: none is kept alive. */
export class OpenNamespaces {
  readonly #register: SocketRegister;
  readonly #byPath = new Map<NamespacePath, OpenNamespace>();

  constructor(register: SocketRegister) {
    this.#register = register;
  }

  /** @throws NoNamespaceError */
  at(path: NamespacePath): OpenNamespace {
    const open = this.#byPath.get(path) ?? new OpenNamespace(path, this.#register);
    this.#byPath.set(path, open);
    return open;
  }

  /** The next command opens the namespace again: its socket may have unread answers. */
  discard(path: NamespacePath): void {
    this.#byPath.get(path)?.close();
    this.#byPath.delete(path);
  }

  close(): void {
    for (const path of [...this.#byPath.keys()]) this.discard(path);
  }
}
