import { LinuxError, type LinuxHost, type NamespacePath } from '#linux/api.ts';

/**
 * A host whose n-th change is refused, or which dies at it, and whose own namespace is another one
 * than that of the machine.
 */
export class FaultyHost {
  readonly host: LinuxHost;
  changes = 0;
  #refuseAt = 0;
  #cutAt = 0;

  constructor(inner: LinuxHost, own: NamespacePath) {
    const at = (namespace: NamespacePath): NamespacePath => namespace ?? own;
    const change = async (call: () => Promise<void>): Promise<void> => {
      this.#count();
      return call();
    };
    const place = <T extends { readonly namespace: NamespacePath }>(end: T): T => ({
      ...end,
      namespace: at(end.namespace),
    });
    this.host = {
      namespaceIdentity: (ns) => inner.namespaceIdentity(at(ns)),
      bootId: () => inner.bootId(),
      dump: (ns) => inner.dump(at(ns)),
      createVeth: (a, b) => change(() => inner.createVeth(place(a), place(b))),
      deleteLink: (ns, name) => change(() => inner.deleteLink(at(ns), name)),
      moveLink: (from, to) => change(() => inner.moveLink(place(from), place(to))),
      setLink: (ns, name, settings) => change(() => inner.setLink(at(ns), name, settings)),
      addAddress: (ns, name, address) => change(() => inner.addAddress(at(ns), name, address)),
      deleteAddress: (ns, name, address) =>
        change(() => inner.deleteAddress(at(ns), name, address)),
      addRoute: (ns, route) => change(() => inner.addRoute(at(ns), route)),
      deleteRoute: (ns, route) => change(() => inner.deleteRoute(at(ns), route)),
      setNeighbor: (ns, entry) => change(() => inner.setNeighbor(at(ns), entry)),
      deleteNeighbor: (ns, dev, ip) => change(() => inner.deleteNeighbor(at(ns), dev, ip)),
      setChecksumOffload: (ns, name, offload) =>
        change(() => inner.setChecksumOffload(at(ns), name, offload)),
      setSysctl: (ns, name, value) => change(() => inner.setSysctl(at(ns), name, value)),
    };
  }

  refuse(n: number): void {
    this.#refuseAt = n;
    this.changes = 0;
  }

  cut(n: number): void {
    this.#cutAt = n;
    this.changes = 0;
  }

  #count(): void {
    this.changes++;
    if (this.#cutAt > 0 && this.changes >= this.#cutAt) throw new Error('the agent has died');
    if (this.changes === this.#refuseAt)
      throw new LinuxError('refused by the test', { errno: 'EPERM' });
  }
}
