/**
 * Packets that ACLs deny: VPP counts them at no price, as errors of its graph nodes, and keeps the next ones of a node when it is asked
 * to (`pcap trace drop`), at the price of a copy for each packet that is dropped, none for those that are forwarded.
 */
import { parsePcap } from '#infra/pcap/pcap.ts';
import type { DenialsPort } from '#plugins/controller/api/ports/denials.ts';
import type { StatsPort } from '#plugins/controller/api/ports/stats.ts';
import { deniedPacket } from './denied-packet.ts';
import type { PcapTrace } from './pcap-trace.ts';

const FILE = 'contiv-denials.pcap';
const REASON = 'ACL deny packets';
const NODE = /^acl-plugin-(in|out)-ip[46]-fa$/;
const MAX_PACKETS = 64;
/** Headers, with those of a VLAN and extensions of IPv6. */
const MAX_BYTES_OF_PACKET = 256;

export interface VppDenialsDeps {
  readonly statistics: Pick<StatsPort, 'nodeErrors'>;
  readonly pcapTrace: Pick<PcapTrace, 'beginUnlessBusy' | 'end'>;
}

export class VppDenials implements DenialsPort {
  readonly #deps: VppDenialsDeps;

  constructor(deps: VppDenialsDeps) {
    this.#deps = deps;
  }

  async counts(): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    for (const { node, reason, count } of await this.#deps.statistics.nodeErrors())
      if (reason === REASON && NODE.test(node)) counts.set(node, Number(count));
    return counts;
  }

  begin(place: string): Promise<boolean> {
    const words = `drop max ${MAX_PACKETS} max-bytes-per-pkt ${MAX_BYTES_OF_PACKET} intfc any`;
    // its parser takes names with spaces in this form only
    const error = `error {${place}}.{${REASON}}`;
    return this.#deps.pcapTrace.beginUnlessBusy(FILE, `${words} ${error}`);
  }

  async end() {
    const { records } = parsePcap(await this.#deps.pcapTrace.end(FILE));
    const packets = records.map(({ time, packet }) => deniedPacket(time, packet));
    return { count: records.length, packets: packets.filter((one) => one !== undefined) };
  }
}
