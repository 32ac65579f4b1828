import { type Static, Type } from 'typebox';
import Value from 'typebox/value';
import { zeroOrAtLeast } from '#infra/config/numbers.ts';

/** Fewer are in use on a node with a few pods. */
const LEAST_SESSIONS = 256;
/** Of VPP; the same in all releases. */
export const DEFAULT_TABLE_SIZE = 63 * 1024;
const DEFAULT_TCP_MINUTES = 180;
const DEFAULT_OTHER_MINUTES = 5;

/** `service.conf`. */
export const serviceSchema = Type.Object({
  cleanupIdleNATSessions: Type.Boolean({
    default: false,
    description:
      'Delete idle NAT sessions periodically. Otherwise VPP replaces them when it needs their place.',
  }),
  tcpNATSessionTimeout: Type.Integer({
    minimum: 0,
    maximum: 10_080,
    default: 0,
    description:
      'Minutes without a packet, after which an established TCP session is idle; 0 means 180.',
  }),
  otherNATSessionTimeout: Type.Integer({
    minimum: 0,
    maximum: 10_080,
    default: 0,
    description:
      'Minutes without a packet, after which a session of another protocol is idle; 0 means 5.',
  }),
  natSessionTableSize: zeroOrAtLeast(LEAST_SESSIONS, {
    maximum: 1_048_576,
    description:
      'Maximum number of NAT sessions of each worker of VPP; 0 means the default of VPP, 64,512. A change ends all sessions. Not a key of the original.',
  }),
  serviceLocalEndpointWeight: Type.Integer({
    minimum: 1,
    maximum: 255,
    default: 1,
    description: 'Share of a backend on this node, when a backend on another node has 1.',
  }),
  socketServices: Type.String({
    default: '',
    description:
      'The folder /sys/fs of the host, with a bpf file system in `bpf` and control groups of version 2 in `cgroup` or `cgroup/unified`: services are translated at the sockets of the processes in these groups, before there is a packet. Empty: in VPP only, which has none of IPv6. Not a key of the original.',
  }),
  disableSocketServices: Type.Boolean({
    default: false,
    description:
      'Removes services at sockets, so that VPP alone has them, and those of IPv6 are not carried: for nodes whose pods have proxies that need the address of the service (Istio, Linkerd); the annotation `contivpp.io/service-translation: packets` does it for a pod. Not a key of the original.',
  }),
  disableExternalIPs: Type.Boolean({
    default: false,
    description:
      'Services are not reached at their `externalIPs`, which any author of services chooses and Kubernetes deprecates, as with kube-proxy without `AllowServiceExternalIPs`. Addresses of load balancers stay. Not a key of the original.',
  }),
  disableNATVirtualReassembly: Type.Boolean({
    default: false,
    description:
      'Without effect: VPP always reassembles fragments for NAT, which needs their ports. Setting it causes a warning.',
  }),
});
export type ServiceConfig = Static<typeof serviceSchema>;

export const serviceDefaults = Value.Default(serviceSchema, {}) as ServiceConfig;

/** How long a NAT session may be idle, in seconds. */
export interface SessionTimeouts {
  /** Of an established TCP session. */
  readonly tcp: number;
  readonly other: number;
}

export function sessionTimeouts(
  config: Pick<ServiceConfig, 'tcpNATSessionTimeout' | 'otherNATSessionTimeout'>,
): SessionTimeouts {
  return {
    tcp: 60 * (config.tcpNATSessionTimeout || DEFAULT_TCP_MINUTES),
    other: 60 * (config.otherNATSessionTimeout || DEFAULT_OTHER_MINUTES),
  };
}
