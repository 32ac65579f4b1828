/** Port to the packets that the ACLs of VPP deny. */

export interface PacketEnd {
  readonly address: string;
  readonly port: number;
}

export interface DeniedPacket {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly protocol: 'TCP' | 'UDP';
  readonly source: PacketEnd;
  readonly destination: PacketEnd;
  /** A server of TCP has sent it: the answer to the first segment of a client. */
  readonly isAnswer: boolean;
}

export interface DeniedSample {
  /** All that were kept. */
  readonly count: number;
  /** Those of TCP and UDP whose ports can be read. */
  readonly packets: readonly DeniedPacket[];
}

export interface DenialsPort {
  /** How many since VPP has started, by the place in VPP. */
  counts(): Promise<ReadonlyMap<string, number>>;
  /**
   * From now on the next ones at a place are kept, some of them.
   * @returns false: VPP captures packets for someone else
   */
  begin(place: string): Promise<boolean>;
  /** Ends that, also of an agent that was killed. */
  end(): Promise<DeniedSample>;
}
