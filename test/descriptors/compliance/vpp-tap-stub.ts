import type { KvDescriptor } from '#kvscheduler/api/descriptor.ts';
import type { LinuxHost, NamespacePath } from '#linux/api.ts';
import { type VppInterface, vppInterfaceModel } from '#models/vpp/interface.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';

/** Stub of VPP for tests of Linux: creates the kernel's side of its TAPs. */
export class VppTapStub {
  readonly #taps = new Map<string, VppInterface>();
  readonly #makeTap: (name: string, namespace: NamespacePath) => Promise<void>;
  readonly #host: LinuxHost;
  readonly #namespaces: readonly NamespacePath[];

  /** @param namespaces where such a link may have been moved to */
  constructor(
    host: LinuxHost,
    namespaces: readonly NamespacePath[],
    makeTap: (name: string, namespace: NamespacePath) => Promise<void>,
  ) {
    this.#host = host;
    this.#namespaces = namespaces;
    this.#makeTap = makeTap;
  }

  /** VPP closes the device: the link is deleted, whatever its namespace and name. */
  async #close(name: string): Promise<void> {
    for (const namespace of this.#namespaces) {
      const { links } = await this.#host.dump(namespace);
      const link = links.find((each) => each.name === name || each.alias?.includes(`/${name}`));
      if (link !== undefined) await this.#host.deleteLink(namespace, link.name);
    }
  }

  descriptor(): KvDescriptor<VppInterface, VppInterfaceMetadata> {
    const namespaceOf = ({ tap }: VppInterface): NamespacePath => tap?.host_namespace || undefined;
    const metadata = (value: VppInterface): VppInterfaceMetadata => {
      const hostNamespace = namespaceOf(value);
      return {
        swIfIndex: 1,
        type: 'TAP',
        hostIfName: value.tap?.host_if_name ?? '',
        ...(hostNamespace !== undefined && { hostNamespace }),
      };
    };
    return {
      name: 'vpp-interface',
      typeName: vppInterfaceModel.typeName,
      keyPrefixes: [vppInterfaceModel.keyPrefix],
      create: async (key, value) => {
        await this.#makeTap(value.tap?.host_if_name ?? '', namespaceOf(value));
        this.#taps.set(key, value);
        return metadata(value);
      },
      delete: async (key, value) => {
        await this.#close(value.tap?.host_if_name ?? '');
        this.#taps.delete(key);
      },
      retrieve: async () =>
        [...this.#taps].map(([key, value]) => ({
          key,
          value,
          metadata: metadata(value),
          origin: 'from-NB' as const,
        })),
    };
  }
}
