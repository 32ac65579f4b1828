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
  /** Numbers of container ports by `portNameKey`. */
  readonly ports: ReadonlyMap<string, number>;
}

const noPorts: PolicyPod['ports'] = new Map();

/** A name stands for a port of one protocol. */
export function portNameKey(protocol: PolicyProtocol, name: string): string {
  return `${protocol} ${name}`;
}

export function policyPod(name: string, namespace: string, record: Pod): PolicyPod {
  const { ip_address: address, host_ip_address: hostAddress, ip_addresses: all } = record;
  const numbers = new Set<AddressNumber>();
  for (const text of address === '' ? all : [address, ...all]) {
    const number = addressNumber(text);
    if (number !== undefined) numbers.add(number);
  }
  return {
    name: `${namespace}/${name}`,
    namespace,
    uid: record.uid,
    labels: record.label,
    addresses: [...numbers],
    isHostNetwork: address !== '' && address === hostAddress,
    ports: portsOf(record),
  };
}

/** Containers may use the same name: the first one has it, as for services. */
function portsOf({ container: containers }: Pod): PolicyPod['ports'] {
  let ports: Map<string, number> | undefined;
  for (const { port: list } of containers) {
    for (const { name, protocol, container_port: number } of list) {
      if (name === '') continue;
      const key = portNameKey(protocol, name);
      ports ??= new Map();
      if (!ports.has(key)) ports.set(key, number);
    }
  }
  return ports ?? noPorts;
}

/** Whether policies see no difference. */
export function isSamePod(a: PolicyPod | undefined, b: PolicyPod | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    a.uid === b.uid &&
    a.isHostNetwork === b.isHostNetwork &&
    isSameLabels(a.labels, b.labels) &&
    a.addresses.length === b.addresses.length &&
    a.addresses.every((address, at) => address === b.addresses[at]) &&
    a.ports.size === b.ports.size &&
    [...a.ports].every(([key, number]) => b.ports.get(key) === number)
  );
}
