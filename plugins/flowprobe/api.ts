export interface FlowProbeApi {
  /** Why flows of interfaces that VPP should count are not; undefined: they are, or there are none. */
  problem(): string | undefined;
}
