/** The probes of each client of `netctl test`. */
import { CLOSED_PORT, MAX_PROBES, OPEN_PORT, type Probe } from './probe.ts';
import { type Role, SERVICE_PORT, type TestPod } from './test-objects.ts';

/** Nodes that the pods of one node connect with: its own, and those that follow it. */
const PEERS = 5;

export interface PlannedProbe {
  readonly check: string;
  /** Node, or service. */
  readonly to: string;
  readonly probe: Probe;
}

export interface Server extends TestPod {
  readonly address: string;
}

export interface TestServices {
  readonly server: string;
  readonly isolated: string;
  /** Name of the service `server` in DNS; undefined: the cluster has none. */
  readonly dnsName: string | undefined;
}

/** Of the client of a role on a node. @param nodes all that are tested, in order */
export function probesOf(
  role: Role,
  node: string,
  nodes: readonly string[],
  servers: readonly Server[],
  services: TestServices,
): readonly PlannedProbe[] {
  const at = nodes.indexOf(node);
  const peers = [...nodes.slice(at), ...nodes.slice(0, at)].slice(0, PEERS);
  const of = (wanted: Role): readonly Server[] =>
    peers.flatMap((peer) => servers.filter((one) => one.role === wanted && one.node === peer));
  const planned = plans[role]?.(of, services) ?? [];
  return planned.slice(0, MAX_PROBES);
}

type Plan = (of: (role: Role) => readonly Server[], services: TestServices) => PlannedProbe[];

const plans: { readonly [role in Role]?: Plan } = {
  friend: (of, services) => [
    ...of('server').flatMap((server) => [
      toPod('pod to pod, TCP', server, true),
      toPod('pod to pod, UDP', server, true, OPEN_PORT, 'UDP'),
    ]),
    toService('service, TCP', 'server', services.server, true),
    toService('service, UDP', 'server', services.server, true, 'UDP'),
    ...(services.dnsName === undefined
      ? []
      : [toService('service by its name', 'server', services.dnsName, true)]),
    ...of('isolated').flatMap((server) => [
      toPod('policy permits', server, true),
      toPod('policy denies a port', server, false, CLOSED_PORT),
    ]),
    toService('policy permits, by a service', 'isolated', services.isolated, true),
  ],
  stranger: (of, services) => [
    ...of('isolated').map((server) => toPod('policy denies a pod', server, false)),
    toService('policy denies, by a service', 'isolated', services.isolated, false),
    // It proves that silence is no fault of this pod.
    ...of('server').map((server) => toPod('pod to pod, TCP', server, true)),
  ],
  caged: (of, services) => [
    ...of('server').map((server) => toPod('egress policy permits', server, true)),
    ...of('isolated').map((server) => toPod('egress policy denies', server, false)),
    toService('egress policy permits', 'server', services.server, true),
  ],
};

function toPod(
  check: string,
  { name, node, address }: Server,
  answers: boolean,
  port = OPEN_PORT,
  protocol: Probe['protocol'] = 'TCP',
): PlannedProbe {
  return { check, to: node, probe: { host: address, port, protocol, by: name, answers } };
}

function toService(
  check: string,
  role: Role,
  host: string,
  answers: boolean,
  protocol: Probe['protocol'] = 'TCP',
): PlannedProbe {
  const probe = { host, port: SERVICE_PORT, protocol, by: `${role}-`, answers };
  return { check, to: `service ${role}`, probe };
}
