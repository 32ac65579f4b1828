/** Port to the flows of interfaces that VPP is configured to count. */
export interface FlowProbePort {
  /** The place that VPP sends them to, and its own address there; undefined: it sends nothing. */
  exporter():
    | { readonly address: string; readonly port: number; readonly source: string }
    | undefined;
  isProbed(swIfIndex: number): boolean;
  /** Interfaces. */
  readonly probed: number;
}
