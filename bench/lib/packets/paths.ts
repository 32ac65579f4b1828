/** Packets at the point where they enter VPP, for each path through a node. */
import { type Datagram, type Link, udpFrame, vxlanFrame } from './frames.ts';

/** Addresses of a node, of its neighbors, and of two of its pods: what packets need. */
export interface Ends {
  /** VPP's name of the interface of the sending pod. */
  readonly podInterface: string;
  readonly uplink: string;
  /** Link of the sending pod to VPP. */
  readonly fromPod: Link;
  /** Link of a machine outside to VPP. */
  readonly fromOutside: Link;
  /** Link of the other node's routed interface to that of this node, within the tunnel. */
  readonly fromOtherNode: Link;
  readonly vni: number;
  readonly pod: string;
  readonly otherPod: string;
  readonly remotePod: string;
  readonly outside: string;
  readonly node: string;
  readonly otherNode: string;
}

export interface Packets {
  /** VPP's name of the interface at which they arrive. */
  readonly interface: string;
  readonly frames: readonly Buffer[];
}

const FLOWS = 1000;
const FIRST_PORT = 20_000;
const PORT = 9;
export const NODE_PORT = 30_080;

const paths = {
  'pod → pod': (ends) => fromPod(ends, ends.otherPod),
  'pod → pod of another node': (ends) => fromPod(ends, ends.remotePod),
  'pod of another node → pod': (ends) => {
    const { uplink, fromOutside, fromOtherNode, vni, otherNode: source, node: destination } = ends;
    const inner = flows(fromOtherNode, ends.remotePod, ends.otherPod, PORT);
    const frames = inner.map((one) => vxlanFrame(fromOutside, { source, destination }, vni, one));
    return { interface: uplink, frames };
  },
  'pod → outside': (ends) => fromPod(ends, ends.outside),
  'outside → pod': (ends) => fromOutside(ends, ends.otherPod, PORT),
  'outside → node port': (ends) => fromOutside(ends, ends.node, NODE_PORT),
} satisfies Readonly<Record<string, (ends: Ends) => Packets>>;

export type PathName = keyof typeof paths;

export const pathNames = Object.keys(paths) as readonly PathName[];

export function packetsOf(path: PathName, ends: Ends): Packets {
  return paths[path](ends);
}

function fromPod(ends: Ends, destination: string): Packets {
  return { interface: ends.podInterface, frames: flows(ends.fromPod, ends.pod, destination, PORT) };
}

function fromOutside(ends: Ends, destination: string, port: number): Packets {
  return {
    interface: ends.uplink,
    frames: flows(ends.fromOutside, ends.outside, destination, port),
  };
}

/** The smallest packets, of flows that differ in the port of the sender. */
export function flows(
  link: Link,
  source: string,
  destination: string,
  destinationPort: number,
): readonly Buffer[] {
  return Array.from({ length: FLOWS }, (_, n) => {
    const datagram: Datagram = {
      source,
      destination,
      destinationPort,
      sourcePort: FIRST_PORT + n,
    };
    return udpFrame(link, datagram);
  });
}
