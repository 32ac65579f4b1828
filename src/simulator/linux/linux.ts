import type { Random } from '#infra/clock/clock.ts';
import type {
  LinkLocation,
  LinkReport,
  LinkSettings,
  LinuxHost,
  LinuxLink,
  LinuxNeighbor,
  NamespaceIdentity,
  NamespacePath,
  NamespaceState,
} from '#linux/api.ts';
import { NamespaceNotFoundError } from '#linux/api.ts';
import { formatMac } from '#models/ip.ts';
import type { Connection } from '#plugins/controller/api/ports/host.ts';
import { appendRecord, FaultPlan } from '../faults.ts';
import * as text from './argument-checks.ts';
import { addRoute, deleteRoute, type RouteRequest, replaceRoute, setProtocol } from './fib.ts';
import { isRunning, type LinkHandle, type SimLink } from './link.ts';
import { linuxError } from './linux-error.ts';
import { newLink, SimNamespace } from './namespace.ts';

/** A call of LinuxHost that reached the simulated kernel. */
export interface LinuxOperation {
  readonly name: Exclude<keyof LinuxHost, 'bootId' | 'namespaceIdentity' | 'namespaces'>;
  readonly namespace: NamespacePath;
  readonly args: readonly unknown[];
}

const reads: ReadonlySet<LinuxOperation['name']> = new Set([
  'dump',
  'findLinks',
  'connections',
  'reportLinks',
]);

/** Device number of the simulated nsfs. */
const DEVICE = 4;

/**
 * A simulated kernel: network namespaces with links, addresses, routes and neighbors, and the rules
 * and errors of the real kernel. Calls are executed one at a time in their order.
 */
export class SimLinux implements LinuxHost {
  readonly #random: Random;
  readonly #namespaces = new Map<NamespacePath, SimNamespace>();
  readonly #listeners = new Set<() => void>();
  #nextInode = 4026531840;
  #bootId = '';
  #tail: Promise<unknown> = Promise.resolve();

  /** Injected faults, by errno name. */
  readonly faults = new FaultPlan<LinuxOperation, string>();
  /** Connections of TCP of its processes, by namespace: it has no sockets of its own. */
  readonly open = new Map<NamespacePath, readonly Connection[]>();
  /** The latest operations, in order, including failed ones. */
  readonly operations: LinuxOperation[] = [];
  /**
   * Called before and after each operation, so that a test can crash its agent there. An error
   * thrown before prevents the operation; an error thrown after replaces its result.
   */
  onOperation:
    | ((when: 'before' | 'after', operation: LinuxOperation) => void | Promise<void>)
    | undefined;

  constructor(random: Random) {
    this.#random = random;
    this.reboot();
  }

  /** Deletes all namespaces and links, and changes the boot ID. */
  reboot(): void {
    for (const path of [...this.#namespaces.keys()]) this.#deleteNamespace(path);
    const hex = [...this.#random.bytes(16)].map((b) => b.toString(16).padStart(2, '0')).join('');
    this.#bootId = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    this.#namespaces.set(undefined, new SimNamespace(undefined, this.#nextInode++));
    this.#changed();
  }

  addNamespace(path: string): void {
    if (this.#namespaces.has(path)) this.removeNamespace(path);
    this.#namespaces.set(path, new SimNamespace(path, this.#nextInode++));
  }

  /** Deletes the namespace with its links, and the peers of its veth links. */
  removeNamespace(path: string): void {
    this.#deleteNamespace(path);
    this.#changed();
  }

  #deleteNamespace(path: NamespacePath): void {
    const space = this.#namespaces.get(path);
    if (!space) return;
    for (const link of [...space.links.values()]) if (!link.deleted) space.destroy(link);
    this.#namespaces.delete(path);
  }

  /** Adds a NIC to the node's namespace. */
  addNic(name: string): LinkHandle {
    return this.#add(undefined, name, 'ether', true);
  }

  /**
   * Creates a TAP, as the process does that opens it.
   * @throws LinuxError EEXIST, NamespaceGoneError
   */
  openTap(name: string, namespace?: NamespacePath): LinkHandle {
    return this.#add(namespace, name, 'tun', false);
  }

  #add(path: NamespacePath, name: string, kind: 'tun' | 'ether', carrier: boolean): LinkHandle {
    text.checkLinkName(name);
    const space = this.#namespace(path);
    const link = newLink(space, name, kind, this.#mac());
    link.carrier = carrier;
    space.attach(link);
    this.#changed();
    return this.#handle(link);
  }

  /** Makes a route look as if another program had added it. */
  setRouteProtocol(namespace: NamespacePath, route: RouteRequest, protocol: number): void {
    setProtocol(this.#namespace(namespace), route, protocol);
  }

  /** A handle to the link that has this name now; undefined if it does not exist. */
  linkHandle(name: string, namespace?: NamespacePath): LinkHandle | undefined {
    const link = this.#namespaces.get(namespace)?.links.get(name);
    return link && this.#handle(link);
  }

  /** Calls back after each change of links. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  #handle(link: SimLink): LinkHandle {
    const changed = () => this.#changed();
    const set = (settings: LinkSettings) => {
      if (link.deleted) return;
      link.namespace.setLink(link.name, settings);
      changed();
    };
    return {
      get deleted() {
        return link.deleted;
      },
      get name() {
        return link.name;
      },
      get namespace() {
        return link.namespace.path;
      },
      get mac() {
        return link.mac;
      },
      get mtu() {
        return link.mtu;
      },
      get up() {
        return link.up;
      },
      get running() {
        return isRunning(link);
      },
      setCarrier(carrier) {
        link.carrier = carrier;
        changed();
      },
      setMac: (mac) => set({ mac }),
      setMtu: (mtu) => set({ mtu }),
      setUp: (up) => set({ up }),
      close() {
        if (link.deleted) return;
        link.namespace.destroy(link);
        changed();
      },
    };
  }

  #mac(): string {
    const bytes = this.#random.bytes(6);
    bytes[0] = (bytes[0]! & 0xfe) | 0x02;
    return formatMac(bytes);
  }

  #namespace(path: NamespacePath): SimNamespace {
    const space = this.#namespaces.get(path);
    if (space) return space;
    throw new NamespaceNotFoundError('the network namespace does not exist', { where: path });
  }

  /** One operation at a time, in the order of the calls. */
  #operate<T>(
    name: LinuxOperation['name'],
    namespace: NamespacePath,
    args: readonly unknown[],
    action: (space: SimNamespace) => T,
  ): Promise<T> {
    const operation: LinuxOperation = { name, namespace, args };
    const carryOut = async (): Promise<T> => {
      appendRecord(this.operations, operation);
      await this.onOperation?.('before', operation);
      const fault = this.faults.next(operation);
      if (fault !== undefined) throw linuxError(fault, `${name} ${args.join(' ')}`);
      const result = action(this.#namespace(namespace));
      if (!reads.has(name)) this.#changed();
      await this.onOperation?.('after', operation);
      return result;
    };
    const done = this.#tail.then(carryOut);
    this.#tail = done.catch(() => undefined);
    return done;
  }

  // LinuxHost

  async namespaceIdentity(namespace: NamespacePath): Promise<NamespaceIdentity | undefined> {
    const space = this.#namespaces.get(namespace);
    return space && { device: DEVICE, inode: space.inode };
  }

  async namespaces(): Promise<readonly string[]> {
    return [...this.#namespaces.keys()].filter((path) => path !== undefined);
  }

  async bootId(): Promise<string> {
    return this.#bootId;
  }

  async createVeth(a: LinkLocation, b: LinkLocation): Promise<void> {
    text.checkLinkName(a.name);
    text.checkLinkName(b.name);
    await this.#operate('createVeth', a.namespace, [a.name, b.name, b.namespace], (spaceA) => {
      const spaceB = this.#namespace(b.namespace);
      const where = `veth ${a.name} and ${b.name}`;
      const same = spaceA === spaceB && a.name === b.name;
      if (same || spaceA.links.has(a.name) || spaceB.links.has(b.name))
        throw linuxError('EEXIST', where);
      const endB = newLink(spaceB, b.name, 'veth', this.#mac());
      const endA = newLink(spaceA, a.name, 'veth', this.#mac());
      endA.peer = endB;
      endB.peer = endA;
      spaceB.attach(endB);
      spaceA.attach(endA);
    });
  }

  deleteLink(namespace: NamespacePath, name: string): Promise<void> {
    return this.#checked(
      'deleteLink',
      namespace,
      [name],
      () => text.checkLinkName(name),
      (space) => space.deleteLink(name),
    );
  }

  beginDeleteTap(namespace: NamespacePath, name: string): Promise<void> {
    return this.#checked(
      'beginDeleteTap',
      namespace,
      [name],
      () => text.checkLinkName(name),
      (space) => {
        if (space.link(name).kind !== 'tun') throw linuxError('EINVAL', `link ${name}`);
        space.deleteLink(name);
      },
    );
  }

  /** Rejects invalid arguments before the operation is counted or recorded, as the real host does. */
  async #checked(
    operation: LinuxOperation['name'],
    namespace: NamespacePath,
    args: readonly unknown[],
    check: () => void,
    action: (space: SimNamespace) => void,
  ): Promise<void> {
    check();
    await this.#operate(operation, namespace, args, action);
  }

  moveLink(from: LinkLocation, to: LinkLocation): Promise<void> {
    const check = () => {
      text.checkLinkName(from.name);
      text.checkLinkName(to.name);
    };
    const args = [from.name, to.name, to.namespace];
    return this.#checked('moveLink', from.namespace, args, check, (space) => {
      if (from.namespace === to.namespace) return space.rename(from.name, to.name);
      const target = this.#namespace(to.namespace);
      const link = space.link(from.name);
      const where = `link ${from.name}`;
      if (link.kind === 'loopback') throw linuxError('EINVAL', where);
      if (target.links.has(to.name)) {
        // the real host detects this after the move, and moves the link back
        if (!target.links.has(from.name)) space.reset(link);
        throw linuxError('EEXIST', where);
      }
      space.detach(link);
      link.name = to.name;
      target.attach(link);
    });
  }

  setLink(namespace: NamespacePath, name: string, settings: LinkSettings): Promise<void> {
    const check = () => {
      text.checkLinkName(name);
      if (settings.mtu !== undefined) text.checkNumber('MTU', settings.mtu);
      if (settings.mac !== undefined) text.checkMac(settings.mac);
      if (settings.alias !== undefined) text.checkAlias(settings.alias);
    };
    return this.#checked('setLink', namespace, [name, settings], check, (space) =>
      space.setLink(name, settings),
    );
  }

  addAddress(namespace: NamespacePath, name: string, address: string): Promise<void> {
    const check = () => {
      text.checkLinkName(name);
      text.checkCidr(address);
    };
    return this.#checked('addAddress', namespace, [name, address], check, (space) =>
      space.addAddress(name, address),
    );
  }

  deleteAddress(namespace: NamespacePath, name: string, address: string): Promise<void> {
    const check = () => {
      text.checkLinkName(name);
      text.checkCidr(address);
    };
    return this.#checked('deleteAddress', namespace, [name, address], check, (space) =>
      space.deleteAddress(name, address),
    );
  }

  #checkRoute(route: RouteRequest): void {
    text.checkCidr(route.destination);
    text.checkLinkName(route.device);
    text.checkNumber('metric', route.metric);
    if (route.gateway !== undefined) text.checkAddress(route.gateway);
  }

  addRoute(namespace: NamespacePath, route: RouteRequest): Promise<void> {
    return this.#checked(
      'addRoute',
      namespace,
      [route],
      () => this.#checkRoute(route),
      (space) => addRoute(space, route),
    );
  }

  replaceRoute(namespace: NamespacePath, route: RouteRequest): Promise<void> {
    return this.#checked(
      'replaceRoute',
      namespace,
      [route],
      () => this.#checkRoute(route),
      (space) => replaceRoute(space, route),
    );
  }

  deleteRoute(namespace: NamespacePath, route: RouteRequest): Promise<void> {
    return this.#checked(
      'deleteRoute',
      namespace,
      [route],
      () => this.#checkRoute(route),
      (space) => deleteRoute(space, route),
    );
  }

  setNeighbor(namespace: NamespacePath, entry: Omit<LinuxNeighbor, 'permanent'>): Promise<void> {
    const check = () => {
      text.checkAddress(entry.address);
      text.checkMac(entry.mac);
      text.checkLinkName(entry.device);
    };
    return this.#checked('setNeighbor', namespace, [entry], check, (space) =>
      space.setNeighbor(entry),
    );
  }

  deleteNeighbor(namespace: NamespacePath, name: string, address: string): Promise<void> {
    const check = () => {
      text.checkLinkName(name);
      text.checkAddress(address);
    };
    return this.#checked('deleteNeighbor', namespace, [name, address], check, (space) =>
      space.deleteNeighbor(name, address),
    );
  }

  setChecksumOffload(
    namespace: NamespacePath,
    name: string,
    offload: { readonly rx?: boolean; readonly tx?: boolean },
  ): Promise<void> {
    const none = offload.rx === undefined && offload.tx === undefined;
    return this.#checked(
      'setChecksumOffload',
      namespace,
      [name, offload],
      () => text.checkLinkName(name),
      (space) => {
        if (!none) space.link(name, `checksum offload of ${name}`);
      },
    );
  }

  setSysctl(namespace: NamespacePath, name: string, value: string): Promise<void> {
    const check = () => text.checkSysctl(name, value);
    return this.#checked('setSysctl', namespace, [name, value], check, (space) =>
      space.setSysctl(name, value),
    );
  }

  dump(namespace: NamespacePath): Promise<NamespaceState> {
    return this.#operate('dump', namespace, [], (space) => space.state());
  }

  async findLinks(
    namespace: NamespacePath,
    names: readonly string[],
  ): Promise<readonly LinuxLink[]> {
    for (const name of names) text.checkLinkName(name);
    return this.#operate('findLinks', namespace, [names], (space) => space.findLinks(names));
  }

  connections(namespace: NamespacePath): Promise<readonly Connection[]> {
    return this.#operate('connections', namespace, [], () => this.open.get(namespace) ?? []);
  }

  reportLinks(namespace: NamespacePath): Promise<readonly LinkReport[]> {
    return this.#operate('reportLinks', namespace, [], (space) => space.reports());
  }
}
