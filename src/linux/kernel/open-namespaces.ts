/** The namespaces that a batch uses, on the thread that carries it out. */
import { closeSync } from 'node:fs';
import type { NamespacePath } from '../api.ts';
import { NetlinkSocket } from '../netlink/socket.ts';
import { openNamespace } from './namespace-file.ts';
import type { SocketRegister } from './socket-register.ts';
import { closeSocket, openSocket, receive, send, setns } from './system-calls.ts';

/** The thread's own namespace, to which it returns. */
const home = openNamespace(undefined);

export class OpenNamespace {
  /** File descriptor of the namespace. */
  readonly file: number;
  readonly #register: SocketRegister;
  #socket: { readonly file: number; readonly netlink: NetlinkSocket } | undefined;

  constructor(path: NamespacePath, register: SocketRegister) {
    this.file = openNamespace(path);
    this.#register = register;
  }

  get netlink(): NetlinkSocket {
    return this.#opened().netlink;
  }

  /** For what `ioctl` changes. */
  get socket(): number {
    return this.#opened().file;
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

  #opened(): { readonly file: number; readonly netlink: NetlinkSocket } {
    if (this.#socket) return this.#socket;
    const file = this.enter(openSocket);
    this.#register.add(file);
    const netlink = new NetlinkSocket({
      send: (bytes) => send(file, bytes),
      receive: (into) => receive(file, into),
    });
    this.#socket = { file, netlink };
    return this.#socket;
  }

  close(): void {
    if (this.#socket) {
      this.#register.remove(this.#socket.file);
      closeSocket(this.#socket.file);
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
