import { LinuxError, type LinuxHost, type NamespacePath } from '#linux/api.ts';

/**
 * A host whose n-th change is refused, or which dies at it, and whose own namespace is another one
 * than that of the machine.
 */
export class FaultyHost {
  readonly host: LinuxHost;
  /** Names of the changes that were requested since the last `refuse` or `cut`. */
  readonly asked: string[] = [];
  #refuseAt = 0;
  #cutAt = 0;

  constructor(inner: LinuxHost, own: NamespacePath) {
    const at = (namespace: NamespacePath): NamespacePath => namespace ?? own;
    const change = async (name: string, call: () => Promise<void>): Promise<void> => {
      this.#count(name);
      return call();
    };
    const place = <T extends { readonly namespace: NamespacePath }>(end: T): T => ({
      ...end,
      namespace: at(end.namespace),
    });
    this.host = {
      namespaceIdentity: (ns) => inner.namespaceIdentity(at(ns)),
      namespaces: () => inner.namespaces(),
      bootId: () => inner.bootId(),
      dump: (ns) => inner.dump(at(ns)),
      findLinks: (ns, names) => inner.findLinks(at(ns), names),
      connections: (ns) => inner.connections(at(ns)),
      reportLinks: (ns) => inner.reportLinks(at(ns)),
      createVeth: (a, b) => change('createVeth', () => inner.createVeth(place(a), place(b))),
      deleteLink: (ns, name) => change('deleteLink', () => inner.deleteLink(at(ns), name)),
      beginDeleteTap: (ns, name) =>
        change('beginDeleteTap', () => inner.beginDeleteTap(at(ns), name)),
      moveLink: (from, to) => change('moveLink', () => inner.moveLink(place(from), place(to))),
      setLink: (ns, name, settings) =>
        change('setLink', () => inner.setLink(at(ns), name, settings)),
      addAddress: (ns, name, address) =>
        change('addAddress', () => inner.addAddress(at(ns), name, address)),
      deleteAddress: (ns, name, address) =>
        change('deleteAddress', () => inner.deleteAddress(at(ns), name, address)),
      addRoute: (ns, route) => change('addRoute', () => inner.addRoute(at(ns), route)),
      replaceRoute: (ns, route) => change('replaceRoute', () => inner.replaceRoute(at(ns), route)),
      deleteRoute: (ns, route) => change('deleteRoute', () => inner.deleteRoute(at(ns), route)),
      setNeighbor: (ns, entry) => change('setNeighbor', () => inner.setNeighbor(at(ns), entry)),
      deleteNeighbor: (ns, dev, ip) =>
        change('deleteNeighbor', () => inner.deleteNeighbor(at(ns), dev, ip)),
      setChecksumOffload: (ns, name, offload) =>
        change('setChecksumOffload', () => inner.setChecksumOffload(at(ns), name, offload)),
      setSysctl: (ns, name, value) =>
        change('setSysctl', () => inner.setSysctl(at(ns), name, value)),
    };
  }

  get changes(): number {
    return this.asked.length;
  }

  refuse(n: number): void {
    this.#refuseAt = n;
    this.asked.length = 0;
  }

  cut(n: number): void {
    this.#cutAt = n;
    this.asked.length = 0;
  }

  #count(name: string): void {
    this.asked.push(name);
    if (this.#cutAt > 0 && this.changes >= this.#cutAt) throw new Error('the agent has died');
    if (this.changes === this.#refuseAt)
      throw new LinuxError('refused by the test', { errno: 'EPERM' });
  }
}
