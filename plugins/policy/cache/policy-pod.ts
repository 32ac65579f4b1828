/** A pod as policies see it. */
import type { Pod } from '#kubernetes/models/pod.ts';
import { type AddressNumber, addressNumber } from '../address-set.ts';
import type { PodName } from '../pod-policy.ts';
import type { PolicyProtocol } from '../port-set.ts';
import { isSameLabels, type Labels } from './labels.ts';

export interface PolicyPod {
  readonly name: PodName;
  readonly namespace: string;
  /** Empty: unknown. */
  readonly uid: string;
  readonly labels: Labels;
  /** Each once; invalid ones are left out. */
  readonly addresses: readonly AddressNumber[];
  /** Its addresses are those of its node. */
  readonly isHostNetwork: boolean;
  readonly containers: Pod['container'];
}

/** A container port: the name stands for a port of one protocol. */
export interface PortName {
  readonly protocol: PolicyProtocol;
  readonly name: string;
}

export function policyPod(name: string, namespace: string, record: Pod): PolicyPod {
  const { ip_address: address, host_ip_address: hostAddress } = record;
  return {
    name: `${namespace}/${name}`,
    namespace,
    uid: record.uid,
    labels: record.label,
    addresses: addressesOf(record),
    isHostNetwork: address !== '' && address === hostAddress,
    containers: record.container,
  };
}

function addressesOf({ ip_address: address, ip_addresses: all }: Pod): AddressNumber[] {
  const numbers = new Set([address, ...all].map((text) => addressNumber(text)));
  numbers.delete(undefined);
  // the list is kept for each pod of the cluster, and no longer than its elements
  return Array.from(numbers as ReadonlySet<AddressNumber>);
}

/** The number of a port. Containers may use the same name: the first one has it, as for services. */
export function portNumber(
  { containers }: PolicyPod,
  { protocol, name }: PortName,
): number | undefined {
  for (const { port: ports } of containers)
    for (const one of ports)
      if (one.name === name && one.protocol === protocol) return one.container_port;
  return undefined;
}

/** Whether policies see no difference. */
export function isSamePod(a: PolicyPod | undefined, b: PolicyPod | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    a.uid === b.uid &&
    a.isHostNetwork === b.isHostNetwork &&
    isSameLabels(a.labels, b.labels) &&
    isSameList(a.addresses, b.addresses) &&
    isSameList(portTexts(a), portTexts(b))
  );
}

function isSameList<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((one, at) => one === b[at]);
}

function portTexts({ containers }: PolicyPod): string[] {
  return containers.flatMap(({ port: ports }) =>
    ports.map((one) => `${one.protocol} ${one.container_port} ${one.name}`),
  );
}
